"""Style of the page: a grid that becomes one column on a phone, and the colors of all figures."""

from __future__ import annotations

from curiograph.plotting import COLORS


def get_color(name: str, dark: bool) -> str:
    """Return the color of a reward or chooser; a lighter one in dark mode.

    >>> get_color("human", dark=True)
    '#b57696'
    """
    color = COLORS[name]
    if not dark:
        return color
    lighter = (round(0.62 * int(color[i : i + 2], 16) + 0.38 * 255) for i in (1, 3, 5))
    return "#" + "".join(f"{channel:02x}" for channel in lighter)


_CSS_COLORS = ("igt", "cpt", "cct", "pagerank", "human", "mixture", "muted")

CSS = (
    "".join(
        f"{selector} {{" + "".join(f"--{name}: {get_color(name, dark)};" for name in _CSS_COLORS) + "}\n"
        for selector, dark in ((":root", False), (".body--dark", True))
    )
    + """
.w-full { width: 100%; } .items-center { align-items: center; } .justify-between { justify-content: space-between; }
.items-baseline { align-items: baseline; }
.gap-0 { gap: 0; } .gap-1 { gap: 0.25rem; } .gap-2 { gap: 0.5rem; } .gap-3 { gap: 0.75rem; }
.nicegui-content { padding: 0.75rem; max-width: 1500px; margin: 0 auto; width: 100%; }
.cg-grid { display: grid; width: 100%; gap: 0.75rem; align-items: start;
  grid-template-columns: 15.5rem minmax(0, 1fr) minmax(20rem, 29rem); }
.cg-card { border: 1px solid rgba(128, 128, 128, 0.35); border-radius: 8px; padding: 0.75rem; width: 100%;
  min-width: 0; }
.cg-column { display: flex; flex-direction: column; gap: 0.6rem; min-width: 0; }
.cg-picture { width: 100%; height: min(62vh, 560px); min-height: 320px; }
.cg-growth { width: 100%; height: 210px; }
.cg-keys { display: grid; grid-template-columns: 1fr 1fr; gap: 0.4rem; }
.cg-status { min-height: 2.6em; line-height: 1.3; overflow-wrap: anywhere; }
.cg-legend { font-size: 0.8rem; opacity: 0.85; display: flex; flex-wrap: wrap; gap: 0.2rem 0.9rem; }
.cg-igt { color: var(--igt); }
.body--dark .q-table__card, .body--dark .q-tab-panels { background: transparent; }
.cg-reason { border-left: 4px solid var(--mixture); padding: 0.1rem 0 0.1rem 0.6rem; overflow-wrap: anywhere; }
.cg-small { font-size: 0.82rem; opacity: 0.9; }
.cg-suggestions { display: flex; flex-direction: column; max-height: 15rem; overflow-y: auto; }
.cg-table .q-table td, .cg-table .q-table th { padding: 1px 4px; }
.cg-table td:first-child { min-width: 8.5rem; }
.cg-table .q-table__bottom { min-height: 34px; }
.cg-table .q-table td .q-btn { min-height: 26px; padding: 0 2px; }
.q-btn__content { text-align: left; overflow-wrap: anywhere; }
.cg-table .q-btn__content, .cg-reason .q-btn__content { justify-content: flex-start; }
.q-uploader { width: 100%; max-height: none; box-shadow: none; }
.q-uploader__list, .q-uploader__subtitle { display: none; }
.q-uploader__title { font-weight: normal; font-size: 0.9rem; }
.q-tab-panel { padding: 0.4rem 0 0 0; }
.cg-side .q-tab { padding: 0 0.6rem; }
:focus-visible { outline: 3px solid var(--cpt); outline-offset: 2px; }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
@media (max-width: 1100px) {
  .cg-grid { grid-template-columns: 14rem minmax(0, 1fr); }
  .cg-side { grid-column: 1 / -1; }
}
@media (max-width: 700px) {
  .cg-grid { grid-template-columns: minmax(0, 1fr); }
  .cg-grid > .cg-column:not(.cg-card) { display: contents; }
  .cg-picture { height: 78vw; }
  .cg-table td:first-child { min-width: 5.5rem; }
  .cg-walk { order: 1; } .cg-choose { order: 2; } .cg-side { order: 3; } .cg-curve { order: 4; }
  .cg-candidates :is(td, th):is(:nth-child(4), :nth-child(5)) { display: none; }
  .nicegui-content { padding: 0.4rem; }
}
"""
)

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="10" fill="none" '
    f'stroke="{COLORS["igt"]}" stroke-width="4"/><circle cx="16" cy="6" r="5" fill="{COLORS["cpt"]}"/></svg>'
)
