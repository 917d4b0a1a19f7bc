"""Copy tables of stored results into README and the pages of docs: `python docs/insert_results.py`.

A table stands between `<!-- table: FILE: COLUMNS where COLUMN = PATTERN -->` and `<!-- end -->`. FILE is a page of
docs/results, of which the first table with these columns is taken, or `FILE.json KEY`, the records under a key of a
stored document. Without COLUMNS, all columns of the first table are taken, and without PATTERN, all rows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
BLOCK = re.compile(
    r"(<!-- table: ([\w.]+)(?: (\w+))?(?:: (.+?))??(?: where (.+?) = (.+?))? -->\n).*?(<!-- end -->)", re.DOTALL
)


def list_pages() -> list[Path]:
    """Return README, the pages of docs, and the page of the benchmarks."""
    return [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")), DOCS / "results" / "bench.md"]


def read_tables(file: str, key: str) -> list[list[list[str]]]:
    """Return the cells of all stored tables of a file, the names of the columns first."""
    text = (DOCS / "results" / file).read_text()
    if file.endswith(".json"):
        records = json.loads(text)[key]
        return [[list(records[0]), *([format_value(value) for value in record.values()] for record in records)]]
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    split = [[[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()] for table in tables]
    return [[rows[0], *rows[2:]] for rows in split]  # without the line below the names


def format_value(value: Any) -> str:
    """Return a number with four digits, nothing for None, and any other value as text."""
    return f"{value:,.4g}" if isinstance(value, float) else "" if value is None else str(value)


def format_table(file: str, key: str, columns: str | None, where: str | None, pattern: str) -> str:
    """Return a stored table in Markdown: all its rows, or those with a cell that matches a pattern."""
    wanted = [name.strip() for name in columns.split(",")] if columns else []
    table = next(table for table in read_tables(file, key) if set(wanted) <= set(table[0]))
    kept = [table[0].index(name) for name in wanted] or range(len(table[0]))
    rows = [row for row in table[1:] if where is None or re.fullmatch(pattern, row[table[0].index(where)])]
    lines = [[row[place] for place in kept] for row in [table[0], *rows]]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fill_page(text: str) -> str:
    """Return a page with all its tables filled."""
    return BLOCK.sub(lambda found: found[1] + format_table(*found.groups()[1:-1]) + found[7], text)


def main() -> None:
    """Fill all pages."""
    for page in list_pages():
        page.write_text(fill_page(page.read_text()))


if __name__ == "__main__":
    main()
