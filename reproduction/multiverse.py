"""Multiverse analysis of Table 2: its results under all combinations of what the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from curiograph.agents.agent_names import as_agent
from curiograph.human.data.datasets import Dataset
from curiograph.human.prediction.methods import KINDS, MEMORY, PAGERANK, REWARDS
from curiograph.plotting import COLORS, create_figure, get_color
from reproduction.people import CORE_RECIPES, DATASETS, TITLES, load_datasets
from reproduction.published import TABLE2
from reproduction.report import Report, Setup
from reproduction.universes import (
    BURN_INS,
    CHANCES,
    FAMILIES,
    METHODS,
    RUNS,
    SCOPES,
    SIGNS,
    SMALL_TEST,
    TWO_PAGERANKS,
    Effort,
    World,
    compute_universes,
)

CONTROLS = (PAGERANK, MEMORY, TWO_PAGERANKS, "markov")
"""Methods with which igt+cpt is compared."""
TESTS = (str(SMALL_TEST), "all")
"""Test sets: one draw of `SMALL_TEST` choices, or all choices of test users."""
BASE = {
    "links": "directed", "pairs": "highest", "similarity": "cosine", "mean degree": "16", "candidates": "last",
    "runs": "all", "signs": "either",
}  # fmt: skip
"""Levels of the protocol of our Table 2; its burn-in is that of the recipe of a dataset."""
UNIT = 1e-4
"""Unit of stored numbers."""
_METHOD = (
    "Choices: n_burn-in 3, 6 or 10; for Wikispeedia, links with or without direction; for films and books, "
    "co-occurrence graphs of the highest similarities of all or of the nearest items, by cosine or PMI, of mean degree "
    "8, 16 or 32 (at most: components of few links are sparser); candidates among the neighbors of the last node, of "
    "the history, or all nodes; all choices of a candidate, or only those that continue a run along edges (the last "
    "two steps follow edges); weights of either sign or non-negative; walkers greedy or with trained agents; {small} "
    "test choices, drawn with replacement, or all; and {seeds} seeds, which draw graph users (and so co-occurrence "
    "graphs), training users and test users, choices, walkers and agents. Trained agents are those shipped for igt and "
    "cpt, trained on BA, ER, RG or WS graphs; seeds take these in turn. Methods: PageRank; mixtures of PageRank with "
    "walkers for igt, cpt or both; with walkers that remember their path but choose at random (memory); of two "
    "PageRanks with different alphas; and a Markov chain of the steps of graph users. Every method is fitted to the "
    "training users by the same exhaustive search: all combinations of 5 values of alpha, 1 to {steps} steps of "
    "walkers, and weights of 0, 1, 2 or 4 standard deviations of each component. To limit the work, a fit uses at most "
    "{training:,} choices and a test at most {test:,}; a choice is ranked among at most {candidates} other candidates, "
    "drawn at random, which leaves the expected percentile rank unchanged; and at most {walkers} paths are followed "
    "from each node ({trained_walkers} of trained agents)."
)


def compute(setup: Setup, only: tuple[str, ...] = DATASETS, seeds: int = 5) -> dict[str, Any]:
    """Compute all universes of each dataset; with a run folder, finished graphs are kept there."""
    effort, numbers = Effort(), range(setup.seed, setup.seed + seeds)
    settings = {"datasets": only, "seeds": seeds, "effort": effort, "seed": setup.seed}
    universes = {d.name: compute_dataset(setup, d, numbers, effort) for d in load_datasets(only, setup.folder)}
    return {"settings": settings, "unit": UNIT, "universes": universes}


def list_worlds(dataset: Dataset, seeds: Sequence[int]) -> tuple[dict[str, list[str]], list[World]]:
    """Return the factors of the graph and the seed, and all their combinations."""
    recipe = CORE_RECIPES[dataset.name]
    levels: dict[str, Sequence[Any]] = {"links": ("directed", "undirected"), "seed": seeds}
    if dataset.graph is not None:
        worlds = [World(recipe, links == "directed", seed) for links, seed in product(*levels.values())]
    else:
        kinds = {"pairs": ("highest", "nearest"), "similarity": ("cosine", "pmi"), "mean degree": (8, 16, 32)}
        levels = {**kinds, "seed": seeds}
        worlds = [
            World(replace(recipe, similarity=similarity, mean_degree=degree), True, seed, pairs == "nearest")
            for pairs, similarity, degree, seed in product(*levels.values())
        ]
    return {name: list(map(str, each)) for name, each in levels.items()}, worlds


def compute_dataset(setup: Setup, dataset: Dataset, seeds: Sequence[int], effort: Effort) -> dict[str, Any]:
    """Compute all universes of a dataset as a job, one task per graph and seed; numbers are texts."""
    factors, worlds = list_worlds(dataset, seeds)
    agents = [as_agent(f"{reward}-{family}") for reward, family in product(REWARDS, FAMILIES)]
    walks = dataset.walks
    results = setup.engine.map(
        compute_universes,
        (replace(dataset, texts={}), TABLE2[dataset.name], effort),
        worlds,
        name=f"universes-{dataset.name}",
        key=[walks.nodes, walks.offsets, walks.users, dataset.graph, *agents, effort],
        unit="graphs",
        progress=setup.progress,
    )
    factors |= {
        "burn-in": list(map(str, BURN_INS)), "candidates": list(SCOPES), "runs": list(RUNS), "signs": list(SIGNS),
        "walkers": list(KINDS), "test set": list(TESTS),
    }  # fmt: skip
    ranks, chances = (np.stack([found[key] for found in results]) for key in ("ranks", "chances"))

    def encode(values: Any) -> str:
        return " ".join(map(str, np.rint(values.ravel() / UNIT).astype(int).tolist()))

    return {
        "factors": factors,
        "ranks": {method: encode(ranks[..., place]) for place, method in enumerate(METHODS)},
        "chances": {name: encode(chances[..., place]) for place, name in enumerate(CHANCES)},
    }


class Universes:
    """Results of all universes of a dataset, as frames whose index levels are the factors."""

    def __init__(self, name: str, document: Mapping[str, Any]) -> None:
        self.name, self.factors = name, document["factors"]

        def decode(texts: Mapping[str, str], without: int) -> pd.DataFrame:
            kept = dict(list(self.factors.items())[: len(self.factors) - without])
            index = pd.MultiIndex.from_product(kept.values(), names=kept)
            return pd.DataFrame({key: np.array(text.split(), float) * UNIT for key, text in texts.items()}, index)

        self.ranks = decode(document["ranks"], 0)
        self.chances = decode(document["chances"], 1)
        self.r = self.ranks.div(self.ranks[PAGERANK], axis=0) - 1
        levels = BASE | {"burn-in": str(CORE_RECIPES[name].burn_in)}
        self.base = {factor: level for factor, level in levels.items() if factor in self.factors}
        """Levels of the protocol of our Table 2, except seed, walkers and test set."""

    def select_base(self, frame: pd.DataFrame, **further: str) -> pd.DataFrame:
        """Return the rows of the protocol of our Table 2."""
        levels = self.base | further
        return frame.xs(tuple(levels.values()), level=list(levels))

    def group_seeds(self, values: pd.Series) -> Any:
        """Group values by protocol, in the order of the factors."""
        return values.groupby(level=[name for name in values.index.names if name != "seed"], sort=False)

    @property
    def shares(self) -> pd.DataFrame:
        """Shares of the variance of r of igt+cpt that each factor explains: alone, and with interactions (Sobol)."""
        r = self.r["igt+cpt"]
        rows = {}
        for name in self.factors:
            others = [other for other in self.factors if other != name]
            parts = r.groupby(level=name).mean().var(ddof=0), r.groupby(level=others).var(ddof=0).mean()
            rows[name] = [part / r.var(ddof=0) for part in parts]
        return pd.DataFrame.from_dict(rows, orient="index", columns=["main", "total"])

    def compare(self, control: str, test: str = "all") -> tuple[float, float, float]:
        """Return how often igt+cpt is above a control and equal to it, and the mean difference."""
        ranks = self.ranks.xs(test, level="test set")
        ours, theirs = ranks["igt+cpt"], ranks[control]
        difference = ((ours - theirs) / ranks[PAGERANK]).mean()
        return float((ours > theirs).mean()), float((ours == theirs).mean()), float(difference)

    @property
    def excess(self) -> pd.Series:
        """r of igt+cpt minus the sum of those of igt and cpt, where a loss counts as zero; all test choices."""
        r = self.r.xs("all", level="test set")
        return r["igt+cpt"] - r[["igt", "cpt"]].clip(lower=0).sum(axis=1)

    @property
    def is_beyond_seeds(self) -> pd.Series:
        """Whether the mean excess over seeds of each protocol is above zero at 97.5 % (Student's t)."""
        count, groups = len(self.factors["seed"]), self.group_seeds(self.excess)
        return groups.mean() > stdtrit(count - 1, 0.975) * groups.std() / np.sqrt(count)

    @property
    def answer(self) -> str:
        """The range of r, and whether igt+cpt gains more than igt and cpt together."""
        r, beyond = self.r["igt+cpt"].xs("all", level="test set"), self.is_beyond_seeds
        return (
            f"{TITLES[self.name]}: {len(self.ranks):,} universes. With all test choices, r of igt+cpt is "
            f"{r.min():+.1%} to {r.max():+.1%}, its median {r.median():+.1%}. igt+cpt gains more than igt and cpt "
            f"together in {_share((self.excess > 0).mean())} of universes; beyond the spread over seeds in "
            f"{np.count_nonzero(beyond):,} of {beyond.size:,} protocols, where chance gives 2.5 %."
        )


def _share(share: float) -> str:
    """Format a share; small ones with a decimal."""
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def _spread(values: pd.Series, style: str = "+.1%") -> str:
    """Format a mean with the standard deviation."""
    deviation = values.std(ddof=min(1, len(values) - 1))
    return f"{values.mean():{style}} ± {deviation:{style.lstrip('+')}}"


def report(document: dict[str, Any]) -> Report:
    """Show the protocol of our Table 2, draws of few test choices, what matters, and the controls."""
    universes = [Universes(name, each) for name, each in document["universes"].items()]
    draws, variances, controls, bases = [], [], [], []
    for each in universes:
        title, paper = TITLES[each.name], TABLE2[each.name]
        events = (f"igt+cpt {paper['igt+cpt'][0]:+.1%} or more", f"igt {paper['igt'][0]:+.1%} or less", "both of these",
                  "igt+cpt above igt and cpt together")  # fmt: skip
        base = each.select_base(each.chances)
        for key, event in zip(CHANCES, events, strict=True):
            shares = (each.chances[key].mean(), base[key].mean(), each.group_seeds(each.chances[key]).mean().max())
            draws.append([title, event, *map(_share, shares)])
        variances += [[title, name, *map(_share, row)] for name, row in each.shares.iterrows()]
        for test in reversed(TESTS):
            found = [each.compare(control, test) for control in CONTROLS]
            cells = [f"{_share(above)} (equal {_share(equal)}), {gap:+.1%}" for above, equal, gap in found]
            controls.append([title, test, f"{len(each.chances):,}", *cells])
        for kind in KINDS:
            levels = {"walkers": kind, "test set": "all"}
            ranks, r = each.select_base(each.ranks, **levels)[PAGERANK], each.select_base(each.r, **levels)
            bases.append([title, kind, _spread(ranks, ".3f"), *(_spread(r[method]) for method in METHODS[1:])])
        published = ["{:+.1%} ± {:.1%}".format(*paper[method]) if method in paper else "" for method in METHODS[1:]]
        bases.append([title, "paper", "", *published])
    settings = document["settings"]
    events_by = ["all universes", "protocol of our Table 2", "most favorable protocol"]
    return Report(
        tables={
            "Percentile rank by PageRank, and r of the others, in the protocol of our Table 2": pd.DataFrame(
                bases, columns=["dataset", "walkers", "PageRank", *METHODS[1:]]
            ),
            f"Share of draws of {SMALL_TEST} test choices": pd.DataFrame(
                draws, columns=["dataset", "event", *events_by]
            ),
            "Share of the variance of r of igt+cpt": pd.DataFrame(
                variances, columns=["dataset", "choice", "alone", "with interactions"]
            ),
            "Share of universes in which igt+cpt is above a control, and mean difference of r": pd.DataFrame(
                controls, columns=["dataset", "test set", "universes", *(f"above {name}" for name in CONTROLS)]
            ),
        },
        figure=_plot(universes),
        text="Table 2 of the paper leaves open many choices. Each universe is one combination of them; r is the "
        "improvement of the mean percentile rank of human choices over PageRank.\n\n"
        + _METHOD.format(**asdict(Effort(**settings["effort"])), seeds=settings["seeds"], small=SMALL_TEST)
        + "\n\nThe JSON document holds the mean percentile rank by every method in every universe, in units of "
        f"{UNIT:.4f} and in the order of the factors, the last one fastest.",
        remarks=[each.answer for each in universes],
    )


def _plot(universes: Sequence[Universes]) -> Any:
    """Plot r in all universes, and the shares of its variance; one column of panels per dataset."""
    figure, cells = create_figure(3.2 * len(universes), 6.5, columns=len(universes), rows=2)
    for (above, below), each in zip(np.reshape(cells, (2, -1)).T, universes, strict=True):
        for method, (test, style) in product((MEMORY, "igt+cpt"), zip(TESTS, (":", "-"), strict=True)):
            values, label = np.sort(each.r[method].xs(test, level="test set")), f"{method}, {test} test choices"
            above.plot(np.linspace(0, 1, len(values)), values, style, color=get_color(method), label=label)
        above.axhline(TABLE2[each.name]["igt+cpt"][0], color=COLORS["paper"], label="igt+cpt of the paper")
        above.axhline(0, color=COLORS["muted"], linewidth=0.8)
        above.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}")
        above.set(title=TITLES[each.name], xlabel="universes, sorted", ylabel="r over PageRank")
        ordered = each.shares.sort_values("total")
        below.barh(ordered.index, ordered["total"], color=COLORS["random"], label="with interactions")
        below.barh(ordered.index, ordered["main"], color=COLORS["igt"], label="alone")
        below.set_xlabel("share of the variance of r")
    for ax in np.reshape(cells, (2, -1))[:, 0]:
        ax.legend(frameon=False, fontsize=7)
    return figure
