"""The reader of Wikispeedia, on small files of the published layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError, SettingError, UnknownNameError
from curiograph.human.data.load import load_dataset
from curiograph.human.data.wikispeedia import read_wikispeedia, resolve_back_clicks
from support.people import list_labels

ARTICLES = "# FORMAT: article\n\n%C3%89ire\nHeavy_metal\nOslo\nRome\n"
LINKS = "# FORMAT: source target\n\n%C3%89ire\tOslo\nOslo\tRome\nOslo\tHeavy_metal\nRome\tOslo\nRome\tRome\n"
FINISHED = "# FORMAT\n\nip1\t30\t9\t%C3%89ire;Oslo;Rome\t3\nNULL\tNULL\tNULL\tOslo;Rome\tNULL\n"
UNFINISHED = "# FORMAT\n\nip1\t10\t9\tOslo;Rome;<;Heavy_metal\tRome\ttimeout\nip2\t20\t9\tRome\tOslo\trestart\n"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    for name, text in {
        "articles.tsv": ARTICLES,
        "links.tsv": LINKS,
        "paths_finished.tsv": FINISHED,
        "paths_unfinished.tsv": UNFINISHED,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_games_are_ordered_by_time_and_names_decoded(wiki):
    data = read_wikispeedia(wiki)
    assert list_labels(data.walks) == [["Oslo", "Heavy_metal"], ["Rome"], ["Éire", "Oslo", "Rome"], ["Oslo", "Rome"]]
    users = [data.walks.user_names[int(user)] for user in data.walks.users]
    assert users == ["ip1", "ip2", "ip1", "paths_finished, line 4"]
    assert data.graph is not None
    assert (data.graph.labels, data.graph.num_edges) == (["Éire", "Heavy_metal", "Oslo", "Rome"], 4)
    assert data.graph.directed
    assert data.graph.cleaning.self_loops == 1
    assert data.walks.names is data.graph.names


def test_texts_are_titles_and_categories(wiki):
    assert read_wikispeedia(wiki).texts == {}
    lines = ["# FORMAT", "", "%C3%89ire\tsubject.Countries", "Rome\tsubject.History.Roman", "Rome\tsubject.Cities"]
    (wiki / "categories.tsv").write_text("\n".join(lines) + "\n")
    texts = read_wikispeedia(wiki).texts
    assert texts == {
        "Éire": "Éire Countries", "Heavy_metal": "Heavy_metal", "Oslo": "Oslo", "Rome": "Rome History.Roman Cities"
    }  # fmt: skip
    (wiki / "categories.tsv").write_text("Paris\tsubject.Cities\n")
    with pytest.raises(FileFormatError, match=r"categories.tsv, line 1: the article 'Paris' is not in articles.tsv"):
        read_wikispeedia(wiki)
    assert read_wikispeedia(wiki, lenient=True).skipped.count == 1


def test_one_game_file_is_enough(wiki):
    (wiki / "paths_finished.tsv").unlink()
    assert len(read_wikispeedia(wiki).walks) == 2
    assert len(load_dataset(wiki / "paths_unfinished.tsv").walks) == 2
    (wiki / "paths_unfinished.tsv").unlink()
    with pytest.raises(FileFormatError, match=r"contains no paths_finished.tsv or paths_unfinished.tsv"):
        read_wikispeedia(wiki)


@pytest.mark.parametrize(
    ("file", "row", "fault"),
    [
        ("articles.tsv", "Rome", "the article 'Rome' is listed twice"),
        ("articles.tsv", "a\tb", "has 2 columns, not 1"),
        ("links.tsv", "Rome\tParis", "the article 'Paris' is not in articles.tsv"),
        ("links.tsv", "Rome", "has 1 column, not 2"),
        ("paths_finished.tsv", "ip\t1\t2\tRome;Paris\t1", "the article 'Paris' is not in articles.tsv"),
        ("paths_finished.tsv", "ip\t1\t2\tRome;;Oslo\t1", "the article '' is not in articles.tsv"),
        ("paths_finished.tsv", "ip\tsoon\t2\tRome\t1", "the time 'soon' is neither a number nor NULL"),
        ("paths_finished.tsv", "\t1\t2\tRome\t1", "has no user"),
        ("paths_finished.tsv", "ip\t1\t2\tRome\t1\t", "has 6 columns, not 5"),
        ("paths_unfinished.tsv", "ip\t1\t2\t<;Rome\tOslo\ttimeout", "has a back click < with no page"),
        ("paths_unfinished.tsv", "ip\t1\t2\tRome;<\tOslo\ttimeout", "has a back click < with no page"),
    ],
)
def test_bad_rows_are_reported_or_skipped(wiki, file, row, fault):
    whole = list_labels(read_wikispeedia(wiki).walks)
    path = wiki / file
    lines = len(path.read_text().splitlines())
    path.write_text(path.read_text() + row + "\n")
    with pytest.raises(FileFormatError, match=r"^1 bad row: ") as raised:
        read_wikispeedia(wiki)
    assert f"{path}, line {lines + 1}: {fault}" in str(raised.value)
    data = read_wikispeedia(wiki, lenient=True)
    assert data.skipped.count == 1
    assert list_labels(data.walks) == whole


@pytest.mark.parametrize("file", ["articles.tsv", "links.tsv", "paths_finished.tsv"])
def test_empty_files(wiki, file):
    (wiki / file).write_text("")
    with pytest.raises(FileFormatError, match="is empty"):
        read_wikispeedia(wiki)


def test_files_without_games_or_articles(wiki):
    (wiki / "paths_finished.tsv").unlink()
    (wiki / "paths_unfinished.tsv").write_text("# no games\n")
    with pytest.raises(FileFormatError, match="contains no games"):
        read_wikispeedia(wiki)
    (wiki / "articles.tsv").write_text("# nothing\n")
    with pytest.raises(FileFormatError, match="contains no articles"):
        read_wikispeedia(wiki)


@given(st.lists(st.sampled_from("abc<"), min_size=1))
def test_back_clicks_against_reference(clicks):
    assert resolve_back_clicks(clicks) == resolve_slowly(clicks)


def resolve_slowly(clicks: list[str]) -> list[str] | None:
    """Remove a page and the `<` after it until there is none; the start cannot be removed."""
    left = list(clicks)
    while "<" in left:
        place = left.index("<")
        if place < 2:
            return None
        del left[place - 1 : place + 1]
    return left


def test_back_clicks_are_kept(wiki):
    kept = load_dataset(wiki, back_clicks="keep")
    assert list_labels(kept.walks)[0] == ["Oslo", "Rome", "Oslo", "Heavy_metal"]
    assert (
        list_labels(load_dataset(wiki / "paths_unfinished.tsv", back_clicks="keep").walks)[0]
        == list_labels(kept.walks)[0]
    )
    with pytest.raises(UnknownNameError, match="back_clicks is 'drop'; the choices are resolve, keep"):
        load_dataset(wiki, back_clicks="drop")
    (wiki / "walks.txt").write_text("a,b\n")
    with pytest.raises(SettingError, match=r"back_clicks is 'keep', but .* is not Wikispeedia"):
        load_dataset(wiki / "walks.txt", back_clicks="keep")


@given(st.lists(st.sampled_from("ABC<"), max_size=12))
def test_kept_back_clicks_end_where_resolved_ones_do(clicks):
    resolved, kept = (resolve_back_clicks(clicks, rule) for rule in ("resolve", "keep"))
    assert (resolved is None) == (kept is None)
    if resolved is not None:
        assert len(kept) == len(clicks)
        assert kept[-1:] == resolved[-1:]
