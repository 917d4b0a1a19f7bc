"""`curiograph recommend`."""

from __future__ import annotations

import json

import pytest

import curiograph as cg
from support.bad_input import BAD_HISTORIES, check_rejected, write_agent_with_wrong_features

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


def test_a_batch_with_unknown_labels_is_written_and_not_printed(run, tmp_path):
    file, out = tmp_path / "readers.txt", tmp_path / "all.json"
    file.write_text("music,moon\nlogic\nmoon,mars\n")
    line = ("recommend", "toy:library", "--histories", file, "--by", "pagerank", "-k", "2")
    done = run(*line, "--out", out)
    assert (done.code, done.out) == (0, "")
    assert "curiograph: 3 unknown labels skipped in 2 of 3 histories" in done.err
    assert f"curiograph: {out}: recommendations for 3 histories" in done.err
    users = json.loads(out.read_text())["users"]
    assert [user["history"] for user in users] == [["music"], ["logic"], []]
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


def test_prepared_parts_follow_a_changed_graph(run, tmp_path):
    graph, parts, fresh = tmp_path / "links.txt", tmp_path / "parts.safetensors", tmp_path / "fresh.safetensors"
    for links in ("a b\nb c\nc a\n", "0 a\na b\nb c\nc a\n"):
        graph.write_text(links)
        assert run("recommend", graph, "--prepare", "--parts", parts).code == 0
    run("recommend", graph, "--prepare", "--parts", fresh)
    assert parts.read_bytes() == fresh.read_bytes()


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


BAD = [
    ([], "give --history a,b,c or --histories FILE"),
    (["--history", "a", "--histories", "unknown.txt"], "not both"),
    (["--histories", "unknown.txt", "--unknown", "error"], "'zz'"),
    (["--history", "a", "--unknown", "ignore"], "'ignore'"),
    (["--history", "a", "--diversity", "2"], "diversity is 2"),
    (["--histories", "unknown.txt", "--out", "x.png"], ".png"),
    (["--history", "a", "--candidates", "near"], "'near'"),
    (["--history", "a", "--by", "joy"], "'joy'"),
    (["--history", "a", "--weights", "joy=1"], "'joy'"),
    (["--history", "a", "--weights", "igt"], "'igt'"),
    (["--history", "a", "--weights", "igt=0"], "zero"),
    (["--history", "a", "--by", "igt", "--weights", "igt=1"], "'igt'"),
    (["--history", "a", "--igt-agent", "gready"], "'gready'"),
    (["--history", "a", "--igt-agent", "other.safetensors"], "other.safetensors: "),
    (["--history", "a", "--walks", "0"], "walks is 0"),
    (["--history", "a", "--p-g", "2"], "--p-g is 2"),
    (["--history", "a", "--prepare"], "--parts FILE"),
    (["--history", "a", "--parts", "x.npz"], "x.npz"),
    (["--history", "a", "--parts", "broken.safetensors"], "broken.safetensors: "),
    (["--history", "a", "--parts", "x.safetensors", "--by", "pagerank"], "--by pagerank has none"),
]


@pytest.mark.parametrize(("arguments", "message"), [bad for bad in BAD_HISTORIES if bad[0] != ["--history", ""]] + BAD)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, bad_files, arguments, message):
    write_agent_with_wrong_features(bad_files)
    check_rejected(run, bad_files, ["recommend", "links.tsv", *arguments, "--json"], message)


def test_existing_file_is_kept_after_an_error(run, bad_files):
    (bad_files / "next.json").write_text("precious")
    check_rejected(
        run, bad_files, ["recommend", "links.tsv", "--history", "a,zz", "--out", "next.json"], "no node 'zz'"
    )
