"""Files of prepared parts."""

from __future__ import annotations

from pathlib import Path

import pytest

import curiograph as cg


def make_recommender(graph: cg.Graph | None = None, **settings) -> cg.Recommender:
    parts = {"pagerank": cg.PageRankRanker(), "curious": cg.CuriousRanker(**{"agent": "max-degree", **settings})}
    return cg.Recommender(cg.toys.library() if graph is None else graph, cg.MixtureRanker(parts))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("parts") / "good.safetensors"
    made = make_recommender()
    made.prepare(["music", "logic"])
    made.save(file)
    return file


def test_prepared_results_are_identical(tmp_path):
    g = cg.generate("ws", nodes=30, seed=0)
    fresh, prepared, loaded = (make_recommender(g) for _ in range(3))
    prepared.prepare()
    prepared.save(tmp_path / "parts.safetensors")
    assert loaded.load(tmp_path / "parts.safetensors") == g.labels
    assert prepared.num_prepared == loaded.num_prepared == 30
    for history in ([0, 5], [29], [3, 4, 3]):
        wanted = fresh.recommend(history)
        for other in (prepared.recommend(history), loaded.recommend(history)):
            assert other == wanted
            assert other.reasons == wanted.reasons
    assert fresh.num_prepared == 5
    loaded.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "parts.safetensors").read_bytes()


def test_parts_of_other_rankers_on_the_same_graph_stay(tmp_path):
    g, file = cg.toys.library(), tmp_path / "parts.safetensors"
    both, one, again = cg.Recommender(g), cg.Recommender(g, "igt"), cg.Recommender(g)
    both.prepare(["music"])
    both.save(file)
    one.load(file)
    one.prepare(["logic"])
    one.save(file)
    assert again.load(file) == ["music"]
    assert again.num_prepared == 3


class LowestFirst:
    name = "lowest-first"

    def scores(self, exploration):
        return -exploration.candidates.nodes.astype(float)


def test_parts_of_custom_agents_need_a_fingerprint(tmp_path):
    g, file = cg.toys.library(), tmp_path / "parts.safetensors"
    with pytest.raises(cg.SettingError, match="'lowest-first'"):
        cg.Recommender(g, cg.CuriousRanker(LowestFirst(), name="mine")).save(file)
    first, second = LowestFirst(), LowestFirst()
    first.fingerprint, second.fingerprint = "1", "2"
    cg.Recommender(g, cg.CuriousRanker(first, name="mine")).save(file)
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


def test_damaged_and_other_files_are_refused_and_not_overwritten(good, tmp_path):
    data, file = good.read_bytes(), tmp_path / "bad.safetensors"
    for bad in (data[: len(data) // 2], b"precious", data[:-1] + bytes([data[-1] ^ 1])):
        file.write_bytes(bad)
        for use in (make_recommender().load, make_recommender().save):
            with pytest.raises(cg.FileFormatError, match=r"bad\.safetensors: "):
                use(file)
        assert file.read_bytes() == bad
    file.write_bytes(data.replace(rb"\"version\": 3", rb"\"version\": 2"))
    with pytest.raises(cg.FileFormatError, match="version 2"):
        make_recommender().load(file)


def test_rankers_without_parts_have_nothing_to_save(tmp_path):
    made = cg.Recommender(cg.toys.cycle(5), "pagerank")
    made.prepare()
    with pytest.raises(cg.SettingError, match="'pagerank'"):
        made.save(tmp_path / "parts.safetensors")
    with pytest.raises(cg.SettingError, match="'music'"):
        cg.Recommender(cg.toys.library()).prepare("music")
    assert not list(tmp_path.iterdir())
