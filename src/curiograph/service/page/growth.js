// Growth of a walk as SVG: open gaps as a step line, compression as a dashed line, and the open gaps of a rival.

const STYLE = `
  .cg-lines text { font: 12px Roboto, sans-serif; fill: var(--faint); }
  .cg-lines .axis { stroke: var(--line); stroke-width: 1px; }
  .cg-lines path { fill: none; stroke-width: 3px; stroke-linejoin: round; }
  .cg-lines .gaps { stroke: var(--igt); } .cg-lines .gaps-name { fill: var(--igt); font-weight: 600; }
  .cg-lines .bits { stroke: var(--cpt); stroke-dasharray: 7 5; } .cg-lines .bits-name { fill: var(--cpt-text); font-weight: 600; }
  .cg-lines .rival { stroke: var(--faint); stroke-dasharray: 2 4; stroke-linecap: round; }
  .cg-lines .cursor { stroke: var(--faint); stroke-dasharray: 3 3; }
`;
const [LEFT, TOP, BOTTOM] = [34, 26, 34];

export default {
  template: `
    <div class="cg-growth" ref="box">
      <svg class="cg-lines" role="img" :width="width" :height="height" :aria-label="growth.label"
        @pointermove="move" @pointerleave="hovered = null">
        <component is="style">{{ style }}</component>
        <text class="gaps-name" x="6" y="14">{{ growth.title }}</text>
        <text v-if="line" class="bits-name" :x="width - 6" y="14" text-anchor="end">{{ growth.unit }}</text>
        <line class="axis" :x1="left" :x2="width - left" :y1="height - bottom" :y2="height - bottom" />
        <g v-for="tick in ticks.x" :key="'x' + tick">
          <text :x="x(tick)" :y="height - bottom + 15" text-anchor="middle">{{ tick }}</text>
        </g>
        <text :x="width / 2" :y="height - 4" text-anchor="middle">nodes visited</text>
        <text v-for="tick in ticks.gaps" :key="'g' + tick" :x="left - 6" :y="y(tick, maxGaps) + 4" text-anchor="end">{{ tick }}</text>
        <text v-for="tick in ticks.bits" :key="'b' + tick" :x="width - left + 6" :y="y(tick, maxBits) + 4">{{ tick }}</text>
        <path v-if="growth.rival" class="rival" :d="steps(growth.rival)" />
        <path class="bits" :d="line" />
        <path class="gaps" :d="steps(growth.gaps)" />
        <line v-if="hovered" class="cursor" :x1="x(hovered)" :x2="x(hovered)" :y1="top" :y2="height - bottom" />
      </svg>
      <div v-if="hovered" class="cg-tip" :style="tipStyle"><div v-for="text in tip">{{ text }}</div></div>
    </div>`,

  props: { growth: Object },

  data() {
    return { width: 640, height: 190, hovered: null };
  },

  created() {
    [this.style, this.left, this.top, this.bottom] = [STYLE, LEFT, TOP, BOTTOM];
  },

  mounted() {
    this.observer = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = this.$refs.box;
      if (clientWidth) [this.width, this.height] = [clientWidth, clientHeight];
    });
    this.observer.observe(this.$refs.box);
  },

  unmounted() {
    this.observer.disconnect();
  },

  computed: {
    longest() {
      return Math.max(this.growth.gaps.length, 10);
    },
    maxGaps() {
      return Math.max(3, ...this.growth.gaps, ...(this.growth.rival ?? []));
    },
    maxBits() {
      return Math.max(1, ...this.growth.bits);
    },
    ticks() {
      const spread = (last, parts, least = 1) => {
        const power = 10 ** Math.floor(Math.log10(last / parts));
        const gap = Math.max(least, power * [1, 2, 5, 10].find((each) => each * power >= last / parts));
        return Array.from({ length: Math.floor(last / gap) }, (_, i) => (i + 1) * gap);
      };
      return {
        x: [1, ...spread(this.longest, 8).filter((tick) => tick > 1)],
        gaps: [0, ...spread(this.maxGaps, 4)],
        bits: this.line ? [0, ...spread(this.maxBits, 3, 0.5)] : [],
      };
    },
    line() {
      const points = this.growth.bits.flatMap((value, i) => (value === null ? [] : [`${this.x(i + 1)} ${this.y(value, this.maxBits)}`]));
      return points.length ? `M${points.join("L")}` : "";
    },
    tip() {
      const [gaps, bits, rival] = ["gaps", "bits", "rival"].map((name) => this.growth[name]?.[this.hovered - 1] ?? null);
      const lines = [`${this.hovered}. ${this.growth.names[this.hovered - 1]}`, `${gaps} open ${gaps === 1 ? "gap" : "gaps"}`];
      if (rival !== null) lines.push(`${this.growth.rivalName}: ${rival}`);
      if (bits !== null) lines.push(`compression ${bits.toFixed(2)} bits`);
      return lines;
    },
    tipStyle() {
      const x = this.x(this.hovered);
      return x > this.width / 2 ? { top: "20px", right: `${this.width - x + 10}px` } : { top: "20px", left: `${x + 10}px` };
    },
  },

  methods: {
    x(step) {
      return LEFT + ((this.width - 2 * LEFT) * (step - 1)) / (this.longest - 1);
    },
    y(value, maximum) {
      return this.height - BOTTOM - ((this.height - TOP - BOTTOM) * value) / maximum;
    },
    steps(values) {
      return values.map((value, i) => `${i ? `H${this.x(i + 1)}V` : `M${this.x(1)} `}${this.y(value, this.maxGaps)}`).join("");
    },
    move(event) {
      const x = event.clientX - this.$refs.box.getBoundingClientRect().left;
      const step = Math.round(1 + ((x - LEFT) / (this.width - 2 * LEFT)) * (this.longest - 1));
      this.hovered = Math.min(this.growth.gaps.length, Math.max(1, step));
    },
  },
};
