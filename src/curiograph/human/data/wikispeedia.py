"""Read Wikispeedia: games in which users click from one article of a small Wikipedia to another."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from urllib.parse import unquote

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path
from curiograph.graph.graph import Graph
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.events import split_rows
from curiograph.human.data.line_reader import BadRows, read_lines
from curiograph.human.data.times import parse_number
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.validation import check_choice

BackClicks = Literal["resolve", "keep"]
"""Back clicks: remove the page that was left, or keep it and visit the page before again."""

GAME_FILES = {"paths_finished.tsv": 5, "paths_unfinished.tsv": 6}
"""Number of columns of each game file; the first four are user, time, duration and path."""

FILES = ("articles.tsv", "links.tsv", "categories.tsv", *GAME_FILES)
"""Names of all files that are read."""

_NULL = "NULL"  # user or time that is not known


class _Game(NamedTuple):
    """One game, as a walk over articles."""

    time: float
    """Unix time of the game; infinity if it is not known."""
    user: str
    """Name of the user; one that no other game has if the user is not known."""
    walk: list[str]
    """Names of the visited articles, in order."""


def find_wikispeedia(folder: Path) -> Path | None:
    """Return `folder` if it contains the dataset, else None."""
    has_graph = all((folder / name).is_file() for name in ("articles.tsv", "links.tsv"))
    return folder if has_graph and any((folder / name).is_file() for name in GAME_FILES) else None


def read_wikispeedia(path: PathLike, *, lenient: bool = False, back_clicks: BackClicks = "resolve") -> Dataset:
    """Read the folder published by SNAP, or one game file in such a folder.

    Names are decoded: `%C3%89ire` is `Éire`; underscores stay. A back click (`<`) removes the last page from the walk;
    with `back_clicks="keep"`, it is a visit of the page before, and the walk keeps all pages. Each game without a user
    gets its own user. Games are ordered by time; those without a time come last. The text of an article is its title
    and the names of its categories from `categories.tsv`, if there is such a file.
    """
    check_choice("back_clicks", back_clicks, get_args(BackClicks))
    source, bad_rows = as_path(path), BadRows()
    folder, names = (source.parent, [source.name]) if source.name in GAME_FILES else (source, list(GAME_FILES))
    files = [folder / name for name in names if (folder / name).is_file()]
    if not files:
        raise FileFormatError(f"{source}: contains no {' or '.join(names)}; give the unpacked folder of Wikispeedia.")
    articles = _read_articles(folder / "articles.tsv", bad_rows)
    graph = Graph.from_edges(_read_links(folder / "links.tsv", articles, bad_rows), directed=True, nodes=articles)
    texts = _read_texts(folder / "categories.tsv", articles, bad_rows)
    games = [game for file in files for game in _read_games(file, articles, bad_rows, back_clicks)]
    games.sort(key=lambda game: game.time)
    skipped = bad_rows.finish(lenient)
    if not games:
        raise FileFormatError(f"{files[0]}: contains no games; check that it is complete.")
    walks = Trajectories.from_walks(
        walks=[game.walk for game in games], users=[game.user for game in games], graph=graph
    )
    return Dataset(name="wikispeedia", walks=walks.add_skipped(skipped), source_path=source, graph=graph, texts=texts)


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


def _read_articles(path: Path, bad_rows: BadRows) -> dict[str, None]:
    """Read the names of all articles, in order."""
    articles: dict[str, None] = {}
    for number, (encoded,) in _read_rows(path, 1, bad_rows):
        name = unquote(encoded)
        if name in articles:
            bad_rows.add(path, number, "listed twice", f"the article {quote_value(name)} is listed twice")
        else:
            articles[name] = None
    if not articles:
        raise FileFormatError(f"{path}: contains no articles; check that it is complete.")
    return articles


def _read_texts(path: Path, articles: Iterable[str], bad_rows: BadRows) -> dict[str, str]:
    """Read the categories of articles and append them to the titles; return no texts if there is no such file."""
    if not path.is_file():
        return {}
    texts = {name: name for name in articles}
    for number, (encoded, category) in _read_rows(path, 2, bad_rows):
        name = unquote(encoded)
        if name in texts:
            texts[name] += f" {category.removeprefix('subject.')}"  # the root of all categories
        else:
            bad_rows.add(path, number, "unknown article", f"the article {quote_value(name)} is not in articles.tsv")
    return texts


def _read_links(path: Path, articles: Container[str], bad_rows: BadRows) -> list[tuple[str, str]]:
    """Read the links between known articles."""
    links = []
    for number, fields in _read_rows(path, 2, bad_rows):
        source, target = map(unquote, fields)
        problem = _describe_unknown_article((source, target), articles)
        if problem is None:
            links.append((source, target))
        else:
            bad_rows.add(path, number, "unknown article", problem)
    return links


def _read_games(path: Path, articles: Container[str], bad_rows: BadRows, back_clicks: BackClicks) -> Iterator[_Game]:
    """Yield the games of a file; bad rows are left out."""
    for number, fields in _read_rows(path, GAME_FILES[path.name], bad_rows):
        user, time_text = fields[0].strip(), fields[1].strip()
        clicks = [unquote(name) for name in fields[3].split(";")]
        time = math.inf if time_text == _NULL else parse_number(time_text)
        problem = _describe_unknown_article((name for name in clicks if name != "<"), articles)
        walk = resolve_back_clicks(clicks, back_clicks)
        if not user:
            bad_rows.add(path, number, "no user", "has no user")
        elif time is None:
            problem = f"the time {quote_value(time_text)} is neither a number nor {_NULL}"
            bad_rows.add(path, number, "bad time", problem)
        elif problem is not None:
            bad_rows.add(path, number, "unknown article", problem)
        elif walk is None:
            bad_rows.add(path, number, "impossible back click", "has a back click < with no page to return to")
        else:
            yield _Game(time, user if user != _NULL else f"{path.stem}, line {number}", walk)


def _describe_unknown_article(names: Iterable[str], articles: Container[str]) -> str | None:
    """Return a message about the first name that is not an article, or None."""
    missing = next((name for name in names if name not in articles), None)
    return None if missing is None else f"the article {quote_value(missing)} is not in articles.tsv"


def _read_rows(path: Path, width: int, bad_rows: BadRows) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields of a tab-separated file with comments."""
    lines = ((number, line) for number, line in read_lines(path, bad_rows) if not line.startswith("#"))
    return split_rows(path, lines, "\t", width, bad_rows, quoted=False)
