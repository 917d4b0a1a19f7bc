"""Format the tables and the sentences with numbers of docs/replication.md from stored runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot
from typing import Any

import pandas as pd

from reproduction.conditions import BASES, CONDITIONS
from reproduction.conditions import report as report_conditions
from reproduction.multiverse import QUESTIONS, Universes, answer_questions
from reproduction.people import TITLES
from reproduction.published import TABLE2
from reproduction.table1 import tabulate_seeds

METHODS = ("igt", "cpt", "igt+cpt")
Z_LIMIT = 1.96
"""Difference in standard deviations beyond which two results disagree."""


def format_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Format a Markdown table as lines."""
    head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return [*head, *(f"| {' | '.join(map(str, row))} |" for row in rows)]


def format_frame(frame: pd.DataFrame) -> list[str]:
    """Format a frame of texts as lines."""
    return format_table(list(frame.columns), frame.to_numpy().tolist())


def format_claims(run: dict[str, Any]) -> list[str]:
    """Format the paper's r, ours, and the difference in standard deviations."""
    rows = []
    for found in run["predictions"]:
        methods = _get_methods(found, "last")
        for method in METHODS:
            paper, error = TABLE2[found["name"]][method]
            ours = methods[method]
            rows.append(
                [
                    _get_title(found),
                    method,
                    f"{paper:+.1%} ± {error:.1%}",
                    f"{ours['r']:+.1%} ± {ours['r_spread']:.1%}",
                    f"{compute_z(found, method):+.1f}",
                    f"{methods['memory']['r']:+.1%}",
                ]
            )
    return format_table(["dataset", "method", "paper", "ours", "z", "memory"], rows)


def format_agreement(run: dict[str, Any]) -> list[str]:
    """List which results agree with the paper and which do not, as sentences."""
    lines = []
    for found in run["predictions"]:
        scores = {method: compute_z(found, method) for method in METHODS}
        methods = _get_methods(found, "last")
        parts = []
        for method, z in scores.items():
            paper, ours = TABLE2[found["name"]][method][0], methods[method]["r"]
            verdict = "agrees" if abs(z) < Z_LIMIT else f"is {'higher' if z > 0 else 'lower'} in the paper"
            parts.append(f"{method} {verdict} ({paper:+.1%} against our {ours:+.1%}, z {z:+.1f})")
        lines.append(f"- {_get_title(found)}: {'; '.join(parts)}.")
    return lines


def format_sums(run: dict[str, Any]) -> list[str]:
    """Format whether r of both theories together is the sum of those of each, in the paper and in our run."""
    rows = []
    for found in run["predictions"]:
        ours = {method: _get_methods(found, "last")[method]["r"] for method in METHODS}
        paper = {method: TABLE2[found["name"]][method][0] for method in METHODS}
        cells = [f"{values['igt'] + values['cpt']:+.1%} | {values['igt+cpt']:+.1%}" for values in (paper, ours)]
        rows.append([_get_title(found), *cells])
    columns = ["dataset", "paper: sum of igt and cpt", "paper: igt+cpt", "ours: sum of igt and cpt", "ours: igt+cpt"]
    return format_table(columns, rows)


def format_controls(run: dict[str, Any]) -> list[str]:
    """List what curiosity adds to controls on each dataset, as sentences."""
    lines = []
    for found in run["predictions"]:
        methods = _get_methods(found, "last")
        counting = max(("popularity", "markov", "item-knn", "rp3beta"), key=lambda name: methods[name]["percentile"])
        above, added = (_format_estimate(found[name]["last"]) for name in ("above_memory", "curiosity_adds"))
        single = max(("igt", "cpt"), key=lambda name: methods[name]["r"])
        lines.append(
            f"- {_get_title(found)}: igt+cpt is {above} percentile ranks above walkers without curiosity, and adds "
            f"{added} to PageRank, counts and these walkers together. It gains {methods['igt+cpt']['r']:+.1%}, the "
            f"better single theory, {single}, {methods[single]['r']:+.1%}. The best count-based baseline, "
            f"{counting}, reaches a percentile of {methods[counting]['percentile']:.3f}; igt+cpt "
            f"{methods['igt+cpt']['percentile']:.3f}."
        )
    return lines


def format_bounds(run: dict[str, Any]) -> list[str]:
    """Format the largest possible r by candidate set: percentile ranks end at 1."""
    rows = []
    for found in run["predictions"]:
        bounds = [1 / _get_methods(found, among)["pagerank"]["percentile"] - 1 for among in ("last", "all")]
        paper = TABLE2[found["name"]]["igt+cpt"][0]
        rows.append([_get_title(found), f"{paper:+.1%}", *(f"{bound:+.1%}" for bound in bounds)])
    columns = ["dataset", "paper, igt+cpt", "largest r, out-neighbors of the last node", "largest r, all nodes"]
    return format_table(columns, rows)


def format_table1_answer(run: dict[str, Any]) -> list[str]:
    """Summarize Table 1 in sentences."""
    cells = run["cells"]
    above = sum(cell["results"]["gnn"]["mean"] > cell["results"]["greedy"]["mean"] for cell in cells)
    theirs = sum(cell["paper"]["gnn"]["mean"] > cell["paper"]["greedy"]["mean"] for cell in cells)
    agents = ("gnn", "gnn-paper", "planner")
    shares = {name: sum(cell["shares"][name]["share"] for cell in cells) / len(cells) for name in agents}
    paper = sum(cell["paper_shares"]["gnn"] for cell in cells) / len(cells)
    return [
        f"A trained GNN earns more than greedy in {theirs} of {len(cells)} cells of the paper, and in {above} of "
        f"{len(cells)} of ours. On average over the cells it reaches {paper:.0%} of the attainable return in the "
        f"paper, {shares['gnn-paper']:.0%} with our version of the paper's settings, {shares['gnn']:.0%} with ours; "
        f"the best learned agent of this package, `planner`, reaches {shares['planner']:.0%}."
    ]


def format_seeds(run: dict[str, Any]) -> list[str]:
    """Format the returns over training seeds."""
    title = "Mean return ± standard deviation over training seeds (number of seeds)"
    return [f"{title}:", "", *format_frame(tabulate_seeds(run["cells"]))]


def format_conditions(run: dict[str, Any]) -> list[str]:
    """Format the gains of curiosity in all conditions, and which of them are clear."""
    found = report_conditions(run)
    first, *_ = found.tables.values()
    return [*format_frame(first), "", *_tabulate_contrasts(run["contrasts"]), "", *found.remarks]


def _tabulate_contrasts(contrasts: list[dict[str, Any]]) -> list[str]:
    """Format one line per dataset and condition, with both gains."""
    rows = []
    for dataset, condition in dict.fromkeys((each["dataset"], each["condition"]) for each in contrasts):
        pair = {
            each["base"]: each for each in contrasts if (each["dataset"], each["condition"]) == (dataset, condition)
        }
        sizes = " / ".join(f"{count:,}" for count in pair[BASES[0]]["choices"])
        cells = [
            "too small" if each["p"] is None else f"{_format_estimate(each['difference'])}, p {each['corrected_p']:.2g}"
            for each in (pair[base] for base in BASES)
        ]
        rows.append([TITLES[dataset], CONDITIONS[condition], sizes, *cells])
    return format_table(["dataset", "groups", "choices", *(f"gain over {base}" for base in BASES)], rows)


def compute_z(found: dict[str, Any], method: str) -> float:
    """Return the paper's r minus ours in standard deviations, if both spreads are standard deviations."""
    (paper, error), ours = TABLE2[found["name"]][method], _get_methods(found, "last")[method]
    return float((paper - ours["r"]) / hypot(error, ours["r_spread"]))


def _get_methods(found: dict[str, Any], among: str) -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in found["methods"] if row["candidates"] == among}


def _get_title(found: dict[str, Any]) -> str:
    kind = "" if found["name"] == "wikispeedia" else f" ({found['recipe']['keep']})"
    return TITLES[found["name"]] + kind


def _format_estimate(estimate: dict[str, float]) -> str:
    return f"{estimate['value']:+.4f} ({estimate['low']:+.4f} to {estimate['high']:+.4f})"


def format_multiverse(run: dict[str, Any]) -> list[str]:
    """Format the answers of the multiverse, by question."""
    answers = [answer_questions(Universes(name, each)) for name, each in run["universes"].items()]
    lines = []
    for name, question in QUESTIONS.items():
        lines += [f"**{question}**", "", *(f"- {answer[name]}" for answer in answers), ""]
    return lines[:-1]
