"""Table 1 with small settings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from curiograph.paper import table1

import curiograph as cg
from curiograph.errors import SettingError
from curiograph.graph.generators import FAMILIES
from support.evaluations import create_evaluation

SMALL = table1.Settings(episodes=2, beam_episodes=1, graphs=2, nodes=20, steps=4)


def test_all_columns_are_present_and_reproducible(small_agents: Path) -> None:
    result = table1.run(SMALL)
    cells = result.cells
    assert [(cell.reward, cell.family) for cell in cells] == [(r, f) for r in ("igt", "cpt") for f in FAMILIES]
    assert all(list(cell.results) == list(table1.COLUMNS) for cell in cells)
    assert all(cell.normalize_return("random") == (0.0, 0.0) for cell in cells if cell.reward == "cpt")
    assert all(cell.normalize_return("beam") == (1.0, 0.0) for cell in cells if cell.reward == "cpt")
    text = result.to_markdown()
    normalized = ("greedy", "gnn-paper", "gnn", "horizon", "horizon+beam", "planner", "paper's greedy", "paper's GNN")
    assert f"| reward | family | {' | '.join(normalized)} |" in text
    assert "gnn earns more than the paper's GNN in" in text
    document = result.to_dict()
    assert all(isinstance(cell["gnn_above_greedy"], bool) for cell in document["cells"])
    assert set(document["mean_shares"]) == {"igt", "cpt", "both"}
    again = table1.run(SMALL).to_dict()
    assert json.dumps(document) == json.dumps(again)


def test_without_trained_agents(no_agents: Path, tmp_path: Path) -> None:
    result = table1.run(SMALL)
    assert result.columns == [*table1.BASELINES, "beam"]
    assert "Left out, no such agent is shipped: gnn-paper; gnn; horizon; horizon+beam; planner." in result.to_markdown()
    assert result.to_dict()["cells"][0]["gnn_above_paper"] is None
    result.save_plot(tmp_path / "table1.png")
    assert (tmp_path / "table1.png").stat().st_size > 10_000


def test_normalized_returns_follow_their_definition() -> None:
    results = {
        "random": create_evaluation(1, 2),
        "beam": create_evaluation(5, 6),
        "gnn": create_evaluation(3, 4),
        "greedy": create_evaluation(2, 4),
    }
    cell = table1.Cell(reward="igt", family="rg", source="here", results=results, published_rules={})
    assert cell.normalize_return("gnn") == (0.5, 0.0)
    assert cell.normalize_return("greedy")[0] == pytest.approx(0.375)
    assert cell.normalize_paper_return("gnn") == pytest.approx((2.308 - 0.312) / (5.5 - 0.312))
    assert cell.is_gnn_above(3.4)
    assert not cell.is_gnn_above(3.6)
    other = replace(cell, reward="cpt")
    means = table1.Table1(SMALL, [cell, other]).mean_normalized_returns
    assert [(row.reward, row.family) for row in means] == [("igt", "mean"), ("cpt", "mean"), ("both", "mean")]
    assert means[-1].ours["gnn"] == (0.5, 0.0)


def test_all_starts_and_several_seeds_are_pooled(no_agents: Path) -> None:
    settings = table1.Settings(episodes="all", beam_episodes=1, graphs=2, seeds=3, nodes=8, steps=3)
    random = table1.run(settings).cells[0].results["random"]
    assert len(random.returns) == 6
    assert all(len(walks) == 8 for walks in random.returns)
    with pytest.raises(SettingError, match="seeds is 0"):
        table1.run(table1.Settings(seeds=0))


def test_seeds_on_the_same_graphs_stay_together(no_agents: Path, tmp_path: Path) -> None:
    ring = {"nodes": [{"id": i} for i in range(6)], "links": [{"source": i, "target": (i + 1) % 6} for i in range(6)]}
    path = tmp_path / "tiny_WS_set.json"
    path.write_text(json.dumps({"train": {}, "val": {}, "test": {"0": ring, "1": ring}}))
    result = table1.run(table1.Settings(episodes=3, beam_episodes=1, seeds=4, steps=4), [path])
    assert [len(walks) for walks in result.cells[0].results["random"].returns] == [12, 12]
    assert (
        "- |" in result.to_markdown()
    )  # on a ring all agents have the same return, so the normalized return is not defined


@pytest.mark.parametrize("family", ["ws", "ba"])
def test_no_test_graph_is_a_training_graph(family: str) -> None:
    seen = {graph.indices.tobytes() for graph in cg.generate_split(family, train=30, val=10, test=0, seed=0).train}
    for seed in range(3):
        tests = cg.generate_split(family, train=0, val=0, test=10, seed=seed).test
        assert not seen & {graph.indices.tobytes() for graph in tests}
