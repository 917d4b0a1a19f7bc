"""Profiles of Wikispeedia: `reproduce profile`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from curiograph.paper import profile

import curiograph as cg
from curiograph.cli.output import format_json
from support.program import Run


@pytest.fixture(scope="module")
def wikispeedia(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Finished games of busybodies whose users are not known, and unfinished games of hunters, two of each player."""
    folder = tmp_path_factory.mktemp("data") / "wikispeedia"
    folder.mkdir()
    graph = cg.generate("ws", nodes=40, seed=0)
    (folder / "articles.tsv").write_text("".join(f"A{v}\n" for v in range(40)))
    (folder / "links.tsv").write_text("".join(f"A{u}\tA{v}\n" for u in range(40) for v in graph.neighbors(u)))
    people = cg.human.simulate_styles(graph, people=100, visits=14, strength=0.9, seed=0)
    for name, side, user, end in (("finished", 1, "NULL", "NULL"), ("unfinished", 0, "p{}", "x\tx")):
        lines = [
            f"{user.format(number // 4)}\t{number}\t9\t{';'.join(f'A{v}' for v in people.walk(number))}\t{end}\n"
            for number in range(side, 100, 2)
        ]
        (folder / f"paths_{name}.tsv").write_text("".join(lines))
    return folder


def test_games_are_compared_and_stored(run: Run, wikispeedia: Path, tmp_path: Path) -> None:
    settings = profile.Settings(permutations=99)
    found = profile.run(settings, wikispeedia)
    assert found.games["whole"] == {"finished": 50, "unfinished": 25}
    (clustering,) = (row for row in found.select("first") if row["measure"] == "efficiency")
    assert clustering["effect"] < -0.5
    assert clustering["p_holm"] < 0.5
    assert "| clustering |" in found.to_markdown()
    assert found.styles["people"] == 25
    stored = json.loads(format_json(found.to_dict()))
    profile.ProfileComparison.from_dict(stored).save_plot(tmp_path / "profile.png")
    assert (tmp_path / "profile.png").stat().st_size > 0
    arguments = ("reproduce", "profile", "--from", str(wikispeedia.parent), "--permutations", "99")
    done = run(*arguments, "--out", str(tmp_path / "out"), "--json")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["rows"] == stored["rows"]
    assert np.isfinite(document["styles"]["reliability"]["value"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["profile.json", "profile.md", "profile.png"]
