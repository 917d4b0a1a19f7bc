// The picture: the whole graph in light grey, the walk on it in ink, gaps as soft areas, next nodes as rings.

import { placeLabels, title } from "./labels.js";

const MOVE_MS = 200;
const REACH = 20; // pixels around a node that belong to it
const MAX_AREAS = 12; // newest open gaps that are drawn, and in a dense graph; pointing at another one shows it
const MAX_DENSE_AREAS = 5;
const MAX_CLOSED = 2;
const MAX_GRAPH_AREAS = 12; // the same for gaps of the whole graph
export const MAX_WHOLE = 400; // nodes of a graph up to which all of it is in view at first
const UNFADED = 16; // newest nodes of a walk that do not fade in a dense graph
const MANY = 24; // next nodes above which they are small
const FLIPS = [[1, 1], [-1, 1], [1, -1], [-1, -1]];
const MINIMAP = { width: 190, height: 130 };

const ease = (share) => 1 - (1 - Math.min(1, Math.max(0, share))) ** 3;

export class Picture {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{visit: (index: number) => void, point: (what: object|null, x: number, y: number) => void}} on
   */
  constructor(canvas, on) {
    this.canvas = canvas;
    this.on = on;
    this.pen = canvas.getContext("2d");
    this.graph = null; // answer of GET picture
    this.view = null; // answer of POST view
    this.rival = null; // walk of the agent, as labels or places
    this.areas = null; // places and titles around gaps of the whole graph, if these are shown
    this.lit = null; // index of the gap that is pointed at
    this.hover = null;
    this.hidden = false; // whether the effects of next nodes are hidden, as in a race
    this.camera = { x: 0, y: 0, scale: 1 };
    this.aim = null;
    this.whole = true;
    this.moved = false; // whether the visitor has moved the view
    this.born = 0; // when the last step was shown
    this.labels = []; // as placed
    this.pointers = new Map();
    this.insets = { left: [0], top: 0, right: [0], bottom: 0 }; // left and right: distances to try
    this.turned = false; // whether x and y are exchanged, and which are mirrored, to use the free space
    this.flip = [1, 1];
    this.cards = []; // boxes that cover the picture
    this.hint = null; // index of the next node that pulses
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.readColors());
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.listen();
    this.readColors();
  }

  readColors() {
    const style = getComputedStyle(document.documentElement);
    this.colors = Object.fromEntries(
      ["paper", "ink", "soft", "faint", "line", "between", "blue", "green", "orange"].map((name) => [
        name,
        style.getPropertyValue(`--${name}`).trim(),
      ]),
    );
    this.shade = null;
    this.redraw();
  }

  /** Show a graph. */
  setGraph(graph) {
    this.graph = graph;
    this.view = this.rival = this.shade = this.paths = this.areas = null;
    this.moved = false;
    this.whole = graph.nodes <= MAX_WHOLE;
    this.indexOf = graph.labels ? new Map(graph.labels.map((label, i) => [label, i])) : null;
    if (graph.labels && graph.links) {
      const degree = new Int32Array(graph.nodes);
      for (const [a, b] of graph.links) {
        degree[a] += 1;
        degree[b] += 1;
      }
      this.hubs = [...degree.keys()].sort((a, b) => degree[b] - degree[a]).slice(0, 40);
    } else this.hubs = [];
  }

  /** Show a walk; `isStep` if it continues the one that is shown. */
  setView(view, isStep) {
    const before = this.view;
    this.view = view;
    this.lit = this.hover = null;
    this.from = isStep && before && this.graph.dense ? before.places.slice(0, before.walk.length) : null;
    this.born = performance.now();
    this.isStep = isStep;
    if (!isStep) this.moved = false;
    const isAll = this.whole && !this.graph.dense;
    if (!isStep || (!this.moved && !isAll) || !this.isInView(view.places[view.walk.length - 1])) this.fit(isStep);
    this.redraw();
  }

  isInView([x, y]) {
    const [px, py] = this.project(x, y);
    const { width, height } = this.canvas.getBoundingClientRect();
    const isUnder = (card) => px > card.left && px < card.right && py > card.top && py < card.bottom;
    return px > 0 && px < width && py > 0 && py < height && !this.cards.some(isUnder);
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.ratio = ratio;
    if (this.graph) this.fit(false);
  }

  /** Move the camera so that the graph, or the walk with its next nodes, or some places are in view. */
  fit(isSmooth, shown = null) {
    if (!this.graph) return;
    const { camera, turned, flip } = this.findFit(shown);
    Object.assign(this, { turned, flip });
    this.moveTo(camera, isSmooth);
  }

  /** Find the camera that shows things as large as possible without any node under a card. */
  findFit(shown, { insets, cards } = this) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const showsAll = !shown && this.whole && !this.graph.dense;
    const places = shown ?? (showsAll ? this.graph.places : this.view?.places);
    let [left, top, right, bottom] = this.graph.area;
    if (!showsAll && places) {
      const [xs, ys] = [0, 1].map((axis) => places.map((place) => place[axis]));
      const margin = Math.max(0.6, 0.06 * (Math.max(...xs) - Math.min(...xs)));
      [left, top, right, bottom] = [Math.min(...xs) - margin, Math.min(...ys) - margin, Math.max(...xs) + margin, Math.max(...ys) + margin];
    }
    const turned = showsAll && height - insets.top - insets.bottom > 1.15 * width && right - left > 1.05 * (bottom - top);
    if (turned) [left, top, right, bottom] = [top, left, bottom, right];
    const isCovered = ({ x, y, scale }, flip) =>
      (places ?? []).some((place) => {
        const [px, py] = [x + scale * flip[0] * place[turned ? 1 : 0], y + scale * flip[1] * place[turned ? 0 : 1]];
        return cards.some((card) => px > card.left - 12 && px < card.right + 12 && py > card.top - 12 && py < card.bottom + 12);
      });
    let best = null;
    for (const start of insets.left) {
      for (const end of insets.right) {
        const free = { width: Math.max(80, width - start - end), height: Math.max(80, height - insets.top - insets.bottom) };
        const scale = Math.min(220, 0.95 * Math.min(free.width / Math.max(1, right - left), free.height / Math.max(1, bottom - top)));
        if (best && scale <= best.camera.scale && !best.isHidden) continue;
        for (const flip of showsAll ? FLIPS : [FLIPS[0]]) {
          const camera = {
            x: start + free.width / 2 - (scale * flip[0] * (left + right)) / 2,
            y: insets.top + free.height / 2 - (scale * flip[1] * (top + bottom)) / 2,
            scale,
          };
          const isHidden = isCovered(camera, flip);
          best = !best || !isHidden || best.isHidden ? { camera, turned, flip, isHidden } : best;
          if (!isHidden) break;
        }
      }
    }
    return best; // if some node is under a card anyway, with the largest insets
  }

  moveTo(aim, isSmooth) {
    if (isSmooth && !this.still.matches) this.aim = { from: { ...this.camera }, to: aim, start: performance.now() };
    else {
      this.camera = aim;
      this.aim = null;
    }
    this.redraw();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const { camera } = this;
    const scale = Math.min(900, Math.max(1, camera.scale * factor));
    const ratio = scale / camera.scale;
    this.camera = { x: x - ratio * (x - camera.x), y: y - ratio * (y - camera.y), scale };
    this.aim = null;
    this.moved = true;
    this.redraw();
  }

  pan(dx, dy) {
    this.camera.x += dx;
    this.camera.y += dy;
    this.aim = null;
    this.moved = true;
    this.redraw();
  }

  project(x, y) {
    const { camera } = this;
    const [across, down] = this.turned ? [y, x] : [x, y];
    return [camera.x + camera.scale * this.flip[0] * across, camera.y + camera.scale * this.flip[1] * down];
  }

  // -- what is where ---------------------------------------------------------------------------------------------

  /** Place of a step in pixels; in a dense graph, nodes glide to their new places. */
  placeOf(i) {
    let [x, y] = this.view.places[i];
    const old = this.from?.[i];
    if (old) {
      const share = ease(this.age() / MOVE_MS);
      [x, y] = [old[0] + share * (x - old[0]), old[1] + share * (y - old[1])];
    }
    return this.project(x, y);
  }

  age() {
    return this.still.matches ? Infinity : performance.now() - this.born;
  }

  /** Candidates that are drawn, each with its place. */
  get drawn() {
    if (this.areas) return []; // the gaps of the graph are shown, not the walk
    const steps = this.view.walk.length;
    return this.view.candidates.slice(0, this.view.places.length - steps).map((candidate, index) => {
      const [x, y] = this.placeOf(steps + index);
      return { candidate, index, x, y };
    });
  }

  /** Return what is at a point: a candidate, a visited node, a gap or another node. */
  find(x, y) {
    if (!this.view) return null;
    const near = (px, py) => Math.hypot(px - x, py - y);
    let best = null;
    for (const { candidate, index, x: px, y: py } of this.drawn) {
      const distance = near(px, py);
      if (distance < REACH && (!best || distance < best.distance)) best = { kind: "candidate", index, candidate, distance };
    }
    for (let i = 0; i < this.view.walk.length; i++) {
      const distance = near(...this.placeOf(i));
      if (distance < REACH - 4 && (!best || distance < best.distance)) best = { kind: "visited", index: i, distance };
    }
    if (best) return best;
    const named = this.labels.find(({ item, box }) => item.candidate && x > box[0] && x < box[2] && y > box[1] && y < box[3]);
    if (named) return { kind: "candidate", index: named.item.index, candidate: named.item.candidate };
    if (this.graph.labels && !this.graph.dense) {
      this.graph.places.forEach(([px, py], i) => {
        const distance = near(...this.project(px, py));
        if (distance < 10 && (!best || distance < best.distance)) best = { kind: "other", index: i, distance };
      });
      if (best) return best;
    }
    const gaps = this.shownGaps().reverse();
    const found = gaps.find(({ places }) => {
      this.tracePolygon(places);
      return this.pen.isPointInPath(x * this.ratio, y * this.ratio);
    });
    return found ? { kind: "gap", index: found.index } : null;
  }

  /** Gaps whose areas are drawn: the newest open ones, the last closed ones, and the one pointed at. */
  shownGaps() {
    if (this.areas) {
      const indices = [...this.areas.keys()].filter((index) => index < MAX_GRAPH_AREAS || index === this.lit);
      return indices.map((index) => ({ gap: {}, index, places: this.areas[index].places.map(([x, y]) => this.project(x, y)) }));
    }
    const open = [];
    const closed = [];
    this.view.gaps.forEach((gap, index) => (gap.closed_at ? closed : open).push({ gap, index }));
    closed.sort((a, b) => a.gap.closed_at - b.gap.closed_at);
    const shown = [...closed.slice(-MAX_CLOSED), ...open.slice(this.graph.dense ? -MAX_DENSE_AREAS : -MAX_AREAS)];
    if (this.lit !== null && !shown.some(({ index }) => index === this.lit)) {
      shown.push({ gap: this.view.gaps[this.lit], index: this.lit });
    }
    return shown.map((each) => ({ ...each, places: each.gap.loop.map((step) => this.placeOf(step)) }));
  }

  light(index) {
    if (index === this.lit) return;
    this.lit = index;
    this.redraw();
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  redraw() {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = 0;
    if (!this.graph || !this.ratio) return;
    if (this.aim) {
      const share = ease((performance.now() - this.aim.start) / MOVE_MS);
      for (const name of ["x", "y", "scale"]) {
        this.camera[name] = this.aim.from[name] + share * (this.aim.to[name] - this.aim.from[name]);
      }
      if (share >= 1) this.aim = null;
    }
    this.paint(this.pen, this.canvas.width, this.canvas.height);
    const isPulsing = this.hint !== null && !this.still.matches;
    if (this.aim || isPulsing || (this.view && this.age() < 2.5 * MOVE_MS)) this.redraw();
  }

  paint(pen, width, height) {
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = this.colors.paper;
    pen.fillRect(0, 0, width, height);
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.lineCap = pen.lineJoin = "round";
    if (!this.graph.dense) this.paintGraph(pen);
    if (!this.view) return;
    this.paintGaps(pen);
    this.paintLinks(pen);
    this.paintWalk(pen);
    this.paintNodes(pen);
    if (this.graph.dense && width / this.ratio > 900) this.paintMinimap(pen, this.canvas.height / this.ratio);
  }

  paintGraph(pen) {
    const { graph, colors } = this;
    if (graph.shade) {
      this.paintShade(pen, ...this.project(graph.area[0], graph.area[1]), ...this.project(graph.area[2], graph.area[3]));
      return;
    }
    const { x, y, scale } = this.camera;
    if (!this.paths) {
      this.paths = { links: new Path2D(), nodes: new Path2D() };
      for (const [a, b] of graph.links) {
        this.paths.links.moveTo(...graph.places[a]);
        this.paths.links.lineTo(...graph.places[b]);
      }
      for (const place of graph.places) {
        this.paths.nodes.moveTo(...place);
        this.paths.nodes.lineTo(...place); // a dot, with round ends
      }
    }
    pen.save();
    const [across, down] = this.flip.map((sign) => sign * scale);
    pen.transform(...(this.turned ? [0, down, across, 0, x, y] : [across, 0, 0, down, x, y]));
    pen.strokeStyle = colors.line;
    pen.lineWidth = (graph.links.length > 4000 ? 0.5 : 1) / scale;
    pen.stroke(this.paths.links);
    pen.strokeStyle = colors.faint;
    pen.lineWidth = Math.max(3, Math.min(10, scale * 0.12)) / scale;
    pen.stroke(this.paths.nodes);
    pen.restore();
  }

  /** Paint the density of nodes, smoothed by scaling a small picture of it. */
  paintShade(pen, left, top, right, bottom) {
    const rows = this.graph.shade;
    if (!this.shade) {
      this.shade = document.createElement("canvas");
      this.shade.width = rows[0].length;
      this.shade.height = rows.length;
      const small = this.shade.getContext("2d");
      const most = Math.max(...rows.flat());
      small.fillStyle = this.colors.between;
      rows.forEach((row, y) =>
        row.forEach((count, x) => {
          small.globalAlpha = count ? 0.08 + 0.42 * Math.sqrt(count / most) : 0;
          small.fillRect(x, y, 1, 1);
        }),
      );
    }
    pen.imageSmoothingEnabled = true;
    pen.drawImage(this.shade, left, top, right - left, bottom - top);
  }

  tracePolygon(places) {
    const { pen } = this;
    pen.beginPath();
    places.forEach((place, i) => pen[i ? "lineTo" : "moveTo"](...place));
    pen.closePath();
  }

  /** Whether a visited node lies inside the polygon of a loop, which was traced last. */
  surroundsVisited(loop) {
    return this.view.walk.some((_, i) => {
      if (loop.includes(i)) return false;
      const [x, y] = this.placeOf(i);
      return this.pen.isPointInPath(x * this.ratio, y * this.ratio);
    });
  }

  paintGaps(pen) {
    const steps = this.view.walk.length;
    for (const { gap, index, places } of this.shownGaps()) {
      const isNew = this.isStep && (gap.opened_at === steps || gap.closed_at === steps);
      const share = isNew ? ease((this.age() - MOVE_MS) / (1.5 * MOVE_MS)) : 1;
      const isLit = index === this.lit;
      this.tracePolygon(places);
      pen.fillStyle = pen.strokeStyle = gap.closed_at ? this.colors.green : this.colors.blue;
      const surrounds = gap.loop?.length && this.surroundsVisited(gap.loop); // by chance of the layout: only its outline is drawn
      pen.globalAlpha = share * (isLit ? 0.3 : this.lit !== null ? 0.05 : gap.closed_at ? 0.13 : surrounds ? 0.03 : 0.12);
      pen.fill();
      if (isLit || !gap.closed_at) {
        pen.globalAlpha = share * (isLit ? 1 : this.lit !== null ? 0.1 : 0.55);
        pen.lineWidth = isLit ? 4 : 2;
        pen.stroke();
      }
      if (gap.closed_at) {
        const [x, y] = this.placeOf(gap.closed_at - 1);
        pen.globalAlpha = share;
        pen.lineWidth = 3;
        pen.beginPath();
        pen.arc(x, y, 14, 0, 2 * Math.PI);
        pen.stroke();
      }
      pen.globalAlpha = 1;
    }
  }

  /** Paint links between visited nodes, and those of the next nodes. */
  paintLinks(pen) {
    const { view, colors } = this;
    const last = view.walk.length - 1;
    pen.strokeStyle = colors.between;
    pen.lineWidth = 1.5;
    pen.globalAlpha = this.graph.dense ? Math.max(0.06, Math.min(0.5, 12 / view.links.length)) : 0.8;
    pen.beginPath();
    for (const [a, b] of view.links) {
      if (b === a + 1) continue;
      pen.moveTo(...this.placeOf(a));
      pen.lineTo(...this.placeOf(b));
    }
    pen.stroke();
    const { drawn } = this;
    pen.strokeStyle = colors.blue;
    pen.globalAlpha = drawn.length > MANY ? 0.2 : 0.5;
    pen.lineWidth = 1.5;
    pen.setLineDash([3, 5]);
    pen.beginPath();
    for (const { candidate, x, y } of drawn) {
      const from = candidate.linked.includes(last) ? last : candidate.linked.at(-1) ?? last;
      pen.moveTo(...this.placeOf(from));
      pen.lineTo(x, y);
    }
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  fade(step) {
    const late = this.view.walk.length - 1 - step;
    return this.graph.dense && late > UNFADED ? Math.max(0.1, Math.min(0.28, 11 / this.view.walk.length)) : 1;
  }

  paintWalk(pen) {
    const { view, colors } = this;
    const linked = new Set(view.links.map(([a, b]) => a * 1e5 + b));
    const draw = (places, color, width, isLinked) => {
      pen.strokeStyle = color;
      for (let i = 1; i < places.length; i++) {
        let [x, y] = places[i];
        if (places === walked && i === places.length - 1 && this.isStep) {
          const share = ease(this.age() / MOVE_MS);
          [x, y] = [places[i - 1][0] + share * (x - places[i - 1][0]), places[i - 1][1] + share * (y - places[i - 1][1])];
        }
        pen.lineWidth = !isLinked(i) ? 2 : places === walked && this.fade(i - 1) < 1 ? 1.5 : width;
        pen.setLineDash(isLinked(i) ? [] : [2, 7]);
        pen.globalAlpha = places === walked ? this.fade(i - 1) * (this.areas ? 0.25 : this.lit === null ? 1 : 0.35) : 0.85;
        pen.beginPath();
        pen.moveTo(...places[i - 1]);
        pen.lineTo(x, y);
        pen.stroke();
      }
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    };
    const walked = view.walk.map((_, i) => this.placeOf(i));
    if (this.rival) {
      const { places, links, gaps } = this.rival;
      const steps = places.map(([x, y]) => this.project(x, y));
      for (const gap of gaps.filter((each) => !each.closed_at)) {
        this.tracePolygon(gap.loop.map((step) => steps[step]));
        pen.globalAlpha = 0.1;
        pen.fillStyle = colors.orange;
        pen.fill();
      }
      const joined = new Set(links.map(([a, b]) => a * 1e5 + b));
      draw(steps, colors.orange, 3, (i) => joined.has((i - 1) * 1e5 + i));
    }
    draw(walked, colors.ink, this.graph.dense ? 3 : 4, (i) => linked.has((i - 1) * 1e5 + i));
  }

  paintNodes(pen) {
    const { view, colors } = this;
    const last = view.walk.length - 1;
    const inLoop = this.lit === null || this.areas ? null : new Set(view.gaps[this.lit].loop);
    const discs = [];
    const wanted = [];
    const disc = (x, y, r, fill, stroke, width) => {
      pen.beginPath();
      pen.arc(x, y, r, 0, 2 * Math.PI);
      pen.fillStyle = fill;
      pen.fill();
      pen.lineWidth = width;
      pen.strokeStyle = stroke;
      pen.stroke();
    };
    const { drawn } = this;
    const many = drawn.length > MANY;
    for (const { candidate, index, x, y } of drawn) {
      const isHovered = this.hover?.kind === "candidate" && this.hover.index === index;
      const r = isHovered ? 10 : many ? 5 : 8;
      const beats = !this.hidden && candidate.opens > candidate.closes;
      if (index === this.hint && !this.still.matches) {
        const share = (performance.now() % 1400) / 1400;
        pen.globalAlpha = 0.5 * (1 - share);
        disc(x, y, r + 18 * share, colors.blue, colors.blue, 0);
        pen.globalAlpha = 1;
      }
      disc(x, y, r, isHovered ? colors.blue : colors.paper, colors.blue, beats && !many ? 4 : 2);
      discs.push({ x, y, r });
      const size = 13;
      wanted.push({ x, y, r, text: title(candidate.node), size, color: colors.soft, rank: isHovered ? 0 : 2, candidate, index });
    }
    for (let i = 0; i <= last; i++) {
      const [x, y] = this.placeOf(i);
      const isLast = i === last;
      const isFaded = this.fade(i) < 1 && !inLoop?.has(i);
      const r = isFaded ? 4 : isLast ? 11 : 7.5;
      pen.globalAlpha = this.areas || (inLoop && !inLoop.has(i)) ? 0.3 : isFaded ? 0.45 : 1;
      disc(x, y, r, colors.ink, colors.paper, 2);
      if (isLast) {
        pen.beginPath();
        pen.arc(x, y, r + 4, 0, 2 * Math.PI);
        pen.strokeStyle = colors.ink;
        pen.lineWidth = 2;
        pen.stroke();
      }
      pen.globalAlpha = 1;
      if (!isFaded) discs.push({ x, y, r });
      const isHovered = this.hover?.kind === "visited" && this.hover.index === i;
      if (isFaded && !isHovered) continue;
      const rank = isHovered ? 0 : isLast ? 1 : inLoop ? (inLoop.has(i) ? 1.5 : 5) : 3 + (last - i) / 1e6;
      const lines = [i - 1, i + 1].filter((j) => j >= 0 && j <= last).map((j) => this.placeOf(j));
      wanted.push({ x, y, r: isLast ? r + 4 : r, text: title(view.walk[i]), size: isLast ? 16 : 14, bold: isLast, color: colors.ink, rank, lines });
    }
    if (this.indexOf && !this.graph.dense) {
      const lit = this.areas?.[this.lit]?.loop ?? [];
      const seen = new Set([...lit, ...view.walk, ...view.candidates.map(({ node }) => node)]);
      for (const i of this.hubs) {
        if (seen.has(this.graph.labels[i])) continue;
        const [x, y] = this.project(...this.graph.places[i]);
        wanted.push({ x, y, r: 4, text: title(this.graph.labels[i]), size: 11, color: colors.between, rank: 9 });
      }
      if (this.hover?.kind === "other") {
        const [x, y] = this.project(...this.graph.places[this.hover.index]);
        disc(x, y, 5, colors.between, colors.paper, 2);
      }
    }
    if (this.areas && this.lit !== null) {
      const { places, titles } = this.areas[this.lit];
      places.forEach((place, i) => {
        const [x, y] = this.project(...place);
        disc(x, y, 6, colors.blue, colors.paper, 2);
        wanted.push({ x, y, r: 6, text: titles[i], size: 14, bold: true, color: colors.ink, rank: 0.5 });
      });
    }
    wanted.sort((a, b) => a.rank - b.rank);
    const area = { left: 4, top: 4, right: this.canvas.width / this.ratio - 4, bottom: this.canvas.height / this.ratio - 4 };
    pen.textBaseline = "middle";
    pen.strokeStyle = colors.paper;
    pen.lineWidth = 4;
    const { camera } = this;
    if (!this.pointers.size || !this.dragged || this.labeled?.scale !== camera.scale) {
      this.labels = placeLabels(pen, wanted, discs, area, this.cards);
      this.labeled = { ...camera };
    }
    const [dx, dy] = [camera.x - this.labeled.x, camera.y - this.labeled.y]; // while the picture is dragged
    pen.translate(dx, dy);
    for (const { item, x, y, font, text } of this.labels) {
      pen.font = font;
      pen.globalAlpha = inLoop && item.rank > 1.5 ? 0.35 : 1;
      pen.strokeText(text, x, y);
      pen.fillStyle = item.color;
      pen.fillText(text, x, y);
    }
    pen.translate(-dx, -dy);
    pen.globalAlpha = 1;
  }

  /** In a dense graph the walk has its own layout; the minimap shows where it is in the whole graph. */
  paintMinimap(pen, height) {
    const { graph, view, colors } = this;
    const [left, top, right, bottom] = graph.area;
    const scale = Math.min(MINIMAP.width / (right - left), MINIMAP.height / (bottom - top));
    const [x0, y0] = [28, height - 28 - scale * (bottom - top)];
    const put = ([x, y]) => [x0 + scale * (x - left), y0 + scale * (y - top)];
    pen.fillStyle = colors.line;
    pen.beginPath();
    pen.roundRect(x0 - 8, y0 - 8, scale * (right - left) + 16, scale * (bottom - top) + 16, 12);
    pen.fill();
    if (graph.shade) this.paintShade(pen, x0, y0, ...put([right, bottom]));
    else {
      pen.fillStyle = colors.faint;
      for (const place of graph.places) {
        const [x, y] = put(place);
        pen.fillRect(x - 1, y - 1, 2, 2);
      }
    }
    pen.fillStyle = colors.ink;
    view.map.forEach(([mapX, mapY], i) => {
      const [x, y] = put([Math.min(right, Math.max(left, mapX)), Math.min(bottom, Math.max(top, mapY))]);
      pen.beginPath();
      pen.arc(x, y, i === view.map.length - 1 ? 4 : 1.8, 0, 2 * Math.PI);
      pen.fill();
    });
  }

  /** Return the picture, without cards, as a PNG with a line of text below. @param {string} caption */
  save(caption) {
    const copy = document.createElement("canvas");
    const foot = 44 * this.ratio;
    [copy.width, copy.height] = [this.canvas.width, this.canvas.height + foot];
    const pen = copy.getContext("2d");
    const kept = { pen: this.pen, camera: this.camera, cards: this.cards, turned: this.turned, flip: this.flip };
    const { camera, turned, flip } = this.findFit(null, { insets: { left: [30], right: [30], top: 30, bottom: 30 }, cards: [] });
    Object.assign(this, { pen, camera, turned, flip, cards: [], labeled: null });
    this.paint(pen, copy.width, copy.height);
    Object.assign(this, kept, { labeled: null });
    pen.font = '600 17px "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
    pen.fillStyle = this.colors.ink;
    pen.fillText(caption, 24, copy.height / this.ratio - 22);
    this.redraw();
    return new Promise((resolve) => copy.toBlob(resolve, "image/png"));
  }

  // -- pointers --------------------------------------------------------------------------------------------------

  listen() {
    const { canvas } = this;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      const [x, y] = place(event);
      this.pointers.set(event.pointerId, { x, y });
      this.dragged = this.pointers.size > 1;
      this.pressed = { x, y };
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      const pointer = this.pointers.get(event.pointerId);
      if (!pointer) {
        this.point(this.find(x, y), x, y);
        return;
      }
      if (this.pointers.size === 2) {
        const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, each]) => each);
        const before = Math.hypot(pointer.x - other.x, pointer.y - other.y);
        this.zoom(Math.hypot(x - other.x, y - other.y) / Math.max(1, before), (x + other.x) / 2, (y + other.y) / 2);
        this.dragged = true;
      } else if (this.dragged || Math.hypot(x - this.pressed.x, y - this.pressed.y) > 6) {
        this.dragged = true;
        this.pan(x - pointer.x, y - pointer.y);
      }
      [pointer.x, pointer.y] = [x, y];
    });
    const release = (event) => {
      const [x, y] = place(event);
      const known = this.pointers.delete(event.pointerId);
      if (this.dragged) this.redraw(); // with new labels
      if (!known || this.dragged || event.type === "pointercancel") return;
      const found = this.find(x, y);
      if (found?.kind === "candidate") this.on.visit(found.index);
      else this.point(found, x, y);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", (event) => event.pointerType === "touch" || this.point(null, 0, 0));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...place(event));
      },
      { passive: false },
    );
  }

  point(found, x, y) {
    const isSame = found?.kind === this.hover?.kind && found?.index === this.hover?.index;
    this.hover = found;
    this.canvas.classList.toggle("pointing", found?.kind === "candidate");
    this.on.point(found, x, y);
    if (!isSame) {
      this.light(found?.kind === "gap" ? found.index : null);
      this.redraw();
    }
  }
}
