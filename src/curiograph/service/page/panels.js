// The panels beside the picture: next nodes, gaps, recommendations, and a comparison of the visitor's choices.

import { title } from "./labels.js";
import { AGENTS, MOTIVES, count, describeEffect, isExample, joinLoop, make } from "./words.js";

const MAX_ROWS = 60;
const MAX_GAPS = 200;
const MIN_CHOICES = 5;
const MAX_COMPARED = 40; // own choices that are compared, the newest

const signed = (value, digits = 0) => {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? "0" : `${value < 0 ? "−" : "+"}${text}`;
};

function chip(candidate) {
  const text = describeEffect(candidate.opens, candidate.closes);
  return make("small", { className: candidate.opens > candidate.closes ? "opens" : candidate.closes ? "closes" : "" }, text);
}

/** Show a gap or a next node in the picture while a button is pointed at. */
function light(page, button, kind, index) {
  for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => page.pointAt(kind, index));
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => page.pointAt(null));
}

/** Next nodes with their effects; with `more`, all motives and the choice of an agent. */
export function showNext(box, page) {
  const { state, view } = page;
  const nodes = view.candidates.slice(0, MAX_ROWS);
  const go = (index, name) => {
    const button = make("button", { className: "row", onclick: () => page.visit(index) });
    button.append(make("span", { className: "name" }, title(name)));
    button.dataset.node = String(name);
    light(page, button, "candidate", index);
    return button;
  };
  if (!view.total) box.append(make("p", {}, "There is nowhere left to go."));
  else if (!state.more || page.isRacing) {
    const order = page.isRacing ? [...nodes.keys()].sort((a, b) => (title(nodes[a].node) < title(nodes[b].node) ? -1 : 1)) : nodes.keys();
    const list = make("ul", { "aria-label": "next nodes" });
    for (const index of order) {
      const button = go(index, nodes[index].node);
      if (!page.isRacing && !isExample(state)) button.append(chip(nodes[index]));
      list.append(make("li", {}, button));
    }
    box.append(list);
  } else {
    const ranks = nodes.map(({ values }) => 1 + view.candidates.filter((each) => each.values.pagerank > values.pagerank).length);
    const table = make("table", { "aria-label": "next nodes" });
    const head = { "next node": "where you can go", gaps: "change of open gaps", compression: "change of compressibility in bits",
      flexibility: "change of the degrees of freedom, if links were rigid bars", PageRank: "rank by PageRank from this walk, 1 is best", links: "links of the node" };
    table.append(make("tr", {}, ...Object.entries(head).map(([name, about]) => make("th", { scope: "col", title: about }, name))));
    nodes.forEach((candidate, index) => {
      const { igt, cpt, cct, degree } = candidate.values;
      const name = go(index, candidate.node);
      if (candidate.node === view.choice) name.append(make("small", { className: "agent" }, "agent"));
      const numbers = [signed(igt - view.igt), cpt == null || view.cpt == null ? "" : signed(cpt - view.cpt, 2), signed(cct - view.cct), String(ranks[index]), String(degree)];
      table.append(make("tr", {}, make("td", {}, name), ...numbers.map((each) => make("td", {}, each))));
    });
    box.append(table);
  }
  if (view.total > nodes.length) box.append(make("p", { className: "note" }, `The best ${nodes.length} of ${count(view.total, "next node")}.`));
  if (!page.isRacing && view.choice != null && state.more) {
    box.append(make("p", { className: "note" }, `The agent would go to ${title(view.choice)}. ${view.reason ?? ""}`), chooseAgent(page));
  }
}

function chooseAgent(page) {
  const pick = (name, options, about) => {
    const select = make("select", { "aria-label": about });
    for (const [value, text] of Object.entries(options)) select.append(make("option", { value, selected: page.state[name] === value }, text));
    select.onchange = () => page.set({ [name]: select.value });
    return select;
  };
  const { igt, cpt, cct } = MOTIVES;
  return make("div", { className: "fields" }, "The agent", pick("agent", AGENTS, "how the agent chooses"), "and seeks", pick("reward", { igt, cpt, cct }, "what the agent seeks"));
}

/** A row of a list of gaps, which lights its gap in the picture. */
function makeGapRow(page, index, names, question, ...more) {
  const button = make("button", { className: "row", title: names.join(" – ") }, make("span", { className: "name" }, joinLoop(names), ...(question ? [make("br"), make("small", {}, question)] : [])), ...more);
  button.dataset.gap = String(index);
  light(page, button, "gap", index);
  return button;
}

/** Gaps of the walk, the newest first, or of the whole graph. */
export async function showGaps(box, page) {
  const choose = (isWhole) => make("button", { "aria-pressed": String(page.showsWhole === isWhole), onclick: () => page.showWhole(isWhole) }, isWhole ? "Whole graph" : "This walk");
  box.append(make("div", { className: "switch" }, choose(false), choose(true)));
  if (page.showsWhole) return showGraphGaps(box, page);
  const { view } = page;
  const open = view.gaps.filter((gap) => !gap.closed_at).length;
  box.append(make("p", {}, view.gaps.length ? `${open} open, ${view.gaps.length - open} closed. Point at one to see it.` : "No gap yet. Walk on until your path forms a ring."));
  const list = make("ul", { "aria-label": "gaps" });
  const changed = (gap) => Math.max(gap.opened_at, gap.closed_at ?? 0);
  const newest = [...view.gaps.keys()].sort((a, b) => changed(view.gaps[b]) - changed(view.gaps[a]));
  for (const index of newest.slice(0, MAX_GAPS)) {
    const gap = view.gaps[index];
    const fate = gap.closed_at ? make("small", { className: "closes" }, `closed by ${title(view.walk[gap.closed_at - 1])}`) : make("small", { className: "opens" }, "open");
    list.append(make("li", {}, makeGapRow(page, index, gap.loop.map((step) => title(view.walk[step])), "", fate)));
  }
  box.append(list);
  if (view.gaps.length > MAX_GAPS) box.append(make("p", { className: "note" }, `The newest ${MAX_GAPS} of ${count(view.gaps.length, "gap")}.`));
  return null;
}

/** Gaps of the whole graph: to walk through, dismiss, and copy as Markdown. */
async function showGraphGaps(box, page) {
  const status = make("p", {}, "Looking for the gaps of the graph …");
  box.append(status);
  const { total, gaps } = await page.getGraphGaps();
  const shown = gaps.filter((gap) => !page.dismissed.has(gap.titles.join(" - ")));
  page.showAreas(shown);
  const longer = total > gaps.length ? `The first ${gaps.length} of ${count(total, "gap")}. ` : "";
  const drawing = page.picture.areas || !total ? "" : "The graph is too large or too dense to draw them. ";
  status.textContent = total ? `${longer}${drawing}The most important come first.` : "This graph has no gaps: everything that forms a ring is filled.";
  const list = make("ul", { "aria-label": "gaps of the graph" });
  shown.forEach((gap, index) => {
    const names = new Map(gap.loop.map((node, i) => [node, gap.titles[i]]));
    const [link] = gap.links;
    const row = makeGapRow(page, index, gap.titles, link ? `What connects ${title(names.get(link[0]))} with ${title(names.get(link[1]))}?` : "");
    row.addEventListener("click", () => page.zoomTo(index));
    const key = gap.titles.join(" - ");
    list.append(make("li", { className: "pair" }, row, make("button", { className: "dismiss", title: "dismiss", "aria-label": `dismiss ${key}`, onclick: () => page.dismiss(key) }, "×")));
  });
  const copy = () => page.copy(shown.map((gap) => `- [ ] ${gap.titles.join(" - ")}`).join("\n"), "The gaps are copied as Markdown.");
  box.append(list);
  if (shown.length) box.append(make("div", { className: "actions" }, make("button", { onclick: copy }, "Copy as Markdown")));
  if (page.dismissed.size) box.append(make("p", { className: "note" }, `${count(page.dismissed.size, "gap")} dismissed. `, make("button", { onclick: () => page.dismiss(null) }, "Show all")));
}

/** Recommended nodes. The effect of a next node is that of the list of next nodes, on the whole walk. */
export async function showRecommendations(box, page) {
  const { state, view } = page;
  box.append(make("p", {}, "Simulating walkers from your walk …"));
  const answer = await page.api.recommend({ graph: state.graph, history: view.walk, k: 6, candidates: "all", reasons: true });
  const list = make("ol", { "aria-label": "recommended nodes" });
  for (const { node, sentence } of answer.recommendations) {
    const index = view.candidates.findIndex((candidate) => candidate.node === node);
    const known = view.candidates[index];
    const effect = known && describeEffect(known.opens, known.closes);
    const about = `${title(sentence ?? "")}${effect ? ` It ${effect} ${known.opens + known.closes === 1 ? "gap" : "gaps"}.` : ""}`;
    const text = make("span", { className: "name" }, title(node), make("br"), make("small", {}, about));
    list.append(make("li", {}, known ? make("button", { className: "row", onclick: () => page.visit(index) }, text) : make("div", { className: "row" }, text, make("small", {}, "not linked from here"))));
  }
  box.replaceChildren(make("p", {}, "Where walkers who start on your walk arrive most often."), answer.recommendations.length ? list : make("p", {}, "Nothing is left to recommend."));
}

/** Share of the other next nodes that a choice beats; ties count half. */
function computeShare(values, mine) {
  const others = values.length - 1;
  const below = values.filter((value) => value < mine).length;
  const equal = values.filter((value) => value === mine).length - 1;
  return others ? (below + equal / 2) / others : null;
}

/** Compare the visitor's own choices with what each motive would choose. */
export async function showChoices(box, page) {
  const { state, view } = page;
  const own = [...state.by].flatMap((by, i) => (by === "y" ? [i + 1] : [])).slice(-MAX_COMPARED);
  if (own.length < MIN_CHOICES) {
    const left = MIN_CHOICES - own.length;
    box.append(make("p", {}, `Choose ${count(left, own.length ? "more node" : "node")} yourself to see which motive your choices are closest to.`));
    return;
  }
  box.append(make("p", {}, "Looking at your choices …"));
  const shares = Object.fromEntries(Object.keys(MOTIVES).map((motive) => [motive, []]));
  for (const step of own) {
    const { candidates } = await page.api.look({ graph: state.graph, walk: view.walk.slice(0, step), agent: "random" });
    const mine = candidates.find(({ node }) => node === view.walk[step]);
    for (const motive of Object.keys(mine?.values ?? {})) {
      const share = computeShare(candidates.map(({ values }) => values[motive]), mine.values[motive]);
      if (share !== null) shares[motive].push(share);
    }
  }
  const means = Object.entries(shares).filter(([, all]) => all.length).map(([motive, all]) => [motive, all.reduce((a, b) => a + b) / all.length]);
  if (!means.length) {
    box.replaceChildren(make("p", {}, "There was nothing to choose from: each of your nodes was the only one."));
    return;
  }
  const best = Math.max(...means.map(([, mean]) => mean));
  const closest = means.filter(([, mean]) => best - mean < 0.005).map(([motive]) => MOTIVES[motive]);
  const names = closest.length > 1 ? `${closest.slice(0, -1).join(", ")} and ${closest.at(-1)} alike` : closest[0];
  const bars = make("div", { className: "bars" });
  for (const [motive, mean] of means) bars.append(make("span", {}, MOTIVES[motive]), make("meter", { value: mean, "aria-label": MOTIVES[motive] }), make("span", {}, `${Math.round(100 * mean)} %`));
  box.replaceChildren(
    make("p", {}, best > 0.5 ? `Of ${count(own.length, "choice")} of yours, most are like those of a walker who seeks ${names}.` : `Your ${own.length} choices are like none of these motives.`),
    bars,
    make("p", { className: "note" }, "The share of the other next nodes that yours beats; chance is 50 %."),
  );
}

/** Draw the number of open gaps after every step, and the agent's in a race. */
export function drawGrowth(svg, own, other) {
  const most = Math.max(1, ...own, ...(other ?? []));
  const length = Math.max(2, own.length, other?.length ?? 0);
  const trace = (values, name) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const points = values.map((value, i) => `${((240 * i) / (length - 1)).toFixed(1)} ${(31 - (30 * value) / most).toFixed(1)}`);
    path.setAttribute("d", `M${points.join("L")}`);
    path.setAttribute("class", name);
    return path;
  };
  svg.replaceChildren(trace(own, "own"), ...(other ? [trace(other, "other")] : []));
  svg.setAttribute("aria-label", `open gaps after every step: ${own.join(", ")}`);
}
