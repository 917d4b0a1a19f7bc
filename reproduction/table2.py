"""Table 2: improvement of curious PageRank over PageRank in predicting human choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import pandas as pd

from curiograph.human.prediction.methods import MEMORY
from curiograph.human.prediction.outcomes import CANDIDATE_LABELS
from curiograph.human.prediction.predict import predict
from curiograph.plotting import COLORS, create_figure, get_color
from curiograph.validation import check_choice
from reproduction.people import DATASETS, TITLES, Keep, list_predictions
from reproduction.published import TABLE2
from reproduction.report import Report, Setup, interval, is_known

METHODS = ("igt", "cpt", "igt+cpt")
NOTES = (
    "r: relative improvement of the percentile ranks of human choices over PageRank, among the out-neighbors of the "
    "last node; ± over splits (95 % interval over users).",
    "[Protocol](../prediction.md#protocol), [differences from the paper]"
    "(../replication.md#what-differs-from-the-paper), and [the control](../replication.md#what-does-not-replicate), "
    "`memory`; what the paper leaves open is listed under each dataset. Walkers teleport after a maximum number of "
    "steps, which is fitted together with alpha and the weights; p_g is fixed. igt, cpt and igt+cpt use, in each "
    "split, the greedy or the trained agents, whichever do better on the training users.",
)


def compute(setup: Setup, only: tuple[str, ...] = DATASETS, item_graph: Keep = "highest") -> dict[str, Any]:
    """Predict the choices of each dataset."""
    check_choice("--item-graph", item_graph, get_args(Keep))
    studies = list_predictions(setup, only, item_graph)
    found = [predict(dataset, walkers="trained", **settings).to_dict() for dataset, settings in studies]
    return {"paper": TABLE2, "predictions": [{"methods": each.pop("rows"), **each} for each in found]}


def report(document: dict[str, Any]) -> Report:
    """Show r of each theory, of the paper and of the control."""
    predictions = document["predictions"]
    rows, remarks, details = [], [], {}
    for each in predictions:
        methods, paper = _get_methods(each), TABLE2[each["name"]]
        row = [TITLES[each["name"]], get_graph_kind(each), f"{methods['pagerank']['percentile']:.3f}"]
        for method in METHODS:
            row += [format_r(methods[method]), "{:+.1%} ± {:.1%}".format(*paper[method])]
        rows.append([*row, format_r(methods[MEMORY])])
        r, wanted = methods["igt+cpt"], paper["igt+cpt"][0]
        reached = "at or above" if r["r"] >= wanted else f"{wanted - r['r']:.1%} below"
        above, added = (_format_difference(each[key]["last"]) for key in ("above_memory", "curiosity_adds"))
        remarks.append(
            f"{TITLES[each['name']]} ({get_graph_kind(each)}): igt+cpt {r['r']:+.1%}, "
            f"{'clear' if r['r_low'] > 0 or r['r_high'] < 0 else 'not clear'} of zero, {reached} the paper's "
            f"{wanted:+.1%}; walkers without curiosity {methods[MEMORY]['r']:+.1%}. In percentile ranks, curiosity is "
            f"{above} above them, and adds {added} to counts, PageRank and them together."
        )
        for among, label in CANDIDATE_LABELS.items():
            details[f"{TITLES[each['name']]} ({get_graph_kind(each)}), among {label}"] = pd.DataFrame(
                [
                    [row["method"], *(f"{row[key]:.3f}" for key in list(row)[2:6]), format_r(row)]
                    for row in each["methods"]
                    if row["candidates"] == among
                ],
                columns=["method", "percentile", "reciprocal rank", "hit@10", "NDCG@10", "r"],
            )
    columns = ["dataset", "graph", "PageRank"]
    columns += [name for method in METHODS for name in (method, f"{method}, paper")]
    return Report(
        tables={
            "r over PageRank among the out-neighbors of the last node": pd.DataFrame(rows, columns=[*columns, MEMORY])
        },
        figure=_plot(predictions),
        text="\n\n".join([*NOTES, *map(_describe_study, predictions)]),
        remarks=remarks,
        details=details,
    )


def _get_methods(prediction: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {row["method"]: row for row in prediction["methods"] if row["candidates"] == "last"}


def get_graph_kind(prediction: Mapping[str, Any]) -> str:
    """Return which links the graph of a prediction has."""
    return "own links" if prediction["name"] == "wikispeedia" else str(prediction["recipe"].get("keep", "knn"))


def format_r(row: Mapping[str, Any]) -> str:
    """Format r with its spread over splits and its interval over users."""
    spread = f" ± {row['r_spread']:.1%}" if is_known(row["r_spread"]) else ""
    return f"{row['r']:+.1%}{spread} ({row['r_low']:+.1%} to {row['r_high']:+.1%})"


def _format_difference(estimate: Mapping[str, float]) -> str:
    clear = "clear of zero" if estimate["low"] > 0 or estimate["high"] < 0 else "not clear of zero"
    return f"{interval(estimate)[:-1]}, {clear})"


def _describe_study(prediction: Mapping[str, Any]) -> str:
    study, recipe, effort = (prediction[key] for key in ("study", "recipe", "effort"))
    kind = get_graph_kind(prediction)
    links = kind if kind == "own links" else f"{recipe['similarity']} co-occurrence among graph users ({kind})"
    return (
        f"{TITLES[prediction['name']]}: {study['graph']} by {links}; {study['users']['makers']:,} graph users, "
        f"{study['users']['others']:,} others; n_burn-in {recipe['burn_in']}; {study['along_edges']:.1%} of choices "
        f"follow an edge; {effort['splits']} splits, {effort['trials']} trials per fit, {effort['walkers']} walkers "
        f"per node ({effort['trained_walkers']} of trained agents) of up to {effort['steps']} steps, p_g "
        f"{effort['p_g']}; seed {prediction['seed']}."
    )


def _plot(predictions: list[Mapping[str, Any]]) -> Any:
    """Plot r with intervals and the paper's results."""
    figure, ax = create_figure(9.0, 4.4)
    methods = [_get_methods(each) for each in predictions]
    for place, method in enumerate((*METHODS, MEMORY)):
        x = np.arange(len(methods)) + 0.2 * (place - 1.5)  # four bars, centered on each tick
        r, low, high = (np.array([rows[method][key] for rows in methods]) for key in ("r", "r_low", "r_high"))
        errors = np.maximum(0, [r - low, high - r])
        ax.bar(x, r, 0.2, yerr=errors, label=method, color=get_color(method), ecolor="#555555", capsize=2)
        if method != MEMORY:
            marks = [TABLE2[each["name"]][method][0] for each in predictions]
            label = "paper" if place == 0 else None
            ax.plot(x, marks, "D", color=COLORS["paper"], markersize=6, markeredgecolor="white", zorder=3, label=label)
    ax.set_xticks(range(len(methods)), [f"{TITLES[each['name']]}\n{get_graph_kind(each)}" for each in predictions])
    ax.axhline(0, color="#555555", linewidth=0.8)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}")
    ax.set_ylabel("r over PageRank")
    ax.legend(frameon=False)
    return figure
