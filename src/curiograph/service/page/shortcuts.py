"""Keyboard shortcuts of the page."""

from __future__ import annotations

SHORTCUTS = (
    ("→ or n", "let the agent take a step"),
    ("← or u", "undo the last step"),
    ("p", "play or pause"),
    ("r", "restart from the same node"),
    ("1 to 9", "go to the first to ninth candidate of the table"),
    ("/", "search a start"),
    ("?", "show these shortcuts"),
)

KEY_LISTENER_JS = """(() => {
  const controls = 'input, textarea, select, [role=radio], [role=tab], [role=listbox], [role=option], [role=combobox]';
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.target.closest(controls) || document.querySelector('.q-dialog, .q-menu')) return;
    if (event.key === '/') event.preventDefault();
    emitEvent('cg-key', event.key);
  });
  document.body.dataset.listening = 'yes';
  const stored = localStorage.getItem('curiograph-dark');
  return stored === null ? matchMedia('(prefers-color-scheme: dark)').matches : stored === 'true';
})()"""
"""Script that listens for keys that no control uses, and returns whether the visitor prefers dark mode."""
