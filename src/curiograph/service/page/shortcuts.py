"""Keys: what each does, and how the browser tells of them."""

from __future__ import annotations

SHORTCUTS = (
    ("→ or n", "the agent takes a step"),
    ("← or u", "take the last step back"),
    ("p", "play or pause"),
    ("r", "begin again at the same start"),
    ("1 to 9", "go to the first to ninth candidate of the table yourself"),
    ("/", "search a start"),
    ("?", "these keys"),
)

KEY_LISTENER_JS = """(() => {
  const theirs = 'input, textarea, select, [role=radio], [role=tab], [role=listbox], [role=option], [role=combobox]';
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.target.closest(theirs) || document.querySelector('.q-dialog, .q-menu')) return;
    if (event.key === '/') event.preventDefault();
    emitEvent('cg-key', event.key);
  });
  document.body.dataset.listening = 'yes';
  const wish = localStorage.getItem('curiograph-dark');
  return wish === null ? matchMedia('(prefers-color-scheme: dark)').matches : wish === 'true';
})()"""
"""Listens for keys that no control of the page wants, and says whether the visitor likes it dark."""
