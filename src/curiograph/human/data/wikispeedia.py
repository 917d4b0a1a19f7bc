"""Wikispeedia: people who click from one article of a small Wikipedia to another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
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
"""Columns of the files of games: user, time, duration, path, and what differs."""

FILES = ("articles.tsv", "links.tsv", *GAME_FILES)
_UNKNOWN = "NULL"


@dataclass(frozen=True)
class _Game:
    user: str
    time: float
    walk: list[str]


def find_wikispeedia(folder: Path) -> Path | None:
    """The folder itself if its files are there."""
    there = all((folder / name).is_file() for name in ("articles.tsv", "links.tsv"))
    return folder if there and any((folder / name).is_file() for name in GAME_FILES) else None


def read_wikispeedia(path: PathLike, *, lenient: bool = False) -> Dataset:
    """Read the folder that SNAP publishes, or one of its two files of games with the articles and links beside it.

    Names are decoded: `%C3%89ire` is `Éire`; underscores stay. A back click takes back the page that was left. A game
    by an unknown person is by a person of its own. Games are in order of time; those without a time come last.
    """
    found, bad = as_path(path), BadRows()
    folder, names = (found.parent, [found.name]) if found.name in GAME_FILES else (found, list(GAME_FILES))
    games = [folder / name for name in names if (folder / name).is_file()]
    if not games:
        raise FileFormatError(f"{found}: has neither {' nor '.join(names)}; give the unpacked folder of Wikispeedia.")
    articles = _read_articles(folder / "articles.tsv", bad)
    graph = Graph.from_edges(_read_links(folder / "links.tsv", articles, bad), directed=True, nodes=articles)
    played = sorted((game for file in games for game in _read_games(file, articles, bad)), key=lambda game: game.time)
    skipped = bad.finish(lenient)
    if not played:
        raise FileFormatError(f"{games[0]}: holds no games; check that it was written to the end.")
    walks = Trajectories.from_walks([game.walk for game in played], [game.user for game in played], graph)
    return Dataset("wikispeedia", walks, found, graph, skipped=skipped)


def resolve_back_clicks(clicks: list[str]) -> list[str] | None:
    """The walk that clicks make: `<` takes back the page that was left; None where there is none to go back to.

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


def _read_articles(path: Path, bad: BadRows) -> dict[str, int]:
    articles: dict[str, int] = {}
    for number, (encoded,) in _rows(path, 1, bad):
        name = unquote(encoded)
        if name in articles:
            bad.add(path, number, f"the article {quote_value(name)} is there already")
        else:
            articles[name] = len(articles)
    if not articles:
        raise FileFormatError(f"{path}: holds no articles; check that it was written to the end.")
    return articles


def _read_links(path: Path, articles: dict[str, int], bad: BadRows) -> list[tuple[str, str]]:
    links = []
    for number, fields in _rows(path, 2, bad):
        source, target = map(unquote, fields)
        unknown = _unknown([source, target], articles)
        if unknown is None:
            links.append((source, target))
        else:
            bad.add(path, number, unknown)
    return links


def _read_games(path: Path, articles: dict[str, int], bad: BadRows) -> Iterator[_Game]:
    for number, fields in _rows(path, GAME_FILES[path.name], bad):
        user, time, clicks = fields[0].strip(), fields[1].strip(), [unquote(name) for name in fields[3].split(";")]
        when = math.inf if time == _UNKNOWN else parse_time(time)
        walk = resolve_back_clicks(clicks)
        unknown = _unknown([name for name in clicks if name != "<"], articles)
        if not user:
            bad.add(path, number, "has no user")
        elif when is None:
            bad.add(path, number, f"the time {quote_value(time)} is neither a number nor {_UNKNOWN}")
        elif unknown is not None:
            bad.add(path, number, unknown)
        elif walk is None:
            bad.add(path, number, "goes back with < where there is nothing to go back to")
        else:
            yield _Game(user if user != _UNKNOWN else f"{path.stem}, line {number}", when, walk)


def _unknown(names: list[str], articles: dict[str, int]) -> str | None:
    missing = next((name for name in names if name not in articles), None)
    return None if missing is None else f"the article {quote_value(missing)} is not in articles.tsv"


def _rows(path: Path, width: int, bad: BadRows) -> Iterator[tuple[int, list[str]]]:
    lines = ((number, line) for number, line in read_lines(path, bad) if not line.startswith("#"))
    return split_rows(path, lines, "\t", width, bad)
