"""Networks and measures of word lists against slow references, networkx, and values that SNAFU published."""

from __future__ import annotations

import os
from itertools import combinations, pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics.pairwise import cosine_similarity

import curiograph as cg
from curiograph.errors import FileFormatError, SettingError, UnknownNameError, WalkError
from curiograph.human.people.word_lists import filter_links

LISTS = st.lists(
    st.tuples(st.integers(0, 6), st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9)),
    min_size=1,
    max_size=12,
)
CATEGORIES = st.dictionaries(st.sampled_from(["x", "y", "z"]), st.sets(st.sampled_from("abcdefgh")))


def make_lists(log):
    return cg.human.Trajectories.from_walks([words for _, words in log], users=[user for user, _ in log])


def list_edges(graph):
    return {frozenset(edge) for edge in graph.to_networkx().edges}


def drop_repeats(words):
    """Return a list without immediate repeats."""
    return [word for place, word in enumerate(words) if place == 0 or words[place - 1] != word]


# ---- networks -------------------------------------------------------------------------------------------------------


@given(LISTS)
def test_random_walk_links_successive_new_words(log):
    lists = [list(dict.fromkeys(words)) for _, words in log]
    assume(any(len(words) > 1 for words in lists))
    graph = cg.human.estimate_network(make_lists(log))
    assert graph.labels == sorted({word for words in lists for word in words})
    assert list_edges(graph) == {frozenset(pair) for words in lists for pair in pairwise(words)}
    assert graph.weights is None


def find_window_links(lists, window, alpha):
    """Return the links of a conceptual network as SNAFU defines it, with intervals by scipy."""
    length = np.mean([len(words) for words in lists])
    within = 2 / (length * (length - 1)) * (window * length - window * (window + 1) / 2) if length > window + 1 else 1
    share = {word: np.mean([word in words for words in lists]) for words in lists for word in words}
    links = set()
    for a, b in combinations(share, 2):
        near = sum(a in words and b in words and abs(words.index(a) - words.index(b)) <= window for words in lists)
        chance = share[a] * share[b] * within
        if near >= 2 and binomtest(near, len(lists)).proportion_ci(1 - alpha).low > chance:
            links.add(frozenset([a, b]))
    return links


@given(LISTS, st.integers(1, 4), st.sampled_from([0.05, 0.3, 0.8]))
def test_window_against_intervals_by_scipy(log, window, alpha):
    lists = [list(dict.fromkeys(words)) for _, words in log]
    assume(any(len(words) > 1 for words in lists))
    graph = cg.human.estimate_network(make_lists(log), "window", window=window, alpha=alpha)
    assert list_edges(graph) == find_window_links(lists, window, alpha)


def filter_slowly(similarity):
    """Return the links of a triangulated maximally filtered graph by trying every node in every triangle."""
    size, values = len(similarity), [[round(value * 2**40) for value in row] for row in similarity.tolist()]
    mean = sum(map(sum, values)) / size**2
    a, b, c, d = sorted(range(size), key=lambda node: -sum(value for value in values[node] if value > mean))[:4]
    faces, rest = [(a, b, c), (b, c, d), (a, b, d), (a, c, d)], sorted(set(range(size)) - {a, b, c, d})
    links = {frozenset(pair) for pair in combinations((a, b, c, d), 2)}
    while rest:
        face, node = max(
            ((face, node) for face in faces for node in rest),
            key=lambda tried: sum(values[tried[1]][corner] for corner in tried[0]),
        )
        a, b, c = face
        links |= {frozenset([node, corner]) for corner in face}
        rest.remove(node)
        faces[faces.index(face)] = (a, b, node)
        faces += [(a, c, node), (b, c, node)]
    return links


@given(st.integers(4, 14), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_filtered_graph_is_planar_chordal_and_the_greedy_one(size, levels, seed):
    similarity = np.random.default_rng(seed).integers(0, levels + 1, (size, size)) / levels  # with many ties
    similarity = np.maximum(similarity, similarity.T)
    np.fill_diagonal(similarity, 1)
    links = list(zip(*(ends.tolist() for ends in filter_links(similarity)), strict=True))
    graph = nx.Graph(links)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (size, 3 * (size - 2)) == (size, len(links))
    assert nx.check_planarity(graph)[0]
    assert nx.is_chordal(graph)
    assert max(map(len, nx.find_cliques(graph))) == 4
    assert {frozenset(link) for link in links} == filter_slowly(similarity)


@given(LISTS, st.randoms(use_true_random=False))
def test_correlation_of_people_and_words(log, random):
    by_user = {}
    for user, words in log:
        by_user.setdefault(user, set()).update(words)
    words = [word for word in "abcdefgh" if sum(word in named for named in by_user.values()) >= 2]
    if len(words) < 4:
        with pytest.raises(WalkError):
            cg.human.estimate_network(make_lists(log), "correlation")
        return
    graph = cg.human.estimate_network(make_lists(log), "correlation")
    named = np.array([[word in each for word in words] for each in by_user.values()], float)
    similarity = cosine_similarity(named.T)
    assert graph.labels == words
    links = {link for link in filter_slowly(similarity) if similarity[tuple(link)] > 0}
    assert list_edges(graph) == {frozenset(words[place] for place in link) for link in links}
    for a, b, weight in graph.to_networkx().edges(data="weight"):
        assert weight == pytest.approx(similarity[words.index(a), words.index(b)])
    shuffled = random.sample(log, len(log))
    assert cg.human.estimate_network(make_lists(shuffled), "correlation") == graph


# ---- measures of each list ------------------------------------------------------------------------------------------


def count_clusters(words, categories, rule):
    """Return the sizes of clusters: the longest runs, from the first word on, whose words share as the rule says."""
    of_word = [{name for name, items in categories.items() if word in items} for word in words]
    of_word = [known for known in of_word if known]
    sizes = []
    while of_word:
        runs = range(1, len(of_word) + 1)
        if rule == "static":
            size = max(run for run in runs if set.intersection(*of_word[:run]))
        else:
            size = max(run for run in runs if all(a & b for a, b in pairwise(of_word[:run])))
        sizes.append(size)
        of_word = of_word[size:]
    return sizes


@given(LISTS, CATEGORIES, st.sampled_from(["static", "fluid"]))
def test_measures_against_reference(log, categories, rule):
    table = cg.human.measure_lists(make_lists(log), categories, clusters=rule)
    rows = sorted(((user, drop_repeats(words)) for user, words in log), key=lambda row: row[0])
    frame = table.to_frame()
    assert frame["user"].tolist() == [user for user, _ in rows]
    assert frame["words"].tolist() == [len(words) for _, words in rows]
    assert frame["perseverations"].tolist() == [len(words) - len(set(words)) for _, words in rows]
    sizes = [count_clusters(words, categories, rule) for _, words in rows]
    assert frame["clusters"].tolist() == list(map(len, sizes))
    assert frame["switches"].tolist() == [max(len(each) - 1, 0) for each in sizes]
    known = set().union(*categories.values())
    assert frame["intrusions"].tolist() == [sum(word not in known for word in words) for _, words in rows]
    means = [np.mean(each) if each else np.nan for each in sizes]
    np.testing.assert_allclose(frame["cluster_size"], means)
    # SNAFU counts immediate repeats as perseverations; here they are merged and counted apart
    repeated = sum(len(words) - len(set(words)) for _, words in log)
    assert frame["perseverations"].sum() + table.skipped.repeats == repeated


def test_categories_of_a_file(tmp_path):
    path = tmp_path / "scheme.csv"
    path.write_text("# a scheme\ncategory,item\nPets,Guinea-Pig\nPets, dog\nFarm,dog\nFarm,pig\n")
    lists = cg.human.Trajectories.from_walks([["guineapig", "Dog", "pig", "category"]])
    found = cg.human.measure_lists(lists, path).measures
    same = cg.human.measure_lists(lists, {"Pets": ["guinea pig", "dog"], "Farm": ["dog", "pig"]}).measures
    assert {name: values.tolist() for name, values in found.items()} == {
        name: values.tolist() for name, values in same.items()
    }
    assert (found["clusters"][0], found["intrusions"][0]) == (2, 1)
    path.write_text("Pets,dog\nFarm\n")
    with pytest.raises(FileFormatError, match="line 2"):
        cg.human.measure_lists(lists, path)


def test_groups_are_compared():
    lists = [["dog", "cat", "cow", "pig"][: 2 + number % 2] * 2 for number in range(20)]
    groups = {number: ["short", "long"][number % 2] for number in range(20)}
    people = cg.human.Trajectories.from_walks(lists, user_columns={"group": groups})
    table = cg.human.measure_lists(people, {"pets": ["dog", "cat"], "farm": ["cow", "pig"]})
    found = cg.compare_groups(table.to_frame(), by="group").to_frame().set_index("measure")
    assert {"words", "perseverations", "clusters", "switches"} <= set(found.index)
    assert found.loc["words", "p_holm"] < 0.05


def test_wrong_settings_are_named():
    lists = cg.human.Trajectories.from_walks([["dog", "cat"], ["cow"]])
    with pytest.raises(UnknownNameError, match="pathfinder"):
        cg.human.estimate_network(lists, "pathfinder")
    with pytest.raises(UnknownNameError, match="loose"):
        cg.human.measure_lists(lists, clusters="loose")
    for words in ("dog cat", 3):  # a text would be a category of its letters
        with pytest.raises(SettingError, match=f"a category are {words!r}"):
            cg.human.measure_lists(lists, {"pets": words})
    with pytest.raises(SettingError, match="window is 0"):
        cg.human.estimate_network(lists, "window", window=0)
    with pytest.raises(SettingError, match="alpha is 2"):
        cg.human.estimate_network(lists, "window", alpha=2)
    with pytest.raises(SettingError, match="Trajectories"):
        cg.human.measure_lists([["dog"]])
    with pytest.raises(WalkError, match="1 lists"):
        cg.human.estimate_network(lists[1:])
    assert list(cg.human.measure_lists(lists).measures) == ["words", "perseverations"]


# ---- the sample of SNAFU --------------------------------------------------------------------------------------------

# perseverations in the three animal lists of each person of Experiment1: 3 x column 5 of demos/stats.csv of snafu-py
SNAFU_PERSEVERATIONS = [4, 3, 3, 2, 0, 0, 0, 0, 4, 0, 1, 0, 6, 4, 2, 0, 3, 0, 3, 2]
SCHEME = {  # the words of two lists, by schemes/animals_snafu_scheme.csv of snafu-py
    "African": ["tiger", "lion", "zebra", "ostrich", "giraffe", "elephant", "monkey", "cheetah", "leopard", "hyena"],
    "BeastsOfBurden": ["llama", "horse", "donkey"],
    "Bird": ["bird", "falcon", "owl", "turkey", "ostrich"],
    "Canine": ["dog", "fox", "wolf", "hyena", "coyote"],
    "Farm": ["horse", "donkey", "turkey"],
    "Feline": ["tiger", "lion", "cheetah", "leopard", "jaguar", "bobcat"],
    "Fish": ["fish"],
    "NorthAmerican": ["bear", "fox", "wolf", "skunk", "bobcat"],
    "Pets": ["cat", "dog"],
    "Primates": ["monkey"],
    "ReptileAmphibian": ["turtle"],
    "UsedForFur": ["fox", "llama"],
    "Water": ["fish", "turtle"],
    "Weasels": ["skunk"],
}


@pytest.mark.skipif(not os.environ.get("CURIOGRAPH_DATA"), reason="CURIOGRAPH_DATA names no folder of datasets")
def test_values_of_snafu():
    sample = pd.read_csv(Path(os.environ["CURIOGRAPH_DATA"]) / "semantic-fluency" / "snafu_sample.csv")
    sample = sample.query("category == 'animals' and group == 'Experiment1'")[["id", "listnum", "item", "group"]]
    sample["item"] = sample["item"].replace("lamb", "sheep")  # a line of animals_snafu_spellfile.csv of snafu-py
    lists = cg.human.Trajectories.from_frame(sample, session="listnum", keep=["group"])
    frame = cg.human.measure_lists(lists, SCHEME, clusters="fluid").to_frame()
    repeats = (sample == sample.shift()).all(axis=1).groupby(sample["id"]).sum()
    found = frame.groupby("user")["perseverations"].sum() + repeats
    assert found.tolist() == SNAFU_PERSEVERATIONS
    switches = frame.query("user == 'A102'").set_index("session")["switches"]
    assert switches[[0, 6]].tolist() == [10, 9]  # tests/test_data/switches.csv of snafu-py
    words = [list(dict.fromkeys(words)) for words in lists]
    assert list_edges(cg.human.estimate_network(lists, "window")) == find_window_links(words, 2, 0.05)
