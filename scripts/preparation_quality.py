"""Compare the ranking of held-out choices by walkers of three steps, the default, with walkers of unlimited steps.

    CURIOGRAPH_DATA=DIR python scripts/preparation_quality.py docs/results/preparation_quality.json

Choices of Wikispeedia players among the out-neighbors of the last page, after histories of three pages. The mixture is
the default of `recommend`: PageRank, igt and cpt in equal parts. Times are of the processor.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.human import load_dataset
from curiograph.human.choices.choice_sets import find_choices
from curiograph.recommendation.prepared import CuriousRanker
from curiograph.recommendation.ranker import score_candidates
from curiograph.recommendation.rankers import MixtureRanker, PageRankRanker
from curiograph.statistics.bootstrap import estimate_means, sum_by_user

BURN_IN, CHOICES, SEED = 3, 600, 0


def main() -> None:
    """Rank the choices both ways and write the percentiles and their difference."""
    dataset = load_dataset("wikispeedia")
    assert dataset.graph is not None
    found, _ = find_choices(dataset.graph, dataset.walks, burn_in=BURN_IN)
    drawn = np.sort(np.random.default_rng(SEED).choice(len(found), CHOICES, replace=False))
    choices = found.rows(drawn)
    histories = choices.windows.list_histories()
    percentiles, seconds = {}, {}
    for name, steps in (("three steps", 3), ("unlimited", None)):
        curious: dict[str, Any] = {reward: CuriousRanker("greedy", reward, steps=steps) for reward in ("igt", "cpt")}
        mixture = MixtureRanker({"pagerank": PageRankRanker(), **curious})
        start = time.process_time()
        scores = score_candidates(mixture, dataset.graph, histories, choices.candidates)
        seconds[name] = time.process_time() - start
        percentiles[name] = choices.rank(scores).percentile
        print(name, f"{seconds[name]:.1f} s, percentile {percentiles[name].mean():.4f}", file=sys.stderr)
    users = np.unique(choices.windows.users, return_inverse=True)[1]
    columns = [*percentiles.values(), percentiles["three steps"] - percentiles["unlimited"]]
    estimates = estimate_means(sum_by_user(np.column_stack(columns), users), np.bincount(users), SEED)
    result = {
        "settings": {"burn_in": BURN_IN, "choices": CHOICES, "seed": SEED},
        "start_nodes": len(np.unique(np.concatenate(histories))),
        "cpu_seconds": seconds,
        "percentile": {
            name: asdict(estimate) for name, estimate in zip([*percentiles, "difference"], estimates, strict=True)
        },
    }
    Path(sys.argv[1]).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
