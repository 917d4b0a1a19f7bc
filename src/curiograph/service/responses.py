"""What the library found, as plain values for JSON: labels as text or numbers, NaN as null."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from curiograph.agents.explore import Walk
from curiograph.graph.graph import Graph
from curiograph.growth.records import Growth
from curiograph.recommendation.recommender import Recommendations
from curiograph.service.jobs import Job
from curiograph.service.labels import encode_label, encode_labels
from curiograph.service.step_view import StepView


def encode_number(value: float) -> float | None:
    """A number, or null where it is none.

    >>> encode_number(0.5), encode_number(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


def encode_numbers(values: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers by name."""
    return {name: encode_number(value) for name, value in values.items()}


def encode_walk(walk: Walk) -> dict[str, Any]:
    """A walk of an agent."""
    return {
        "agent": walk.agent,
        "reward": walk.reward,
        "nodes": encode_labels(walk.nodes),
        "rewards": [encode_number(reward) for reward in walk.rewards],
        "total": encode_number(walk.total),
        "ended_early": walk.ended_early,
    }


def encode_growth(growth: Growth) -> dict[str, Any]:
    """What a walk grew."""
    found = growth.to_dict()
    gaps = [
        gap | {"opened_by": encode_label(gap["opened_by"]), "closed_by": _shown_or_none(gap["closed_by"])}
        for gap in found["gaps"]
    ]
    bits = [encode_number(each) for each in found["compressibility"]]
    return found | {"node": encode_labels(found["node"]), "compressibility": bits, "gaps": gaps}


def encode_step_view(seen: StepView) -> dict[str, Any]:
    """What a walk sees before its next step."""
    return {
        "candidates": [
            {
                "node": encode_label(node),
                "values": {motive: encode_number(values[i]) for motive, values in seen.values.items()},
                "score": None if seen.scores is None else encode_number(seen.scores[i]),
            }
            for i, node in enumerate(seen.nodes)
        ],
        "choice": _shown_or_none(seen.choice),
        "best": {motive: encode_labels(seen.best(motive)) for motive in seen.values},
        "igt": encode_number(seen.igt),
        "cpt": encode_number(seen.cpt),
        "on_the_way": seen.on_the_way,
    }


def encode_ranking(graph: Graph, found: Any, history: Sequence[Hashable] | None, k: int) -> dict[str, Any]:
    """The best nodes by PageRank or curious PageRank."""
    errors = getattr(found, "stderr", None)
    ranking = [
        {
            "rank": place,
            "node": encode_label(label),
            "score": score,
            "stderr": None if errors is None else encode_number(errors[graph.position(label)]),
        }
        for place, (label, score) in enumerate(found.top(k), start=1)
    ]
    return {
        "history": None if history is None else encode_labels(history),
        "agent": getattr(found, "agent", None),
        "alpha": found.alpha,
        "converged": bool(getattr(found, "converged", True)),
        "ranking": ranking,
    }


def encode_recommendations(
    top: Recommendations, reasons: bool, used: Sequence[Hashable] | None = None
) -> dict[str, Any]:
    """What to visit next; with the nodes of the history that were used, where that is to be said."""
    listed: list[dict[str, Any]] = [
        {"node": encode_label(label), "score": score, "stderr": stderr}
        for (label, score), stderr in zip(top, top.stderr, strict=True)
    ]
    for each, reason in zip(listed, top.reasons if reasons else [], strict=False):
        each |= {
            "ranks": dict(reason.ranks),
            "candidates": reason.candidates,
            "links": encode_labels(reason.links),
            "opens": [encode_labels(loop) for loop in reason.opens],
            "closes": encode_labels(reason.closes),
            "compressibility": encode_number(reason.compressibility),
        }
    said = {} if used is None else {"used": encode_labels(used)}
    return {"history": encode_labels(top.history), "candidates": top.candidates, "recommendations": listed} | said


def encode_job(job: Job, with_result: bool = True) -> dict[str, Any]:
    """How far a job has come, and its result."""
    return {
        "id": job.id,
        "kind": job.kind,
        "graph": job.graph,
        "state": job.state,
        "done": job.done,
        "of": job.of,
        "result": job.result if with_result else None,
        "error": None if job.error is None else {"type": job.error[0], "message": job.error[1]},
    }


def _shown_or_none(label: Hashable | None) -> Any:
    return None if label is None else encode_label(label)
