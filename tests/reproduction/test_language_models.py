"""The study of language models on a small folder of games."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import curiograph as cg
from curiograph.errors import FileFormatError
from curiograph.results import to_plain
from reproduction import language_models
from reproduction.language_models import MEMORY, MODEL, PEOPLE
from reproduction.report import Setup

NAMES = ["Wa", "Wb", "Wc", "Wd", "W%C3%A9", "Wf"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write six articles on a ring with links both ways, and games from two starts."""
    games, models = tmp_path / "wikispeedia", tmp_path / "language-models"
    games.mkdir()
    models.mkdir()
    (games / "articles.tsv").write_text("\n".join(NAMES))
    ring = [(NAMES[i], NAMES[(i + step) % 6]) for i in range(6) for step in (1, -1)]
    (games / "links.tsv").write_text("\n".join("\t".join(link) for link in ring))
    finished = ["Wa;Wb;Wc", "Wa;Wb;Wc", "Wc;Wd;W%C3%A9", "Wf;Wa"]
    (games / "paths_finished.tsv").write_text("".join(f"NULL\tNULL\tNULL\t{path}\tNULL\n" for path in finished))
    unfinished = [("Wa;Wb;<;Wf", "Wc"), ("Wa", "Wc"), ("Wd;Wc", "Wa")]
    rows = [f"u\t{n}\t9\t{path}\t{goal}\trestart\n" for n, (path, goal) in enumerate(unfinished)]
    (games / "paths_unfinished.tsv").write_text("".join(rows))
    played = [
        (MODEL, "Wa;Wb;Wa;LOOP_DETECTED", "Wc", 0),
        (MODEL, "Wc;Wb;Wa;Wf;W%C3%A9", "W%C3%A9", 1),
        (MEMORY, "Wa;Wf;W%C3%A9;Wd;Wc", "Wc", 1),
        (MEMORY, "Wc;Wd;LOOP_DETECTED", "W%C3%A9", 0),
        (MODEL, "Wb;Wc", "Wc", 1),  # not played by people
        (MODEL, "Wf", "Wa", 0),  # no move
    ]
    lines = [f"{model}\t{path.split(';')[0]}\t{goal}\t{path}\t{won}\n" for model, path, goal, won in played]
    (models / "games.tsv").write_text("model\tstart\ttarget\tpath\tfinished\n" + "".join(lines))
    return tmp_path


def test_games_are_matched_by_start_and_target(folder: Path) -> None:
    games, graph, ends = language_models.load_groups(folder)
    found = {(games.session(n), games.user(n), tuple(games[n])): end for n, end in enumerate(ends)}
    assert graph.num_nodes == 6
    assert found[MODEL, "Wa > Wc", ("Wa", "Wb", "Wa")] == "LOOP_DETECTED"
    assert found[MEMORY, "Wc > Wé", ("Wc", "Wd")] == "LOOP_DETECTED"
    assert found[PEOPLE, "Wa > Wc", ("Wa", "Wb", "Wa", "Wf")] == "none"
    assert (PEOPLE, "Wd > Wa", ("Wd", "Wc")) not in found
    assert pd.Series([key[0] for key in found]).value_counts().to_dict() == {
        PEOPLE: 3,
        MODEL: 2,
        MEMORY: 2,
    }


def test_groups_are_compared_within_pairs(folder: Path) -> None:
    document = to_plain(language_models.compute(Setup(folder), steps=3))
    rows = {(row["pairs"], row["group"], row["other"], row["measure"]): row for row in document["contrasts"]}
    own = rows["all pairs", MODEL, PEOPLE, "success"]
    assert own["count"] == 2
    assert own["mean"]["value"] == 1 / 2
    assert own["other_mean"]["value"] == pytest.approx((2 / 3 + 1) / 2)
    assert own["difference"]["value"] == pytest.approx(1 / 2 - 5 / 6)
    memory = rows["starts from W on", MEMORY, MODEL, "returned"]
    assert memory["difference"]["value"] == 0  # each of both ends one game with a return
    assert document["returns"][PEOPLE] == {
        "games": 4, "games with a return": 1, "two pages": 1, "ended by it": 0, "reached after it": 0,
        "new page": 1, "known page": 0, "same link": 0,
    }  # fmt: skip
    assert document["returns"][MODEL]["ended by it"] == 1
    page = language_models.report(document)
    assert f"{MODEL} - {PEOPLE}" in page.to_markdown()
    assert [ax.get_title() for ax in page.figure.axes] == ["starts from W on", "all pairs"]


def test_missing_file(folder: Path) -> None:
    (folder / "language-models" / "games.tsv").unlink()
    with pytest.raises(FileFormatError, match=r"games\.tsv"):
        language_models.compute(Setup(folder))


def test_moves_after_returns_are_told_apart() -> None:
    graph = cg.toys.cycle(6)
    walks = [[0, 1, 0, 1, 2], [0, 1, 2, 1, 0, 5]]
    games = cg.human.Trajectories.from_walks(walks, graph=graph, sessions=["a", "b"], targets=[2, 3])
    found = language_models.follow_returns(games)
    assert [found["a"][key] for key in ("same link", "known page", "new page", "reached after it")] == [1, 0, 1, 1]
    assert [found["b"][key] for key in ("same link", "known page", "new page", "reached after it")] == [0, 1, 1, 0]
