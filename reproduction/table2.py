"""Table 2 and Figure 4B: improvement of curious PageRank over PageRank in predicting human choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isnan, sqrt
from pathlib import Path
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

from curiograph.files import PathLike
from curiograph.human.prediction.results import CANDIDATE_LABELS, MEMORY, Improvement, Prediction
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.people import DATASETS, TITLES, Settings, prepare_predictions
from curiograph.paper.published import TABLE2
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure, get_color, save_figure
from curiograph.progress import Progress, no_progress
from curiograph.statistics.bootstrap import Estimate
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OWN_LINKS = "own links"
"""Kind of the graph of a dataset that has links."""
_GRAPH_TITLES = {"highest": "links: highest similarities", "knn": "links: nearest neighbors"}  # in the figure
METHODS = ("igt", "cpt", "igt+cpt")
"""Methods of Table 2 of the paper."""
_NORMAL_BOUND = 1.96  # standard deviations of a 95 % interval
NOTES = (
    "Differences from the paper. Its text leaves open n_burn-in, the candidates, how movies and books are linked and "
    "what the error is; the choices made here are listed under each dataset. Candidates are the out-neighbors of the "
    "last node (below also all nodes). Ties share their mean rank. Walkers teleport after a maximum number of steps, "
    "which is fitted together with alpha and the weights; p_g is fixed. igt, cpt and igt+cpt use, in each split, the "
    "greedy or the trained agents, whichever do better on the training users. Graph users, training users and test "
    "users are disjoint groups. ± is the standard deviation over splits; the interval is a bootstrap over users. "
    "The data are MovieLens latest-small, a sample of Amazon Books, and Wikispeedia.",
    "memory is the control: walkers that remember their path, as curious ones do, but choose at random. Its gain is "
    "not due to curiosity: weights may be negative, as in the paper, and a mixture of walkers that stay near the "
    "history minus a global PageRank ranks hubs lower, which PageRank alone cannot.",
)


@dataclass(frozen=True)
class SeedImprovement(Estimate):
    """Mean of r over runs with other graph users, graphs, agents, walkers and choices.

    The 95 % interval is that of a single run. Its variance is the variance over users plus the variance over runs.
    """

    deviation: float
    """Standard deviation over runs."""
    values: tuple[float, ...]
    """r of each run."""

    def __str__(self) -> str:
        return f"{self.value:+.1%} ± {self.deviation:.1%} ({self.low:+.1%} to {self.high:+.1%})"


def combine_seeds(improvements: Sequence[Improvement]) -> SeedImprovement:
    """Combine r of several runs of one dataset with different seeds.

    Runs draw users from the same people, so the variance over runs contains a part of that over users, and the interval
    is wider than needed rather than too narrow.

    >>> first, second = (Improvement(value, value - 0.02, value + 0.02, 0.01) for value in (0.10, 0.14))
    >>> str(combine_seeds([first, second]))
    '+12.0% ± 2.8% (+6.1% to +17.9%)'
    """
    values = tuple(each.value for each in improvements)
    over_users = fmean(((each.high - each.low) / (2 * _NORMAL_BOUND)) ** 2 for each in improvements)
    half = _NORMAL_BOUND * sqrt(over_users + variance(values))
    mean = fmean(values)
    return SeedImprovement(mean, mean - half, mean + half, sqrt(variance(values)), values)


@dataclass(frozen=True)
class Table2(Experiment):
    """Predictions of the choices in each dataset."""

    name = "table2"

    settings: Settings
    """Datasets, effort and seed."""
    predictions: list[Prediction]
    """Prediction of the choices in each dataset."""
    replicates: list[list[Prediction]] = field(default_factory=list)
    """Predictions of the same datasets with each further seed, in the same order."""

    @property
    def seed_improvements(self) -> list[dict[str, SeedImprovement]]:
        """Improvement r over all seeds by method, for each prediction; empty if there is one seed."""
        if not self.replicates:
            return []
        return [
            {name: combine_seeds([run["last"].improvement(name) for run in runs]) for name in (*METHODS, MEMORY)}
            for runs in zip(self.predictions, *self.replicates, strict=True)
        ]

    @property
    def seed_table(self) -> Table:
        """Improvement r over all seeds of graphs and agents."""
        rows = [
            [TITLES[run.name], _get_graph_kind(run.name, run.facts), *map(str, improvements.values())]
            for run, improvements in zip(self.predictions, self.seed_improvements, strict=True)
        ]
        title = f"r over {1 + len(self.replicates)} seeds of graph users, graphs, agents, walkers and choices"
        return Table(title, ["dataset", "graph", *METHODS, MEMORY], rows)

    @property
    def table(self) -> Table:
        """Improvement r among the out-neighbors of the last node, ours and the paper's."""
        columns = ["dataset", "graph", "PageRank", *(text for method in METHODS for text in (method, "paper")), MEMORY]
        rows = []
        for prediction in self.predictions:
            outcome, paper = prediction["last"], TABLE2[prediction.name]
            row = [
                TITLES[prediction.name],
                _get_graph_kind(prediction.name, prediction.facts),
                f"{outcome.mean('pagerank')['percentile']:.3f}",
            ]
            for method in METHODS:
                row += [str(outcome.improvement(method)), "{:+.1%} ± {:.1%}".format(*paper[method])]
            rows.append([*row, str(outcome.improvement(MEMORY))])
        return Table("r over PageRank among the out-neighbors of the last node", columns, rows)

    @property
    def sections(self) -> list[Table | str]:
        sections: list[Table | str] = []
        for prediction in self.predictions:
            sections += [*tabulate_methods(prediction), prediction.answer]
        return [*sections, self.table, *([self.seed_table] if self.replicates else [])]

    @property
    def remarks(self) -> list[str]:
        sentences = []
        for prediction in self.predictions:
            outcome, paper = prediction["last"], TABLE2[prediction.name]["igt+cpt"][0]
            r, control = outcome.improvement("igt+cpt"), outcome.improvement(MEMORY)
            reached = "at or above" if r.value >= paper else f"{paper - r.value:.1%} below"
            kind = _get_graph_kind(prediction.name, prediction.facts)
            sentences.append(
                f"{TITLES[prediction.name]} ({kind}): igt+cpt {r.value:+.1%}, "
                f"{'clear' if r.clear else 'not clear'} of zero, "
                f"{reached} the paper's {paper:+.1%}; walkers without curiosity {control.value:+.1%}. In percentile "
                f"ranks, curiosity is {_format_difference(outcome.by_curiosity)} above them, and adds "
                f"{_format_difference(outcome.added)} to counts, PageRank and them together."
            )
        return sentences

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "paper": {name: TABLE2[name] for name in DATASETS},
            "predictions": [prediction.to_dict() for prediction in self.predictions],
            "graph_seeds": [
                {name: asdict(each) for name, each in improvements.items()} for improvements in self.seed_improvements
            ],
            "remarks": self.remarks,
        }

    def to_markdown(self) -> str:
        lines = [
            "r: relative improvement of the percentile ranks of human choices over PageRank, among the out-neighbors "
            "of the last node; ± over splits (95 % interval over users).",
            "",
            *format_table(self.table.columns, self.table.rows),
            "",
            *(f"- {line}" for line in self.remarks),
            "",
        ]
        if self.replicates:
            lines += [
                f"{self.seed_table.title}: mean ± standard deviation over seeds (95 % interval of a run, over users "
                "and seeds).",
                "",
                *format_table(self.seed_table.columns, self.seed_table.rows),
                "",
            ]
        lines += [
            *(line for note in NOTES for line in (note, "")),
        ]
        columns = ["method", "percentile", "reciprocal rank", "hit@10", "NDCG@10", "r"]
        for prediction in self.predictions:
            lines += [
                f"## {TITLES[prediction.name]} ({_get_graph_kind(prediction.name, prediction.facts)})",
                "",
                _describe_study(prediction),
                "",
            ]
            for outcome in prediction.outcomes.values():
                rows = [
                    [
                        method,
                        *(f"{value:.3f}" for value in outcome.mean(method).values()),
                        str(outcome.improvement(method)),
                    ]
                    for method in outcome
                ]
                title = f"Among {CANDIDATE_LABELS[outcome.among]}, {len(outcome.users):,} choices:"
                lines += [title, "", *format_table(columns, rows), ""]
        return "\n".join(lines).rstrip() + "\n"

    def plot(self) -> Axes:
        """Plot r with intervals and the paper's results."""
        return plot_improvements([prediction.to_dict() for prediction in self.predictions])

    def plot_choices(self) -> Axes:
        """Plot the rank of each choice by PageRank and by igt+cpt, one panel per dataset: Figure 4B of the paper."""
        rows = -(-len(self.predictions) // 2)
        _, cells = create_figure(9.0, 4.0 * rows, columns=2, rows=rows)
        panels = list(cells.flat)
        for spare in panels[len(self.predictions) :]:
            spare.set_axis_off()
        for ax, prediction in zip(panels, self.predictions, strict=False):
            prediction["last"].plot_choices(ax=ax)
            kind = _get_graph_kind(prediction.name, prediction.facts)
            ax.set_title(f"{TITLES[prediction.name]}, {kind}", fontsize=10)
        axes: Axes = panels[0]
        return axes

    def save_plot(self, path: Path) -> None:
        super().save_plot(path)
        save_figure(self.plot_choices(), path.with_name("choices.png"))


def plot_improvements(predictions: Sequence[Mapping[str, Any]]) -> Axes:
    """Plot r over PageRank with intervals and the paper's results; `predictions` are those of a stored document."""
    _, ax = create_figure(9.0, 4.4)
    rows = [{row["method"]: row for row in each["methods"] if row["candidates"] == "last"} for each in predictions]
    width = 0.8 / (len(METHODS) + 1)
    for place, method in enumerate((*METHODS, MEMORY)):
        x = [number + (place - 1.5) * width for number in range(len(rows))]  # four bars, centered on each tick
        found = [row[method] for row in rows]
        errors = [[max(0, r["r"] - r["r_low"]) for r in found], [max(0, r["r_high"] - r["r"]) for r in found]]
        ax.bar(
            x,
            [r["r"] for r in found],
            width,
            yerr=errors,
            label=method,
            color=get_color(method),
            ecolor="#555555",
            capsize=2,
        )
        if method != MEMORY:
            marks = [TABLE2[each["name"]][method][0] for each in predictions]
            ax.plot(x, marks, "D", color=COLORS["paper"], markersize=6, markeredgecolor="white", zorder=3)
    ax.plot([], [], "D", color=COLORS["paper"], markersize=6, label="paper")
    kinds = [_get_graph_kind(each["name"], each) for each in predictions]
    graphs = [_GRAPH_TITLES.get(kind, kind) for kind in kinds]
    titles = [f"{TITLES[each['name']]}\n{graph}" for each, graph in zip(predictions, graphs, strict=True)]
    ax.set_xticks(range(len(titles)), titles)
    ax.axhline(0, color="#555555", linewidth=0.8)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}")
    ax.set_ylabel("r over PageRank")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    axes: Axes = ax
    return axes


def tabulate_methods(prediction: Prediction) -> list[Table]:
    """Return a table of all methods for each candidate set."""
    columns = ["method", "percentile", "reciprocal rank", "hit@10", "NDCG@10", "r", "± over splits", "95 % over users"]
    tables = []
    for outcome in prediction.outcomes.values():
        rows = []
        for method in outcome:
            r = outcome.improvement(method)
            means = [f"{value:.3f}" for value in outcome.mean(method).values()]
            spread = "" if isnan(r.spread) else f"{r.spread:.1%}"
            rows.append([method, *means, f"{r.value:+.1%}", spread, f"{r.low:+.1%} to {r.high:+.1%}"])
        size = f"{len(outcome.users):,} choices among {CANDIDATE_LABELS[outcome.among]}"
        tables.append(Table(f"{prediction.name}: {size}; 1 is best, r is over PageRank", columns, rows))
    return tables


def _format_difference(estimate: Estimate) -> str:
    clear = "clear of zero" if estimate.clear else "not clear of zero"
    return f"{estimate.value:+.4f} ({estimate.low:+.4f} to {estimate.high:+.4f}, {clear})"


def _get_graph_kind(name: str, facts: Mapping[str, Any]) -> str:
    """Return which links the graph of a dataset has, given the facts of a prediction."""
    return OWN_LINKS if name == "wikispeedia" else str(facts["recipe"]["keep"])


def _describe_study(prediction: Prediction) -> str:
    study, recipe, effort = (prediction.facts[key] for key in ("study", "recipe", "effort"))
    kind = _get_graph_kind(prediction.name, prediction.facts)
    links = kind if kind == OWN_LINKS else f"{recipe['similarity']} co-occurrence among graph users ({kind})"
    return (
        f"{study['graph']} by {links}; {study['users']['makers']:,} graph users, {study['users']['others']:,} others; "
        f"n_burn-in {recipe['burn_in']}; {study['along_edges']:.1%} of choices follow an edge; {effort['splits']} "
        f"splits, {effort['trials']} trials per fit, {effort['walkers']} walkers per node "
        f"({effort['trained_walkers']} of trained agents) of up to {effort['steps']} steps, p_g {effort['p_g']}; "
        f"seed {prediction.facts['seed']}."
    )


def run(
    settings: Settings,
    folder: PathLike | None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
    graph_seeds: int = 1,
) -> Table2:
    """Predict the choices of each dataset, again with `graph_seeds` - 1 further seeds of everything that is random."""
    check_integer("graph_seeds", graph_seeds, 1, "give the number of seeds of graphs and agents, 1 or more")
    first, *others = (
        [job.complete() for job in prepare_predictions(replace(settings, seed=seed), folder, engine, progress)]
        for seed in range(settings.seed, settings.seed + graph_seeds)
    )
    return Table2(settings, first, others)
