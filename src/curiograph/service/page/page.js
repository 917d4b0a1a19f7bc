// The page: reads the address, asks the service, and shows the walk. Everything a visitor does is a new address.

import { setUpBringing } from "./bring.js";
import { forgetTitles, keepTitles, title } from "./labels.js";
import { drawGrowth, showChoices, showGaps, showNext, showRecommendations } from "./panels.js";
import { MAX_WHOLE, Picture } from "./picture.js";
import { DEFAULTS, EXAMPLE, keep, pushAddress, readAddress, recall, replaceAddress } from "./state.js";
import { count, describeEffect, describeStep, isExample, joinLoop, make } from "./words.js";

const RACE_STEPS = 10;
const PLAY_MS = 900;
const SLOW_MS = 150;
const MAX_KEPT = 60;
const TABS = { next: ["Next", showNext], gaps: ["Gaps", showGaps], recommend: ["Recommend", showRecommendations], you: ["You", showChoices] };
const EXAMPLES = new Set(["rg", "ws", "ba", "er", "toy:grid", "toy:cycle", "toy:complete"]);
const KEYS = {
  ArrowRight: "step", n: "step", ArrowLeft: "back", u: "back", p: "play", r: "race", m: "more", s: "share",
  "+": "zoomIn", "=": "zoomIn", "-": "zoomOut", 0: "fit", "/": "search", "?": "help",
};
const HELP = {
  "→": "let the agent take a step", "←": "take back the last step", p: "let the agent walk on, or pause", r: "race the agent",
  "1 to 9": "go to that next node of the list", m: "more or less", "+ − 0": "zoom; the whole graph or the walk", "/": "start at another node", "?": "this help",
};

const find = (id) => document.getElementById(id);

export class Page {
  /** @param {object} api the service, or the demo of the documentation */
  constructor(api) {
    this.api = api;
    this.state = readAddress();
    this.view = this.shown = this.rival = null; // shown: id of the graph in the picture
    this.tab = "next";
    this.showsWhole = false; // whether gaps of the whole graph are listed
    this.graphGaps = new Map();
    this.kept = new Map(); // views by request, so that Back is immediate
    this.titles = {};
    this.picture = new Picture(find("picture"), {
      visit: (index) => this.visit(index),
      point: (found, x, y) => this.showTip(found, x, y),
    });
    this.bring = setUpBringing(find("dialog"), (files, directed) => this.upload(files, directed), (text) => this.report(text));
    for (const button of document.querySelectorAll("[data-do]")) button.onclick = () => this.act(button.dataset.do);
    addEventListener("popstate", () => this.follow(readAddress()));
    addEventListener("resize", () => this.setInsets());
    addEventListener("keydown", (event) => this.press(event));
    find("graph").onchange = (event) => {
      this.stop();
      document.body.classList.remove("choosing");
      this.change({ graph: event.target.value, walk: [], by: "", race: 0 });
    };
    this.setUpSearch();
  }

  get isRacing() {
    return this.state.race > 0 && this.view !== null && this.view.walk.length <= this.state.race && this.view.total > 0;
  }

  async open() {
    this.listGraphs();
    await this.follow(this.state);
    const example = { ...DEFAULTS, ...EXAMPLE };
    if (!this.view) await this.follow(example, () => replaceAddress(example)); // the address is of no use, and reported
  }

  async listGraphs() {
    const own = recall("uploads", {});
    const graphs = await this.api.listGraphs().catch(() => []);
    this.titles = { ...Object.fromEntries(graphs.map(({ id, title: name }) => [id, name])), ...own };
    if (!this.titles[this.state.graph]) this.titles[this.state.graph] = "a shared graph";
    const groups = { Graphs: (id) => !own[id] && !EXAMPLES.has(id), Yours: (id) => own[id], Examples: (id) => EXAMPLES.has(id) };
    const list = (isIn) => Object.keys(this.titles).filter(isIn).map((value) => make("option", { value }, this.titles[value]));
    find("graph").replaceChildren(...Object.entries(groups).map(([label, isIn]) => make("optgroup", { label }, ...list(isIn))).filter((group) => group.children.length));
    find("graph").value = this.state.graph;
  }

  // -- change the state ------------------------------------------------------------------------------------------

  /** Go to another state, which Back undoes. */
  change(values) {
    const next = { ...this.state, ...values };
    return this.follow(next, () => pushAddress(next));
  }

  /** Change what is shown of the same walk, which Back does not undo. */
  set(values) {
    const next = { ...this.state, ...values };
    return this.follow(next, () => replaceAddress(next));
  }

  /** Show a state; keep the old one if that fails. */
  async follow(next, keep = () => {}) {
    this.request?.abort();
    const request = (this.request = new AbortController());
    const slow = setTimeout(() => this.say(["Computing …"]), SLOW_MS);
    const late = setTimeout(() => this.say(["Still computing. The first time after its installation, curiograph prepares itself for this machine (half a minute)."]), 3000);
    try {
      this.isBusy = true;
      const isNew = next.graph !== this.shown;
      const graph = isNew ? await this.api.getPicture(next.graph, request.signal) : this.picture.graph;
      if (!next.walk.length) next.walk = graph.start === undefined ? [] : [graph.start];
      if (!next.walk.length) throw new Error("This graph has no links to walk on; choose another one.");
      const view = await this.getView(next, request.signal);
      const isOver = next.race && view.walk.length > 1 && (view.walk.length > next.race || !view.total);
      const rival = isOver ? await this.getRival(next, view) : null;
      if (request !== this.request) return;
      next.walk = view.walk;
      const before = this.view;
      const isStep = !isNew && before !== null && view.walk.length === before.walk.length + 1 && before.walk.every((node, i) => node === view.walk[i]);
      Object.assign(this, { state: next, view, rival, shown: next.graph });
      if (isNew) {
        this.picture.setGraph(graph);
        forgetTitles();
        keepTitles(graph.labels, graph.titles);
      }
      keepTitles([...view.walk, ...view.candidates.map(({ node }) => node)], view.titles);
      keep();
      this.render(isStep);
      if (rival && isStep) this.showResult();
    } catch (error) {
      if (error.name === "AbortError" || request !== this.request) return;
      this.report(error.message);
      this.stop();
      if (this.view) {
        replaceAddress(this.state);
        this.render(false);
      }
    } finally {
      clearTimeout(slow);
      clearTimeout(late);
      if (request === this.request) this.isBusy = false;
      if (request === this.request && this.view) document.body.dataset.ready = String(this.view.walk.length);
    }
  }

  async getView({ graph, walk, agent, reward, more }, signal) {
    const body = { graph, walk, agent, reward, more };
    const key = JSON.stringify(body);
    if (!this.kept.has(key)) {
      const view = await this.api.view(body, signal);
      this.kept.set(key, view);
      if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value);
    }
    return this.kept.get(key);
  }

  /** The agent's walk from the same start, with as many steps. */
  async getRival(state, view) {
    const { graph, agent, reward } = state;
    const walk = await this.api.explore({ graph, agent, reward, start: view.walk[0], steps: view.walk.length });
    return this.getView({ ...state, walk: walk.nodes, more: false });
  }

  /** Go to a next node. @param {number} index of the candidate */
  visit(index, by = "y") {
    const node = this.view.candidates[index]?.node;
    if (node === undefined || this.isBusy) return null;
    const race = this.isRacing ? this.state.race : 0; // a step after a race is one of a plain walk
    return this.change({ walk: [...this.view.walk, node], by: this.state.by + by, race });
  }

  act(name) {
    const isOver = !this.view || (!this.view.total && name === "step");
    const actions = {
      step: () => (this.isRacing || isOver ? null : this.visit(0, "a")),
      play: () => (this.isPlaying ? this.stop() : this.play()),
      back: () => this.back(),
      race: () => this.change({ walk: this.view.walk.slice(0, 1), by: "", race: RACE_STEPS }),
      more: () => this.set({ more: !this.state.more }),
      share: () => this.share(),
      save: () => this.save(),
      zoomIn: () => this.picture.zoom(1.35),
      zoomOut: () => this.picture.zoom(1 / 1.35),
      fit: () => this.fit(),
      help: () => this.showHelp(),
      search: () => {
        document.body.classList.add("choosing");
        find("start").focus();
      },
      choose: () => document.body.classList.toggle("choosing"),
      bring: () => this.bring(),
    };
    if (this.view || name === "help") actions[name]();
  }

  /** Undo as the browser's Back does; take back the last step of a walk that was opened by its address. */
  back() {
    this.stop();
    const { walk, by } = this.state;
    if (history.state?.isOurs) history.back();
    else if (walk.length > 1 && !isExample(this.state)) this.set({ walk: walk.slice(0, -1), by: by.slice(0, -1) });
  }

  play() {
    if (this.isRacing) return;
    const next = async () => {
      if (!this.view.total) return this.stop();
      const started = performance.now();
      await this.visit(0, "a");
      if (this.isPlaying) this.timer = setTimeout(next, Math.max(50, PLAY_MS - (performance.now() - started)));
    };
    this.isPlaying = true;
    next();
    this.renderBar();
  }

  stop() {
    clearTimeout(this.timer);
    this.isPlaying = false;
    this.renderBar();
  }

  async upload(files, directed) {
    const info = await this.api.upload(files, directed);
    keep("uploads", { ...recall("uploads", {}), [info.id]: info.title });
    await this.change({ graph: info.id, walk: [], by: "", race: 0 });
    this.listGraphs();
    if (this.shown !== info.id) return; // the problem is reported
    const kind = `${info.directed ? "directed" : "undirected"}, ${info.weighted ? "weighted" : "unweighted"}`;
    this.report(`${info.title}: ${count(info.nodes, "node")}, ${count(info.edges, "link")}, ${kind}.`);
  }

  // -- show ------------------------------------------------------------------------------------------------------

  render(isStep) {
    const { state, view, rival } = this;
    find("graph").value = state.graph;
    find("side").classList.toggle("wide", state.more && this.tab === "next");
    const gaps = view.beta1.at(-1);
    this.showHeadline();
    drawGrowth(find("growth"), view.beta1, rival?.beta1);
    this.setInsets();
    this.picture.hidden = this.isRacing;
    this.picture.hint = isExample(state) ? 0 : null;
    this.picture.setView(view, isStep);
    this.picture.rival = rival && !this.picture.graph.dense ? { ...rival, places: rival.places.slice(0, rival.walk.length) } : null;
    find("picture").setAttribute(
      "aria-label",
      `${count(view.walk.length, "node")} visited, ${count(view.links.length, "link")} between them, ${count(gaps, "open gap")}; the last node is ${title(view.walk.at(-1))}`,
    );
    this.renderTabs();
    this.renderBar();
    document.title = `${count(gaps, "gap")} · ${this.titles[state.graph] ?? "curiograph"}`;
  }

  /** Show the sentence of the last step, and the number of open gaps. */
  showHeadline() {
    const { state, view, rival } = this;
    const gaps = view.beta1.at(-1);
    this.say(rival ? this.describeResult() : describeStep(state, view, this.isRacing));
    this.showCount(gaps, gaps === 1 ? "open gap" : "open gaps", state.race ? `score ${this.getScore(view)}` : count(view.walk.length, "node"));
  }

  showCount(number, unit, more) {
    find("count").textContent = String(number);
    find("unit").textContent = unit;
    find("after").textContent = more;
  }

  renderTabs() {
    const tabs = Object.entries(TABS).map(([name, [text]]) =>
      make("button", { role: "tab", "aria-selected": String(name === this.tab), onclick: () => this.openTab(name) }, text),
    );
    const more = document.querySelector("[data-do=more]");
    more.textContent = this.state.more ? "Less" : "More";
    for (const button of [...tabs, more]) button.disabled = this.isRacing;
    const focused = [...find("tabs").children].indexOf(document.activeElement);
    find("tabs").replaceChildren(...tabs);
    if (focused >= 0) find("tabs").children[focused]?.focus();
    this.renderPanel();
  }

  openTab(name) {
    this.tab = name;
    find("side").classList.toggle("wide", this.state.more && name === "next");
    this.setInsets();
    this.renderTabs();
  }

  /** Fill the panel; a slow one is replaced only if its walk is still shown. */
  async renderPanel() {
    const box = make("div");
    const panel = find("panel");
    const held = panel.contains(document.activeElement);
    const { view } = this;
    if (this.picture.areas) {
      this.picture.areas = null;
      this.picture.moved = false;
      this.picture.fit(true);
      this.showHeadline();
    }
    this.picture.light(null);
    panel.replaceChildren(box);
    panel.scrollTop = 0;
    try {
      const [, show] = this.isRacing ? TABS.next : TABS[this.tab];
      await show(box, this);
    } catch (error) {
      if (view === this.view) box.replaceChildren(make("p", {}, error.message));
    }
    if (held && view === this.view) panel.querySelector("button")?.focus();
  }

  renderBar() {
    for (const button of document.querySelectorAll("#bar [data-do]")) {
      const isOver = this.isRacing || !this.view?.total;
      const isFirst = isExample(this.state) || this.state.walk.length < 2;
      const isBlocked = { step: isOver, play: isOver, back: isFirst && !history.state?.isOurs };
      button.disabled = Boolean(isBlocked[button.dataset.do]);
      if (button.dataset.do === "step") button.classList.toggle("primary", !isExample(this.state));
      if (button.dataset.do === "play") button.textContent = this.isPlaying ? "Pause" : "Play";
    }
  }

  /** Keep the graph out of the cards. */
  setInsets() {
    const [intro, side, bar, zoom] = ["intro", "side", "bar", "zoom"].map((id) => find(id).getBoundingClientRect());
    const isSheet = side.left === 0;
    const shares = [...Array(9).keys()].map((i) => i / 8);
    const wide = { left: shares.map((share) => 30 + share * intro.right), right: shares.map((share) => 30 + share * (innerWidth - side.left)) };
    this.picture.insets = isSheet ? { left: [14], right: [14], top: intro.bottom + 14, bottom: innerHeight - side.top + 14 } : { ...wide, top: 30, bottom: 116 };
    const tall = isSheet ? side : new DOMRect(side.x, side.y, side.width, Math.max(side.height, innerHeight / 2)); // its list grows
    this.picture.cards = [intro, tall, bar, zoom];
  }

  say(parts) {
    find("sentence").replaceChildren(...parts);
  }

  /** Show a message for some seconds. */
  report(text) {
    const toast = find("toast");
    toast.textContent = text;
    toast.hidden = false;
    clearTimeout(this.toast);
    this.toast = setTimeout(() => (toast.hidden = true), 3000 + 60 * text.length);
  }

  showTip(found, x, y) {
    const tip = find("tip");
    const { view, picture } = this;
    tip.hidden = found === null;
    for (const row of document.querySelectorAll("#panel .row")) {
      row.classList.toggle("lit", found?.kind === "gap" ? row.dataset.gap === String(found.index) : found?.kind === "candidate" && row.dataset.node === String(found.candidate.node));
    }
    if (found === null) return;
    const lines = {
      candidate: () => [title(found.candidate.node), this.isRacing ? "" : describeEffect(found.candidate.opens, found.candidate.closes)],
      visited: () => [`${found.index + 1}. ${title(view.walk[found.index])}`],
      other: () => [title(picture.graph.labels[found.index])],
      gap: () => this.describeGap(found.index),
    }[found.kind]();
    tip.textContent = lines.filter(Boolean).join("\n");
    tip.style.left = `${Math.min(x + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(y + 16, innerHeight - tip.offsetHeight - 8)}px`;
  }

  describeGap(index) {
    const { walk } = this.view;
    if (this.picture.areas) return ["A gap of the graph", joinLoop(this.picture.areas[index].titles)];
    const gap = this.view.gaps[index];
    const loop = joinLoop(gap.loop.map((step) => walk[step]));
    return [gap.closed_at ? `A gap that ${title(walk[gap.closed_at - 1])} closed` : "An open gap", loop];
  }

  /** Point from a panel at a gap or a next node. */
  pointAt(kind, index) {
    this.picture.hover = kind === "candidate" ? { kind, index } : null;
    this.picture.light(kind === "gap" ? index : null);
    this.picture.redraw();
  }

  fit() {
    const { picture } = this;
    picture.whole = picture.graph.nodes <= MAX_WHOLE || !picture.whole;
    picture.moved = false;
    picture.fit(true);
  }

  // -- gaps of the whole graph -----------------------------------------------------------------------------------

  showWhole(isWhole) {
    this.showsWhole = isWhole;
    this.renderTabs();
  }

  /** Ask once for the gaps of the graph. */
  async getGraphGaps() {
    const { graph } = this.state;
    if (!this.graphGaps.has(graph)) this.graphGaps.set(graph, await this.api.listGaps(graph));
    return this.graphGaps.get(graph);
  }

  /** Draw gaps of the graph, if its nodes are in the picture. */
  showAreas(gaps) {
    const { graph, indexOf } = this.picture;
    if (this.tab !== "gaps" || !this.showsWhole) return;
    this.showCount(gaps.length, "gaps of the graph", "");
    this.say(["Rings of links that nothing fills. What belongs inside? Point at one to see it."]);
    if (!indexOf || graph.dense) return;
    this.picture.areas = gaps.map(({ loop, titles }) => ({ loop, titles, places: loop.map((node) => graph.places[indexOf.get(node)]) }));
    this.picture.redraw();
  }

  zoomTo(index) {
    const area = this.picture.areas?.[index];
    if (area) this.picture.fit(true, area.places);
  }

  /** Gaps of this graph that the visitor has judged, by their names. */
  get dismissed() {
    return new Set(recall(`gaps ${this.state.graph}`, []));
  }

  dismiss(key) {
    keep(`gaps ${this.state.graph}`, key === null ? [] : [...this.dismissed, key]);
    this.renderPanel();
  }

  async copy(text, message) {
    try {
      await navigator.clipboard.writeText(text);
      this.report(message);
    } catch {
      const input = make("textarea", { value: text, readOnly: true, rows: 6, "aria-label": "text to copy" });
      this.openDialog("Copy this", [input], { Close: () => {} });
      input.select();
    }
  }

  /** Open the dialog. @param {Record<string, () => void>} actions by the names of the buttons that close it */
  openDialog(heading, content, actions) {
    const dialog = find("dialog");
    const buttons = Object.entries(actions).map(([name, action]) => make("button", { onclick: () => { dialog.close(); action(); } }, name));
    buttons[0].className = "primary";
    dialog.replaceChildren(make("h2", {}, heading), ...content, make("div", { className: "actions" }, ...buttons));
    dialog.showModal();
  }

  // -- race, share, help -----------------------------------------------------------------------------------------

  getScore(view) {
    return view.beta1.slice(1).reduce((a, b) => a + b, 0);
  }

  /** The scores of the visitor and of the agent, and who has won. */
  getResult() {
    const [own, other] = [this.getScore(this.view), this.getScore(this.rival)];
    return { own, other, verdict: own > other ? "You beat the agent" : own === other ? "A draw" : "The agent wins" };
  }

  describeResult() {
    const { own, other, verdict } = this.getResult();
    return [make("b", {}, `${verdict}: ${own} to ${other}`), `, in ${count(this.view.walk.length - 1, "step")} from ${title(this.view.walk[0])}.${this.picture.graph.dense ? "" : " Its walk and its gaps are orange."}`];
  }

  showResult() {
    const { own, other, verdict } = this.getResult();
    const scores = make("div", { className: "result" }, make("div", {}, make("strong", {}, String(own)), " you"), make("div", { className: "other" }, make("strong", {}, String(other)), " agent"));
    const note = make("p", { className: "note" }, "The sum of the open gaps after every step. The agent started where you did.");
    const first = this.picture.graph.dense ? "Close" : "See both walks";
    this.openDialog(verdict, [scores, note], { [first]: () => {}, Share: () => this.share(), Picture: () => this.save(), Again: () => this.act("race") });
  }

  share() {
    return this.copy(location.href, "The address of this walk is copied.");
  }

  async save() {
    const gaps = count(this.view.beta1.at(-1), "open gap");
    const name = this.titles[this.state.graph] ?? "";
    const { own, other } = this.rival ? this.getResult() : {};
    const result = this.rival ? `You ${own} : ${other} agent` : `${gaps} after ${count(this.view.walk.length, "node")}`;
    const url = URL.createObjectURL(await this.picture.save(`${result} · ${name} · curiograph`));
    make("a", { href: url, download: "curiograph.png" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  showHelp() {
    const about = make("p", {}, "Grey is the whole graph, black is your walk, rings are the nodes that you can go to. A blue area is an information gap: a ring of links between nodes you visited that nothing you visited fills. A node that fills it closes it, and the area turns green.");
    const keys = make("dl", {}, ...Object.entries(HELP).flatMap(([key, text]) => [make("dt", {}, key), make("dd", {}, text)]));
    this.openDialog("What you see", [about, keys], { Close: () => {} });
  }

  // -- keys and search -------------------------------------------------------------------------------------------

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || find("dialog").open) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.target.matches("[role=tab]") && event.key.startsWith("Arrow")) {
      const names = Object.keys(TABS);
      const next = names.indexOf(this.tab) + (event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1);
      this.openTab(names.at(next % names.length));
      find("tabs").querySelector("[aria-selected=true]").focus();
      return;
    }
    const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
    const rows = document.querySelectorAll("#panel [data-node]");
    if (digit && this.view) rows.length ? rows[digit - 1]?.click() : this.visit(digit - 1);
    else if (KEYS[event.key]) {
      event.preventDefault();
      this.act(KEYS[event.key]);
    }
  }

  setUpSearch() {
    const input = find("start");
    let wait = 0;
    const search = async () => {
      const { nodes, titles } = await this.api.searchNodes(this.state.graph, input.value).catch(() => ({ nodes: [], titles: [] }));
      return nodes.map((node, i) => ({ node, name: titles[i].replaceAll("_", " ") }));
    };
    const begin = (node) => {
      clearTimeout(wait);
      input.value = "";
      input.blur();
      document.body.classList.remove("choosing");
      this.change({ walk: [node], by: "", race: 0 });
    };
    input.oninput = () => {
      clearTimeout(wait);
      wait = setTimeout(async () => {
        const found = await search();
        find("starts").replaceChildren(...found.map(({ name }) => make("option", { value: name })));
        const exact = found.find(({ name }) => name === input.value); // chosen from the list
        if (exact) begin(exact.node);
      }, 120);
    };
    input.onkeydown = async (event) => {
      if (event.key !== "Enter" || !input.value) return;
      clearTimeout(wait);
      const [first] = await search();
      if (first) begin(first.node);
      else this.report(`No node is called “${input.value}”.`);
    };
  }
}
