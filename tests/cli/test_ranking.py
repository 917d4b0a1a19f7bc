"""`curiograph rank` and `curiograph recommend` as a user drives them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import curiograph as cg
from support.program import Run

LIBRARY = ("recommend", "toy:library", "--history", "music,physics")
FAST = ("--by", "igt", "--igt-agent", "max-degree")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """What a test writes without a folder lands in one of its own."""
    monkeypatch.chdir(tmp_path)


# ---- rank -----------------------------------------------------------------------------------------------------------


def test_rank_is_pagerank(run):
    found = run("rank", "toy:library", "--history", "music,logic", "-k", "3", "--json").document
    wanted = cg.pagerank(cg.toys.library(), 0.85, ["music", "logic"]).top(3)
    assert [(row["node"], row["score"]) for row in found["ranking"]] == wanted
    assert found["residual"] < 1e-11
    everyone = run("rank", "toy:library", "--alpha", "0.5", "--json").document
    assert (everyone["history"], everyone["alpha"], len(everyone["ranking"])) == (None, 0.5, 10)


def test_rank_weighs_the_history(run):
    weighted = run("rank", "toy:cycle", "--history", "0,3", "--history-weights", "1,0", "--json").document
    plain = run("rank", "toy:cycle", "--history", "0", "--json").document
    assert weighted["ranking"] == plain["ranking"]


def test_rank_with_an_agent_has_errors_and_a_seed(run):
    line = ("rank", "toy:library", "--history", "music", "--agent", "max-degree", "--p-g", "0.9")
    line += ("--max-walks", "200", "--tolerance", "0.001")
    first, second, other = (run(*line, "--seed", seed, "--json") for seed in "112")
    assert first.out == second.out != other.out
    assert {"rank", "node", "score", "stderr"} == set(first.document["ranking"][0])
    assert not first.document["converged"]
    said = run(*line)
    assert "raise --max-walks" in said.err
    assert "music" in said.out
    assert run(*line, "--quiet").err == ""


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_rank_writes(run, tmp_path, ending):
    out = tmp_path / f"ranking.{ending}"
    assert run("rank", "toy:library", "-k", "2", "--out", out).code == 0
    text = out.read_text()
    rows = json.loads(text)["ranking"] if ending == "json" else list(csv.DictReader(text.splitlines()))
    assert [row["node"] for row in rows] == [label for label, _ in cg.pagerank(cg.toys.library()).top(2)]


# ---- recommend ------------------------------------------------------------------------------------------------------


def test_recommend_is_recommend(run):
    found = run(*LIBRARY, "-k", "3", "--json").document
    wanted = cg.recommend(cg.toys.library(), ["music", "physics"], k=3)
    assert [(row["node"], row["score"]) for row in found["recommendations"]] == wanted
    assert found["history"] == ["music", "physics"]
    assert set(found["recommendations"][0]["ranks"]) == {"pagerank", "igt", "cpt"}
    shown = run(*LIBRARY, "-k", "3")
    assert shown.code == 0
    assert wanted[0][0] in shown.out
    assert "why" in shown.out
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


def test_prepare_alone_and_before_an_answer(run, tmp_path):
    parts = tmp_path / "parts.safetensors"
    line = ("recommend", "toy:library", *FAST, "--parts", parts, "--prepare")
    done = run(*line)
    assert (done.code, done.out) == (0, "")
    assert "the parts of 12 nodes" in done.err
    assert run(*line, "--json").document == {"parts": str(parts), "nodes": 12}
    kept = parts.read_bytes()
    prepared = run(*line, "--history", "music,physics", "--json")
    assert prepared.out == run(*LIBRARY, *FAST, "--json").out
    assert parts.read_bytes() == kept


# ---- refusals -------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "links.tsv").write_text("a\tb\nb\tc\n")
    (tmp_path / "negative.csv").write_text("source,target,weight\na,b,-1\n")
    (tmp_path / "alone.json").write_text('{"nodes": [{"id": "a"}, {"id": "b"}], "links": []}')
    (tmp_path / "unknown.txt").write_text("a,b\na,zz\n")
    (tmp_path / "empty.txt").write_text("a,b\n,,\n")
    (tmp_path / "nothing.txt").write_text("# nobody\n")
    (tmp_path / "broken.safetensors").write_text("broken")
    return tmp_path


def other_features(folder: Path) -> None:
    """An agent whose file says that it reads other features than its weights do."""
    from safetensors import safe_open
    from safetensors.numpy import save

    from curiograph.agents.pretrained import save_agent

    file = folder / "other.safetensors"
    save_agent(cg.load_agent("igt-rg"), file)
    with safe_open(file, framework="numpy") as stream:
        arrays = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
        header = stream.metadata()
    widest = next(name for name, array in arrays.items() if array.ndim == 2)
    arrays[widest] = arrays[widest][:, :-1].copy()
    file.write_bytes(save(arrays, metadata=header))


BAD = [
    (["--history", "a,zz"], "the graph has no node 'zz'"),
    (["--history", ""], "is empty"),
    (["--history", ","], "is empty; write labels separated by commas"),
    (["--history", "a", "--alpha", "1"], "alpha is 1.0; give a number from 0 up to, but not including, 1"),
    (["--history", "a", "--alpha", "-0.1"], "alpha is -0.1"),
    (["--history", "a", "-k", "0"], "k is 0"),
    (["--history", "a", "--out", "x.docx"], "cannot write .docx"),
    (["--history", "a", "--out", "none/x.json"], "does not exist"),
    (["--history", "a", "--seed", "-1"], "Invalid value for '--seed'"),
]
RECOMMEND_BAD = [
    ([], "give --history a,b,c or --histories FILE"),
    (["--history", "a", "--histories", "unknown.txt"], "not both"),
    (["--histories", "unknown.txt"], "unknown.txt, line 2: the graph has no node 'zz'"),
    (["--histories", "empty.txt"], "empty.txt, line 2: the list of nodes ',,' is empty"),
    (["--histories", "nothing.txt"], "holds no walks"),
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
    (["--history", "a", "--p-g", "2"], "p_g is 2"),
    (["--history", "a", "--prepare"], "--prepare needs --parts FILE"),
    (["--history", "a", "--parts", "x.npz"], "--parts x.npz: cannot write .npz"),
    (["--history", "a", "--parts", "none/x.safetensors"], "--parts none/x.safetensors: the folder none does not exist"),
    (["--history", "a", "--parts", "broken.safetensors"], "is not a usable parts file"),
    (["--history", "a", "--parts", "x.safetensors", "--by", "pagerank"], "--by pagerank has none"),
    (["--prepare", "--parts", "x.safetensors", "--candidates", "near"], "candidates is 'near'"),
]
RANK_BAD = [
    (["--history-weights", "1"], "give a history too"),
    (["--history", "a", "--history-weights", "1,2"], "the history has 1 entries but 2 weights"),
    (["--history", "a", "--history-weights", "-1"], "weights are finite and not negative"),
    (["--history", "a", "--history-weights", "x"], "--history-weights is 'x'; write numbers separated by commas"),
    (["--agent", "gready"], "there is no agent 'gready'"),
    (["--agent", "other.safetensors"], "other.safetensors: "),
    (["--agent", "greedy", "--reward", "joy"], "there is no reward 'joy'"),
    (["--agent", "greedy", "--remember", "all"], "remember is 'all'"),
    (["--agent", "greedy", "--fallback", "home"], "fallback is 'home'"),
    (["--agent", "greedy", "--tolerance", "0"], "tolerance is 0"),
    (["--agent", "greedy", "--max-walks", "0"], "max_walks is 0"),
]


def refuses(run: Run, folder: Path, arguments: list[str], message: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.startswith("curiograph: ")
    assert len(done.err.strip().splitlines()) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        *(("rank", *bad) for bad in BAD + RANK_BAD),
        *(("recommend", *bad) for bad in BAD + RECOMMEND_BAD),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, files, command, arguments, message):
    other_features(files)
    refuses(run, files, [command, "links.tsv", *arguments, "--json"], message)


@pytest.mark.parametrize("command", ["rank", "recommend"])
@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("negative.csv", "weight"),
        ("alone.json", "no edges, so there is nowhere to walk"),
        ("none.tsv", "there is no such file"),
        ("toy:moon", "there is no toy graph 'moon'"),
    ],
)
def test_bad_graphs(run, files, command, graph, message):
    refuses(run, files, [command, graph, "--history", "a", "--out", "x.json"], message)
    refuses(run, files, [command, graph, "--history", "a", "--json"], message)


def test_a_result_that_was_there_is_kept_when_the_work_fails(run, files):
    (files / "next.json").write_text("precious")
    refuses(run, files, ["recommend", "links.tsv", "--history", "a,zz", "--out", "next.json"], "no node 'zz'")


@pytest.mark.parametrize(
    "option", [("--p-g", "0.9"), ("--remember", "history"), ("--tolerance", "0.1"), ("--reward", "cpt")]
)
def test_options_for_agents_are_refused_without_one(run, option):
    done = run("rank", "toy:library", "--history", "music", *option)
    assert (done.code, done.out) == (2, "")
    assert f"{option[0]} is for walkers that an agent leads; add --agent" in done.err


def test_rank_draws_a_picture(run, tmp_path):
    assert run("rank", "toy:library", "--history", "music", "--out", "bars.png").code == 0
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_many_histories_are_ranked_from_a_file(run, tmp_path):
    (tmp_path / "h.txt").write_text("music,physics\nlogic\n")
    asked = ["rank", "toy:library", "--histories", tmp_path / "h.txt", "-k", "2", "--json"]
    for agent in ([], ["--agent", "greedy", "--run", tmp_path / "run"]):
        users = run(*asked, *agent).document["users"]
        alone = run("rank", "toy:library", "--history", "logic", "-k", "2", "--json", *agent[:2]).document
        assert [user["history"] for user in users] == [["music", "physics"], ["logic"]]
        nodes = [[each["node"] for each in user["ranking"]] for user in (users[1], alone)]
        assert nodes[0] == nodes[1]
    assert len(list(tmp_path.rglob("*.task"))) == 2
    refused = run("rank", "toy:library", "--history", "logic", "--agent", "greedy", "--workers", "2")
    assert refused.code == 2
    assert "--histories FILE" in refused.err
