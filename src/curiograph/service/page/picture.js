// The picture of a walk as SVG: visited nodes, their links, gaps as soft areas, and candidates for the next step.
// Coordinates come from the server and never change; zooming and panning move the view only.

const NUM_UNFADED = 14; // newest nodes of a long walk that do not fade
const FADE_ABOVE = 40; // nodes of a walk above which old ones fade
const REACH = 24; // pixels around a node that belong to it
const FONT = 13;
const STEP_SECONDS = 0.5; // of the animation

const STYLE = `
  .cg-svg text { pointer-events: none; font: ${FONT}px Roboto, sans-serif; fill: var(--text); paint-order: stroke; stroke: var(--paper);
    stroke-width: 3px; stroke-linejoin: round; }
  .cg-svg .strong { font-weight: 600; }
  .cg-svg .number { font-size: 11px; font-weight: 600; fill: var(--paper); stroke: none; text-anchor: middle; }
  .cg-svg .link { stroke: var(--edge); stroke-width: 1.4px; }
  .cg-svg .walked { stroke: var(--agent); stroke-width: 3px; }
  .cg-svg .walked.you { stroke: var(--human); }
  .cg-svg .walked.jump { stroke-dasharray: 1 6; stroke-linecap: round; stroke-width: 2px; }
  .cg-svg .offer { stroke: var(--edge); stroke-width: 1.4px; stroke-dasharray: 4 4; }
  .cg-svg .gap { fill: var(--igt); stroke: var(--igt); stroke-width: 12px; stroke-linejoin: round; }
  .cg-svg .gap.closed { fill: var(--mixture); stroke: var(--mixture); }
  .cg-svg .node { fill: var(--agent); stroke: var(--paper); stroke-width: 2px; }
  .cg-svg .node.you { fill: var(--human); }
  .cg-svg .node.last { stroke: var(--text); stroke-width: 3px; }
  .cg-svg .candidate { fill: var(--paper); stroke: var(--faint); stroke-width: 2px; }
  .cg-svg .candidate.best { stroke: var(--igt); stroke-width: 4px; }
  .cg-svg .candidate.lit { fill: var(--igt); }
  .cg-svg .name { fill: var(--faint); }
  .cg-svg .dim { opacity: 0.15; }
`;

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();

function measure(text, strong) {
  const key = (strong ? "!" : " ") + text;
  if (!widths.has(key)) {
    if (widths.size > 5000) widths.clear();
    pen.font = `${strong ? 600 : 400} ${FONT}px Roboto, sans-serif`;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}

const overlap = (a, b) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

export default {
  template: `
    <div class="cg-picture" ref="box">
      <svg ref="svg" class="cg-svg" role="img" :width="width" :height="height" :aria-label="walk.label"
        :data-count="count" @wheel.prevent="zoomWithWheel" @pointerdown="press" @pointermove="move" @pointerup="release"
        @pointercancel="release" @pointerleave="leave">
        <component is="style">{{ style }}</component>
        <polygon v-for="gap in gaps" :key="'g' + gap.index" :points="gap.points" :class="gap.kind" :opacity="gap.opacity" />
        <line v-for="link in links" :key="link.key" v-bind="link.line" :class="link.kind" :opacity="link.opacity" />
        <line v-for="each in candidates" :key="'o' + each.id" v-bind="each.line" class="offer"
          :class="{ dim: isDimmed }" />
        <g v-for="node in nodes" :key="node.index" :opacity="node.opacity">
          <path :d="node.shape" class="node" :class="node.kind" :transform="node.place" :data-node="node.name" />
          <text v-if="radius > 8" class="number" :x="node.x" :y="node.y + 4">{{ node.index + 1 }}</text>
        </g>
        <circle v-for="each in candidates" :key="'c' + each.id" :cx="each.x" :cy="each.y" r="7" class="candidate"
          :class="{ best: each.best, lit: hovered.candidate === each.id, dim: isDimmed }"
          :data-candidate-name="each.name" />
        <text v-for="each in labels" :key="each.key" :x="each.x" :y="each.y" :class="each.kind"
          :text-anchor="each.anchor" :opacity="each.opacity">{{ each.name }}</text>
      </svg>
      <div v-if="walk.more" class="cg-more">{{ walk.more }}</div>
      <div v-if="walk.title" class="cg-caption"><b>{{ walk.title }}</b>: {{ caption }}</div>
      <div class="cg-zoom" :class="{ small: isSmall }">
        <button type="button" aria-label="zoom in" title="zoom in (+)" data-keys="+ =" @click="zoom(1.4)">+</button>
        <button type="button" aria-label="zoom out" title="zoom out (-)" data-keys="-" @click="zoom(1 / 1.4)">−</button>
        <button type="button" aria-label="fit" title="show the whole walk (0)" data-keys="0" @click="fit">⤢</button>
      </div>
      <div v-if="tip" class="cg-tip" :style="tip.style"><div v-for="line in tip.lines">{{ line }}</div></div>
    </div>`,

  props: { walk: Object, listed: Boolean },

  data() {
    return { width: 640, height: 480, view: { x: 0, y: 0, scale: 100 }, isMoved: false, hovered: {}, shown: null };
  },

  created() {
    this.style = STYLE;
    this.pointers = new Map();
  },

  mounted() {
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.$refs.box);
    this.resize();
    this.onHover = (event) => (this.hovered = event.detail);
    if (this.listed) window.addEventListener("cg-hover", this.onHover);
  },

  unmounted() {
    this.observer.disconnect();
    window.removeEventListener("cg-hover", this.onHover);
    clearInterval(this.timer);
    cancelAnimationFrame(this.frame);
  },

  watch: {
    walk(now, before) {
      this.stop();
      this.hovered = {};
      const last = this.project(now.nodes[now.nodes.length - 1]);
      const isOutside = last.x < 20 || last.y < 20 || last.x > this.width - 20 || last.y > this.height - 20;
      if (this.isMoved && now.start === before.start && !isOutside) return; // keep the view of the visitor
      this.isMoved = false;
      this.glide(this.computeFit());
    },
    hovered() {
      if (!this.listed) return;
      document.querySelectorAll("[data-gap]").forEach((row) => {
        row.classList.toggle("cg-lit", this.litGaps.has(Number(row.dataset.gap)));
      });
    },
  },

  computed: {
    count() {
      return this.shown ?? this.walk.nodes.length;
    },
    isSmall() {
      return this.width < 480;
    },
    radius() {
      return this.count <= FADE_ABOVE ? 11 : 7;
    },
    litGaps() {
      const { gap, node } = this.hovered;
      if (gap !== undefined) return new Set([gap]);
      if (node === undefined) return new Set();
      return new Set(this.walk.gaps.flatMap((each, index) => (each.nodes.includes(node) ? [index] : [])));
    },
    litNodes() {
      const { gap, node } = this.hovered;
      if (gap !== undefined) return new Set(this.walk.gaps[gap]?.nodes);
      if (node === undefined) return null;
      return new Set([node, ...this.walk.links.flatMap(([a, b]) => (a === node ? [b] : b === node ? [a] : []))]);
    },
    isDimmed() {
      return this.litNodes !== null;
    },
    nodes() {
      return this.walk.nodes.slice(0, this.count).map((node, index) => {
        const { x, y } = this.project(node);
        const isLast = index === this.count - 1;
        const r = this.radius * (isLast ? 1.25 : 1);
        const shapes = {
          start: `M0 ${-1.3 * r}L${1.3 * r} 0L0 ${1.3 * r}L${-1.3 * r} 0Z`,
          you: `M${-r} ${-r}H${r}V${r}H${-r}Z`,
        };
        const circle = `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
        return {
          ...node, index, x, y, r: node.by === "start" ? 1.3 * r : r, shape: shapes[node.by] ?? circle, place: `translate(${x} ${y})`,
          kind: { you: node.by === "you", last: isLast }, opacity: this.fade(index),
        };
      });
    },
    links() {
      const lit = this.litNodes;
      const { node, gap } = this.hovered;
      return this.walk.links
        .filter(([, b]) => b < this.count)
        .map(([a, b, isJump]) => {
          const isLit = gap !== undefined ? lit?.has(a) && lit.has(b) : a === node || b === node;
          const opacity = lit ? (isLit ? 1 : 0.05) : this.fade(a) * this.fade(b);
          const kind = { link: true, walked: b === a + 1, you: this.walk.nodes[b].by === "you", jump: isJump };
          const [from, to] = [this.nodes[a], this.nodes[b]];
          return { key: `${a}-${b}`, kind, opacity, line: { x1: from.x, y1: from.y, x2: to.x, y2: to.y } };
        });
    },
    gaps() {
      const count = this.count;
      const numOpen = this.walk.gaps.filter((gap) => gap.opened <= count && (gap.closed === null || gap.closed > count)).length;
      const shades = { open: Math.min(0.16, 0.9 / numOpen), fresh: numOpen < 6 ? 0.42 : 0.26 }; // many areas overlap
      const drawn = this.walk.gaps.flatMap((gap, index) => {
        const isClosed = gap.closed !== null && gap.closed <= count;
        const isLit = this.litGaps.has(index);
        if (gap.opened > count || (gap.hidden && !isLit)) return [];
        const kind = {
          gap: true, closed: isClosed, filled: gap.closed === count, fresh: !isClosed && gap.opened === count, lit: isLit,
        };
        const isNew = kind.fresh || kind.filled;
        let opacity = isClosed ? 0.25 : shades.open;
        if (isLit) opacity = Math.max(shades.open, 0.6 / this.litGaps.size);
        else if (this.isDimmed) opacity = shades.open / 4;
        else if (isNew) opacity = shades.fresh;
        const points = gap.nodes.map((node) => `${this.nodes[node].x},${this.nodes[node].y}`).join(" ");
        return [{ index, kind, points, opacity, order: (isLit ? 2e6 : 0) + (isClosed ? 0 : 1e6) + gap.opened }];
      });
      return drawn.sort((a, b) => a.order - b.order); // the newest open gaps are on top
    },
    candidates() {
      if (this.shown !== null) return [];
      const last = this.nodes[this.count - 1];
      return this.walk.candidates.map((each) => {
        const { x, y } = this.project(each);
        return { ...each, x, y, line: { x1: last.x, y1: last.y, x2: x, y2: y } };
      });
    },
    labels() {
      const isLong = this.count > FADE_ABOVE;
      const visited = this.nodes.map((node) => {
        const isLast = node.index === this.count - 1;
        const isLit = this.litNodes?.has(node.index);
        const isNamed = !isLong || isLast || isLit || node.index === 0 || node.index >= this.count - NUM_UNFADED;
        const priority = node.index === this.hovered.node ? 4e6 : isLast ? 3e6 : isLit ? 2e6 : node.index;
        const opacity = this.litNodes && !isLit ? 0.15 : node.opacity;
        return { ...node, key: `n${node.index}`, priority, strong: isLast || isLit, isNamed, opacity };
      });
      const offered = this.candidates.map((each, index) => {
        const priority = this.hovered.candidate === each.id ? 4e6 : 1e6 - index;
        const isLeft = each.x < this.nodes[this.count - 1].x;
        const opacity = this.isDimmed ? 0.15 : 1;
        return { ...each, key: `c${each.id}`, r: 7, priority, isNamed: true, isOffer: true, isLeft, opacity };
      });
      const all = [...visited, ...offered];
      const taken = all.map(({ x, y, r }) => ({ x0: x - r, x1: x + r, y0: y - r, y1: y + r }));
      const [x1, y1] = [this.width, this.height];
      taken.push(this.isSmall ? { x0: x1 - 132, x1, y0: y1 - 44, y1 } : { x0: x1 - 44, x1, y0: 0, y1: 132 }); // buttons
      const drawn = [];
      for (const each of all.filter((one) => one.isNamed).sort((a, b) => b.priority - a.priority)) {
        const wide = measure(each.name, each.strong);
        const [side, up] = [each.r + 6, each.r + 7];
        const tries = [
          [side, 4, "start"], [-side, 4, "end"], [0, -up, "middle"], [0, up + 10, "middle"],
          [side - 4, -8, "start"], [side - 4, 16, "start"], [4 - side, -8, "end"], [4 - side, 16, "end"],
        ];
        if (each.isLeft) tries.unshift(tries.splice(1, 1)[0]); // outwards
        const boxes = tries.map(([dx, dy, anchor]) => {
          const x0 = each.x + dx - { start: 0, middle: wide / 2, end: wide }[anchor];
          const y1 = each.y + dy + 3;
          return { x0, x1: x0 + wide, y0: y1 - FONT, y1, x: each.x + dx, y: each.y + dy, anchor };
        });
        const inside = boxes.filter((box) => box.x0 > 2 && box.x1 < this.width - 2 && box.y0 > 2 && box.y1 < this.height - 2);
        const free = inside.find((box) => !taken.some((other) => overlap(box, other)));
        const box = free ?? (each.priority >= 3e6 ? inside[0] : undefined);
        if (!box) continue;
        taken.push(box);
        drawn.push({ ...each, ...box, box, kind: { strong: each.strong, name: each.isOffer } });
      }
      return drawn;
    },
    caption() {
      const growth = this.walk.growth.slice(0, this.count);
      const [now, sum] = [growth[growth.length - 1], growth.reduce((a, b) => a + b, 0)];
      return `${now} open ${now === 1 ? "gap" : "gaps"}, sum over ${this.count} nodes ${sum}`;
    },
    tip() {
      const { node, candidate, x, y } = this.hovered;
      if (x === undefined) return null;
      const lines = node !== undefined ? this.walk.nodes[node]?.tip : this.walk.candidates.find((c) => c.id === candidate)?.tip;
      if (!lines) return null;
      const side = x > this.width / 2 ? { right: `${this.width - x + 16}px` } : { left: `${x + 16}px` };
      const level = y > this.height / 2 ? { bottom: `${this.height - y + 8}px` } : { top: `${y + 8}px` };
      return { lines, style: { ...side, ...level } };
    },
  },

  methods: {
    project({ x, y }) {
      const { view, width, height } = this;
      return { x: (x - view.x) * view.scale + width / 2, y: (y - view.y) * view.scale + height / 2 };
    },
    fade(index) {
      const age = this.count - 1 - index;
      const isLit = this.litNodes?.has(index);
      if (this.litNodes) return isLit ? 1 : 0.15;
      return this.count <= FADE_ABOVE ? 1 : Math.max(0.2, 1 - Math.max(0, age - NUM_UNFADED) / 40);
    },
    computeFit() {
      const [left, top, right, bottom] = this.walk.view;
      const scale = Math.min(this.width / (right - left), this.height / (bottom - top), 140);
      return { x: (left + right) / 2, y: (top + bottom) / 2, scale };
    },
    fit() {
      this.isMoved = false;
      this.glide(this.computeFit());
    },
    glide(to) {
      cancelAnimationFrame(this.frame);
      const from = { ...this.view };
      if (matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden) return void (this.view = to);
      if (Object.keys(to).every((key) => Math.abs(to[key] - from[key]) < 1e-6)) return;
      const start = performance.now();
      const draw = (now) => {
        const share = Math.min(1, Math.max(0, (now - start) / 300));
        const eased = share * (2 - share);
        const mix = (key) => from[key] + (to[key] - from[key]) * eased;
        this.view = { x: mix("x"), y: mix("y"), scale: mix("scale") };
        if (share < 1) this.frame = requestAnimationFrame(draw);
      };
      this.frame = requestAnimationFrame(draw);
    },
    resize() {
      const { clientWidth, clientHeight } = this.$refs.box;
      if (!clientWidth) return;
      [this.width, this.height] = [clientWidth, clientHeight];
      if (!this.isMoved) this.view = this.computeFit();
    },
    zoom(factor, x = this.width / 2, y = this.height / 2) {
      cancelAnimationFrame(this.frame);
      const scale = Math.min(600, Math.max(8, this.view.scale * factor));
      const change = 1 / this.view.scale - 1 / scale;
      this.view = {
        x: this.view.x + (x - this.width / 2) * change, y: this.view.y + (y - this.height / 2) * change, scale,
      };
      this.isMoved = true;
    },
    zoomWithWheel(event) {
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), ...this.locate(event));
    },
    locate(event) {
      const box = this.$refs.svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    },
    find(x, y) {
      const named = this.labels.find(({ box }) => overlap(box, { x0: x - 1, x1: x + 1, y0: y - 1, y1: y + 1 }));
      if (named) return named.isOffer ? { candidate: named.id } : { node: named.index };
      const near = [...this.nodes, ...this.candidates]
        .map((each) => ({ each, far: Math.hypot(each.x - x, each.y - y) }))
        .filter(({ far }) => far < REACH)
        .sort((a, b) => a.far - b.far)[0]?.each;
      if (near) return near.id === undefined ? { node: near.index } : { candidate: near.id };
      return {};
    },
    press(event) {
      this.$refs.svg.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, this.locate(event));
      this.start = this.locate(event);
      this.isDragged = false;
    },
    move(event) {
      const [x, y] = this.locate(event);
      const last = this.pointers.get(event.pointerId);
      if (!last) return this.show(x, y, event);
      if (this.pointers.size > 1) {
        const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        const distance = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]);
        this.zoom(distance([x, y]) / Math.max(1, distance(last)), ...other);
        this.isDragged = true;
      } else if (this.isDragged || Math.hypot(x - this.start[0], y - this.start[1]) > 6) {
        this.isDragged = this.isMoved = true;
        cancelAnimationFrame(this.frame);
        const { view } = this;
        this.view = { ...view, x: view.x - (x - last[0]) / view.scale, y: view.y - (y - last[1]) / view.scale };
      }
      this.pointers.set(event.pointerId, [x, y]);
    },
    release(event) {
      const wasPressed = this.pointers.delete(event.pointerId);
      if (!wasPressed || this.isDragged || event.type !== "pointerup") return;
      const [x, y] = this.locate(event);
      const { candidate } = this.find(x, y);
      if (candidate !== undefined && this.shown === null) this.$emit("visit", [candidate, this.walk.nodes.length]);
      else this.show(x, y, event);
    },
    show(x, y, event) {
      const found = this.find(x, y);
      const shape = event.target.closest?.("polygon");
      if (found.node === undefined && found.candidate === undefined && shape) {
        found.gap = this.gaps[[...this.$refs.svg.querySelectorAll("polygon")].indexOf(shape)]?.index;
      }
      const isSame = ["node", "candidate", "gap"].every((key) => found[key] === this.hovered[key]);
      if (!isSame) this.hovered = { ...found, x, y };
      this.$refs.svg.style.cursor = found.candidate === undefined ? "grab" : "pointer";
    },
    leave() {
      if (!this.pointers.size) this.hovered = {};
    },
    play() {
      this.stop();
      if (this.listed) this.$refs.box.scrollIntoView({ block: "nearest", behavior: "smooth" });
      this.shown = 1;
      this.timer = setInterval(() => {
        if (++this.shown >= this.walk.nodes.length) this.stop();
      }, STEP_SECONDS * 1000);
    },
    stop() {
      clearInterval(this.timer);
      this.shown = null;
    },
    download() {
      const copy = this.$refs.svg.cloneNode(true);
      copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
      const values = getComputedStyle(this.$refs.box);
      for (const [name] of STYLE.matchAll(/--\w+/g)) copy.style.setProperty(name, values.getPropertyValue(name));
      const canvas = Object.assign(document.createElement("canvas"), { width: 2 * this.width, height: 2 * this.height });
      const image = new Image();
      image.onload = () => {
        const context = canvas.getContext("2d");
        context.fillStyle = values.getPropertyValue("--paper");
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        Object.assign(document.createElement("a"), { href: canvas.toDataURL(), download: "walk.png" }).click();
      };
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
    },
  },
};
