"""What each command answers: the same as the function it calls, also for messy logs."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import curiograph as cg
from curiograph.graph.toys import library


def test_measure_one_walk(run, here):
    ran = run(
        "measure", "toy:library", "--walk", "music,physics,chemistry,biology,philosophy,logic,mathematics", "--quiet"
    )
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1].split() == ["mathematics", "7"]  # the gap that it opens
    found = run("measure", "links.tsv", "--walk", "a,b,c,d", "--json").document
    growth = cg.measure(cg.read_graph("links.tsv"), ["a", "b", "c", "d"])
    assert found["beta1"] == growth.beta1.tolist() == [0, 0, 0, 1]


def test_gaps_are_reported_dismissed_and_compared(run, here):
    ran = run("gaps", "links.tsv", "--out", "gaps.md")
    assert "a - b - c - d" in ran.out
    report = (here / "gaps.md").read_text()
    assert "**What connects a with c?**" in report
    (here / "before.json").write_text(run("gaps", "links.tsv", "--json").out)
    (here / "seen.txt").write_text("## 1. c - d - a - b\nno - such - loop\n")
    ran = run("gaps", "links.tsv", "--dismiss", "seen.txt", "--json")
    assert (ran.document["total"], ran.document["dismissed"], ran.document["rows"]) == (1, 1, [])
    assert "1 dismissed" in ran.err
    (here / "later.tsv").write_text("a\tb\nb\tc\nc\td\nd\ta\na\tc\nd\te\ne\tf\nf\tg\ng\td\n")
    found = run("gaps", "later.tsv", "--since", "before.json", "--json").document
    assert (found["opened"], found["closed"]) == (["d - e - f - g"], ["a - b - c - d"])
    ran = run("gaps", "links.tsv", "--since", "links.tsv")
    assert (ran.code, "links.tsv" in ran.err) == (2, True)


def test_gaps_of_a_folder_of_notes(run, here):
    (here / "notes").mkdir()
    for name, other in {"a": "b", "b": "c", "c": "d", "d": "a]] [[missing"}.items():
        (here / "notes" / f"{name}.md").write_text(f"[[{other}]]")
    ran = run("gaps", "notes", "--out", "gaps.md")
    assert "missing: d" in ran.out
    assert "- missing: d" in (here / "gaps.md").read_text()
    before = run("gaps", "notes", "--json")
    assert before.document["wanted"] == {"missing": ["d"]}
    (here / "before.json").write_text(before.out)
    (here / "seen.md").write_text("- [ ] a - b - c - d\nnonsense\n")
    ran = run("gaps", "notes", "--dismiss", "seen.md", "--json")
    assert (ran.document["dismissed"], "nonsense" in ran.err) == (1, True)
    (here / "notes" / "d.md").unlink()
    ran = run("gaps", "notes", "--since", "before.json", "--json")
    assert (ran.document["opened"], ran.document["closed"]) == ([], ["a - b - c - d"])


def test_labels_with_commas_quotes_and_digits(run, here):
    (here / "towns.csv").write_text('source,target\n"Paris, France",7\n7,"say ""hi"""\n')
    walk = '"Paris, France",7,"say ""hi"""'
    found = run("measure", "towns.csv", "--walk", walk, "--json").document
    assert found["node"] == ["Paris, France", "7", 'say "hi"']


def test_messy_log_is_read_and_what_was_dropped_is_said(run, here):
    ran = run(
        "measure", "toy:library", "--walks", "events.csv", "--session-gap", "12h", "--keep", "condition", "--json"
    )
    walks = ran.document["walks"]
    assert [walk["node"] for walk in walks if walk["user"] == "ann"] == [["music", "physics", "mathematics"]]
    assert {walk["session"] for walk in walks if walk["user"] == "bob"} == {1, 2}
    assert {walk["condition"] for walk in walks} == {"guided", "free"}
    assert ran.document["skipped"]["reasons"] == {"no item": 1, "bad time": 1, "outside the graph": 1}
    assert "left out: no item: 1, bad time: 1, outside the graph: 1" in ran.err


@pytest.mark.parametrize("command", ["measure toy:library --walks", "profile toy:library"])
def test_standard_input(run, here, monkeypatch, command):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((here / "events.csv").read_bytes())))
    piped = run(*command.split(), "-", "--out", "piped.csv", "--quiet")
    assert piped.code == 0
    assert run(*command.split(), "events.csv", "--out", "read.csv", "--quiet").out == piped.out
    assert (here / "piped.csv").read_text() == (here / "read.csv").read_text()


def test_profile_lists_people_and_compares_groups(run, here):
    rows = run("profile", "toy:library", "events.csv", "--measure", "structure", "--json").document["rows"]
    assert {row["user"]: row["nodes"] for row in rows} == {"ann": 3, "bob": 3, "cid": 2, "dora": 2}
    ran = run("profile", "toy:library", "events.csv", "--group", "condition", "--measure", "structure")
    assert ran.out.splitlines()[-1].startswith("The groups ")
    assert "guided" in ran.out
    (here / "texts.tsv").write_text("".join(f"{node}\tabout {node} and {node[0]}\n" for node in library().labels))
    rows = run("profile", "toy:library", "people.txt", "--texts", "texts.tsv", "--json").document["rows"]
    assert "forward_flow" in rows[0]


def test_profile_cuts_walks_and_estimates_styles(run, here):
    (here / "long.txt").write_text(
        "".join(",".join(library().labels[n:] + library().labels[:n]) + "\n" for n in range(12))
    )
    rows = run("profile", "toy:library", "long.txt", "--measure", "style", "--nodes", "10", "--json").document["rows"]
    assert [row["nodes"] for row in rows] == [10] * 12
    assert any(row["style"] > 0 for row in rows)


def test_explore(run, here):
    line = ["explore", "toy:library", "--agent", "greedy", "--start", "music", "--seed", "3"]
    walk = cg.explore(library(), "greedy", "igt", "music", seed=3)
    found = run(*line, "--json").document
    assert (found["nodes"], found["total"]) == (walk.nodes, walk.total)
    assert run(*line).out.splitlines()[-1] == f"return {walk.total:.6g} by greedy"
    assert "ended early after 5 of 9 nodes" in run("explore", "links.tsv", "--steps", "9").out


def test_evaluate_resumes_from_its_run_folder(run, here):
    line = ["evaluate", "--family", "er", "--graphs", "2", "--agent", "random", "--episodes", "5", "--run", "kept"]
    first = run(*line, "--json").document
    files = {path: path.stat().st_mtime_ns for path in here.glob("kept/*/*")}
    assert files
    assert run(*line, "--json", "--workers", "2").document == first
    assert {path: path.stat().st_mtime_ns for path in here.glob("kept/*/*")} == files
    assert run(*line).out.splitlines()[-1].startswith(f"mean return {first['mean']:.6g} ±")


def test_suite_results_are_verified(run, here):
    cg.suite("random", ["families"]).save("random.json")
    ran = run("evaluate", "--verify", "random.json", "--json", "--quiet")
    assert (ran.code, ran.err, ran.document["track"], len(ran.document["rows"])) == (0, "", "learned", 8)
    stored = json.loads((here / "random.json").read_text())
    stored["tasks"]["cpt-er-50-10"]["walks"][3].reverse()
    (here / "random.json").write_text(json.dumps(stored))
    ran = run("evaluate", "--verify", "random.json")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "cpt-er-50-10" in ran.err


@pytest.mark.long
def test_suite_is_run_and_kept(run, here):
    ran = run("evaluate", "--suite", "--agent", "random", "--out", "random.json")
    assert "40 of 94 tasks" in ran.out
    assert "data get real-networks" in ran.err
    assert run("evaluate", "--verify", "random.json").out.splitlines()[:40] == ran.out.splitlines()[:40]


def test_evaluate_reads_published_environments(run, here):
    graph = {"nodes": [{"id": node} for node in range(6)], "links": [{"source": i, "target": i + 1} for i in range(5)]}
    (here / "sets.json").write_text(json.dumps({part: {"0": graph} for part in ("train", "val", "test")}))
    found = run("evaluate", "--environments", "sets.json", "--agent", "random", "--episodes", "all", "--json").document
    assert found["rows"][0]["episodes"] == 6


@pytest.mark.parametrize("agent", ["gnn", "planner"])
def test_trained_agent_is_used_and_training_resumes(run, here, agent):
    line = ["train", "--family", "ws", "--graphs", "2", "--nodes", "20", "--agent", agent, "--out", "runs/one"]
    found = run(*line, "--train-steps", "4", "--set", "validate_every=2", "--json").document
    assert found["out"] == "runs/one"
    again = run(*line, "--train-steps", "4", "--set", "validate_every=2")
    assert again.code == 0
    assert "--agent runs/one" in again.err
    assert run("explore", "toy:library", "--agent", "runs/one", "--json").document["nodes"]


def test_rank(run, here):
    found = run("rank", "toy:library", "--history", "music,physics", "-k", "3", "--json").document
    eta = cg.pagerank(library(), 0.85, ["music", "physics"])
    assert [(row["node"], row["score"]) for row in found["rows"]] == eta.top(3)
    line = ["rank", "toy:library", "--agent", "greedy", "--max-walks", "100", "--json"]
    curious, other = run(*line), run(*line, "--seed", "1")
    assert curious.document["rows"] != other.document["rows"]
    assert curious.document["walks"] <= 100
    assert "--max-walks" in curious.err


def test_recommend_for_one_and_for_many(run, here):
    top = cg.recommend(library(), ["music", "physics"], k=3)
    line = ["recommend", "toy:library", "--history", "music,physics", "-k", "3"]
    found = run(*line, "--json").document
    rows = found["recommendations"]
    assert [(row["node"], row["score"]) for row in rows] == [tuple(pair) for pair in top]
    assert [row["sentence"] for row in rows] == [reason.sentence for reason in top.reasons]
    rows = run(*line, "--ranker", "pagerank", "--alpha", "0.5", "--theory", "--json").document["recommendations"]
    top = cg.recommend(library(), ["music", "physics"], 3, ranker="pagerank", alpha=0.5, theory=True)
    assert [(row["score"], row["compressibility"]) for row in rows] == [
        (score, reason.compressibility) for (_, score), reason in zip(top, top.reasons, strict=True)
    ]
    more = ["--exclude", top[0][0], "--candidates", "history", "--weights", "pagerank=1,igt=0.5"]
    rows = run("recommend", "toy:library", "--history", "music,physics", *more, "--json").document["recommendations"]
    assert top[0][0] not in [row["node"] for row in rows]
    assert "no node 'Musik'" in run("recommend", "toy:library", "--history", "music", "--exclude", "Musik").err
    assert "Popular" in run("recommend", "toy:library", "--history", "").out
    Path("commas.csv").write_text('source,target\n"Matrix, The",Alien\n')
    assert "in double quotes" in run("recommend", "commas.csv", "--history", "Matrix, The").err
    many = run("recommend", "toy:library", "--histories", "events.csv", "-k", "2", "--json")
    assert [user["user"] for user in many.document["users"]] == ["ann", "bob", "cid", "dora"]
    assert "outside the graph: 1" in many.err
    Path("sessions.csv").write_text("user,session,item\nann,1,music\nann,2,mathematics\n")
    (ann,) = run("recommend", "toy:library", "--histories", "sessions.csv", "--json").document["users"]
    assert ann["history"] == ["music", "mathematics"]


def test_recommend_with_prepared_nodes(run, here):
    assert run("recommend", "toy:library", "--parts", "p.safetensors", "--prepare").err.endswith("12 nodes prepared\n")
    line = ["recommend", "toy:library", "--history", "music", "--json"]
    found, wanted = (run(*line, *more).document["recommendations"] for more in (["--parts", "p.safetensors"], []))
    assert [row.pop("score") for row in found] == pytest.approx([row.pop("score") for row in wanted], rel=1e-6)
    assert found == wanted
    few = run("recommend", "toy:library", "--parts", "few.safetensors", "--prepare", "--top", "3")
    assert few.err.endswith("3 nodes prepared\n")
    assert run("recommend", "toy:library", "--history", "music", "--top", "3").code == 2
    assert run("recommend", "toy:library", "--parts", "a.safetensors", "--prepare", "--alpha", "0.3").code == 0
    low, own = (run(*line, *more).document for more in (["--parts", "a.safetensors"], ["--alpha", "0.3"]))
    cg.write_graph(cg.toys.library(), "graph.safetensors")
    wrong = run("recommend", "toy:library", "--history", "music", "--parts", "graph.safetensors")
    assert wrong.code == 2
    assert "graph.safetensors: is not a parts file" in wrong.err
    assert low["recommendations"][0]["ranks"] == own["recommendations"][0]["ranks"]
    ran = run("recommend", "links.tsv", "--history", "a", "--parts", "p.safetensors")
    assert (ran.code, ran.out) == (2, "")


def test_graph_of_items(run, here):
    columns = ["--user", "who", "--item", "what", "--time", "when"]
    found = run("graph", "likes.csv", *columns, "--out", "items.safetensors", "--json").document
    walks = cg.human.read_log("likes.csv", user="who", item="what", time="when")
    graph = cg.read_graph("items.safetensors")
    assert graph == cg.human.cooccurrence_graph(walks)
    assert (found["nodes"], found["items"]) == (graph.num_nodes, 20)
    other = ["--neighbors", "4", "--similarity", "pmi"]
    assert run("graph", "likes.csv", *columns, *other, "--out", "items.tsv").code == 0
    assert cg.read_graph("items.tsv").degrees.mean() <= 8


def test_evaluate_recommender(run, here):
    line = ["evaluate-recommender", "likes.csv", "--user", "who", "--item", "what", "--time", "when"]
    for split in ("time", "user", "last"):
        found = run(*line, "--split", split, "--method", "popularity", "--method", "markov", "--json").document
        assert [row["method"] for row in found["rows"]] == ["popularity", "markov"]
        assert 0 <= found["rows"][0]["mrr_low"] <= found["rows"][0]["mrr"] <= found["rows"][0]["mrr_high"]
    shown = run(*line, "--method", "popularity").out.splitlines()
    assert len(shown) == 5
    assert "too few" in shown[-1]


def test_hypotheses(run, here):
    walks = [cg.explore(library(), "random", start=label, steps=10, seed=0).nodes for label in library().labels]
    (here / "long.txt").write_text("".join(",".join(walk) + "\n" for walk in walks))
    line = ["hypotheses", "toy:library", "long.txt", "--agent", "max-degree", "--weights", "--null", "rewired"]
    ran = run(*line, "--out", "found.json")
    found = json.loads((here / "found.json").read_text())
    people = cg.human.read_log("long.txt")
    assert found["answer"] == cg.human.hypotheses(library(), people, agents=["max-degree"], weights=True).answer
    assert "adds_low" in ran.out
    assert found["growth"]
    assert ran.out.rstrip().endswith(found["answer"])


@pytest.mark.long
def test_predict(run, here):
    (here / "walks.txt").write_text((here / "people.txt").read_text() * 8)
    found = run("predict", "walks.txt", "--graph", "toy:library", "--quick", "--workers", "1", "--json")
    assert found.document["answer"]
    assert {row["candidates"] for row in found.document["rows"]} == {"last", "all"}


def test_datasets_are_listed_found_and_used(run, here):
    folder = here / "cache" / "curiograph" / "data" / "amazon-books"
    folder.mkdir(parents=True)
    (folder / "ratings_Books.csv").write_text("".join(f"u{n % 7},b{n % 5},,{n}\n" for n in range(35)))
    got = run("data", "get", "books", "--json")  # it is there already
    assert got.document["folder"] == str(folder)
    assert "McAuley" in got.err
    found = {row["name"]: row["found"] for row in run("data", "list", "--json").document["rows"]}
    assert found["books"] == str(folder / "ratings_Books.csv")
    assert found["wikispeedia"] == "not here"
    assert run("graph", "books", "--fewest", "1", "--out", "books.tsv", "--json").document["items"] == 5
    assert "curiograph graph books" in run("explore", "books").err


@pytest.mark.long
def test_warmup(here):
    done = subprocess.run(
        [sys.executable, "-m", "curiograph", "warmup", "--json", "--quiet"], capture_output=True, check=True
    )
    assert json.loads(done.stdout)["seconds"] >= 0
    assert done.stderr == b""
