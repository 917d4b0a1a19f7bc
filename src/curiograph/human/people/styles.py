"""Curiosity styles: the position of each person between busybody and hunter, and how reliable it is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import NO_ESTIMATE, NUM_RESAMPLES, Estimate, draw_weights
from curiograph.errors import WalkError
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.growth.first_visits import list_people
from curiograph.human.people.people_table import number_people
from curiograph.human.people.profile import Profile, cut_blocks
from curiograph.human.people.walk_measures import are_similarities, compute_measures, measure_similarity
from curiograph.results import Table, join_columns
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIGHTNESS = ("clustering", "efficiency", "edge_weight")
"""Measures of tight networks, which are high for hunters and low for busybodies."""
RELIABLE = 0.7
"""Reliability that is enough to compare groups of people."""
_MIN_FREEDOM = 20  # blocks beyond one per person, from which the spread of blocks is estimated


@dataclass(frozen=True, eq=False, repr=False)
class Styles(Table):
    """Style score of each person: positive for hunters, who build tight networks, and negative for busybodies."""

    people: dict[str, list[Any]]
    """User of each score, sorted, and further columns of the log."""
    scores: Float64
    """Score of each person: the mean of the standardized measures over all blocks."""
    low: Float64
    """Lower bounds of 95 % intervals of the scores, by bootstrap; NaN for a person with one block."""
    high: Float64
    """Upper bounds of the intervals."""
    blocks: Int64
    """Number of blocks of each person."""
    measures: tuple[str, ...]
    """Measures that the score consists of."""
    visits_per_block: float
    """Mean number of visits of a block."""
    left_out: list[Hashable]
    """People without a complete block."""
    reliability: Estimate
    """Split-half reliability of the score (Spearman-Brown), with a 95 % interval over people."""

    @property
    def predicted(self) -> float:
        """Number of visits at which a reliability of 0.7 is expected (Spearman-Brown); infinite if it may be zero."""
        if not self.reliability.low > 0:
            return float("inf")
        visits = float(self.blocks[self.blocks > 1].mean() * self.visits_per_block)
        reliability = min(self.reliability.value, 1.0)
        return visits * RELIABLE / (1 - RELIABLE) * (1 - reliability) / reliability

    @property
    def labels(self) -> list[str]:
        """Style of each person: hunter or busybody if the intervals of score and reliability are clear of zero."""
        clear = self.reliability.low > 0
        cases = [clear & (self.low > 0), clear & (self.high < 0)]
        return [str(style) for style in np.select(cases, ["hunter", "busybody"], "unclear")]

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        if not self.reliability.low > 0:
            return f"{len(self.scores):,} people have a score, but its reliability is {self.reliability}: no styles."
        counts = ", ".join(f"{self.labels.count(style):,} {style}" for style in ("hunter", "busybody", "unclear"))
        return (
            f"Of {len(self.scores):,} people: {counts}. The reliability of the score is {self.reliability}; {RELIABLE} "
            f"is expected at about {self.predicted:,.0f} visits."
        )

    def columns(self) -> dict[str, Any]:
        """Return one row per person: user, columns of the log, number of blocks, score with interval, and style."""
        scores = {"score": self.scores, "score_low": self.low, "score_high": self.high}
        return join_columns(self.people, {"blocks": self.blocks, **scores, "style": self.labels})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the scores of all people with intervals."""
        from curiograph.plotting import plot_scores

        return plot_scores(self.scores, self.low, self.high, "busybody  <  style score  >  hunter", ax)

    def __repr__(self) -> str:
        return f"Styles({len(self.scores):,} people, reliability {self.reliability})"


def curiosity_styles(profile: Profile, block: int | None = 10, *, seed: int = 0) -> Styles:
    """Estimate the position of each person between busybody (loose networks) and hunter (tight networks).

    Walks are cut into blocks with equal numbers of distinct nodes. Clustering, global efficiency, and edge weight if
    there are weights from 0 to 1 or a similarity, of the subgraph of each block are standardized over people and
    averaged.

    Parameters
    ----------
    profile : Profile
        Result of `profile`, for walks of two or more people.
    block : int or None
        Number of distinct nodes of a block; the rest of a walk is left out, so that a score depends neither on the
        length of walks nor on the number of returns. None takes whole walks, as the literature does.
    seed : int
        Seed of the resampling.

    Returns
    -------
    Styles
        Score and interval of each person, and the reliability of the scores.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("ws", nodes=100, seed=0)
    >>> walks = [cg.explore(g, ["greedy", "random"][n % 2], "cpt", start=n, steps=60, seed=n) for n in range(20)]
    >>> found = cg.human.curiosity_styles(cg.profile(g, walks, measures="structure"))
    >>> found.measures, len(found.scores), found.blocks.tolist()[:3]
    (('clustering', 'efficiency'), 20, [6, 6, 6])
    """
    seed = check_seed(seed)
    walks = profile.walks
    recorded = list_people(walks)
    users, person_of_walk = number_people(recorded["user"])
    if block is None:
        walk, nodes, lengths = np.arange(len(walks)), walks.nodes, walks.lengths
    else:
        block = check_integer("block", block, 3, "clustering needs blocks of 3 nodes or more, or None for whole walks")
        walk, begins, ends = cut_blocks(walks, block)
        lengths = ends - begins
        nodes = walks.nodes[concatenate_ranges(begins, lengths)]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    scores, names, known = _score_blocks(profile, nodes, offsets, person_of_walk[walk], len(users))
    order = np.argsort(person_of_walk[walk][known], kind="stable")
    scores, person = scores[order], person_of_walk[walk][known][order]
    counts = np.bincount(person, minlength=len(users))
    kept = np.flatnonzero(counts)
    means = np.bincount(person, scores, len(users))[kept] / counts[kept]
    width = resample_blocks(scores, counts[kept], seed)
    is_odd = (np.arange(len(scores)) - (np.cumsum(counts) - counts)[person]) % 2 == 1  # every other block of a person
    halves = [
        (np.bincount(person[half], scores[half], len(users)) / np.bincount(person[half], minlength=len(users)).clip(1))
        for half in (~is_odd, is_odd)
    ]
    row_of = {user: row for row, user in enumerate(recorded["user"])}
    rows = [row_of[users[number]] for number in kept]
    return Styles(
        people={name: [values[row] for row in rows] for name, values in recorded.items() if name != "session"},
        scores=means,
        low=means - width,
        high=means + width,
        blocks=counts[kept],
        measures=names,
        visits_per_block=float(lengths[known].mean()),
        left_out=[users[row] for row in np.flatnonzero(counts == 0)],
        reliability=estimate_split_half(*(half[counts > 1] for half in halves), seed=seed),
    )


def _score_blocks(
    profile: Profile, nodes: Any, offsets: Int64, person: Int64, num_people: int
) -> tuple[Float64, tuple[str, ...], NDArray[np.bool_]]:
    """Return the scores of the blocks of three nodes or more, the measures in it, and which blocks these are.

    A score is the mean over measures of their z-scores, with means and standard deviations over the means of people.
    """
    graph, similarity = profile.graph, profile.similarity
    skeleton = Graph(graph.skeleton.indptr, graph.skeleton.indices)
    values = compute_measures(skeleton, nodes, offsets, TIGHTNESS[:2])
    if similarity is not None or are_similarities(graph.weights):
        weights = measure_similarity(graph, nodes, offsets, similarity, TIGHTNESS[2:])["edge_weight"]
        values["edge_weight"] = np.nan_to_num(weights)  # a block without links is as loose as can be
    known = ~np.isnan(np.column_stack(list(values.values()))).any(axis=1)
    counts = np.bincount(person[known], minlength=num_people)
    standardized = {}
    for name, column in values.items():
        means = np.bincount(person[known], column[known], num_people)[counts > 0] / counts[counts > 0]
        if len(means) > 1 and means.std() > 1e-12:
            standardized[name] = (column[known] - means.mean()) / means.std(ddof=1)
    if not standardized:
        raise WalkError("the networks of all people are equally tight, or there is one person; styles are relative.")
    return np.mean(list(standardized.values()), axis=0), tuple(standardized), known


def resample_blocks(scores: Float64, counts: Int64, seed: int) -> Float64:
    """Return half the widths of 95 % intervals of the means over the blocks of each person, by bootstrap.

    The deviations of blocks from the mean of their person are pooled and resampled, as the few blocks of one person may
    be equal by chance, and scaled up for people whose blocks have a standard deviation above the pooled one.
    """
    width = np.full(len(counts), np.nan)
    person = np.repeat(np.arange(len(counts)), counts)
    deviations = scores - (np.bincount(person, scores) / counts)[person]
    squares = np.bincount(person, deviations**2)
    pooled = squares.sum() / max(1, int((counts - 1).sum()))
    if (counts - 1).sum() < _MIN_FREEDOM or not pooled > 1e-24:
        return width
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = (deviations * np.sqrt(counts / (counts - 1))[person])[(counts > 1)[person]]
        own = np.sqrt(np.maximum(1.0, squares / (counts - 1) / pooled))
    for count in np.unique(counts[counts > 1]).tolist():
        errors = np.random.default_rng([seed, count]).choice(deviations, size=(NUM_RESAMPLES, count)).mean(axis=1)
        width[counts == count] = np.percentile(np.abs(errors), 95) * own[counts == count]
    return width


def estimate_split_half(first: Float64, second: Float64, *, seed: int = 0) -> Estimate:
    """Return the reliability of scores from two halves of the data of each person, with a 95 % interval over people.

    It is 2 r / (1 + r) for the Pearson correlation r of the halves over people (Spearman 1910, Brown 1910). The formula
    has no meaning for a negative r, which is returned as it is. NaN for fewer than 3 people or a half without variance;
    samples of people without variance count as 0.
    """
    if len(first) < 3:
        return NO_ESTIMATE
    x, y = first - first.mean(), second - second.mean()
    table = np.column_stack([np.ones(len(x)), x, y, x**2, y**2, x * y])
    weights = [np.ones((1, len(x))), *draw_weights(len(x), seed)]
    count, x, y, xx, yy, xy = np.concatenate([times @ table for times in weights]).T
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.clip((xy - x * y / count) / np.sqrt((xx - x**2 / count) * (yy - y**2 / count)), -1.0, 1.0)
        values = np.where(r > 0, 2 * r / (1 + r), r)
    return Estimate.from_samples(values[0], np.nan_to_num(values[1:]))
