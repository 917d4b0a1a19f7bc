"""Conditions of curiosity on simulated players."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph
from curiograph.human.data.datasets import Dataset, load_dataset
from curiograph.human.prediction.methods import simulate_walkers
from curiograph.human.prediction.predict import Effort, Recipe, make_study
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import Engine
from curiograph.results import to_plain
from reproduction import conditions
from reproduction.conditions import Groups, contrast_groups
from reproduction.report import Setup

SMALL = {
    "effort": Effort(splits=2, trials=12, walkers=20, steps=4, p_g=0.1, windows=3000),
    "long_windows": 300,
    "seed": 0,
}


def write_games(folder: Path, curious_share: Mapping[str, float], players: int = 100) -> Path:
    """Write six games of every player in the layout of Wikispeedia.

    With a probability that depends on the kind of the game, players take the page that greedy cpt walkers prefer most
    compared with PageRank; otherwise they take any page.
    """
    graph = generate("er", nodes=60, seed=0)
    links = graph.to_scipy().toarray() > 0
    visits = simulate_walkers(graph, "greedy", "cpt", range(60), p_g=0.1, steps=4, count=20)
    curious = sum(0.95**step * table.toarray() for step, table in enumerate(visits, start=1))
    pagerank = np.linalg.inv(np.eye(60) - 0.95 * links / links.sum(axis=1, keepdims=True))
    table = curious / curious[links].std() - pagerank / pagerank[links].std()
    rng = np.random.default_rng(0)
    folder.mkdir()
    (folder / "articles.tsv").write_text("".join(f"a{node}\n" for node in range(60)))
    (folder / "links.tsv").write_text("".join(f"a{a}\ta{b}\n" for a, b in graph.to_networkx().to_directed().edges))
    for kind, share in curious_share.items():
        lines = []
        for number in range(6 * players):
            walk = [int(rng.integers(60))]
            while len(walk) < 13:
                choices = [node for node in graph.neighbors(walk[-1]) if node not in walk[-3:]]
                best = max(choices, key=lambda node: table[walk[-3:], node].sum())
                walk.append(best if rng.random() < share else int(rng.choice(choices)))
            path = ";".join(f"a{node}" for node in walk)
            player, end = ("NULL", "NULL") if kind == "finished" else (f"ip{number % players}", "a0\ttimeout")
            lines.append(f"{player}\t{number}\t9\t{path}\t{end}\n")
        (folder / f"paths_{kind}.tsv").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Games that curious players do not finish; the others walk at random."""
    folder = write_games(tmp_path_factory.mktemp("data") / "wikispeedia", {"finished": 0.0, "unfinished": 0.9})
    return conditions.label_games(load_dataset(folder), folder)


def find_contrast(found: dict[str, Any], condition: str) -> dict[str, Any]:
    return next(each for each in found["contrasts"] if (each["condition"], each["base"]) == (condition, "memory"))


@pytest.mark.long
def test_planted_condition_is_found_and_the_same_for_all_workers(games, tmp_path):
    found = conditions.compare_datasets(Setup(engine=Engine(workers=1)), [games], SMALL)
    assert list(dict.fromkeys(each["condition"] for each in found["contrasts"])) == list(conditions.CONDITIONS)
    planted = find_contrast(found, "goal")
    assert planted["corrected_p"] < 0.05
    assert planted["difference"]["low"] > 0.01
    assert planted["gains"][0] > planted["gains"][1]
    for other in ("experience", "compression"):
        assert abs(find_contrast(found, other)["difference"]["value"]) < planted["difference"]["value"] / 2
    shown = conditions.report(to_plain(found))
    assert shown.tables["Difference of the gain between two groups of choices"].shape == (12, 9)
    parallel = Setup(engine=Engine(workers=2, run=tmp_path))
    assert to_plain(conditions.compare_datasets(parallel, [games], SMALL)) == to_plain(found)


@pytest.mark.long
def test_no_condition_is_found_among_equal_players(tmp_path):
    folder = write_games(tmp_path / "wikispeedia", {"finished": 0.5, "unfinished": 0.5})
    found = conditions.compare_datasets(Setup(), [conditions.label_games(load_dataset(folder), folder)], SMALL)
    assert all(find_contrast(found, condition)["corrected_p"] > 0.05 for condition in ("goal", "experience"))


def test_groups_use_only_what_came_before_the_choice(games):
    study = make_study(games, Recipe())
    choices = conditions.find_linked_choices(study, 3, 500)
    walks, visits = study.choice_walks, choices.windows.visits
    assert np.array_equal(walks.nodes[visits], choices.windows.nexts)
    groups = conditions.find_groups(study, choices)
    changed = walks.nodes.copy()
    walk_of = np.searchsorted(walks.offsets, visits, side="right") - 1
    only_choices = np.flatnonzero(np.bincount(walk_of)[walk_of] == 1)
    assert len(only_choices) > 20
    for number in only_choices:  # change the choice and all later visits
        end = walks.offsets[walk_of[number] + 1]
        changed[visits[number] : end] = (changed[visits[number] : end] + 1) % 60
    again = conditions.find_groups(replace(study, choice_walks=replace(walks, nodes=changed)), choices)
    for condition, masks in groups.items():
        for mask, same in zip(masks, again[condition], strict=True):
            assert np.array_equal(mask, same), condition


def test_gaps_and_compression_are_compared_at_equal_length():
    ring = Graph.from_edges([(node, (node + 1) % 12) for node in range(12)] + [(0, 3), (6, 9)])
    walks = [[(start + step) % 12 for step in range(10)] for start in range(12)] * 12
    study = make_study(Dataset(Trajectories.from_walks(walks, graph=ring), ring))
    choices = conditions.find_linked_choices(study, 3, 2000)
    above, others = conditions.find_groups(study, choices)["gaps"]
    offsets = study.choice_walks.offsets
    starts = offsets[np.searchsorted(offsets, choices.windows.visits, side="right") - 1]
    earlier = choices.windows.visits - starts
    assert np.array_equal(above | others, earlier >= 6)
    for row in np.flatnonzero(above):  # only chords inside the walk so far make a gap
        nodes = set(study.choice_walks.nodes[starts[row] : choices.windows.visits[row]].tolist())
        assert {0, 1, 2, 3} <= nodes or {6, 7, 8, 9} <= nodes


def test_contrasts_agree_with_their_definition():
    rng = np.random.default_rng(0)
    users, first = rng.integers(80, size=900), rng.random(900) < 0.4
    gains = rng.normal(0.1 * first, 0.2)
    found = contrast_groups(Groups(users, {"memory": gains}, first, ~first), "memory")
    difference = found["difference"]
    assert difference["value"] == pytest.approx(gains[first].mean() - gains[~first].mean())
    expected = 0.2 * np.sqrt(1 / first.sum() + 1 / (~first).sum())  # choices of a user are independent here
    assert (difference["high"] - difference["low"]) / 3.92 == pytest.approx(expected, rel=0.15)
    assert found["p"] < 1e-6
    small = Groups(users[:150], {"memory": gains[:150]}, first[:150], ~first[:150])
    assert np.isnan(contrast_groups(small, "memory")["p"])
    assert contrast_groups(Groups(users, {"memory": np.zeros(900)}, first, ~first), "memory")["p"] == 1.0
