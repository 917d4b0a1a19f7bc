"""Results of `evaluate_recommenders`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.bootstrap import Estimate
from curiograph.errors import SettingError, UnknownNameError
from curiograph.human.recommenders.metrics import make_estimate
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.plotting import COLORS, create_figure
from curiograph.validation import is_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAINS = ("novelty", "coverage", "diversity", "serendipity")
"""Measures that are compared at equal accuracy."""
KINDS = {"curious": "curious", "discounted": "popularity discount", "sampled": "random sampling"}
"""Ways to re-rank the lists of a method, and their names in tables."""


@dataclass(frozen=True, eq=False)
class MethodResult(Mapping[str, Estimate]):
    """Estimates of one method by measure, such as `ndcg@10`."""

    name: str
    """Name of the method."""
    estimates: dict[str, Estimate]
    """Value and 95 % interval of every measure."""
    samples: dict[str, Float64] = field(default_factory=dict, repr=False)
    """Bootstrap samples of every measure; sample i of all methods is of the same users."""

    def __getitem__(self, measure: str) -> Estimate:
        if measure not in self.estimates:
            raise UnknownNameError(f"there is no measure {measure!r}; there are {', '.join(self.estimates)}.")
        return self.estimates[measure]

    def get_samples(self, measure: str) -> Float64:
        """Return the bootstrap samples of a measure; raise SettingError for a stored result, which has none."""
        if measure not in self.samples:
            raise SettingError(
                f"{self.name!r} has no bootstrap samples of {measure}, as they are not stored; run "
                "evaluate_recommenders again."
            )
        return self.samples[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)


@dataclass(frozen=True, eq=False)
class RecommenderEvaluation(Mapping[str, MethodResult]):
    """Measures of several recommenders on the same held-out events, by name of the method."""

    split: str
    """How the log was split: time, user or last."""
    ks: tuple[int, ...]
    """Lengths of the lists."""
    facts: dict[str, Any]
    """Sizes of the split, and the settings."""
    results: dict[str, MethodResult]
    """Measures by method."""
    skipped_methods: dict[str, str]
    """Why a method was left out, by its name."""
    paths: dict[str, dict[str, list[MethodResult]]]
    """Re-ranked lists by base method and kind: curious, discounted or sampled; the strength increases."""
    path_k: int = 10
    """Length of the re-ranked lists."""
    equal_accuracy: list[dict[str, Any]] | None = None
    """Rows of `compare_paths` of a stored result; None for a new one, which computes them."""

    def __getitem__(self, method: str) -> MethodResult:
        if method not in self.results:
            raise UnknownNameError(f"there is no method {method!r}; there are {', '.join(self.results)}.")
        return self.results[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        size = f"{self.facts['test_users']:,} users, {self.facts['items']:,} items"
        return f"RecommenderEvaluation({self.split} split, {size}, {', '.join(self.results)})"

    def _repr_html_(self) -> str:
        columns = self.columns()
        return render_result(
            repr(self), {name: columns[name] for name in columns if not name.endswith(("low", "high"))}
        )

    def difference(self, method: str, other: str, measure: str) -> Estimate:
        """Return the difference of two methods in a measure, with the interval over the same resampled users."""
        first, second = self[method], self[other]
        value = first[measure].value - second[measure].value
        return make_estimate(value, first.get_samples(measure) - second.get_samples(measure))

    def columns(self) -> dict[str, list[Any]]:
        """Return one entry per method: every measure with the bounds of its interval."""
        columns: dict[str, list[Any]] = {"method": list(self.results)}
        for measure in next(iter(self.results.values())):
            for suffix, part in (("", "value"), ("_low", "low"), ("_high", "high")):
                columns[measure + suffix] = [getattr(result[measure], part) for result in self.results.values()]
        return columns

    def to_frame(self) -> pd.DataFrame:
        """Return one row per method as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the bootstrap samples as plain values."""
        return {
            "split": self.split,
            "ks": list(self.ks),
            **self.facts,
            "skipped_methods": self.skipped_methods,
            "methods": {name: _list_estimates(result) for name, result in self.results.items()},
            "path_k": self.path_k,
            "paths": {
                base: {
                    kind: [{"name": each.name, **_list_estimates(each)} for each in path] for kind, path in by.items()
                }
                for base, by in self.paths.items()
            },
            "equal_accuracy": self.compare_paths() if self.equal_accuracy is None else self.equal_accuracy,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> RecommenderEvaluation:
        """Restore everything but the bootstrap samples from `to_dict`."""
        known = ("split", "ks", "skipped_methods", "methods", "path_k", "paths", "equal_accuracy")
        return cls(
            split=document["split"],
            ks=tuple(document["ks"]),
            facts={key: value for key, value in document.items() if key not in known},
            results={name: _read_estimates(name, each) for name, each in document["methods"].items()},
            skipped_methods=dict(document["skipped_methods"]),
            paths={
                base: {kind: [_read_estimates(each["name"], each) for each in path] for kind, path in by.items()}
                for base, by in document["paths"].items()
            },
            path_k=document["path_k"],
            equal_accuracy=document["equal_accuracy"],
        )

    # ---- equal accuracy ---------------------------------------------------------------------------------------------

    def compare_paths(self, loss: float = 0.05) -> list[dict[str, Any]]:
        """Compare ways to re-rank lists at equal accuracy.

        Of every path from the list of a base method to its re-ranked lists, take the highest value of a measure with a
        loss of NDCG of at most `loss`, relative to the base; between two strengths, both change linearly.

        Parameters
        ----------
        loss : float
            Allowed loss of NDCG, relative to the base method.

        Returns
        -------
        list of dicts
            For each base and measure: the value of the base and of each path, and the difference between the curious
            path and the better of the other two with its interval; all bases, then all measures.
        """
        if not is_number(loss) or not 0 <= loss < 1:
            raise SettingError(f"loss is {loss!r}; give the allowed relative loss of NDCG, from 0 to below 1.")
        rows = []
        accuracy = f"ndcg@{self.path_k}"
        for base, by_kind in self.paths.items():
            start = self.results[base]
            for gain in GAINS:
                measure = f"{gain}@{self.path_k}"
                row: dict[str, Any] = {"base": base, "measure": measure, "base_value": start[measure].value}
                drawn = {}
                for kind, path in by_kind.items():
                    points = [start, *path]
                    value = find_best_value(
                        np.array([[each[accuracy].value for each in points]]),
                        np.array([[each[measure].value for each in points]]),
                        loss,
                    )[0]
                    row[kind] = float(value)
                    drawn[kind] = find_best_value(
                        np.column_stack([each.get_samples(accuracy) for each in points]),
                        np.column_stack([each.get_samples(measure) for each in points]),
                        loss,
                    )
                trivial = max(("discounted", "sampled"), key=lambda kind: row[kind])
                difference = make_estimate(row["curious"] - row[trivial], drawn["curious"] - drawn[trivial])
                gained = make_estimate(
                    row["curious"] - start[measure].value, drawn["curious"] - start.get_samples(measure)
                )
                rows.append(row | {"trivial": trivial, "difference": asdict(difference), "gain": asdict(gained)})
        return rows

    # ---- figure -----------------------------------------------------------------------------------------------------

    def plot(self, measures: Sequence[str] = ("novelty", "coverage", "diversity")) -> Figure:
        """Plot accuracy (NDCG) against each measure, with intervals, and the paths of re-ranked lists."""
        figure, axes = create_figure(3.2 * len(measures), 4.8, columns=len(measures))
        self.plot_on(np.atleast_1d(axes), measures)
        add_legend(figure, np.atleast_1d(axes)[0])
        return figure

    def plot_on(self, axes: Any, measures: Sequence[str] = ("novelty", "coverage", "diversity")) -> None:
        """Plot one panel per measure on given axes, without a legend."""
        from curiograph.plotting.palette import GROUP_COLORS

        colors = dict(zip(("popularity", "markov", "item-knn", "rp3beta", "ease", "als"), GROUP_COLORS, strict=False))
        colors |= {
            "item-knn": COLORS["planner"],
            "pagerank": COLORS["pagerank"],
            "igt+cpt": COLORS["igt"],
            "mixture": COLORS["mixture"],
        }
        styles = {"curious": ("-", "o"), "discounted": ("--", "s"), "sampled": (":", "^")}
        accuracy = f"ndcg@{self.path_k}"
        ax: Axes
        for ax, gain in zip(axes, measures, strict=True):
            measure = f"{gain}@{self.path_k}"
            for name, result in self.results.items():
                x, y = result[measure], result[accuracy]
                ax.errorbar(
                    x.value, y.value, fmt="D", markersize=6, color=colors.get(name, COLORS["muted"]), label=name,
                    xerr=[[max(0.0, x.value - x.low)], [max(0.0, x.high - x.value)]],
                    yerr=[[max(0.0, y.value - y.low)], [max(0.0, y.high - y.value)]], elinewidth=0.7, zorder=3,
                )  # fmt: skip
            for number, (base, by_kind) in enumerate(self.paths.items()):
                for kind, path in by_kind.items():
                    points = [self.results[base], *path]
                    dash, marker = styles[kind]
                    ax.plot(
                        [each[measure].value for each in points], [each[accuracy].value for each in points],
                        linestyle=dash, marker=marker, markersize=2.5, linewidth=1.1, alpha=0.8,
                        color=colors.get(base, COLORS["muted"]),
                        label=f"{base}, {KINDS[kind]}" if number < 2 else None,
                    )  # fmt: skip
            ax.set_xlabel(f"{measure}{' (bits)' if gain == 'novelty' else ''}")
            ax.spines[["top", "right"]].set_visible(False)
        axes[0].set_ylabel(f"NDCG@{self.path_k}")


def add_legend(figure: Figure, ax: Axes) -> None:
    """Add the legend of `RecommenderEvaluation.plot_on` below all panels; `ax` is one of them."""
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)


def find_best_value(accuracy: Float64, values: Float64, loss: float) -> Float64:
    """Return the highest value on each path whose accuracy is at least (1 - loss) times that of its first point.

    Both arguments are paths x points. Between two points, accuracy and values change linearly.

    >>> find_best_value(np.array([[1.0, 0.8]]), np.array([[0.0, 4.0]]), 0.1).round(3).tolist()
    [2.0]
    """
    target = (1 - loss) * accuracy[:, :1]
    allowed = accuracy >= target
    best = np.where(allowed, values, -np.inf).max(axis=1)
    left, right = slice(None, -1), slice(1, None)
    crosses = allowed[:, left] != allowed[:, right]
    span = accuracy[:, right] - accuracy[:, left]
    share = np.divide(target - accuracy[:, left], span, out=np.zeros_like(span), where=crosses)
    crossing = values[:, left] + share * (values[:, right] - values[:, left])
    return np.asarray(np.maximum(best, np.where(crosses, crossing, -np.inf).max(axis=1, initial=-np.inf)))


def _list_estimates(result: MethodResult) -> dict[str, list[float]]:
    return {measure: [each.value, each.low, each.high] for measure, each in result.items()}


def _read_estimates(name: str, document: Mapping[str, Any]) -> MethodResult:
    return MethodResult(
        name=name,
        estimates={
            measure: Estimate(*(math.nan if number is None else number for number in numbers))
            for measure, numbers in document.items()
            if measure != "name"
        },
    )


# ---- tables ---------------------------------------------------------------------------------------------------------

Rows = tuple[list[str], list[list[Any]]]
"""Names of columns, and rows."""


def tabulate_methods(document: Mapping[str, Any], k: int) -> Rows:
    """Return a table of all methods of `RecommenderEvaluation.to_dict` at one length of lists."""
    measures = ("ndcg", "recall", "hit", "novelty", "serendipity", "diversity", "coverage", "gini")
    names = [*(f"{measure}@{k}" for measure in measures[:3]), "mrr", *(f"{measure}@{k}" for measure in measures[3:])]
    rows = [
        [method, *(_format_interval(estimates[name]) for name in names)]
        for method, estimates in document["methods"].items()
    ]
    return ["method", *names], rows


def tabulate_paths(document: Mapping[str, Any]) -> Rows:
    """Return a table of what re-ranking adds at equal accuracy, from `RecommenderEvaluation.to_dict`."""
    columns = ["base", "measure", "base value", *KINDS.values(), "curious minus the better of the other two"]
    rows = []
    for row in document["equal_accuracy"]:
        values = [f"{row[name]:.3g}" for name in ("base_value", *KINDS)]
        difference = row["difference"]
        text = f"{difference['value']:+.2g} ({difference['low']:+.2g} to {difference['high']:+.2g})"
        rows.append([row["base"], row["measure"], *values, text])
    return columns, rows


def _format_interval(numbers: Sequence[float | None]) -> str:
    value, low, high = (math.nan if number is None else number for number in numbers)
    return f"{value:.3f} ({low:.3f} to {high:.3f})"
