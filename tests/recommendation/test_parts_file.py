"""Files of prepared parts."""

from __future__ import annotations

from pathlib import Path

import pytest

import curiograph as cg
from curiograph.recommendation.parts_file import read_settings
from curiograph.recommendation.ranker import AdaptedRanker


def make_recommender(graph: cg.Graph | None = None, **settings) -> cg.Recommender:
    parts = {"pagerank": cg.PageRankRanker(), "curious": cg.CuriousRanker(**{"agent": "max-degree", **settings})}
    return cg.Recommender(cg.toys.library() if graph is None else graph, cg.MixtureRanker(parts))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("parts") / "good.safetensors"
    make_recommender().prepare(["music", "logic"], file=file)
    return file


def test_prepared_results_are_identical(tmp_path):
    g = cg.generate("ws", nodes=30, seed=0)
    fresh, prepared, loaded = (make_recommender(g) for _ in range(3))
    prepared.prepare()
    fresh.prepare(file=tmp_path / "parts.safetensors")
    fresh = make_recommender(g)
    loaded.load(tmp_path / "parts.safetensors")
    assert prepared.num_prepared == loaded.num_prepared == 60
    for history in ([0, 5], [29], [3, 4, 3]):
        solved, wanted = fresh.recommend(history), prepared.recommend(history)
        assert [label for label, _ in wanted] == [label for label, _ in solved]
        assert [score for _, score in wanted] == pytest.approx([score for _, score in solved], rel=1e-6)
        assert loaded.recommend(history) == wanted
        assert loaded.recommend(history).reasons == wanted.reasons
        assert list(map(str, wanted.reasons)) == list(map(str, solved.reasons))
    assert fresh.num_prepared == 5  # PageRank of these histories was solved


@pytest.mark.parametrize("engine", ["local", cg.Engine("local", 2)])
def test_preparation_in_a_file_equals_that_in_memory(engine, tmp_path):
    g = cg.generate("ba", nodes=150, seed=0)
    memory, file, loaded = make_recommender(g), make_recommender(g), make_recommender(g)
    memory.prepare()
    file.prepare(file=tmp_path / "file.safetensors", engine=engine)
    make_recommender(g).prepare(file=tmp_path / "again.safetensors")
    assert (tmp_path / "file.safetensors").read_bytes() == (tmp_path / "again.safetensors").read_bytes()
    assert file.num_prepared == 300
    assert file.recommend([5, 9]) == memory.recommend([5, 9])
    file.prepare([7, 140, 3], file=tmp_path / "few.safetensors")
    loaded.load(tmp_path / "few.safetensors")
    assert loaded.find_missing([3, 5, 7, 140]) == [5]
    assert loaded.recommend([3, 140]) == memory.recommend([3, 140])
    names = ["again.safetensors", "few.safetensors", "file.safetensors"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    with pytest.raises(cg.GraphError, match="cannot write"):
        file.prepare(file=tmp_path / "missing" / "parts.safetensors")


@pytest.mark.parametrize(
    "settings",
    [
        {"ranker": "mixture", "seed": 3},
        {"ranker": "mixture", "weights": {"pagerank": 1, "igt": 2}},
        {"ranker": "pagerank:0.5", "alpha": 0.5},
        {"ranker": "cpt"},
    ],
)
def test_a_file_says_for_which_recommender_it_is(settings, tmp_path):
    g, file = cg.toys.library(), tmp_path / "parts.safetensors"
    cg.Recommender(g, **settings).prepare(file=file)
    loaded = cg.Recommender(g, **read_settings(file))
    loaded.load(file)
    top = cg.recommend(g, ["music", "logic"], **settings)
    assert dict(loaded.recommend(["music", "logic"])) == pytest.approx(dict(top))


def test_a_file_of_a_ranker_made_in_python_is_loaded_there(good):
    with pytest.raises(cg.FileFormatError, match="load it there"):
        read_settings(good)


class LowestFirst:
    name = "lowest-first"

    def scores(self, exploration):
        return -exploration.candidates.nodes.astype(float)


def test_parts_of_custom_agents_need_a_fingerprint(tmp_path):
    g, file = cg.toys.library(), tmp_path / "parts.safetensors"
    with pytest.raises(cg.SettingError, match="'lowest-first'"):
        cg.Recommender(g, cg.CuriousRanker(LowestFirst(), name="mine")).prepare(file=file)
    first, second = LowestFirst(), LowestFirst()
    first.fingerprint, second.fingerprint = "1", "2"
    cg.Recommender(g, cg.CuriousRanker(first, name="mine")).prepare(file=file)
    with pytest.raises(cg.FileFormatError, match="'lowest-first 1', not 'lowest-first 2'"):
        cg.Recommender(g, cg.CuriousRanker(second, name="mine")).load(file)


def test_parts_of_other_graphs_and_settings_are_refused(good):
    for other, message in [
        (make_recommender(cg.toys.cycle(12)), "are of graph"),
        (make_recommender(agent="min-degree"), "'max-degree', not 'min-degree'"),
        (make_recommender(alpha=0.5), "alpha 0.85, not 0.5"),
        (cg.Recommender(cg.toys.library()), "igt, cpt"),
    ]:
        with pytest.raises(cg.FileFormatError, match=message):
            other.load(good)
        assert other.num_prepared == 0


def test_nothing_to_prepare_is_an_error(tmp_path):
    for settings in ({}, {"file": tmp_path / "parts.safetensors"}):
        with pytest.raises(cg.SettingError, match="no nodes"):
            make_recommender().prepare([], **settings)
    assert not list(tmp_path.iterdir())


def test_damaged_and_other_files_are_refused_and_not_overwritten(good, tmp_path):
    data, file = good.read_bytes(), tmp_path / "bad.safetensors"
    for bad in (data[: len(data) // 2], b"precious", data[:-1] + bytes([data[-1] ^ 1])):
        file.write_bytes(bad)
        with pytest.raises(cg.FileFormatError, match=r"bad\.safetensors: "):
            make_recommender().load(file)
        if len(bad) < len(data):  # else it is a file of parts, which may be replaced
            with pytest.raises(cg.FileFormatError, match=r"bad\.safetensors: "):
                make_recommender().prepare(file=file)
        assert file.read_bytes() == bad
    file.write_bytes(data.replace(rb"\"version\": 5", rb"\"version\": 2"))
    with pytest.raises(cg.FileFormatError, match="version 2"):
        make_recommender().load(file)


def test_rankers_without_parts_have_nothing_to_save(tmp_path):
    made = cg.Recommender(cg.toys.library(), AdaptedRanker(LowestFirst()))
    with pytest.raises(cg.SettingError, match="'lowest-first'"):
        made.prepare(file=tmp_path / "parts.safetensors")
    for labels in ("music", 5):
        with pytest.raises(cg.SettingError, match=f"{labels!r}"):
            cg.Recommender(cg.toys.library()).prepare(labels)
    assert not list(tmp_path.iterdir())
