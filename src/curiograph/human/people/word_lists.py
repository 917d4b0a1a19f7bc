"""Word lists of semantic fluency tasks: networks estimated from lists, and clusters, switches and errors of a list."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import FileFormatError, SettingError, WalkError, quote_value
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.human.data.text_source import TextSource
from curiograph.human.people.people_table import WalkTable
from curiograph.human.trajectories import Trajectories, as_trajectories
from curiograph.recommendation.incidence import build_incidence
from curiograph.validation import check_choice, check_integer, is_number

NetworkMethod = Literal["random-walk", "window", "correlation"]
"""Method by which a network is estimated from lists."""
ClusterRule = Literal["static", "fluid"]
"""What the words of a cluster share: all of them one category, or each a category with the word before."""
Categories = Mapping[str, Iterable[str]] | PathLike
"""Words of each category, or a CSV file with the columns category and item."""

_FEWEST = 2  # lists with a pair, for "window", and people who named a word, for "correlation"
_UNIT = 2**40  # similarities are compared as whole multiples of 1 / _UNIT, so that ties do not depend on rounding


def estimate_network(
    lists: Trajectories, method: NetworkMethod = "random-walk", *, window: int = 2, alpha: float = 0.05
) -> Graph:
    """Estimate an undirected semantic network from lists of words.

    A word that is named again in a list is left out first. Nodes are in the order of their labels, so that the network
    does not depend on the order of people or rows.

    Parameters
    ----------
    lists : Trajectories
        One walk per list, all of the same task, such as animals.
    method : {"random-walk", "window", "correlation"}
        "random-walk" links successive words: the naive random walk of SNAFU. "window" links words that occur within a
        window more often than by chance: the conceptual network of Goñi et al. (2011) as in SNAFU. "correlation" links
        words that the same people name: the triangulated maximally filtered graph (Massara et al. 2016) of cosine
        similarities, as in SemNeT.
    window : int
        For "window", the maximum distance of two words in a list; 1 for successive words.
    alpha : float
        For "window": two words are linked if two lists or more have both within the window, and the lower bound of the
        Clopper-Pearson interval (1 - alpha) of the share of such lists exceeds its value by chance. This is P_a P_b
        times the share of pairs of a list of mean length within the window; P is the share of lists with the word.

    Returns
    -------
    Graph
        All words, some of which may have no link. With "correlation", the n words that two people or more named, with
        the similarities as weights, and 3 n - 6 links less those between words that no person named both.

    Examples
    --------
    >>> named = [["dog", "cat", "cow"], ["cat", "dog", "pig", "cow"], ["cow", "pig", "dog"]]
    >>> estimate_network(Trajectories.from_walks(named)).neighbors("dog")
    ['cat', 'pig']
    >>> estimate_network(Trajectories.from_walks(named), "correlation")
    Graph(4 nodes, 6 edges, undirected, weighted)
    """
    check_choice("method", method, get_args(NetworkMethod))
    check_integer("window", window, 1, "give the maximum distance of two words in a list, 1 or more")
    if not is_number(alpha) or not 0 < alpha < 1:
        raise SettingError(f"alpha is {quote_value(alpha)}; give a significance level between 0 and 1.")
    walks = as_trajectories(lists).drop_revisits()
    if walks.lengths.max(initial=0) < 2:
        raise WalkError(
            f"none of the {len(walks)} lists has two words; check which columns hold the list and the word."
        )
    names = list(walks.names)
    words = sorted(np.unique(walks.nodes).tolist(), key=lambda word: (str(names[word]), type(names[word]).__name__))
    positions = np.full(len(names), -1)
    positions[words] = np.arange(len(words))
    walks = walks.renumber(positions, as_labels([names[word] for word in words]))
    if method == "correlation":
        return link_similar(walks)
    return link_near(walks, 1, None) if method == "random-walk" else link_near(walks, window, alpha)


def link_near(walks: Trajectories, window: int, alpha: float | None) -> Graph:
    """Link words within a window, or with `alpha` those that are in it more often than by chance.

    No list has a word twice.
    """
    from scipy.stats import binom

    walk = np.repeat(np.arange(len(walks)), walks.lengths)
    nodes, size = walks.nodes.astype(np.int64), len(walks.names)
    keys = []
    for distance in range(1, min(window, int(walks.lengths.max()) - 1) + 1):
        same = walk[distance:] == walk[:-distance]
        ends = nodes[:-distance][same], nodes[distance:][same]
        keys.append(np.minimum(*ends) * size + np.maximum(*ends))
    pairs, counts = np.unique(np.concatenate(keys), return_counts=True)
    first, second = np.divmod(pairs, size)
    if alpha is not None:
        length, within = float(walks.lengths.mean()), 1.0
        if length > window + 1:
            within = (window * length - window * (window + 1) / 2) / (length * (length - 1) / 2)
        share = np.bincount(nodes) / len(walks)
        # a tail below alpha / 2 means that the lower bound of the interval exceeds the value by chance
        tail = binom.sf(counts - 1, len(walks), share[first] * share[second] * within)
        linked = (counts >= _FEWEST) & (tail < alpha / 2)
        first, second = first[linked], second[linked]
    return Graph.from_arrays(first, second, names=walks.names)


def link_similar(walks: Trajectories) -> Graph:
    """Link words by the filtered graph of the cosine similarities of who named them."""
    named = build_incidence(walks, walks.users)
    kept = np.flatnonzero(named.sum(axis=0) >= _FEWEST)
    if len(kept) < 4:
        raise WalkError(
            f"{len(kept)} words were named by {_FEWEST} people or more, and a correlation network needs 4; give lists "
            "of more people, or another method."
        )
    common = (named.T @ named).toarray()[np.ix_(kept, kept)]
    similarity = common / np.sqrt(np.outer(common.diagonal(), common.diagonal()))
    first, second = filter_links(similarity)
    linked = similarity[first, second] > 0
    first, second = first[linked], second[linked]
    names = as_labels([walks.names[word] for word in kept.tolist()])
    return Graph.from_arrays(first, second, similarity[first, second], names=names)


def filter_links(similarity: Float64) -> tuple[Int64, Int64]:
    """Return the 3 n - 6 links of the triangulated maximally filtered graph of n >= 4 nodes.

    Start with the four nodes that have the largest sums of similarities above the mean. Then put a node into a triangle
    and link it with the corners, so that the sum of the three similarities is the largest; of equal ones, take the
    first triangle and then the first node, as SemNeT does.
    """
    size = len(similarity)
    scaled = np.rint(similarity * _UNIT).astype(np.int64)
    strength = np.where(scaled > scaled.mean(), scaled, 0).sum(axis=1)
    start = np.argsort(-strength, kind="stable")[:4]
    outside = np.ones(size, bool)
    outside[start] = False
    links = [(start[a], start[b]) for a in range(4) for b in range(a)]
    faces = np.empty((2 * size - 4, 3), np.int64)
    faces[:4] = start[[[0, 1, 2], [1, 2, 3], [0, 1, 3], [0, 2, 3]]]
    best, gain = np.empty((2, 2 * size - 4), np.int64)  # the node that fits a face best, and its sum of similarities
    changed = np.arange(4)
    for num_faces in range(4, 2 * size - 4, 2):
        gains = np.where(outside, scaled[faces[changed]].sum(axis=1), -1)
        best[changed], gain[changed] = gains.argmax(axis=1), gains.max(axis=1)
        face = gain[:num_faces].argmax()
        node, (a, b, c) = best[face], faces[face].tolist()
        links += [(node, a), (node, b), (node, c)]
        outside[node] = False
        faces[face], faces[num_faces], faces[num_faces + 1] = (a, b, node), (a, c, node), (b, c, node)
        changed = np.append(np.flatnonzero(best[:num_faces] == node), [num_faces, num_faces + 1])
    first, second = np.array(links).T
    return first, second


def measure_lists(
    lists: Trajectories, categories: Categories | None = None, *, clusters: ClusterRule = "static"
) -> WalkTable:
    """Count the words, perseverations, clusters, switches and intrusions of each list, as SNAFU does.

    Intrusions neither end a cluster nor count in its size; perseverations count in it. Unlike in SNAFU, a word that is
    named twice in a row is one word and no perseveration, because Trajectories merge immediate repeats;
    `skipped.repeats` is their number.

    Parameters
    ----------
    lists : Trajectories
        One walk per list.
    categories : mapping of iterables, or path, optional
        Words of each category, as in `{"pets": ["dog", "cat"]}`, or a CSV file with the columns category and item, with
        or without a header. A word may be in several categories. Case, spaces and punctuation are ignored. Without
        categories, only words and perseverations are counted.
    clusters : {"static", "fluid"}
        A cluster is a run of successive words that share a category: with "static" all words of the run share one,
        with "fluid", the default of SNAFU, each word shares one with the word before.

    Returns
    -------
    WalkTable
        One row per list, sorted by user: user, session, kept columns, `words` (all that were named), `perseverations`
        (words that had been named before in the list), `clusters`, `switches` (clusters less one), `cluster_size`
        (mean number of words of a cluster, NaN without one) and `intrusions` (words of no category).

    Examples
    --------
    >>> named = Trajectories.from_walks([["dog", "cat", "cow", "pig", "cat", "car"], ["cow"]], users=["ann", "bob"])
    >>> found = measure_lists(named, {"pets": ["dog", "cat"], "farm": ["cow", "pig", "dog"]})
    >>> found.to_frame()[["user", "words", "perseverations", "switches", "intrusions"]]
      user  words  perseverations  switches  intrusions
    0  ann      6               1         2           1
    1  bob      1               0         0           0
    """
    check_choice("clusters", clusters, get_args(ClusterRule))
    walks = as_trajectories(lists)
    perseverations = walks.lengths - walks.drop_revisits().lengths
    measures: dict[str, NDArray[Any]] = {"words": walks.lengths, "perseverations": perseverations}
    if categories is not None:
        known = read_categories(categories)
        of_node = [known.get(simplify_word(name), set()) for name in walks.names]
        words = [[of_node[node] for node in walks.walk(number).tolist()] for number in range(len(walks))]
        sizes = [find_clusters([known for known in each if known], clusters) for each in words]
        measures["clusters"] = np.array([len(each) for each in sizes], np.int64)
        measures["switches"] = np.maximum(measures["clusters"] - 1, 0)
        measures["cluster_size"] = np.array([np.mean(each) if each else np.nan for each in sizes])
        measures["intrusions"] = walks.lengths - np.array([sum(each) for each in sizes], np.int64)
    return WalkTable(walks, measures)


def find_clusters(words: list[set[str]], rule: ClusterRule) -> list[int]:
    """Return the sizes of the clusters of a list, given the categories of each word.

    >>> words = [{"pets"}, {"pets", "farm"}, {"farm"}]
    >>> find_clusters(words, "static"), find_clusters(words, "fluid")
    ([2, 1], [3])
    """
    sizes: list[int] = []
    shared: set[str] = set()
    for categories in words:
        if shared & categories:
            sizes[-1] += 1
            shared = shared & categories if rule == "static" else categories
        else:
            sizes.append(1)
            shared = categories
    return sizes


def read_categories(categories: Categories) -> dict[str, set[str]]:
    """Return the categories of each word."""
    if isinstance(categories, Mapping):
        wrong = [items for items in categories.values() if isinstance(items, str) or not isinstance(items, Iterable)]
        if wrong:
            raise SettingError(f"the words of a category are {quote_value(wrong[0])}; give a list, as ['dog', 'cat'].")
        rows = [[category, item] for category, items in categories.items() for item in items]
    else:
        source = TextSource(categories)
        rows = []
        for number, line in source.lines():
            rows.append([field.strip() for field in next(csv.reader([line]))])
            if len(rows[-1]) != 2:
                raise FileFormatError(f"{source.name}, line {number}: has {len(rows[-1])} columns, not category,item.")
        rows = rows[1:] if rows[:1] == [["category", "item"]] else rows
    found: dict[str, set[str]] = {}
    for category, item in rows:
        found.setdefault(simplify_word(item), set()).add(category)
    return found


def simplify_word(word: object) -> str:
    """Return a word without case, spaces and punctuation."""
    return re.sub(r"[\W_]", "", str(word).casefold())
