"""Read Wikispeedia: games in which users click from one article of a small Wikipedia to another."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path
from curiograph.graph.graph import Graph
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.events import parse_time, split_rows
from curiograph.human.data.line_reader import BadRows, read_lines
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value

GAME_FILES = {"paths_finished.tsv": 5, "paths_unfinished.tsv": 6}
"""Number of columns of each file of games; the first four are user, time, duration and path."""

FILES = ("articles.tsv", "links.tsv", *GAME_FILES)
_UNKNOWN = "NULL"


def find_wikispeedia(folder: Path) -> Path | None:
    """Return the folder itself if it contains the files, or None."""
    complete = all((folder / name).is_file() for name in ("articles.tsv", "links.tsv"))
    return folder if complete and any((folder / name).is_file() for name in GAME_FILES) else None


def read_wikispeedia(path: PathLike, *, lenient: bool = False) -> Dataset:
    """Read the folder that SNAP publishes, or one of its two files of games with the articles and links next to it.

    Names are decoded: `%C3%89ire` is `Éire`; underscores stay. A back click removes the page that was left. A game by
    an unknown user counts as a user of its own. Games are ordered by time; those without a time come last.
    """
    given, bad = as_path(path), BadRows()
    folder, names = (given.parent, [given.name]) if given.name in GAME_FILES else (given, list(GAME_FILES))
    files = [folder / name for name in names if (folder / name).is_file()]
    if not files:
        raise FileFormatError(f"{given}: has neither {' nor '.join(names)}; give the unpacked folder of Wikispeedia.")
    articles = _read_articles(folder / "articles.tsv", bad)
    graph = Graph.from_edges(_read_links(folder / "links.tsv", articles, bad), directed=True, nodes=articles)
    games = sorted((game for file in files for game in _read_games(file, articles, bad)), key=lambda game: game[0])
    skipped = bad.finish(lenient)
    if not games:
        raise FileFormatError(f"{files[0]}: contains no games; check that it is complete.")
    walks = Trajectories.from_walks([walk for _, _, walk in games], [user for _, user, _ in games], graph)
    return Dataset("wikispeedia", walks, given, graph, skipped=skipped)


def resolve_back_clicks(clicks: list[str]) -> list[str] | None:
    """Return the walk of a list of clicks, in which `<` removes the page before it; None if there is none to remove.

    >>> resolve_back_clicks(["A", "B", "<", "C"])
    ['A', 'C']
    >>> resolve_back_clicks(["A", "<"])
    """
    walk: list[str] = []
    for click in clicks:
        if click != "<":
            walk.append(click)
        elif len(walk) > 1:
            walk.pop()
        else:
            return None
    return walk


def _read_articles(path: Path, bad: BadRows) -> dict[str, None]:
    """Read the names of all articles, in order."""
    articles: dict[str, None] = {}
    for number, (encoded,) in _read_rows(path, 1, bad):
        name = unquote(encoded)
        if name in articles:
            bad.add(path, number, f"the article {quote_value(name)} is listed already")
        else:
            articles[name] = None
    if not articles:
        raise FileFormatError(f"{path}: contains no articles; check that it is complete.")
    return articles


def _read_links(path: Path, articles: Container[str], bad: BadRows) -> list[tuple[str, str]]:
    """Read the links between known articles."""
    links = []
    for number, fields in _read_rows(path, 2, bad):
        source, target = map(unquote, fields)
        fault = _find_unknown_article((source, target), articles)
        if fault is None:
            links.append((source, target))
        else:
            bad.add(path, number, fault)
    return links


def _read_games(path: Path, articles: Container[str], bad: BadRows) -> Iterator[tuple[float, str, list[str]]]:
    """Yield time, user and walk of every game."""
    for number, fields in _read_rows(path, GAME_FILES[path.name], bad):
        user, time_text = fields[0].strip(), fields[1].strip()
        clicks = [unquote(name) for name in fields[3].split(";")]
        time = math.inf if time_text == _UNKNOWN else parse_time(time_text)
        fault = _find_unknown_article((name for name in clicks if name != "<"), articles)
        walk = resolve_back_clicks(clicks)
        if not user:
            bad.add(path, number, "has no user")
        elif time is None:
            bad.add(path, number, f"the time {quote_value(time_text)} is neither a number nor {_UNKNOWN}")
        elif fault is not None:
            bad.add(path, number, fault)
        elif walk is None:
            bad.add(path, number, "has a back click < with no page to go back to")
        else:
            yield time, user if user != _UNKNOWN else f"{path.stem}, line {number}", walk


def _find_unknown_article(names: Iterable[str], articles: Container[str]) -> str | None:
    """Return the fault of a row that names an unknown article, or None."""
    missing = next((name for name in names if name not in articles), None)
    return None if missing is None else f"the article {quote_value(missing)} is not in articles.tsv"


def _read_rows(path: Path, width: int, bad: BadRows) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields of a tab-separated file with comments."""
    lines = ((number, line) for number, line in read_lines(path, bad) if not line.startswith("#"))
    return split_rows(path, lines, "\t", width, bad)
