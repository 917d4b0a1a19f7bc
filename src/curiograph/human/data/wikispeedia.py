"""Read Wikispeedia: games in which users click from one article of a small Wikipedia to another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import unquote

from curiograph.errors import quote_value
from curiograph.graph.graph import Graph
from curiograph.human.data.text_source import TextSource, warn_skipped
from curiograph.human.trajectories import Trajectories
from curiograph.results import Problem, Skipped
from curiograph.validation import check_choice

BackClicks = Literal["resolve", "keep"]
"""Back clicks: remove the page that was left, or keep it and visit the page before again."""
GAME_FILES = {"paths_finished.tsv": 5, "paths_unfinished.tsv": 6}
"""Number of columns of each game file; the first four are user, time, duration and path."""
GRAPH_FILES = ("articles.tsv", "links.tsv")
"""Files of the graph."""


def read_wikispeedia(path: Path, back_clicks: BackClicks = "resolve") -> tuple[Trajectories, Graph, dict[str, str]]:
    """Return the games, the graph and texts of the folder published by SNAP, or of one game file in such a folder.

    Names are decoded: `%C3%89ire` is `Éire`; underscores stay. A back click (`<`) removes the last page from the walk;
    with `back_clicks="keep"`, it is a visit of the page before, and the walk keeps all pages. Each game without a user
    gets its own user. Games are ordered by time; those without a time come last. Links and games with unknown articles
    are dropped and counted. The text of an article is its title and the names of its categories from `categories.tsv`,
    if there is such a file.
    """
    check_choice("back_clicks", back_clicks, get_args(BackClicks))
    folder, names = (path.parent, [path.name]) if path.name in GAME_FILES else (path, list(GAME_FILES))
    files = [folder / name for name in names if (folder / name).is_file()]
    problems: list[Problem] = []

    def has_articles(place: str, names: Iterable[str]) -> bool:
        missing = next((name for name in names if name not in texts), None)
        if missing is not None:
            problems.append(("unknown article", f"{place}: the article {quote_value(missing)} is not in articles.tsv"))
        return missing is None

    texts = {unquote(name): unquote(name) for _, (name,) in _read_rows(folder / "articles.tsv", 1, problems)}
    rows = _read_rows(folder / "links.tsv", 2, problems)
    pairs = [(place, (unquote(source), unquote(target))) for place, (source, target) in rows]
    links = [link for place, link in pairs if has_articles(place, link)]
    graph = Graph.from_edges(links, directed=True, nodes=texts)
    games = []
    for file in files:
        for place, fields in _read_rows(file, GAME_FILES[file.name], problems):
            user, time = fields[0].strip(), fields[1].strip()
            clicks = [unquote(name) for name in fields[3].split(";")]
            walk = resolve_back_clicks(clicks, back_clicks)
            if not user:
                problems.append(("no user", f"{place}: no user"))
            elif not (time == "NULL" or time.isdecimal()):
                problems.append(("bad time", f"{place}: the time {quote_value(time)} is neither a number nor NULL"))
            elif walk is None:
                problems.append(("impossible back click", f"{place}: a back click < has no page to return to"))
            elif has_articles(place, (click for click in clicks if click != "<")):
                moment = math.inf if time == "NULL" else float(time)
                games.append((moment, user if user != "NULL" else place, walk))
    skipped = Skipped.count_problems(problems)
    warn_skipped(skipped, len(games) + skipped.count, str(path))
    games.sort(key=lambda game: game[0])
    walks = Trajectories.from_walks([game[2] for game in games], users=[game[1] for game in games], graph=graph)
    categories = folder / "categories.tsv"
    if not categories.is_file():
        return walks.add_skipped(skipped), graph, {}
    for _, (name, category) in _read_rows(categories, 2, []):
        if unquote(name) in texts:
            texts[unquote(name)] += f" {category.removeprefix('subject.')}"  # the root of all categories
    return walks.add_skipped(skipped), graph, texts


def resolve_back_clicks(clicks: list[str], back_clicks: BackClicks = "resolve") -> list[str] | None:
    """Return the walk of a list of clicks, in which `<` removes the last page, or is a visit of the page before.

    Return None if a back click has no page to return to.

    >>> resolve_back_clicks(["A", "B", "<", "C"])
    ['A', 'C']
    >>> resolve_back_clicks(["A", "B", "<", "C"], "keep")
    ['A', 'B', 'A', 'C']
    >>> resolve_back_clicks(["A", "<"])
    """
    pages: list[str] = []  # that further back clicks return to
    visits: list[str] = []
    for click in clicks:
        if click != "<":
            pages.append(click)
        elif len(pages) > 1:
            pages.pop()
        else:
            return None
        visits.append(pages[-1])
    return pages if back_clicks == "resolve" else visits


def _read_rows(path: Path, width: int, problems: list[Problem]) -> Iterator[tuple[str, list[str]]]:
    """Yield the places and fields of the rows of a tab-separated file with comments."""
    for number, line in TextSource(path).lines():
        fields = line.split("\t")
        if len(fields) == width:
            yield f"{path.stem}, line {number}", fields
        else:
            place = f"{path}, line {number}: has {len(fields)} columns, not {width}"
            problems.append(("wrong number of columns", place))
