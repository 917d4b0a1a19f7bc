"""Encode results of the library as JSON values: labels as text or numbers, NaN as null."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from curiograph.agents.explore import Walk
from curiograph.graph.graph import Graph
from curiograph.growth.records import Growth
from curiograph.recommendation.recommender import Recommendations
from curiograph.service.jobs import Job
from curiograph.service.labels import JsonLabel, encode_label, encode_labels
from curiograph.service.step_view import StepView


def encode_number(value: float) -> float | None:
    """Encode a number; None (null) if it is not finite.

    >>> encode_number(0.5), encode_number(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


def _encode_optional_label(label: Hashable | None) -> JsonLabel | None:
    return None if label is None else encode_label(label)


def encode_walk(walk: Walk) -> dict[str, Any]:
    """Encode the walk of an agent."""
    return {
        "agent": walk.agent,
        "reward": walk.reward,
        "nodes": encode_labels(walk.nodes),
        "rewards": [encode_number(reward) for reward in walk.rewards],
        "total": encode_number(walk.total),
        "ended_early": walk.ended_early,
    }


def encode_growth(growth: Growth) -> dict[str, Any]:
    """Encode the growth of a walk."""
    values = growth.to_dict()
    return values | {
        "node": encode_labels(values["node"]),
        "compressibility": [encode_number(bits) for bits in values["compressibility"]],
        "gaps": [
            gap | {"opened_by": encode_label(gap["opened_by"]), "closed_by": _encode_optional_label(gap["closed_by"])}
            for gap in values["gaps"]
        ],
    }


def encode_step_view(view: StepView) -> dict[str, Any]:
    """Encode the candidates of a walk and the choices of the agent and the motives."""
    return {
        "candidates": [
            {
                "node": encode_label(node),
                "values": {motive: encode_number(values[i]) for motive, values in view.values.items()},
                "score": None if view.scores is None else encode_number(view.scores[i]),
            }
            for i, node in enumerate(view.nodes)
        ],
        "choice": _encode_optional_label(view.choice),
        "best": {motive: encode_labels(view.find_best(motive)) for motive in view.values},
        "igt": encode_number(view.igt),
        "cpt": encode_number(view.cpt),
        "on_the_way": view.on_the_way,
    }


def encode_ranking(graph: Graph, result: Any, history: Sequence[Hashable] | None, k: int) -> dict[str, Any]:
    """Encode the best nodes by PageRank or curious PageRank."""
    errors = getattr(result, "stderr", None)
    return {
        "history": None if history is None else encode_labels(history),
        "agent": getattr(result, "agent", None),
        "alpha": result.alpha,
        "converged": bool(getattr(result, "converged", True)),
        "ranking": [
            {
                "rank": rank,
                "node": encode_label(label),
                "score": score,
                "stderr": None if errors is None else encode_number(errors[graph.position(label)]),
            }
            for rank, (label, score) in enumerate(result.top(k), start=1)
        ],
    }


def encode_recommendations(top: Recommendations, reasons: bool, used: Sequence[Hashable] | None) -> dict[str, Any]:
    """Encode recommendations, with the used nodes of the history if given."""
    recommended: list[dict[str, Any]] = [
        {"node": encode_label(label), "score": score, "stderr": stderr}
        for (label, score), stderr in zip(top, top.stderr, strict=True)
    ]
    if reasons:
        for node, reason in zip(recommended, top.reasons, strict=True):
            node |= {
                "ranks": dict(reason.ranks),
                "candidates": reason.candidates,
                "links": encode_labels(reason.links),
                "opens": [encode_labels(loop) for loop in reason.opens],
                "closes": encode_labels(reason.closes),
                "compressibility": encode_number(reason.compressibility),
            }
    answer = {"history": encode_labels(top.history), "candidates": top.candidates, "recommendations": recommended}
    return answer if used is None else answer | {"used": encode_labels(used)}


def encode_job(job: Job, with_result: bool = True) -> dict[str, Any]:
    """Encode the progress and the result of a job."""
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
