"""The reader of Wikispeedia, on small files of the published layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import SettingError, UnknownNameError
from curiograph.human.data.datasets import load_dataset, resolve_back_clicks

FILES = {
    "articles.tsv": "# FORMAT: article\n\n%C3%89ire\nHeavy_metal\nOslo\nRome\n",
    "links.tsv": "# FORMAT\n\n%C3%89ire\tOslo\nOslo\tRome\nOslo\tHeavy_metal\nRome\tOslo\nRome\tRome\n",
    "paths_finished.tsv": "# FORMAT\n\nip1\t30\t9\t%C3%89ire;Oslo;Rome\t3\nNULL\tNULL\tNULL\tOslo;Rome\tNULL\n",
    "paths_unfinished.tsv": "ip1\t10\t9\tOslo;Rome;<;Heavy_metal\tRome\ttimeout\nip2\t20\t9\tRome\tOslo\trestart\n",
}
pytestmark = pytest.mark.filterwarnings("ignore:.*rows were left out:UserWarning")


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_games_are_ordered_by_time_and_names_decoded(wiki):
    data = load_dataset(wiki)
    assert list(data.walks) == [["Oslo", "Heavy_metal"], ["Rome"], ["Éire", "Oslo", "Rome"], ["Oslo", "Rome"]]
    users = [data.walks.user(number) for number in range(4)]
    assert users == ["ip1", "ip2", "ip1", "paths_finished, line 4"]
    assert (data.graph.labels, data.graph.num_edges) == (["Éire", "Heavy_metal", "Oslo", "Rome"], 4)
    assert data.graph.directed
    assert data.graph.cleaning.self_loops == 1
    assert data.walks.names is data.graph.names


def test_texts_are_titles_and_categories(wiki):
    assert load_dataset(wiki).texts == {}
    lines = ["# FORMAT", "", "%C3%89ire\tsubject.Countries", "Rome\tsubject.History.Roman", "Rome\tsubject.Cities"]
    (wiki / "categories.tsv").write_text("\n".join(lines) + "\n")
    assert load_dataset(wiki).texts == {
        "Éire": "Éire Countries", "Heavy_metal": "Heavy_metal", "Oslo": "Oslo", "Rome": "Rome History.Roman Cities"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("file", "row", "reason"),
    [
        ("articles.tsv", "a\tb", "wrong number of columns"),
        ("links.tsv", "Rome\tParis", "unknown article"),
        ("paths_finished.tsv", "ip\t1\t2\tRome;Paris\t1", "unknown article"),
        ("paths_finished.tsv", "ip\t1\t2\tRome;;Oslo\t1", "unknown article"),
        ("paths_finished.tsv", "ip\tsoon\t2\tRome\t1", "bad time"),
        ("paths_finished.tsv", "\t1\t2\tRome\t1", "no user"),
        ("paths_finished.tsv", "ip\t1\t2\tRome\t1\t", "wrong number of columns"),
        ("paths_unfinished.tsv", "ip\t1\t2\tRome;<\tOslo\ttimeout", "impossible back click"),
    ],
)
def test_bad_rows_are_dropped_and_counted(wiki, file, row, reason):
    whole = list(load_dataset(wiki).walks)
    path = wiki / file
    path.write_text(f"{path.read_text()}{row}\n")
    data = load_dataset(wiki)
    assert list(data.walks) == whole
    assert data.skipped.reasons == {reason: 1}
    assert f"{path.stem}" in data.skipped.first[0]
    assert f"line {len(path.read_text().splitlines())}: " in data.skipped.first[0]


@given(st.lists(st.sampled_from("abc<"), min_size=1, max_size=12))
def test_back_clicks_against_reference(clicks):
    """Remove a page and the `<` after it until there is none; kept back clicks end where resolved ones do."""
    left: list[str] | None = list(clicks)
    while left is not None and "<" in left:
        place = left.index("<")
        left = left[: place - 1] + left[place + 1 :] if place >= 2 else None
    kept = resolve_back_clicks(clicks, "keep")
    assert resolve_back_clicks(clicks) == left
    assert (kept is None) == (left is None)
    if kept is not None:
        assert (len(kept), kept[-1:]) == (len(clicks), left[-1:])


def test_back_clicks_are_kept(wiki):
    walk = ["Oslo", "Rome", "Oslo", "Heavy_metal"]
    assert load_dataset(wiki, back_clicks="keep").walks[0] == walk
    assert load_dataset(wiki / "paths_unfinished.tsv", back_clicks="keep").walks[0] == walk
    with pytest.raises(UnknownNameError, match="'drop'"):
        load_dataset(wiki, back_clicks="drop")
    (wiki / "walks.txt").write_text("a,b\n")
    with pytest.raises(SettingError, match="'keep'"):
        load_dataset(wiki / "walks.txt", back_clicks="keep")
