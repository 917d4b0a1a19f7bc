"""The experiments on tiny settings: which agents stand in which column, and what is said of the numbers."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents import pretrained
from curiograph.errors import FileFormatError, SettingError
from curiograph.graph.generators import FAMILIES
from curiograph.paper import comparison, curves, lengths, sizes, table1, walltime
from curiograph.paper.experiment import redraw_figures
from support.small_agents import save_random_agents

SMALL = table1.Settings(episodes=2, beam_episodes=1, graphs=2, nodes=20, steps=4)
PEERS = {"ripser": lambda adjacency: 0.0, "slow twin": lambda adjacency: 0.0}


@pytest.fixture
def empty_shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pretrained, "_get_shipped_folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    save_random_agents(folder)
    return folder


@pytest.fixture
def shelf(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pretrained, "_get_shipped_folder", lambda: filled)
    return filled


def evaluation(*by_graph: float) -> cg.Evaluation:
    return cg.Evaluation("someone", "igt", 10, [np.array([value, value]) for value in by_graph])


# agents side by side


def test_columns_mean_the_shipped_agents(shelf: Path) -> None:
    named = comparison.find_agents(table1.COLUMNS, "cpt", "ws")
    assert list(named) == list(table1.COLUMNS)
    assert named["gnn-paper"] == "cpt-ws-paper"
    assert named["horizon+beam"] == "cpt-ws-horizon+beam:8"
    assert comparison.describe_missing(table1.COLUMNS) == ""


def test_what_is_not_shipped_is_left_out_in_one_line(empty_shelf: Path) -> None:
    assert list(comparison.find_agents(table1.COLUMNS, "igt", "rg")) == [*table1.BASELINES, "beam"]
    assert comparison.describe_missing(("greedy", "gnn")) == "Left out, no such agent is shipped: gnn."
    save_random_agents(empty_shelf)
    (empty_shelf / "igt-rg.safetensors").unlink()
    assert comparison.describe_missing(("greedy", "gnn")) == "Left out, no such agent is shipped: gnn for igt rg."


def test_error_of_a_ratio_forgets_what_both_share() -> None:
    bottom = np.array([1.0, 5.0, 9.0, 3.0])
    assert comparison.compute_ratio_of_means(3 * bottom, bottom) == (3.0, 0.0)
    noise = np.array([1.0, -1.0, -1.0, 1.0])
    ratio, error = comparison.compute_ratio_of_means(3 * bottom + noise, bottom)
    assert ratio == 3.0
    assert error == pytest.approx(noise.std(ddof=1) / 2 / bottom.mean())
    assert math.isnan(comparison.compute_ratio_of_means(bottom, np.zeros(4))[0])
    assert math.isnan(comparison.compute_ratio_of_means(bottom[:1], bottom[:1])[1])


# Table 1


def test_table1_has_every_column_and_repeats_itself(shelf: Path) -> None:
    cells = table1.run(SMALL)
    assert [(cell.reward, cell.family) for cell in cells] == [(r, f) for r in ("igt", "cpt") for f in FAMILIES]
    assert all(list(cell.results) == list(table1.COLUMNS) for cell in cells)
    assert all(cell.share("random") == (0.0, 0.0) for cell in cells if cell.reward == "cpt")
    assert all(cell.share("beam") == (1.0, 0.0) for cell in cells if cell.reward == "cpt")
    text = table1.to_markdown(cells)
    assert (
        "| reward | family | greedy | gnn-paper | gnn | horizon | horizon+beam | paper's greedy | paper's GNN |" in text
    )
    assert "gnn earns more than the paper's GNN in" in text
    document = table1.to_dict(cells, SMALL)
    assert all(isinstance(cell["gnn_above_greedy"], bool) for cell in document["cells"])
    assert set(document["mean_shares"]) == {"igt", "cpt", "both"}
    again = table1.to_dict(table1.run(SMALL), SMALL)
    assert json.dumps(document) == json.dumps(again)


def test_table1_without_trained_agents(empty_shelf: Path, tmp_path: Path) -> None:
    cells = table1.run(SMALL)
    assert table1.columns_of(cells) == [*table1.BASELINES, "beam"]
    assert "Left out, no such agent is shipped: gnn-paper; gnn; horizon; horizon+beam." in table1.to_markdown(cells)
    assert table1.to_dict(cells, SMALL)["cells"][0]["gnn_above_paper"] is None
    table1.save_plot(cells, tmp_path / "table1.png")


def test_shares_follow_their_definition() -> None:
    results = {
        "random": evaluation(1, 2),
        "beam": evaluation(5, 6),
        "gnn": evaluation(3, 4),
        "greedy": evaluation(2, 4),
    }
    cell = table1.Cell("igt", "rg", "here", results, {})
    assert cell.share("gnn") == (0.5, 0.0)
    assert cell.share("greedy")[0] == pytest.approx(0.375)
    assert cell.paper_share("gnn") == pytest.approx((2.308 - 0.312) / (5.5 - 0.312))
    assert cell.gnn_above(3.4)
    assert not cell.gnn_above(3.6)
    rows = table1.share_rows([cell, table1.Cell("cpt", "rg", "here", results, {})])
    assert [(row.reward, row.family) for row in rows[2:]] == [("igt", "mean"), ("cpt", "mean"), ("both", "mean")]
    assert rows[-1].shares["gnn"] == (0.5, 0.0)


def test_all_starts_and_several_seeds_are_pooled(empty_shelf: Path) -> None:
    settings = table1.Settings(episodes="all", beam_episodes=1, graphs=2, seeds=3, nodes=8, steps=3)
    random = table1.run(settings)[0].results["random"]
    assert len(random.returns) == 6
    assert all(len(walks) == 8 for walks in random.returns)
    with pytest.raises(SettingError, match="seeds is 0"):
        table1.run(table1.Settings(seeds=0))


def test_seeds_on_the_same_graphs_stay_together(empty_shelf: Path, tmp_path: Path) -> None:
    ring = {"nodes": [{"id": i} for i in range(6)], "links": [{"source": i, "target": (i + 1) % 6} for i in range(6)]}
    path = tmp_path / "tiny_WS_set.json"
    path.write_text(json.dumps({"train": {}, "val": {}, "test": {"0": ring, "1": ring}}))
    cells = table1.run(table1.Settings(episodes=3, beam_episodes=1, seeds=4, steps=4), [path])
    assert [len(walks) for walks in cells[0].results["random"].returns] == [12, 12]
    assert "- |" in table1.to_markdown(cells)  # on a ring all agents earn the same: no share of anything


@pytest.mark.parametrize("family", ["ws", "ba"])
def test_no_test_graph_is_a_training_graph(family: str) -> None:
    seen = {graph.indices.tobytes() for graph in cg.generate_split(family, train=30, val=10, test=0, seed=0).train}
    for seed in range(3):
        tests = cg.generate_split(family, train=0, val=0, test=10, seed=seed).test
        assert not seen & {graph.indices.tobytes() for graph in tests}


# lengths and sizes


def test_lengths_keep_the_planner_affordable_and_say_who_beats_greedy(shelf: Path) -> None:
    settings = lengths.Settings(graphs=2, episodes=2, beam_episodes=1, lengths=(4, 12), nodes=12)
    points = lengths.run(settings)
    assert len(points) == 2 * 4 * 2
    assert {point.results["beam"].agent for point in points} == {"beam", "beam:32"}
    text = lengths.to_markdown(points, settings)
    assert "Walks of 12 nodes: horizon earns at least as much as greedy in " in text
    assert "256 walks up to 10 nodes and 32 beyond" in text
    again = lengths.to_dict(lengths.run(settings), settings)
    assert str(lengths.to_dict(points, settings)) == str(again)


def test_sizes_give_times_and_the_cost_of_a_larger_graph(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "_SMALLER", 10)
    monkeypatch.setattr(sizes, "_LARGER", 20)
    settings = sizes.Settings(graphs=2, episodes=2, beam_episodes=1, sizes=(10, 20), steps=4)
    points = sizes.run(settings)
    text = sizes.to_markdown(points, settings)
    assert "A walk by horizon on 20 nodes takes" in text
    assert "Milliseconds per walk" in text
    assert len(sizes.to_dict(points, settings)["milliseconds"]) == len(points)


def test_remarks_name_where_an_agent_falls_behind() -> None:
    def point(family: str, *horizon: float) -> curves.Point:
        results = {"greedy": evaluation(4, 6), "horizon": evaluation(*horizon)}
        return curves.Point("igt", family, 50, results, {})

    found = list(curves.against_greedy([point("rg", 5, 7), point("ws", 2, 4), point("ba", 3, 6)], "Long walks"))
    assert found == [
        "Long walks: horizon earns at least as much as greedy in 1 of 3 cells, less in the others, by more than two "
        "standard errors in 1 of them (worst: igt WS at 50, -2.00 ± 0.00; igt BA at 50, -0.50 ± 0.50)."
    ]


# walltime


def test_walltime_times_all_that_do_the_same_work(shelf: Path) -> None:
    settings = walltime.Settings(nodes=30, sizes=(3, 6), walks=2, repeats=1)
    timings = walltime.run(settings, PEERS)
    assert [(t.reward, t.way, t.size) for t in timings[:3]] == [
        ("igt", "one walk", 3),
        ("igt", "one walk", 6),
        ("igt", "many walks", 3),
    ]
    assert set(timings[0].seconds) == {"gnn", "horizon", "greedy", "ripser"}
    assert set(timings[-1].seconds) == {"gnn", "greedy", "slow twin"}
    assert all(seconds > 0 for timing in timings for seconds in timing.seconds.values())
    assert "| igt | one walk | gnn |" in walltime.to_markdown(timings, settings)


def test_walltime_says_what_is_missing(empty_shelf: Path) -> None:
    settings = walltime.Settings(nodes=30, sizes=(3,), walks=2, repeats=1)
    timings = walltime.run(settings, {"slow twin": PEERS["slow twin"]})
    assert list(walltime.remarks(timings, settings)) == [
        "Left out, no such agent is shipped: gnn; horizon.",
        "ripser is not installed, so it was not timed: pip install 'curiograph[bench]'.",
    ]
    with pytest.raises(SettingError, match="leave no candidates"):
        walltime.run(walltime.Settings(nodes=30, sizes=(30,)))


def test_walltime_leaves_a_gap_where_a_peer_takes_too_long(empty_shelf: Path) -> None:
    def slow(adjacency: np.ndarray) -> float:
        time.sleep(0.02)
        return 0.0

    settings = walltime.Settings(nodes=30, sizes=(3, 6, 12), walks=2, repeats=1, limit=0.1)
    calls = [
        t for t in walltime.run(settings, PEERS | {"ripser": slow}) if (t.reward, t.way) == ("igt", "one subgraph")
    ]
    assert ["ripser" in timing.seconds for timing in calls] == [True, False, False]
    assert all("greedy" in timing.seconds for timing in calls)


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ({5: 2.0, 10: 30.0}, "faster at every size (2x to 30x)"),
        ({5: 0.5, 10: 0.25}, "slower at every size (2x to 4x)"),
        ({5: 0.5, 10: 0.8, 20: 3.0, 50: 8.0}, "faster from 20 nodes on (8x at 50), slower up to 10 (2x at 5)"),
        ({5: 2.0, 10: 0.5}, "faster at 5 nodes, slower at 10"),
        ({}, "-"),
    ],
)
def test_verdicts_follow_from_the_times(ratios: dict[int, float], said: str) -> None:
    timings = [
        walltime.Timing("cpt", walltime.ONE, size, 3.0, {"gnn": 1.0, "greedy": ratio}) for size, ratio in ratios.items()
    ]
    timings.append(walltime.Timing("cpt", walltime.ONE, 100, 3.0, {"gnn": 1.0}))  # no exact rewards: says nothing
    assert walltime.verdict(timings, "gnn", "greedy") == said


# stored results


def test_stored_results_are_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, int] = {}
    for kind in (lengths, walltime):
        name = kind.__name__.rpartition(".")[2]
        monkeypatch.setattr(kind, "save_plot", lambda rows, path: drawn.update({path.name: len(rows)}))
        stored = Path(__file__).parents[2] / "docs" / "results" / f"{name}.json"
        (tmp_path / f"{name}.json").write_text(stored.read_text())
    assert list(redraw_figures(tmp_path)) == ["lengths", "walltime"]
    assert drawn == {
        "lengths.png": len(json.loads((tmp_path / "lengths.json").read_text())["points"]),
        "walltime.png": len(json.loads((tmp_path / "walltime.json").read_text())["timings"]),
    }


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"cells": 3}', '{"cells": [{"reward": "igt"}]}'])
def test_stored_results_that_are_none_get_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "table1.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"table1\.json"):
        list(redraw_figures(tmp_path))
    assert not (tmp_path / "table1.png").exists()
