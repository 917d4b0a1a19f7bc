"""Table 2 and Figure 4B: improvement of curious PageRank over PageRank in predicting human choices."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from curiograph.files import PathLike
from curiograph.human.prediction.results import CANDIDATE_LABELS, MEMORY, Prediction
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.people import DATASETS, TITLES, Settings, prepare_predictions
from curiograph.paper.published import TABLE2
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure, get_color
from curiograph.progress import Progress, no_progress
from curiograph.statistics.bootstrap import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OWN_LINKS = "own links"
"""Kind of the graph of a dataset that has links."""
METHODS = ("igt", "cpt", "igt+cpt")
"""Methods of Table 2 of the paper."""
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
class Table2(Experiment):
    """Predictions of the choices in each dataset."""

    name = "table2"

    settings: Settings
    """Datasets, effort and seed."""
    predictions: list[Prediction]
    """Prediction of the choices in each dataset."""

    @property
    def table(self) -> Table:
        """Improvement r among the out-neighbors of the last node, ours and the paper's."""
        columns = ["dataset", "graph", "PageRank", *(text for method in METHODS for text in (method, "paper")), MEMORY]
        rows = []
        for prediction in self.predictions:
            outcome, paper = prediction["last"], TABLE2[prediction.name]
            row = [
                TITLES[prediction.name],
                _get_graph_kind(prediction),
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
        return [*sections, self.table]

    @property
    def remarks(self) -> list[str]:
        sentences = []
        for prediction in self.predictions:
            outcome, paper = prediction["last"], TABLE2[prediction.name]["igt+cpt"][0]
            r, control = outcome.improvement("igt+cpt"), outcome.improvement(MEMORY)
            reached = "at or above" if r.value >= paper else f"{paper - r.value:.1%} below"
            sentences.append(
                f"{TITLES[prediction.name]} ({_get_graph_kind(prediction)}): igt+cpt {r.value:+.1%}, "
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
            *(line for note in NOTES for line in (note, "")),
        ]
        columns = ["method", "percentile", "reciprocal rank", "hit@10", "NDCG@10", "r"]
        for prediction in self.predictions:
            lines += [
                f"## {TITLES[prediction.name]} ({_get_graph_kind(prediction)})",
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
        """Plot r with intervals and the paper's results, and each choice by PageRank and by igt+cpt."""
        rows = len(self.predictions) // 2 + 1
        _, cells = create_figure(9.0, 4.0 * rows, columns=2, rows=rows)
        bars, *panels = cells.flat
        for spare in panels[len(self.predictions) :]:
            spare.set_axis_off()
        width = 0.8 / (len(METHODS) + 1)
        for place, method in enumerate((*METHODS, MEMORY)):
            values = [prediction["last"].improvement(method) for prediction in self.predictions]
            x = [row + (place - 1.5) * width for row in range(len(values))]  # four bars, centered on each tick
            errors = [[max(0, r.value - r.low) for r in values], [max(0, r.high - r.value) for r in values]]
            bars.bar(
                x,
                [r.value for r in values],
                width,
                yerr=errors,
                label=method,
                color=get_color(method),
                ecolor="#555555",
                capsize=2,
            )
            if method != MEMORY:
                marks = [TABLE2[prediction.name][method][0] for prediction in self.predictions]
                bars.plot(x, marks, "D", color=COLORS["paper"], markersize=4, markeredgecolor="white", zorder=3)
        bars.plot([], [], "D", color=COLORS["paper"], markersize=4, label="paper")
        titles = [f"{TITLES[prediction.name]}\n{_get_graph_kind(prediction)}" for prediction in self.predictions]
        bars.set_xticks(range(len(self.predictions)), titles)
        bars.axhline(0, color="#555555", linewidth=0.8)
        bars.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}")
        bars.set_ylabel("r over PageRank")
        bars.legend(frameon=False, fontsize=8)
        for ax, prediction, title in zip(panels, self.predictions, titles, strict=False):
            prediction["last"].plot_choices(ax=ax)
            ax.set_title(title.replace("\n", ", "), fontsize=10)
        axes: Axes = bars
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


def _get_graph_kind(prediction: Prediction) -> str:
    """Return which links the graph of a prediction has."""
    return OWN_LINKS if prediction.name == "wikispeedia" else str(prediction.facts["recipe"]["keep"])


def _describe_study(prediction: Prediction) -> str:
    study, recipe, effort = (prediction.facts[key] for key in ("study", "recipe", "effort"))
    kind = _get_graph_kind(prediction)
    links = kind if kind == OWN_LINKS else f"{recipe['similarity']} co-occurrence among graph users ({kind})"
    return (
        f"{study['graph']} by {links}; {study['users']['makers']:,} graph users, {study['users']['others']:,} others; "
        f"n_burn-in {recipe['burn_in']}; {study['along_edges']:.1%} of choices follow an edge; {effort['splits']} "
        f"splits, {effort['trials']} trials per fit, {effort['walkers']} walkers per node "
        f"({effort['trained_walkers']} of trained agents) of up to {effort['steps']} steps, p_g {effort['p_g']}; "
        f"seed {prediction.facts['seed']}."
    )


def run(
    settings: Settings, folder: PathLike | None, engine: Engine = IN_PROCESS, progress: Progress = no_progress
) -> Table2:
    """Predict the choices of each dataset."""
    return Table2(settings, [job.complete() for job in prepare_predictions(settings, folder, engine, progress)])
