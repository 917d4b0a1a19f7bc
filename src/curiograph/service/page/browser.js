// What the page does in the browser alone: keys, light or dark, the guided tour, and highlights of lists in the picture.

const TEXT_FIELDS = "input:not([type=radio], [type=checkbox], [type=file]), textarea, select, [role=listbox], [contenteditable=true]";
const ARROWS = "[role=tab], [role=radio], [role=radiogroup]"; // controls that use the arrow keys

export default {
  template: `
    <div v-if="step !== null" class="cg-tour" role="dialog" aria-label="guided tour">
      <div><b>{{ tour[step].title }}</b></div>
      <div>{{ tour[step].text }}</div>
      <div class="cg-tour-buttons">
        <button type="button" title="End the tour." @click="end">Skip</button>
        <span>{{ step + 1 }} of {{ tour.length }}</span>
        <button type="button" class="cg-next" title="Go on." @click="next">{{ step + 1 < tour.length ? "Next" : "Start" }}</button>
      </div>
    </div>
    <div v-else></div>`,

  props: { tour: Array, welcome: Boolean },

  data() {
    return { step: null };
  },

  mounted() {
    this.listeners = { keydown: this.press, click: this.pin, mouseover: this.point, focusin: this.point, mouseout: this.unpoint };
    for (const [name, listener] of Object.entries(this.listeners)) document.addEventListener(name, listener);
    const theme = localStorage.getItem("curiograph-theme");
    if (theme !== null) Quasar.Dark.set(theme === "dark");
    if (this.welcome && localStorage.getItem("curiograph-tour") === null) this.start();
    document.querySelector(".q-loading-bar")?.setAttribute("aria-label", "loading");
    document.body.dataset.listening = "yes";
  },

  unmounted() {
    for (const [name, listener] of Object.entries(this.listeners)) document.removeEventListener(name, listener);
  },

  methods: {
    switchTheme() {
      Quasar.Dark.set(!Quasar.Dark.isActive);
      localStorage.setItem("curiograph-theme", Quasar.Dark.isActive ? "dark" : "light");
    },

    press(event) {
      if (event.key === "Escape" && this.step !== null) return this.end();
      if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
      if (event.target.closest(TEXT_FIELDS) || document.querySelector(".q-dialog, .q-menu")) return;
      if (event.key.startsWith("Arrow") && event.target.closest(ARROWS)) return;
      const row = /^[1-9]$/.test(event.key) && document.querySelectorAll(".cg-candidates tbody .q-btn")[event.key - 1];
      const target = row || document.querySelector(`[data-keys~="${CSS.escape(event.key)}"]`);
      if (!target) return;
      event.preventDefault(); // so that "/" is not typed into the field it moves to
      if (target.matches("input")) target.focus();
      else target.click();
    },

    highlightRow(row) {
      const { gap, candidate } = row?.dataset ?? {};
      const detail = gap !== undefined ? { gap: Number(gap) } : candidate !== undefined ? { candidate: Number(candidate) } : {};
      window.dispatchEvent(new CustomEvent("cg-hover", { detail }));
    },
    point(event) {
      const row = event.target.closest("[data-gap], [data-candidate]");
      if (!row) return;
      if (row !== this.pinned) this.pinned = null;
      this.highlightRow(row);
    },
    unpoint(event) {
      if (!this.pinned && event.target.closest("[data-gap], [data-candidate]")) this.highlightRow(null);
    },
    pin(event) {
      const row = event.target.closest("[data-gap]");
      if (!row && !this.pinned) return;
      this.pinned = row;
      this.highlightRow(row);
      if (row) document.querySelector(".cg-picture").scrollIntoView({ block: "nearest", behavior: "smooth" }); // on a phone
    },

    start() {
      this.step = 0;
      this.highlightTarget();
    },
    next() {
      if (this.step + 1 === this.tour.length) return this.end();
      this.step += 1;
      document.querySelector(this.tour[this.step].target)?.scrollIntoView({ block: "nearest", behavior: "smooth" });
      this.highlightTarget();
    },
    end() {
      localStorage.setItem("curiograph-tour", "seen");
      this.step = null;
      this.highlightTarget();
    },
    highlightTarget() {
      document.querySelectorAll(".cg-spot").forEach((each) => each.classList.remove("cg-spot"));
      const target = this.step === null ? null : document.querySelector(this.tour[this.step].target);
      target?.classList.add("cg-spot");
    },
  },
};
