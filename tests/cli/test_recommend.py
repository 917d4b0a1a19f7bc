"""`curiograph recommend`."""

from __future__ import annotations

import csv
import json

import pytest

import curiograph as cg
from support.bad_input import BAD_HISTORIES, check_rejected, write_agent_with_wrong_features
from support.program import Run

LIBRARY = ("recommend", "toy:library", "--history", "music,physics")
FAST = ("--by", "igt", "--igt-agent", "max-degree")


@pytest.fixture(autouse=True)
def change_folder(monkeypatch, tmp_path):
    """Each test has its own current folder."""
    monkeypatch.chdir(tmp_path)


def test_recommend_matches_the_function(run):
    found = run(*LIBRARY, "-k", "3", "--json").document
    wanted = cg.recommend(cg.toys.library(), ["music", "physics"], k=3)
    assert [(row["node"], row["score"]) for row in found["recommendations"]] == wanted
    assert found["history"] == ["music", "physics"]
    assert set(found["recommendations"][0]["ranks"]) == {"pagerank", "igt", "cpt"}
    shown = run(*LIBRARY, "-k", "3")
    assert shown.code == 0
    assert wanted[0][0] in shown.out
    assert "bits" in shown.out
    assert "user" not in shown.out


def test_candidates_weights_and_a_directed_graph(run, tmp_path):
    last = run(*LIBRARY, "--by", "pagerank", "--candidates", "last", "--json").document
    assert {row["node"] for row in last["recommendations"]} == {"mathematics", "computing", "chemistry"}
    mixed = run(*LIBRARY, "--weights", "pagerank=-1", "--json").document
    assert all(row["score"] < 0 for row in mixed["recommendations"])
    links = tmp_path / "links.tsv"
    links.write_text("a\tb\nb\tc\nx\ta\n")
    line = ("recommend", links, "--history", "a", "--by", "pagerank", "--json")
    assert [row["node"] for row in run(*line, "--directed").document["recommendations"]] == ["b", "c"]
    assert {row["node"] for row in run(*line).document["recommendations"]} == {"b", "c", "x"}
    assert "curiograph: 2 of 10 recommendations: no other candidate" in run(*line[:-1], "--directed").err


def test_histories_from_a_file(run, tmp_path):
    file, out = tmp_path / "readers.txt", tmp_path / "all.csv"
    file.write_text("# readers\nmusic,physics\n\nlogic\n")
    line = ("recommend", "toy:library", "--histories", file, "--by", "pagerank", "-k", "2")
    users = run(*line, "--json").document["users"]
    assert [user["history"] for user in users] == [["music", "physics"], ["logic"]]
    assert [row["node"] for row in users[1]["recommendations"]] == [
        label for label, _ in cg.recommend(cg.toys.library(), ["logic"], k=2, ranker="pagerank")
    ]
    assert run(*line, "--out", out).code == 0
    assert [row["user"] for row in csv.DictReader(out.read_text().splitlines())] == ["0", "0", "1", "1"]


def test_a_batch_with_unknown_labels_is_written_and_not_printed(run, tmp_path):
    file, out = tmp_path / "readers.txt", tmp_path / "all.json"
    file.write_text("music,moon\nlogic\nmoon,mars\n")
    line = ("recommend", "toy:library", "--histories", file, "--by", "pagerank", "-k", "2")
    done = run(*line, "--out", out)
    assert (done.code, done.out) == (0, "")
    assert "curiograph: 3 unknown labels skipped in 2 of 3 histories" in done.err
    assert f"curiograph: {out}: recommendations for 3 histories" in done.err
    users = json.loads(out.read_text())["users"]
    assert [user["skipped"] for user in users] == [["moon"], [], ["moon", "mars"]]
    popular = cg.recommend(cg.toys.library(), [], k=2, ranker="pagerank")
    assert [(row["node"], row["score"]) for row in users[2]["recommendations"]] == popular
    assert run(*line, "--quiet").out.count("mathematics") >= 1  # without --out, the table is shown


def test_excluded_allowed_and_diverse_nodes(run):
    line = (*LIBRARY, "--by", "pagerank", "-k", "3", "--json")
    settings = {"exclude": ["mathematics"], "diversity": 0.5}
    wanted = cg.recommend(cg.toys.library(), ["music", "physics"], 3, ranker="pagerank", **settings)
    found = run(*line, "--exclude", "mathematics,moon", "--diversity", "0.5").document["recommendations"]
    assert [(row["node"], row["score"]) for row in found] == wanted
    found = run(*line, "--filter", "logic,poetry,moon").document["recommendations"]
    assert {row["node"] for row in found} == {"logic", "poetry"}
    assert all(row["sentence"].endswith(".") for row in found)


def test_cold_start_and_skipped_labels_of_one_history(run, tmp_path):
    line = ("recommend", "toy:library", "--by", "pagerank", "-k", "2")
    popular = cg.recommend(cg.toys.library(), [], k=2, ranker="pagerank")
    for history in (["--history", ""], ["--history", "moon", "--unknown", "skip"]):
        found = run(*line, *history, "--json").document
        assert [(row["node"], row["score"]) for row in found["recommendations"]] == popular
    assert found["skipped"] == ["moon"]
    assert run(*line, "--history", "", "--out", tmp_path / "x.png").code == 0
    assert run("recommend", "toy:cycle", "--history", "1", "--exclude", "2", "--by", "pagerank").code == 0


@pytest.mark.parametrize("ending", ["json", "csv", "png"])
def test_recommend_writes(run, tmp_path, ending):
    out = tmp_path / f"next.{ending}"
    done = run(*LIBRARY, "--by", "pagerank", "-k", "4", "--out", out, "--json", "--quiet")
    assert len(done.document["recommendations"]) == 4
    assert done.err == ""
    if ending == "png":
        assert out.read_bytes().startswith(b"\x89PNG")
    elif ending == "json":
        assert json.loads(out.read_text()) == done.document
    else:
        assert len(out.read_text().splitlines()) == 5


def test_parts_are_written_then_reused_then_extended(run, tmp_path):
    parts = tmp_path / "parts.safetensors"
    line = (*LIBRARY, *FAST, "--parts", parts, "--json")
    first = run(*line)
    written = parts.stat()
    again = run(*line)
    assert first.out == again.out == run(*LIBRARY, *FAST, "--json").out
    assert parts.stat().st_mtime_ns == written.st_mtime_ns  # nothing new, nothing written
    assert run("recommend", "toy:library", "--history", "logic", *FAST, "--parts", parts).code == 0
    assert parts.stat().st_size > written.st_size
    assert run(*LIBRARY, "--by", "cpt", "--cpt-agent", "max-degree", "--parts", parts).code == 2  # no cpt in it
    kept = parts.read_bytes()
    for other in (("--alpha", "0.5"), ("--seed", "9"), ("--igt-agent", "min-degree"), ("--walks", "3")):
        done = run(*line, *other)
        assert done.code == 2
        assert "give the name of a new file" in done.err
    assert parts.read_bytes() == kept


def test_a_mixture_extends_a_file_of_one_component_and_keeps_it(run, tmp_path):
    parts = tmp_path / "parts.safetensors"
    agents = ("--igt-agent", "max-degree", "--cpt-agent", "min-degree", "--parts", parts)
    assert run(*LIBRARY, "--by", "igt", *agents).code == 0
    small = parts.stat().st_size
    assert run(*LIBRARY, *agents).code == 0
    whole = parts.read_bytes()
    assert len(whole) > small
    assert run("recommend", "toy:library", "--history", "music", "--by", "cpt", *agents).code == 0
    assert parts.read_bytes() == whole


CHANGED_LINKS = {
    "a new component": "a b\nb c\nc a\nd e\n",
    "a node that sorts first": "0 a\na b\nb c\nc a\n",
    "a node removed": "a b\n",
    "weights": "a b 2\nb c 1\nc a 1\n",
}


@pytest.mark.parametrize("links", CHANGED_LINKS.values(), ids=CHANGED_LINKS)
def test_prepared_parts_follow_a_changed_graph(run, tmp_path, links):
    graph, parts = tmp_path / "links.txt", tmp_path / "parts.safetensors"
    graph.write_text("a b\nb c\nc a\n")
    line = ("recommend", graph, "--prepare", "--parts")
    run(*line, parts)
    graph.write_text(links)
    assert run(*line, parts).code == 0
    fresh = tmp_path / "fresh.safetensors"
    run(*line, fresh)
    assert parts.read_bytes() == fresh.read_bytes()


def test_preparing_one_component_keeps_the_other(run, tmp_path):
    parts = tmp_path / "parts.safetensors"
    line = ("recommend", "toy:library", "--parts", parts)
    run(*line, "--prepare")
    before = parts.read_bytes()
    run(*line, "--prepare", "--by", "igt")
    assert parts.read_bytes() == before


def test_prepare_alone_and_before_an_answer(run, tmp_path):
    parts = tmp_path / "parts.safetensors"
    line = ("recommend", "toy:library", *FAST, "--parts", parts, "--prepare")
    done = run(*line)
    assert (done.code, done.out) == (0, "")
    assert "12 nodes prepared" in done.err
    assert run(*line, "--json").document == {"parts": str(parts), "nodes": 12}
    kept = parts.read_bytes()
    prepared = run(*line, "--history", "music,physics", "--json")
    assert prepared.out == run(*LIBRARY, *FAST, "--json").out
    assert parts.read_bytes() == kept


def test_table_has_few_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(
        "curiograph.cli.recommend.show_table", lambda title, columns, rows: shown.append((columns, rows))
    )
    assert run("recommend", "toy:library", "--history", "music,physics", "-k", "2", "--walks", "4").code == 0
    ((columns, rows),) = shown
    assert columns == ["rank", "node", "score", "by pagerank, igt, cpt", "gaps", "bits"]  # no reasons: no column "why"
    assert " ± " in rows[0][2]  # so few walkers are sampled
    assert len(rows[0][3].split(", ")) == 3


BAD = [
    ([], "give --history a,b,c or --histories FILE"),
    (["--history", "a", "--histories", "unknown.txt"], "not both"),
    (["--histories", "unknown.txt", "--unknown", "error"], "unknown.txt, line 2: the graph has no node 'zz'"),
    (["--history", "a", "--unknown", "ignore"], "unknown is 'ignore'; the choices are error, skip"),
    (["--history", "a", "--diversity", "2"], "diversity is 2"),
    (["--histories", "empty.txt"], "empty.txt, line 2: contains no labels"),
    (["--histories", "nothing.txt"], "contains no walks"),
    (["--histories", "none.txt"], "there is no such file"),
    (["--histories", "unknown.txt", "--out", "x.png"], "cannot write .png"),
    (["--history", "a", "--candidates", "near"], "candidates is 'near'; the choices are last, history, all"),
    (["--history", "a", "--by", "joy"], "--by is 'joy'; the rankers are mixture"),
    (["--history", "a", "--weights", "joy=1"], "there is a weight for 'joy'"),
    (["--history", "a", "--weights", "igt"], "write names and numbers"),
    (["--history", "a", "--weights", "igt=x"], "write numbers"),
    (["--history", "a", "--weights", "igt=0"], "not all zero"),
    (["--history", "a", "--by", "igt", "--weights", "igt=1"], "--weights are for the mixture"),
    (["--history", "a", "--igt-agent", "gready"], "there is no agent 'gready'"),
    (["--history", "a", "--igt-agent", "other.safetensors"], "other.safetensors: "),
    (["--history", "a", "--walks", "0"], "walks is 0"),
    (["--history", "a", "--p-g", "2"], "--p-g is 2"),
    (["--history", "a", "--prepare"], "--prepare needs --parts FILE"),
    (["--history", "a", "--parts", "x.npz"], "--parts x.npz: cannot write .npz"),
    (["--history", "a", "--parts", "none/x.safetensors"], "--parts none/x.safetensors: the folder none does not exist"),
    (["--history", "a", "--parts", "broken.safetensors"], "is not a usable parts file"),
    (["--history", "a", "--parts", "x.safetensors", "--by", "pagerank"], "--by pagerank has none"),
    (["--prepare", "--parts", "x.safetensors", "--candidates", "near"], "candidates is 'near'"),
]


@pytest.mark.parametrize(("arguments", "message"), [bad for bad in BAD_HISTORIES if bad[0] != ["--history", ""]] + BAD)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, bad_files, arguments, message):
    write_agent_with_wrong_features(bad_files)
    check_rejected(run, bad_files, ["recommend", "links.tsv", *arguments, "--json"], message)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("negative.csv", "weight"),
        ("alone.json", "no edges between different nodes, so there is nowhere to walk"),
        ("none.tsv", "there is no such file"),
        ("toy:moon", "there is no toy graph 'moon'"),
    ],
)
def test_bad_graphs(run, bad_files, graph, message):
    check_rejected(run, bad_files, ["recommend", graph, "--history", "a", "--out", "x.json"], message)
    check_rejected(run, bad_files, ["recommend", graph, "--history", "a", "--json"], message)


def test_existing_file_is_kept_after_an_error(run, bad_files):
    (bad_files / "next.json").write_text("precious")
    check_rejected(
        run, bad_files, ["recommend", "links.tsv", "--history", "a,zz", "--out", "next.json"], "no node 'zz'"
    )
