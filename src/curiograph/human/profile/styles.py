"""Curiosity styles: the position of each person between busybody and hunter, and how reliable it is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.csr import concatenate_ranges, freeze_array
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.labels import IntegerLabels, RangeLabels
from curiograph.growth.tables import list_user_columns
from curiograph.human.profile.compute import Sequences, are_similarities, compute_measures, measure_similarity
from curiograph.human.profile.results import Profile, number_people
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.statistics.bootstrap import NUM_RESAMPLES, Estimate
from curiograph.statistics.reliability import estimate_split_half, predict_length
from curiograph.validation import check_integer, check_seed, is_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

TIGHTNESS = ("clustering", "efficiency", "edge_weight")
"""Measures of tight networks, which are high for hunters and low for busybodies."""
RELIABLE = 0.7
"""Reliability that is enough to compare groups of people."""

_MIN_PEOPLE = 20  # with enough visits, for a point of the curve of reliability
_MIN_BLOCKS = 2  # of a person with an interval
_MIN_FREEDOM = 20  # blocks beyond one per person, from which the spread of blocks is estimated
_MAX_POINTS = 20  # of this curve
_TOGETHER = 2**22  # resampled scores computed together: bounds the memory
_MEMORY = 5  # visits whose neighbors a simulated person may go to


@dataclass(frozen=True, eq=False)
class Styles:
    """Style score of each person: positive for hunters, who build tight networks, and negative for busybodies.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("ws", nodes=200, seed=0)
    >>> people = cg.human.simulate_styles(g, people=60, visits=100, strength=0.8, seed=0)
    >>> found = cg.profile(g, people, measures="structure").styles()
    >>> found
    Styles(60 people, reliability 0.9... (0.9... to 0.9...))
    >>> found.shortest
    23
    """

    profile: Profile
    """The profile of the people."""
    users: list[Hashable]
    """People with a score, sorted."""
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
    block: int | None
    """Number of distinct nodes of a block; None if blocks are whole walks."""
    visits_per_block: float
    """Mean number of visits of a block."""
    left_out: list[Hashable]
    """People without a complete block."""
    reliability: Estimate
    """Split-half reliability of the score (Spearman-Brown), with a 95 % interval over people."""
    curve: dict[str, list[Any]]
    """Reliability by number of visits: visits, people, reliability, low, high."""

    @property
    def shortest(self) -> int | None:
        """Smallest number of visits per person from which on the interval of the reliability is above 0.7, or None."""
        shortest = None
        for visits, low in zip(self.curve["visits"], self.curve["low"], strict=True):
            if not low >= RELIABLE:
                shortest = None
            elif shortest is None:
                shortest = int(visits)
        return shortest

    @property
    def predicted(self) -> float:
        """Number of visits at which a reliability of 0.7 is expected by the Spearman-Brown formula.

        Infinite if the interval of the reliability includes zero.
        """
        if not self._is_reliable:
            return float("inf")
        visits = self.blocks[self.blocks > 1].mean() * self.visits_per_block
        return predict_length(self.reliability.value, float(visits), RELIABLE)

    @property
    def _is_reliable(self) -> bool:
        """Whether the scores of people differ by more than chance: the interval of the reliability is above zero."""
        return self.reliability.low > 0

    @property
    def labels(self) -> list[str]:
        """Style of each person: hunter or busybody if the interval of the score excludes zero, else unclear.

        All are unclear if the interval of the reliability includes zero.
        """
        if not self._is_reliable:
            return ["unclear"] * len(self)
        return [
            "hunter" if low > 0 else "busybody" if high < 0 else "unclear"
            for low, high in zip(self.low, self.high, strict=True)
        ]

    @property
    def answer(self) -> str:
        """The result in one sentence or two."""
        if np.isnan(self.reliability.value):
            return f"{len(self):,} people have a score. Too few have two blocks to estimate its reliability and styles."
        if not self._is_reliable:
            return (
                f"{len(self):,} people have a score. Its reliability is {self.reliability}: the interval includes "
                "zero, so that no one is called a hunter or a busybody."
            )
        labels = self.labels
        counts = ", ".join(f"{labels.count(style):,} {style}" for style in ("hunter", "busybody", "unclear"))
        enough = (
            f"its interval is above {RELIABLE} from {self.shortest:,} visits on"
            if self.shortest is not None
            else f"{RELIABLE} is expected at about {self.predicted:,.0f} visits"
        )
        return f"Of {len(self):,} people: {counts}. The reliability of the score is {self.reliability}; {enough}."

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per person: user, user columns, number of blocks, score with interval, and style."""
        table: dict[str, list[Any]] = {
            "blocks": self.blocks.tolist(),
            "score": self.scores.tolist(),
            "score_low": self.low.tolist(),
            "score_high": self.high.tolist(),
            "style": self.labels,
        }
        return {"user": list(self.users), **list_user_columns(self.profile, self.users, ["user", *table]), **table}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per person as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        columns = self.columns()
        return {
            "answer": self.answer,
            "measures": list(self.measures),
            "block": self.block,
            "reliability": vars(self.reliability),
            "shortest": self.shortest,
            "predicted": self.predicted,
            "curve": self.curve,
            "left_out": list(self.left_out),
            "people": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        }

    def plot(self) -> Figure:
        """Plot the scores of all people with intervals, and the reliability by number of visits."""
        from curiograph.plotting.profile import plot_styles

        visits, reliability, low, high = (
            np.asarray(self.curve[name], np.float64) for name in ("visits", "reliability", "low", "high")
        )
        return plot_styles((self.scores, self.low, self.high), (visits, reliability, low, high), RELIABLE)

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        return f"Styles({len(self):,} people, reliability {self.reliability})"

    def _repr_html_(self) -> str:
        return render_result(repr(self), self.columns())


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
        Score and interval of each person, reliability, and its curve; with `plot` and `to_frame`.
    """
    if not isinstance(profile, Profile):
        raise SettingError(f"profile is {quote_value(profile)}; give the result of profile(graph, walks).")
    if block is not None:
        block = check_integer("block", block, 3, "clustering needs blocks of 3 nodes or more, or None for whole walks")
    seed = check_seed(seed)
    users, person_of_walk = number_people(profile)
    blocks, walk_of = _cut_walks(profile.walks, block)
    scores, names, known = _score_blocks(profile, blocks, person_of_walk[walk_of], len(users))
    person = person_of_walk[walk_of][known]
    order = np.argsort(person, kind="stable")
    scores, person = scores[order], person[order]
    counts = np.bincount(person, minlength=len(users))
    kept = np.flatnonzero(counts)
    means = np.bincount(person, scores, len(users))[kept] / counts[kept]
    width = _resample_blocks(scores, counts[kept], seed)
    visits_per_block = float(np.diff(blocks.offsets)[known].mean())
    return Styles(
        profile=profile,
        users=[users[row] for row in kept],
        scores=means,
        low=means - width,
        high=means + width,
        blocks=counts[kept],
        measures=names,
        block=block,
        visits_per_block=visits_per_block,
        left_out=[users[row] for row in np.flatnonzero(counts == 0)],
        reliability=_compute_reliability(scores, counts[kept], None, seed),
        curve=_compute_curve(scores, counts[kept], visits_per_block, seed),
    )


def _cut_walks(walks: Trajectories, block: int | None) -> tuple[Sequences, Int64]:
    """Return the blocks of all walks, and the number of the walk of each."""
    if block is None:
        return Sequences(walks.nodes, walks.offsets), np.arange(len(walks))
    walk, begins, ends = kernels.sequences.cut_blocks(walks.nodes, walks.offsets, len(walks.names), block).T
    if not len(walk):
        most = np.diff(Sequences(walks.nodes, walks.offsets).find_first_visits().offsets).max(initial=0)
        raise WalkError(f"block is {block}, but no walk visits more than {most} distinct nodes; give a smaller block.")
    lengths = ends - begins
    return Sequences(
        nodes=freeze_array(walks.nodes[concatenate_ranges(begins, lengths)]),
        offsets=freeze_array(np.concatenate([[0], np.cumsum(lengths)])),
    ), walk


def _score_blocks(
    profile: Profile, blocks: Sequences, person: Int64, num_people: int
) -> tuple[Float64, tuple[str, ...], NDArray[np.bool_]]:
    """Return the scores of the blocks that have one, the measures in it, and which blocks have one.

    A score is the mean over measures of their z-scores, with means and standard deviations over the means of people.
    A block of fewer than three nodes has none.
    """
    graph, similarity = profile.graph, profile.similarity
    skeleton = Graph(graph.skeleton.indptr, graph.skeleton.indices)
    weighted = graph if similarity is None and are_similarities(graph.weights) else None
    values = compute_measures(skeleton, blocks, TIGHTNESS, weighted=weighted)
    if similarity is not None:
        values |= measure_similarity(graph, blocks, similarity, ["edge_weight"])
    if "edge_weight" in values:  # a block without links is as loose as can be; left out, it would raise the score
        values["edge_weight"] = np.nan_to_num(values["edge_weight"], nan=0.0)
    known = ~np.isnan(np.column_stack(list(values.values()))).any(axis=1)
    counts = np.bincount(person[known], minlength=num_people)
    standardized = {}
    for name, column in values.items():
        means = np.bincount(person[known], column[known], num_people)[counts > 0] / counts[counts > 0]
        if len(means) > 1 and means.std() > 1e-12:
            standardized[name] = (column[known] - means.mean()) / means.std(ddof=1)
    if not standardized:
        raise WalkError(
            "the networks of all people are equally tight, or there is only one person; a style is relative to others."
        )
    return np.mean(list(standardized.values()), axis=0), tuple(standardized), known


def _resample_blocks(scores: Float64, counts: Int64, seed: int) -> Float64:
    """Return half the widths of 95 % intervals of the means over the blocks of each person, by bootstrap.

    The deviations of blocks from the mean of their person are pooled over people and resampled: the few blocks of one
    person may be equal by chance. The interval of a person is as much wider as the standard deviation of their blocks
    is above the pooled one.
    """
    width = np.full(len(counts), np.nan)
    freedom = int((counts - 1).sum())
    person = np.repeat(np.arange(len(counts)), counts)
    deviations = scores - (np.bincount(person, scores) / counts)[person]
    squares = np.bincount(person, deviations**2)
    pooled = squares.sum() / max(1, freedom)
    if freedom < _MIN_FREEDOM or not pooled > 1e-24:
        return width
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = (deviations * np.sqrt(counts / (counts - 1))[person])[(counts > 1)[person]]
        own = np.sqrt(np.maximum(1.0, squares / (counts - 1) / pooled))
    for count in np.unique(counts[counts >= _MIN_BLOCKS]).tolist():
        rng = np.random.default_rng([seed, count])
        together = max(1, _TOGETHER // count)
        sizes = np.diff([*range(0, NUM_RESAMPLES, together), NUM_RESAMPLES])
        errors = [rng.choice(deviations, size=(int(size), count)).mean(axis=1) for size in sizes]
        people = counts == count
        width[people] = np.percentile(np.abs(np.concatenate(errors)), 95) * own[people]
    return width


def _compute_reliability(scores: Float64, counts: Int64, used: int | None, seed: int) -> Estimate:
    """Return the split-half reliability of scores from the first `used` blocks of the people with so many.

    Halves are the blocks at odd and at even places. The reliability of one block is the correlation of the first two.
    """
    firsts = np.cumsum(counts) - counts
    needed = 2 if used is None else max(2, used)
    people = np.flatnonzero(counts >= needed)
    if used is None:
        place = np.arange(len(scores)) - np.repeat(firsts, counts)
        person = np.repeat(np.arange(len(counts)), counts)
        halves = [
            np.bincount(person[place % 2 == side], scores[place % 2 == side], len(counts))[people]
            / np.bincount(person[place % 2 == side], minlength=len(counts))[people]
            for side in (0, 1)
        ]
    else:
        table = scores[firsts[people][:, None] + np.arange(needed)]
        halves = [table[:, side::2].mean(axis=1) for side in (0, 1)]
    return estimate_split_half(*halves, doubled=used != 1, seed=seed)


def _compute_curve(scores: Float64, counts: Int64, per_block: float, seed: int) -> dict[str, list[Any]]:
    """Return the reliability of scores from 1, 2, 4, 6, ... blocks, as long as twenty people have so many."""
    curve: dict[str, list[Any]] = {"visits": [], "people": [], "reliability": [], "low": [], "high": []}
    for used in [1, *range(2, 2 * _MAX_POINTS, 2)]:
        people = int(np.count_nonzero(counts >= max(2, used)))
        if people < _MIN_PEOPLE:
            break
        found = _compute_reliability(scores, counts, used, seed)
        row = (round(used * per_block), people, found.value, found.low, found.high)
        for name, value in zip(curve, row, strict=True):
            curve[name].append(value)
    return curve


def simulate_styles(
    graph: Graph, people: int = 100, visits: int = 50, strength: float = 0.5, *, seed: int = 0
) -> Trajectories:
    """Simulate walks of hunters and busybodies, to test how well styles are recovered.

    Each step goes, with the probability `tightness` of the person, to a neighbor of one of the last five visits, and
    otherwise to any node. Hunters have the tightness (1 + strength) / 2, busybodies (1 - strength) / 2.

    Parameters
    ----------
    graph : Graph
        Graph with two nodes or more; the direction of its edges is ignored.
    people : int
        Number of people; every other one is a hunter.
    visits : int
        Number of visits of each walk.
    strength : float
        Difference in tightness between the two styles, from 0 to 1.
    seed : int
        Same seed, same walks.

    Returns
    -------
    Trajectories
        One walk per person, with the user columns `planted` (hunter or busybody) and `tightness`.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> people = simulate_styles(library(), people=4, visits=20)
    >>> people, people.user_columns["planted"]
    (Trajectories(4 walks by 4 users, 80 visits of 12 nodes), ['hunter', 'busybody', 'hunter', 'busybody'])
    """
    if as_graph(graph).num_nodes < 2:
        raise SettingError(f"the graph has {graph.num_nodes} nodes; people walk on graphs of 2 nodes or more.")
    people = check_integer("people", people, 2, "simulate 2 people or more")
    visits = check_integer("visits", visits, 1, "a walk has 1 visit or more")
    if not is_number(strength) or not 0 <= strength <= 1:
        raise SettingError(f"strength is {quote_value(strength)}; give a number from 0 to 1.")
    seed = check_seed(seed)
    styles = ["hunter", "busybody"] * (people // 2) + ["hunter"] * (people % 2)
    tightness = [(1 + strength) / 2 if style == "hunter" else (1 - strength) / 2 for style in styles]
    nodes = kernels.sequences.draw_styles(
        graph.skeleton.indptr,
        graph.skeleton.indices,
        np.array(tightness),
        visits,
        _MEMORY,
        kernels.random.make_streams(seed, 0, people),
    )
    return Trajectories.from_arrays(
        nodes=nodes.ravel(),
        offsets=np.arange(people + 1) * visits,
        names=graph.names,
        users=np.arange(people),
        user_names=RangeLabels(people),
        sessions=np.zeros(people, np.int64),
        session_names=IntegerLabels(np.array([1])),
        user_columns={"planted": styles, "tightness": tightness},
    )
