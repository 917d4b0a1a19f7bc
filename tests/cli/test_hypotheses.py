"""`curiograph hypotheses`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import curiograph as cg
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.people.growth_comparison import compare_growth
from curiograph.human.trajectories import Trajectories

SHORT = ("--steps", "5", "--burn-in", "2")


@pytest.fixture
def walks(tmp_path: Path) -> Path:
    """Walks in the library that prefer nodes of high degree."""
    starts = cg.toys.library().labels * 3
    lists = [
        cg.explore(cg.toys.library(), agent="max-degree", start=start, steps=6, seed=seed).nodes
        for seed, start in enumerate(starts)
    ]
    file = tmp_path / "walks.txt"
    file.write_text("# readers\n" + "".join(",".join(map(str, nodes)) + "\n" for nodes in lists))
    return file


def test_results_match_the_functions(run, walks):
    found = run("hypotheses", "toy:library", walks, *SHORT, "--seed", "3", "--agent", "min-degree", "--json").document
    lists = [line.split(",") for line in walks.read_text().splitlines()[1:]]
    people = Trajectories.from_walks(lists, graph=cg.toys.library())
    wanted = hypotheses(cg.toys.library(), people, agents=["min-degree"], burn_in=2, seed=3)
    assert found["motives"]["answer"] == wanted.answer
    assert [fit["name"] for fit in found["motives"]["motives"]] == list(wanted)
    assert next(iter(wanted)) == "degree"
    growth = compare_growth(cg.toys.library(), people, steps=5, seed=3)
    assert found["growth"]["answers"] == growth.answers


def test_output_is_two_tables_and_a_sentence(run, walks):
    done = run("hypotheses", "toy:library", walks, *SHORT)
    assert done.code == 0
    for word in ("motive", "markov", "percentile", "null model", "rewired", "shuffled"):
        assert word in done.out
    assert done.out.strip().splitlines()[-1].startswith("The degree motive explains the ")
    quiet = run("hypotheses", "toy:library", walks, *SHORT, "--quiet", "--no-growth")
    assert quiet.err == ""
    assert "null model" not in quiet.out


def test_null_models_are_chosen_by_name(run, walks):
    line = ("hypotheses", "toy:library", walks, *SHORT, "--null", "latticized", "--null", "preferential")
    area = run(*line, "--json").document["growth"]["area"]
    assert list(area) == ["latticized", "preferential"]
    assert "conformable" in area["latticized"]
    assert "conformable" in run(*line).out
    wrong = run("hypotheses", "toy:library", walks, *SHORT, "--null", "joy")
    assert wrong.code == 2
    assert "there is no null model 'joy'; the null models are rewired" in wrong.err


@pytest.mark.parametrize("ending", ["json", "csv", "png"])
def test_results_are_written(run, walks, tmp_path, ending):
    out, second = tmp_path / f"found.{ending}", tmp_path / f"found-growth.{ending}"
    done = run("hypotheses", "toy:library", walks, *SHORT, "--out", out, "--json")
    assert done.code == 0
    assert second.exists() == (ending != "json")
    if ending == "png":
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in (out, second))
    elif ending == "json":
        assert json.loads(out.read_text()) == done.document
    else:
        rows = list(csv.DictReader(out.read_text().splitlines()))
        assert {row["motive"] for row in rows} == {"uniform", "degree", "pagerank", "igt", "cpt", "cct", "markov"}
        assert len(second.read_text().splitlines()) == 1 + 4 * 5


TWO = "music,physics,chemistry,biology,philosophy\n" * 2
"""Two walks with choices."""


def test_short_walks_are_compared_without_growth(run, tmp_path):
    file = tmp_path / "walks.txt"
    file.write_text(TWO)
    done = run("hypotheses", "toy:library", file, "--json")
    assert done.document["growth"] is None
    assert done.document["motives"]["choices"] > 0
    assert "growth is left out: none of the 2 walks has 10 distinct nodes" in done.err


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("# no walks\n", [], "contains no walks"),
        ("music,physics\n", ["--no-growth"], "there is no choice of a new node along a link"),
        ("music,physics,chemistry,biology,philosophy\n", ["--no-growth"], "all choices are by 1 user"),
        ("music,physics\n", ["--agent", "gready", "--no-growth"], "there is no agent 'gready'"),
        (TWO, ["--steps", "1"], "steps is 1"),
        ("music,physics\n", ["--burn-in", "0", "--no-growth"], "--burn-in is 0"),
        (TWO, ["--burn-in", "100"], "--burn-in is 100; give the number of visits before the first choice, 1 to 50."),
        (TWO, ["--walks", "0"], "--walks is 0; compare the growth of 1 walk or more"),
        ("music,physics\n", ["--out", "x.docx"], "cannot write .docx"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, tmp_path, text, arguments, message):
    file = tmp_path / "walks.txt"
    file.write_text(text)
    done = run("hypotheses", "toy:library", file, *arguments, "--json")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_opposed_motives_are_in_text_and_json(run, tmp_path):
    graph = cg.generate("ba", nodes=60, seed=0)
    cg.write_graph(graph, tmp_path / "g.safetensors")
    lists = [cg.explore(graph, agent="min-degree", start=n % 60, steps=8, seed=n).nodes for n in range(90)]
    (tmp_path / "walks.txt").write_text("".join(",".join(map(str, nodes)) + "\n" for nodes in lists))
    arguments = ("hypotheses", tmp_path / "g.safetensors", tmp_path / "walks.txt", "--no-growth", "--burn-in", "1")
    done = run(*arguments)
    assert "opposed" in done.out
    assert "clearly opposed to" in " ".join(done.out.split())
    found = run(*arguments, "--json").document["motives"]
    assert "degree" in found["opposed"]
    assert next(fit for fit in found["motives"] if fit["name"] == "degree")["opposed"]


def test_texts_add_a_motive(run, walks, tmp_path):
    texts = tmp_path / "texts.tsv"
    graph = cg.toys.library()
    texts.write_text("".join(f"{label}\t{label} {graph.neighbors(label)[0]}\n" for label in graph.labels))
    line = ("hypotheses", "toy:library", walks, *SHORT, "--no-growth", "--json")
    names = [fit["name"] for fit in run(*line, "--texts", texts).document["motives"]["motives"]]
    assert "similarity" in names
    missing = run(*line, "--texts", tmp_path / "none.tsv")
    assert missing.code == 2
    assert "no such file" in missing.err


def test_weights_and_returns(run, walks, tmp_path):
    out = tmp_path / "found.csv"
    options = ("--burn-in", "2", "--no-growth", "--weights", "--returns", "--out", out)
    done = run("hypotheses", "toy:library", walks, *options)
    assert done.code == 0, done.err
    for word in ("weights over all motives at once", "mean weight", "reliability"):
        assert word in done.out
    assert "All motives together explain choices" in " ".join(done.out.split())
    rows = list(csv.DictReader((tmp_path / "found-weights.csv").read_text().splitlines()))
    assert {"user", "motive", "weight", "weight_low", "weight_high"} <= set(rows[0])
    assert {row["motive"] for row in rows} == {"degree", "pagerank", "igt", "cpt", "cct", "markov"}
    document = run("hypotheses", "toy:library", walks, *options[:-2], "--json").document["motives"]
    assert len(document["weights"]["per_user"]) == len(rows)
    refused = run("hypotheses", "toy:library", walks, *options[:-2], "--agent", "igt-rg")
    assert refused.code == 2
    assert "agent 'igt-rg' scores unvisited nodes only" in refused.err
