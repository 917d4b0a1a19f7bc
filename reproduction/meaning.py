"""What curiosity adds given meaning: nested models of the choices of Wikispeedia, with similarity of articles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import FileFormatError
from curiograph.files import PathLike
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import find_choices
from curiograph.human.data.load import load_dataset
from curiograph.human.motives.catalog import MOTIVES, as_motives
from curiograph.human.motives.hypotheses import score_folds
from curiograph.human.motives.logit import ChoiceLogit, center_features
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure, get_color
from curiograph.progress import Progress, no_progress, split_progress
from curiograph.statistics.bootstrap import Estimate, estimate_means, sum_by_user

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GIVEN = {
    "degree, PageRank": ("degree", "pagerank"),
    "degree, PageRank, similarity": ("degree", "pagerank", "similarity"),
    "degree, PageRank, similarity, similarity-history": ("degree", "pagerank", "similarity", "similarity-history"),
}
"""Motives of the models to which others are added, by title."""
THEORIES = tuple(name for name in ("igt", "cpt", "cct") if name in MOTIVES)
"""Motives of the theories of curiosity."""
TOGETHER = "all theories"
"""Name of the addition of all theories at once."""

Motives = tuple[str, ...]
"""Names of the motives of a model."""


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    max_games: int | None = None
    """Maximum number of games, drawn at random; None for all."""
    burn_in: int = 3
    """Number of distinct nodes visited before the first choice."""
    folds: int = 5
    """Number of groups of users in the cross-validation."""
    seed: int = 0
    """Seed of the drawn games, the groups of users and the confidence intervals."""


@dataclass(frozen=True)
class Addition:
    """What some motives add to a model of the choices of held-out users."""

    given: str
    """Title of the model to which they are added."""
    added: str
    """Name of the motive, or `TOGETHER`."""
    bits: Estimate
    """Bits per choice, with a 95 % interval over users."""


@dataclass(frozen=True)
class Meaning(Experiment):
    """What theories of curiosity add to models of human choices with and without meaning."""

    name = "meaning"

    settings: Settings
    """Settings of the run."""
    choices: int
    """Number of choices."""
    users: int
    """Number of users."""
    candidates: float
    """Mean number of candidates of a choice."""
    similar_links: float
    """Share of links between articles of a similarity above zero."""
    gains: Mapping[str, Estimate]
    """Bits per choice above the uniform choice by model of `GIVEN`."""
    weights: Mapping[str, float]
    """Weight of each motive in the model with all motives; a unit is one standard deviation of the score."""
    additions: Sequence[Addition]
    """Additions to each model."""

    def get_addition(self, given: str, added: str) -> Estimate:
        """Return what a motive adds to a model."""
        return next(each.bits for each in self.additions if (each.given, each.added) == (given, added))

    @property
    def table(self) -> Table:
        """Bits that each theory adds to each model."""
        added = list(dict.fromkeys(each.added for each in self.additions))
        rows = [
            [given, _format_bits(gain), *(_format_bits(self.get_addition(given, name)) for name in added)]
            for given, gain in self.gains.items()
        ]
        title = f"bits per choice of held-out users: {self.choices:,} choices by {self.users:,} users"
        return Table(title, ["model", "above chance", *(f"added by {name}" for name in added)], rows)

    @property
    def weight_table(self) -> Table:
        """Weights of all motives in one model."""
        rows = [[name, f"{weight:+.3f}"] for name, weight in self.weights.items()]
        return Table(
            "weights of all motives in one model, per standard deviation of the score", ["motive", "weight"], rows
        )

    @property
    def sections(self) -> list[Table | str]:
        return [self.table, self.weight_table]

    @property
    def remarks(self) -> list[str]:
        plain, meaning, _ = GIVEN
        before, after = self.get_addition(plain, TOGETHER), self.get_addition(meaning, TOGETHER)
        excludes = "excludes" if after.low > 0 else "includes"
        negative = [name for name in THEORIES if self.weights.get(name, 0.0) < 0]
        opposed = [f"Negative weights: {', '.join(negative)}; people avoid what these seek."] if negative else []
        return [
            f"All theories together add {_format_bits(before)} bits per choice to degree and PageRank, and "
            f"{_format_bits(after)} given the similarity of articles as well; this interval {excludes} zero.",
            *opposed,
            f"{self.similar_links:.0%} of the links join articles with a common word in titles and categories.",
        ]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_markdown(self) -> str:
        lines = [
            "Conditional logit of the choices of Wikispeedia, fitted to the choices of other users. Similarity: cosine "
            "of TF-IDF vectors of titles and categories, to the last article (`similarity`) and as a mean over all "
            "visited articles (`similarity-history`). In parentheses: 95 % intervals over users. Players look for a "
            "target article, which no model here knows.",
            "",
            f"Bits per choice of held-out users: {self.choices:,} choices by {self.users:,} users among "
            f"{self.candidates:.0f} candidates on average.",
            "",
            *format_table(self.table.columns, self.table.rows),
            "",
            *self.remarks,
            "",
            "Weights of all motives in one model; a unit is one standard deviation of the score between the candidates "
            "of a choice.",
            "",
            *format_table(self.weight_table.columns, self.weight_table.rows),
        ]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot what each theory adds to each model."""
        _, ax = create_figure(7.6, 3.6)
        added = list(dict.fromkeys(each.added for each in self.additions))
        height = 0.8 / len(added)
        for row, given in enumerate(self.gains):
            for place, name in enumerate(added):
                bits = self.get_addition(given, name)
                y = row + (place - (len(added) - 1) / 2) * height
                color = COLORS["mixture"] if name == TOGETHER else get_color(name)
                ax.barh(y, bits.value, 0.9 * height, color=color, label=name if row == 0 else None)
                ax.plot([bits.low, bits.high], [y, y], color=COLORS["text"], linewidth=1.5)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(
            range(len(self.gains)), [given.replace(", similarity-", ",\nsimilarity-") for given in self.gains]
        )
        ax.invert_yaxis()
        ax.set_xlabel("bits per choice of held-out users added to the model")
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        axes: Axes = ax
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        fields = dict(document)
        fields["settings"] = Settings(**fields["settings"])
        fields["gains"] = {given: Estimate(**gain) for given, gain in fields["gains"].items()}
        fields["additions"] = [Addition(**each | {"bits": Estimate(**each["bits"])}) for each in fields["additions"]]
        return cls(**fields)


def _format_bits(bits: Estimate) -> str:
    return f"{bits.value:+.4f} ({bits.low:+.4f} to {bits.high:+.4f})"


def run(
    settings: Settings,
    folder: PathLike | None = None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> Meaning:
    """Compare nested models of the choices of Wikispeedia, which is in a folder of datasets."""
    dataset = load_dataset("wikispeedia", folder)
    graph, walks = dataset.graph, dataset.walks
    if graph is None or not dataset.texts:
        raise FileFormatError(f"{dataset.source_path}: contains no categories.tsv; get the complete dataset.")
    if settings.max_games is not None and settings.max_games < len(walks):
        drawn = np.random.default_rng(settings.seed).choice(len(walks), settings.max_games, replace=False)
        walks = walks.rows(np.sort(drawn))
    similarity = Similarity.from_texts(graph, dataset.texts)
    names = list(dict.fromkeys([*(name for motives in GIVEN.values() for name in motives), *THEORIES]))
    choices, _ = find_choices(graph, walks, settings.burn_in)
    users, user_of = np.unique(choices.windows.users, return_inverse=True)
    fold_of_user = np.random.default_rng(settings.seed).permutation(len(users)) % settings.folds
    motives = as_motives(names, [], "igt", similarity)
    scoring, testing = split_progress(progress, [1, 1])
    scored = score_folds(motives, choices, fold_of_user[user_of], True, engine, scoring)
    features = np.empty((len(choices.candidates.nodes), len(names)))
    for number in range(len(names)):
        centered, scale = center_features(scored[number, None].features, choices.candidates)
        features[:, number] = centered / max(scale, np.finfo(float).tiny)
    data = ChoiceLogit.from_choices(features, choices.candidates.offsets, choices.chosen, user_of)
    del features, scored
    models: dict[Motives, None] = {}
    additions = []
    for title, given in GIVEN.items():
        models[given] = None
        for added in (*((theory,) for theory in THEORIES), THEORIES):
            models[(*given, *added)] = None
            additions.append((title, TOGETHER if added == THEORIES else added[0], (*given, *added)))
    bits = dict(zip(models, _test_models(data, list(models), names, fold_of_user, testing).T, strict=True))
    counts = np.bincount(user_of)
    columns = [bits[given] for given in GIVEN.values()]
    columns += [bits[model] - bits[GIVEN[title]] for title, _, model in additions]
    estimates = estimate_means(np.column_stack(columns), counts, settings.seed)
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    return Meaning(
        settings=settings,
        choices=len(choices),
        users=len(users),
        candidates=float(choices.candidates.counts.mean()),
        similar_links=float(np.mean(similarity.compute_pairs(sources, graph.indices) > 0)),
        gains=dict(zip(GIVEN, estimates, strict=False)),
        weights=dict(zip(names, data.fit_common().tolist(), strict=True)),
        additions=[
            Addition(title, added, estimate)
            for (title, added, _), estimate in zip(additions, estimates[len(GIVEN) :], strict=True)
        ],
    )


def _test_models(
    data: ChoiceLogit, models: Sequence[Motives], names: Sequence[str], fold_of_user: Int64, progress: Progress
) -> Float64:
    """Return the bits above the uniform choice of each user, summed over choices, by model (users x models)."""
    sums = np.empty((len(fold_of_user), len(models)))
    folds = int(fold_of_user.max()) + 1
    for fold in range(folds):
        test_users = np.flatnonzero(fold_of_user == fold)
        train, test = data.select_people(np.flatnonzero(fold_of_user != fold)), data.select_people(test_users)
        user_of = np.repeat(np.arange(len(test_users)), np.diff(test.bounds))
        uniform = np.log(np.diff(test.offsets))
        for number, model in enumerate(models):
            progress("models of choices", (fold + number / len(models)) / folds)
            columns = [names.index(name) for name in model]
            weights = train.with_features(train.features[:, columns]).fit_common()
            every = np.tile(weights, (len(test_users), 1))
            gains = test.with_features(test.features[:, columns]).evaluate_choices(every) + uniform
            sums[test_users, number] = sum_by_user(gains[:, None], user_of)[:, 0] / np.log(2)
    return sums
