"""Experiments on human choices: `table2`, `diffusion` and `examples`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from curiograph.paper import diffusion, examples, motives, returns, table2
from curiograph.paper.experiment import redraw_figures
from curiograph.paper.people import Settings
from curiograph.paper.published import TABLE2

from curiograph.cli.output import format_json
from curiograph.errors import SettingError
from curiograph.graph.generators import generate
from curiograph.human.prediction.predict import Effort
from curiograph.human.prediction.results import Improvement
from curiograph.human.returns.levy import simulate_levy_walks
from curiograph.parallel import resolve_engine
from support import people

SMALL = Effort(splits=2, trials=3, train_steps=4, walkers=10, trained_walkers=5, steps=2, windows=60, all_windows=20)


@pytest.fixture(scope="module")
def movielens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people.ml_100k(tmp_path_factory.mktemp("data") / "ml-100k", people.tastes(users=120, items=70, visits=40))


def test_table2_diffusion_and_examples_share_a_run_folder(movielens, tmp_path):
    settings = Settings(("movielens",), SMALL)
    engine = resolve_engine(workers=1, run=tmp_path)
    table = table2.run(settings, movielens, engine)
    text = table.to_markdown()
    assert "| MovieLens | highest |" in text
    both = table2.run(replace(settings, item_graphs=("highest", "knn")), movielens, engine)
    assert both.predictions[0].to_dict() == table.predictions[0].to_dict()
    assert "| MovieLens | knn |" in both.to_markdown()
    both.save_plot(tmp_path / "both.png")
    assert "+7.9% ± 1.7%" in text  # the paper's
    assert "below the paper's +7.9%" in text or "at or above the paper's" in text
    table.save_plot(tmp_path / "table2.png")
    assert table.to_dict()["paper"]["wikispeedia"]["igt+cpt"] == (0.322, 0.077)
    assert table.to_dict()["graph_seeds"] == []

    seeds = table2.run(settings, movielens, engine, graph_seeds=2)
    assert seeds.predictions[0].to_dict() == table.predictions[0].to_dict()
    other = table2.run(replace(settings, seed=1), movielens, resolve_engine(workers=1)).predictions[0]
    values = [each["last"].improvement("igt+cpt").value for each in (table.predictions[0], other)]
    assert seeds.to_dict()["graph_seeds"][0]["igt+cpt"]["values"] == tuple(values)
    assert "r over 2 seeds of graph users, graphs, agents, walkers and choices: mean" in seeds.to_markdown()

    messages: list[str] = []

    def report(message: str, share: float | None = None) -> None:
        messages.append(message)

    spread = diffusion.run(settings, diffusion.Walking(10, 8), movielens, engine, report)
    assert set(spread.walkers["movielens"]) == {"unbiased", "igt", "cpt", "greedy igt", "greedy cpt"}
    spread.save_plot(tmp_path / "diffusion.png")
    assert "links from the start" in spread.to_markdown()

    stored = tmp_path / "stored"
    stored.mkdir()
    for experiment in (table, spread):
        (stored / f"{experiment.name}.json").write_text(format_json(experiment.to_dict()))
    assert list(redraw_figures(stored)) == ["diffusion", "table2"]
    for experiment in (table, spread):
        name = f"{experiment.name}.png"
        assert (stored / name).read_bytes() == (tmp_path / name).read_bytes()

    drawn = examples.run(settings, 2, movielens, engine, report)
    jobs = [message for message in messages if " of " in message and "counts of" not in message]
    assert jobs
    assert all("found in the run folder" in message for message in jobs)  # nothing was computed again
    assert len(drawn.examples) == 2
    for example in drawn.examples:
        assert example.choice.startswith("Film ")
        assert len(example.offers["igt+cpt"]) == 5
        assert not set(example.history) & set(example.offers["pagerank"])
    drawn.save_plot(tmp_path / "examples.png")
    assert "## MovieLens" in drawn.to_markdown()


def test_titles_are_escaped_in_tables():
    odd = examples.Example("movielens", ["a|b"], "<i>", 7, {"pagerank": ["x"]}, {"pagerank": 0.5})
    page = examples.Examples(Settings(), [odd]).to_markdown()
    assert "a\\|b" in page
    assert "&lt;i>" in page


def test_interval_over_seeds_adds_the_variances():
    runs = [Improvement(value, value - 0.03, value + 0.03, 0.01) for value in (0.1, 0.2, 0.3)]
    combined = table2.combine_seeds(runs)
    half = 1.96 * np.sqrt((0.03 / 1.96) ** 2 + np.var([0.1, 0.2, 0.3], ddof=1))
    assert (combined.low, combined.high) == pytest.approx((0.2 - half, 0.2 + half))
    with pytest.raises(SettingError, match="graph_seeds is 0"):
        table2.run(Settings(), None, graph_seeds=0)


def test_published_values():
    assert [TABLE2[name]["igt+cpt"][0] for name in ("movielens", "books", "wikispeedia")] == [0.079, 0.096, 0.322]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games in the layout of Wikispeedia, by players who go back to pages."""
    folder = tmp_path_factory.mktemp("data") / "wikispeedia"
    folder.mkdir()
    graph = generate("ws", nodes=30, seed=0)
    (folder / "articles.tsv").write_text("".join(f"a{node}\n" for node in range(30)))
    (folder / "links.tsv").write_text("".join(f"a{a}\ta{b}\n" for a, b in graph.to_networkx().to_directed().edges))
    walks = simulate_levy_walks(graph, [3.0] * 12, [20.0] * 12, 14)
    lines = []
    for number in range(48):
        path = ";".join(f"a{node}" for node in walks.walk(number % 12))
        lines.append(f"ip{number % 24}\t{number}\t9\t{path};<\ta0\ttimeout\n")
    (folder / "paths_unfinished.tsv").write_text("".join(lines))
    return folder.parent


@pytest.mark.parametrize("experiment", [motives, returns])
def test_weights_and_returns_are_stored_and_redrawn(games, tmp_path, experiment):
    settings = experiment.Settings(motives=("uniform", "degree", "markov"), max_games=44)
    result = experiment.run(settings, games)
    document = json.loads(json.dumps(result.to_dict()))
    again = type(result).from_dict(document)
    assert again.to_markdown() == result.to_markdown()
    assert "| markov |" in result.to_markdown()
    again.save_plot(tmp_path / "figure.png")
    assert result.sections
    if experiment is returns:
        assert "| levy |" in result.to_markdown()
        assert result.measures["share"].value > 0.1
