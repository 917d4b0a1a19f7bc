"""Networks of the segments of a text, linked by similarity."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from curiograph.arrays import Float64
from curiograph.errors import MissingExtraError, SettingError, quote_value, shorten_text
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.graph.similarity import Similarity, split_words
from curiograph.growth.measure import measure
from curiograph.rewards.igt import grow_betti
from curiograph.validation import check_integer, is_number

_MEASURES = ["segment", "edges", "beta0", "beta1", "beta2", "compressibility", "opened", "closed"]
_DIGITS = 12  # similarities are rounded, so that ties and a threshold of 1 do not depend on rounding errors


@dataclass(frozen=True, eq=False, repr=False)
class SegmentNetwork:
    """The segments of a text in order, linked by similarity; `segment_network` builds it."""

    graph: Graph
    """Undirected graph of the segments 1 to n with similarities as weights; titles are beginnings of texts."""
    walk: list[int]
    """All segments in order, for functions of walks."""
    similarity: Float64
    """Similarity of every two segments, from 0 to 1: an array of n rows and n columns."""
    ratings: pd.DataFrame
    """Ratings as columns, with one row per segment."""

    def measure(self, *, compressibility: bool = True) -> pd.DataFrame:
        """Measure the network of the first segment, the first two, and so on: one row per segment, with its ratings.

        Columns are those of `cg.measure`: `segment`, `edges`, `beta0` (components), `beta1` (gaps), `beta2` (voids; if
        gudhi is installed), `compressibility`, and the gaps that the segment `opened` and `closed`. Compressibility is
        slow for several hundred segments; without it, the column is NaN.
        """
        growth = measure(self.graph, self.walk, compressibility=compressibility)
        frame = growth.to_frame().rename(columns={"node": "segment"})
        with suppress(MissingExtraError):
            frame["beta2"] = grow_betti(self.graph, 2)
        return frame[[name for name in _MEASURES if name in frame]].join(self.ratings)

    def __repr__(self) -> str:
        return f"SegmentNetwork({self.graph.num_nodes:,} segments, {self.graph.num_edges:,} links)"


def segment_network(
    segments: Any, *, threshold: float | None = None, k: int | None = None, ratings: Any = None
) -> SegmentNetwork:
    """Build the knowledge network of a text: its segments in order, linked by similarity.

    A reader takes the segments as a walk: `measure` of the result gives the components, gaps and voids of the network
    after each segment. Hopp et al. predict the curiosity of readers from these features of networks of topics, found by
    topic modeling of the segments; here the nodes are the segments. Give exactly one of `threshold` and `k`.

    Parameters
    ----------
    segments : sequence of texts, or array with one row per segment
        Texts, such as sentences or paragraphs, compared as by `Similarity.from_texts` (`curiograph[meaning]`); or
        embeddings, compared by cosine, where negative cosines count as 0.
    threshold : float, optional
        Link two segments if their similarity is at least this, above 0 and up to 1.
    k : int, optional
        Link every segment with the k segments most similar to it, of equal ones the first, if the similarity is above
        0. Two segments are linked if one is among the k of the other, so that a segment may have more than k links.
    ratings : sequence, mapping of names to sequences, or DataFrame, optional
        Ratings with one value per segment, in order. A sequence is the column `rating`.

    Returns
    -------
    SegmentNetwork
        `graph`, `walk`, `similarity`, `ratings`, and `measure()`, a frame with one row per segment.

    References
    ----------
    M. D. S. Hopp, V. Labatut, A. Amalvy, R. Dufour, H. Stone, H. Jach, K. Murayama (2025). Persistent homology of topic
    networks for the prediction of reader curiosity. *ACL 2025*, 28121-28132.

    Examples
    --------
    >>> texts = ["Rain falls on hills.", "Hills feed rivers.", "Rivers reach oceans.", "Oceans make rain."]
    >>> network = segment_network(texts, threshold=0.1, ratings=[2, 3, 3, 5])
    >>> network
    SegmentNetwork(4 segments, 4 links)
    >>> network.measure()[["segment", "beta0", "beta1", "rating"]]
       segment  beta0  beta1  rating
    0        1      1      0       2
    1        2      1      0       3
    2        3      1      0       3
    3        4      1      1       5
    """
    given = segments if hasattr(segments, "ndim") else np.asarray(segments, object)
    if given.ndim not in (1, 2) or not given.shape[0]:
        raise SettingError(f"segments is {quote_value(segments)}; give a list of texts, or an array with a row each.")
    size, titles = given.shape[0], None
    if given.ndim == 1:
        for number, text in enumerate(given, 1):
            if not isinstance(text, str) or not split_words(text):
                raise SettingError(f"segment {number} is {quote_value(text)}; give a text with letters or digits.")
        titles = [shorten_text(text, 40) for text in given]
    if (threshold is None) == (k is None):
        raise SettingError(f"threshold is {quote_value(threshold)}, k is {quote_value(k)}; give exactly one of them.")
    if threshold is not None and (not is_number(threshold) or not 0 < threshold <= 1):
        raise SettingError(f"threshold is {quote_value(threshold)}; give a similarity above 0 and up to 1.")
    if k is not None:
        check_integer("k", k, 1, f"give 1 or more, and less than {size}, the number of segments", most=size - 1)
    rated = ratings if isinstance(ratings, Mapping | pd.DataFrame) else {} if ratings is None else {"rating": ratings}
    for name, values in rated.items():
        if np.shape(values) != (size,) or name in _MEASURES:
            wrong = "the name of a measure" if name in _MEASURES else f"{np.size(values)} values for {size} segments"
            raise SettingError(f"the rating {name!r} has {wrong}; give one value per segment, and a name of its own.")
    names = as_labels(walk := list(range(1, size + 1)), titles)
    unlinked = Graph.from_arrays(np.empty(0, np.int64), np.empty(0, np.int64), names=names)
    compare = Similarity.from_embeddings if titles is None else Similarity.from_texts
    meaning = compare(unlinked, segments if titles is None else list(given))
    first, second = np.triu_indices(size)
    similarity = np.zeros((size, size))
    similarity[first, second] = meaning.compute_pairs(first, second).round(_DIGITS)
    similarity = np.maximum(similarity, similarity.T)
    linked = similarity >= round(float(threshold or 0), _DIGITS)
    if k is not None:
        nearest = np.argsort(2 * np.eye(size) - similarity, axis=1, kind="stable")[:, :k]  # the segment itself is last
        linked = np.zeros((size, size), bool)
        np.put_along_axis(linked, nearest, values=True, axis=1)
        linked = linked | linked.T
    first, second = np.nonzero(np.triu(linked & (similarity > 0), 1))
    graph = Graph.from_arrays(first, second, similarity[first, second], names)
    table = pd.DataFrame({name: list(values) for name, values in rated.items()}, index=range(size))
    return SegmentNetwork(graph, walk, similarity, table)
