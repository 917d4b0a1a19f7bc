"""Conditions in which curiosity might help people's choices to be predicted, stated in `docs/replication.md`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from curiograph.arrays import Float32, Float64, Int64
from curiograph.errors import WalkError
from curiograph.files import PathLike
from curiograph.growth.compute import compute_growth
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.load import find_dataset, load_dataset
from curiograph.human.prediction.components import PAGERANK, REWARDS, Components, score_pagerank
from curiograph.human.prediction.predict import FULL, Effort, fit_splits
from curiograph.human.prediction.protocol import Study, get_recipe, make_study
from curiograph.human.prediction.results import MEMORY, Outcome
from curiograph.human.prediction.walkers import Walkers, score_visits, simulate_walkers
from curiograph.human.trajectories import Trajectories, count_by_user
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.people import DATASETS, TITLES
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure, get_color
from curiograph.progress import Progress, no_progress
from curiograph.statistics.bootstrap import INTERVAL_PERCENTILES, Estimate, estimate_means, resample_means, sum_by_user
from curiograph.statistics.groups import adjust_holm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONDITIONS = {
    "history": "last 10 visits against last 3",
    "goal": "unfinished against finished games",
    "position": "first against late choices",
    "experience": "experienced against new players",
    "gaps": "walks with more gaps than the median against others",
    "compression": "walks more compressible than the median against others",
}
"""Names of the conditions, and the groups of choices that each compares."""
BASES = (MEMORY, PAGERANK)
"""Methods over which the gain of curiosity is measured."""
METHOD = "igt+cpt"
"""Method whose gain is measured."""
SHORT, LONG = 3, 10
"""Numbers of visits of short and long histories; walks so far are measured on at most LONG nodes."""
EFFORT = replace(FULL, walkers=100, windows=6000)
"""Number of choices, splits, trials and walkers."""
_FEWEST_NODES = 6  # of a walk so far whose gaps and compressibility are compared
_EXPERIENCED = 5  # earlier games of an experienced player
_MIN_CHOICES, _MIN_USERS = 100, 30  # of a group that is compared
_LEVEL = 0.05  # of the corrected p-value
_GAMES = {"finished": "paths_finished.tsv", "unfinished": "paths_unfinished.tsv"}


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    datasets: Sequence[str] = DATASETS
    """Names of the datasets."""
    effort: Effort = EFFORT
    """How much to compute; walkers are greedy, so that nothing is trained."""
    long_windows: int = 2000
    """Maximum number of choices after a long history."""
    seed: int = 0
    """Seed of the groups of users, choices, walkers, fits and intervals."""


@dataclass(frozen=True)
class Contrast:
    """Difference of the gain of curiosity between two groups of choices."""

    dataset: str
    """Name of the dataset."""
    condition: str
    """Name of the condition."""
    base: str
    """Method over which the gain is measured."""
    choices: tuple[int, int]
    """Number of choices of each group."""
    users: tuple[int, int]
    """Number of users of each group."""
    gains: tuple[float, float]
    """Mean gain of each group, in percentile ranks; NaN for an empty group."""
    difference: Estimate
    """Gain of the first group minus that of the second; NaN if a group is too small."""
    p: float
    """Two-sided p-value of the difference; NaN if a group is too small."""
    corrected_p: float = nan
    """The p-value after Holm's correction for all contrasts."""

    @property
    def is_clear(self) -> bool:
        """Whether the corrected p-value is below 0.05."""
        return self.corrected_p < _LEVEL


@dataclass(frozen=True)
class Conditions(Experiment):
    """Gains of curiosity in all conditions."""

    name = "conditions"

    settings: Settings
    """Settings of the run."""
    overall: dict[str, dict[str, Estimate]]
    """Mean gain over all choices by dataset and method."""
    choices: dict[str, int]
    """Number of choices with short histories by dataset."""
    contrasts: list[Contrast]
    """Differences between groups, by dataset, condition and method."""

    @property
    def tables(self) -> list[Table]:
        """Mean gains over all choices, and the differences between groups."""
        overall = [
            [TITLES[name], f"{self.choices[name]:,}", *(_format_gain(gains[base]) for base in BASES)]
            for name, gains in self.overall.items()
        ]
        rows = []
        for each in self.contrasts:
            sizes = " / ".join(f"{count:,}" for count in each.choices)
            gains = " / ".join("-" if isnan(gain) else f"{gain:+.4f}" for gain in each.gains)
            found = ["too small", "-", "-"]
            if not isnan(each.p):
                found = [_format_gain(each.difference), f"{each.p:.2g}", f"{each.corrected_p:.2g}"]
            rows.append(
                [TITLES[each.dataset], each.condition, CONDITIONS[each.condition], each.base, sizes, gains, *found]
            )
        return [
            Table(
                "gain of igt+cpt over all choices", ["dataset", "choices", *(f"over {base}" for base in BASES)], overall
            ),
            Table(
                "difference of the gain between two groups of choices",
                ["dataset", "condition", "groups", "gain over", "choices", "gains", "difference", "p", "corrected p"],
                rows,
            ),
        ]

    @property
    def sections(self) -> list[Table | str]:
        return [*self.tables]

    @property
    def remarks(self) -> list[str]:
        tested = [each for each in self.contrasts if not isnan(each.p)]
        clear = [each for each in tested if each.is_clear]
        named = [
            f"{TITLES[each.dataset]}, {CONDITIONS[each.condition]}: {each.difference.value:+.4f} over {each.base}"
            for each in clear
        ]
        small = [f"{TITLES[each.dataset]} {each.condition}" for each in self.contrasts if isnan(each.p)]
        sentences = [
            f"{len(clear)} of {len(tested)} differences are clear of zero after correction"
            + (f": {'; '.join(named)}." if named else ".")
        ]
        if self.settings.effort != EFFORT:
            sentences.append("Preliminary: computed with less effort than stated before the run (see the settings).")
        if small:
            sentences.append(f"Too small to compare: {', '.join(dict.fromkeys(small))}.")
        return sentences

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "choices": self.choices,
            "overall": {
                name: {base: asdict(gain) for base, gain in gains.items()} for name, gains in self.overall.items()
            },
            "contrasts": [asdict(each) for each in self.contrasts],
            "remarks": self.remarks,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        settings = document["settings"]
        return cls(
            settings=Settings(**settings | {"effort": Effort(**settings["effort"])}),
            overall={
                name: {base: Estimate(**gain) for base, gain in gains.items()}
                for name, gains in document["overall"].items()
            },
            choices=document["choices"],
            contrasts=[
                Contrast(**each | {"difference": Estimate(**each["difference"])})
                for each in _restore_nan(document["contrasts"])
            ],
        )

    def to_markdown(self) -> str:
        (first, second), effort = self.tables, self.settings.effort
        lines = [
            "Gain: percentile rank of a choice by igt+cpt minus that by another method, among the out-neighbors of the "
            "last node, for test users. [The conditions](../replication.md#conditions-stated-before-the-run) were "
            "stated before the run; all of them are listed. Intervals: 95 %, over users; p-values are corrected for "
            "all differences by the method of Holm. At most "
            f"{effort.windows:,} choices with short histories and {self.settings.long_windows:,} with long ones; "
            f"{effort.splits} splits, {effort.trials} trials per fit, {effort.walkers} walkers per node of up to "
            f"{effort.steps} steps, p_g {effort.p_g}; seed {self.settings.seed}.",
            "",
            *format_table(first.columns, first.rows),
            "",
            *format_table(second.columns, second.rows),
            "",
            *(f"- {line}" for line in self.remarks),
        ]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot the difference of every contrast with its interval, one panel per method."""
        shown = [each for each in self.contrasts if not isnan(each.p)]
        rows = list(dict.fromkeys((each.dataset, each.condition) for each in shown))
        _, panels = create_figure(9.0, 1.2 + 0.32 * max(len(rows), 4), columns=len(BASES))
        for panel, base in zip(panels, BASES, strict=True):
            for each in shown:
                if each.base == base:
                    y = rows.index((each.dataset, each.condition))
                    color = get_color("mixture") if each.is_clear else COLORS["muted"]
                    panel.plot([each.difference.low, each.difference.high], [y, y], color=color, linewidth=2)
                    panel.plot(each.difference.value, y, "o", color=color)
            panel.axvline(0, color=COLORS["text"], linewidth=0.8)
            panel.set_yticks(range(len(rows)), [f"{TITLES[name]}: {condition}" for name, condition in rows])
            panel.invert_yaxis()
            panel.set_xlabel(f"difference of the gain over {base}")
            panel.spines[["top", "right"]].set_visible(False)
        panels[1].tick_params(labelleft=False)
        axes: Axes = panels[0]
        return axes


def _format_gain(gain: Estimate) -> str:
    return f"{gain.value:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})"


def _restore_nan(value: Any) -> Any:
    """Return a stored value with NaN in place of null, which JSON has instead."""
    if isinstance(value, dict):
        return {key: _restore_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_restore_nan(each) for each in value]
    return nan if value is None else value


def run(
    settings: Settings, folder: PathLike | None = None, engine: Engine = IN_PROCESS, progress: Progress = no_progress
) -> Conditions:
    """Compare the gain of curiosity between groups of choices, in all conditions that each dataset has."""
    overall: dict[str, dict[str, Estimate]] = {}
    num_choices = {}
    contrasts: list[Contrast] = []
    datasets = {  # all are loaded first, so that a missing one is reported at once
        name: load_labeled_games(folder) if name == "wikispeedia" else load_dataset(name, folder)
        for name in settings.datasets
    }
    for name, dataset in datasets.items():
        own_engine = replace(engine, run=engine.run and engine.run / name)
        with own_engine.connect():
            groups = rank_groups(dataset, settings, own_engine, progress)
        everyone = groups["position"]  # all choices with a short history are in one of its groups
        num_choices[name] = len(everyone.users)
        overall[name] = {}
        for base in BASES:
            tested = ~np.isnan(everyone.gains[base])
            users = np.unique(everyone.users[tested], return_inverse=True)[1]
            sums = sum_by_user(everyone.gains[base][tested, None], users)
            overall[name][base] = estimate_means(sums, np.bincount(users), settings.seed)[0]
        contrasts += [
            contrast_groups(name, condition, base, group, settings.seed)
            for condition, group in groups.items()
            for base in BASES
        ]
    corrected = adjust_holm(np.array([each.p for each in contrasts]))
    contrasts = [replace(each, corrected_p=float(p)) for each, p in zip(contrasts, corrected, strict=True)]
    return Conditions(settings=settings, overall=overall, choices=num_choices, contrasts=contrasts)


class Groups(NamedTuple):
    """Two groups of choices, and the gain of curiosity in each choice."""

    users: Int64
    """Number of the user of each choice."""
    gains: Mapping[str, Float64]
    """Gain of each choice by method; NaN if it was not tested."""
    first: NDArray[np.bool_]
    """Whether each choice is in the first group."""
    second: NDArray[np.bool_]
    """Whether each choice is in the second group."""


def contrast_groups(dataset: str, condition: str, base: str, groups: Groups, seed: int = 0) -> Contrast:
    """Return the difference of the mean gain over a method between two groups, with an interval over users.

    >>> users, gains = np.repeat(np.arange(60), 4), np.tile([0.3, 0.1, 0.1, -0.1], 60)
    >>> first = np.tile([True, True, False, False], 60)
    >>> found = contrast_groups("books", "position", "memory", Groups(users, {"memory": gains}, first, ~first))
    >>> round(found.difference.value, 3), found.choices, found.users
    (0.2, (120, 120), (60, 60))
    """
    gains = groups.gains[base]
    members = np.column_stack([groups.first, groups.second]) & ~np.isnan(gains)[:, None]
    user_of = np.unique(groups.users, return_inverse=True)[1]
    counts = sum_by_user(members.astype(np.float64), user_of)
    sums = sum_by_user(np.where(members, gains[:, None], 0.0), user_of)
    num_choices, num_users = counts.sum(axis=0).astype(int), np.count_nonzero(counts, axis=0)
    with np.errstate(invalid="ignore"):
        means = sums.sum(axis=0) / counts.sum(axis=0)
    difference, p = Estimate(nan, nan, nan), nan
    if num_choices.min() >= _MIN_CHOICES and num_users.min() >= _MIN_USERS:
        kept = counts.any(axis=1)
        samples = resample_means(sums[kept], counts[kept], seed)
        differences = samples[:, 0] - samples[:, 1]
        difference = Estimate(float(means[0] - means[1]), *np.percentile(differences, INTERVAL_PERCENTILES).tolist())
        spread = float(differences.std(ddof=1))
        p = float(2 * norm.sf(abs(difference.value) / spread)) if spread > 0 else float(difference.value == 0)
    return Contrast(
        dataset=dataset,
        condition=condition,
        base=base,
        choices=(int(num_choices[0]), int(num_choices[1])),
        users=(int(num_users[0]), int(num_users[1])),
        gains=(float(means[0]), float(means[1])),
        difference=difference,
        p=p,
    )


def load_labeled_games(folder: PathLike | None) -> Dataset:
    """Load Wikispeedia, with sessions named by the kind of the game and the number of earlier games of the player."""
    place = find_dataset("wikispeedia", folder)
    if place is None:
        return load_dataset("wikispeedia", folder)  # raises an error that says how to get it
    walks: list[list[Any]] = []
    users: list[Any] = []
    sessions: list[str] = []
    for kind, file in _GAMES.items():
        if (place / file).is_file():
            part = load_dataset(place / file)
            walks += [part.walks.labels(number) for number in range(len(part.walks))]
            users += [part.walks.user(number) for number in range(len(part.walks))]
            sessions += [f"{kind} {earlier}" for earlier in count_by_user(part.walks.users)]
    return replace(part, walks=Trajectories.from_walks(walks, users, part.graph, sessions=sessions), source_path=place)


def rank_groups(dataset: Dataset, settings: Settings, engine: Engine, progress: Progress) -> dict[str, Groups]:
    """Rank the choices of a dataset by all methods, and return the groups of every condition that it has."""
    effort, seed = settings.effort, settings.seed
    study = make_study(dataset, get_recipe(dataset.name, "highest"), seed=seed, burn_in=SHORT)
    short = find_linked_choices(study, SHORT, effort.windows)
    if not _is_large(short):
        raise WalkError(
            f"{dataset.name}: there are {len(short)} choices along links by {len(np.unique(short.windows.users))} "
            f"users; give walks with {_MIN_CHOICES} choices of {_MIN_USERS} users or more."
        )
    sets = {"short": short}
    long = find_linked_choices(study, LONG, settings.long_windows)
    if _is_large(long):
        last = replace(long.windows, histories=long.windows.histories[:, -SHORT:])
        sets |= {"long": long, "shortened": replace(long, windows=last)}  # the same candidates
    gains = {
        name: {base: outcome.by_choice(METHOD) - outcome.by_choice(base) for base in BASES}
        for name, outcome in _predict_choices(study, sets, effort, engine, progress).items()
    }
    groups = {
        condition: Groups(short.windows.users, gains["short"], first, second)
        for condition, (first, second) in find_groups(study, short).items()
    }
    is_long = np.repeat([True, False], len(long))
    both = {
        base: np.concatenate([gains[name][base] for name in ("long", "shortened")])
        if "long" in gains
        else np.full(len(is_long), np.nan)
        for base in BASES
    }
    groups["history"] = Groups(np.tile(long.windows.users, 2), both, is_long, ~is_long)
    return {condition: groups[condition] for condition in CONDITIONS if condition in groups}


def _is_large(choices: ChoiceSet) -> bool:
    return len(choices) >= _MIN_CHOICES and len(np.unique(choices.windows.users)) >= _MIN_USERS


def find_linked_choices(study: Study, burn_in: int, most: int) -> ChoiceSet:
    """Draw choices among several out-neighbors of the last node, after histories of `burn_in` distinct visits."""
    windows = study.choice_walks.windows(burn_in).along_links(study.graph)
    has_alternatives = ChoiceSet.from_windows(study.graph, windows).candidates.counts > 1
    return ChoiceSet.from_windows(study.graph, windows.rows(has_alternatives).sample(most, study.seed))


def find_groups(study: Study, choices: ChoiceSet) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Return which choices are in the first and in the second group of each condition except "history"."""
    walks, visits = study.choice_walks, np.asarray(choices.windows.visits)
    walk_of = np.searchsorted(walks.offsets, visits, side="right") - 1
    begins = walks.offsets[walk_of]
    is_late = visits - begins > np.median(visits - begins)
    groups = {"position": (~is_late, is_late)}
    if study.name == "wikispeedia":
        labels = [str(walks.session(number)).split() for number in walk_of]
        kinds, earlier = np.array([kind for kind, _ in labels]), np.array([int(count) for _, count in labels])
        unfinished = kinds == "unfinished"
        groups["goal"] = (unfinished, ~unfinished)
        groups["experience"] = (unfinished & (earlier >= _EXPERIENCED), unfinished & (earlier == 0))
    recent = [
        list(dict.fromkeys(walks.nodes[begin:visit][::-1].tolist()))[:LONG][::-1]
        for begin, visit in zip(begins, visits, strict=True)
    ]
    sizes = np.array([len(nodes) for nodes in recent])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    growth = compute_growth(study.graph, np.concatenate(recent).astype(np.int32), offsets)
    for condition, steps in (("gaps", growth.betti[:, 1]), ("compression", growth.bits)):
        values = steps[offsets[1:] - 1]
        medians = {size: np.median(values[sizes == size]) for size in np.unique(sizes)}
        is_above = values > np.array([medians[size] for size in sizes])
        is_measured = sizes >= _FEWEST_NODES
        groups[condition] = (is_above & is_measured, ~is_above & is_measured)
    return groups


def _predict_choices(
    study: Study, sets: Mapping[str, ChoiceSet], effort: Effort, engine: Engine, progress: Progress
) -> dict[str, Outcome]:
    """Fit PageRank, greedy curious walkers and walkers without curiosity to each choice set, and rank the choices."""

    def report(message: str, share: float | None = None) -> None:
        progress(f"{study.name}: {message}", share)

    random = Walkers("random", p_g=effort.p_g, steps=effort.steps, count=effort.walkers, seed=study.seed)
    walkers = {f"greedy {reward}": replace(random, agent="greedy", reward=reward) for reward in REWARDS}
    walkers[MEMORY] = random
    starts = np.unique(np.concatenate([choices.windows.histories.ravel() for choices in sets.values()]))
    scores: dict[str, dict[str, Float32]] = {name: {} for name in sets}
    for component, each in walkers.items():
        job_name = f"walkers-{component.replace(' ', '-')}"
        visits = simulate_walkers(study.graph, each, starts, job_name, engine, report)
        for name, choices in sets.items():
            scores[name][component] = score_visits(visits, choices.windows.histories, choices.candidates)
    pagerank = score_pagerank(sets, engine, report)
    return {
        name: fit_splits(
            study=study,
            components=Components(choices, pagerank[name], scores[name], baselines={}),
            effort=effort,
            among=name,
            key=lambda: {"walkers": [each.get_key(study.graph) for each in walkers.values()]},
            engine=engine,
            progress=report,
        )
        for name, choices in sets.items()
    }
