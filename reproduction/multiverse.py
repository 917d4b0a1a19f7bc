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
from curiograph.human.prediction.study import get_recipe
from curiograph.plotting import COLORS, create_figure, get_color
from reproduction.people import DATASETS, TITLES, load_datasets
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
    TESTS,
    TWO_PAGERANKS,
    Effort,
    World,
    compute_universes,
)

CONTROLS = (PAGERANK, MEMORY, TWO_PAGERANKS, "markov")
"""Methods with which igt+cpt is compared."""
DEGREES = (8, 16, 32)
"""Mean degrees of co-occurrence graphs."""
QUICK = Effort(training=100, test=200, candidates=16, walkers=8, trained_walkers=2, draws=50)
"""A first look."""
BASE = {
    "links": "directed", "pairs": "highest", "similarity": "cosine", "mean degree": "16", "candidates": "last",
    "runs": "all", "signs": "either",
}  # fmt: skip
"""Levels of the protocol of our Table 2; its burn-in is that of the recipe of a dataset."""
UNIT = 1e-4
"""Unit of stored numbers."""
QUESTIONS = {
    "draws": f"How often does a test set of {SMALL_TEST} choices give the numbers of the paper?",
    "variance": "Which choice matters most?",
    "controls": "In which universes is igt+cpt above the controls?",
    "super-additivity": "Is igt+cpt more than the sum of igt and cpt?",
    "seeds": "How much do seeds change the result?",
}
"""Questions to the multiverse, by name."""
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


# ---- computation ----------------------------------------------------------------------------------------------------


def compute(setup: Setup, only: tuple[str, ...] = DATASETS, seeds: int = 5, quick: bool = False) -> dict[str, Any]:
    """Compute all universes of each dataset; with a run folder, finished graphs are kept there."""
    effort = QUICK if quick else Effort()
    numbers = range(setup.seed, setup.seed + (2 if quick else seeds))
    settings = {"datasets": only, "seeds": len(numbers), "effort": effort, "seed": setup.seed}
    universes = {d.name: compute_dataset(setup, d, numbers, effort) for d in load_datasets(only, setup.folder)}
    return {"settings": settings, "unit": UNIT, "universes": universes}


def list_worlds(dataset: Dataset, seeds: Sequence[int]) -> tuple[dict[str, list[str]], list[World]]:
    """Return the factors of the graph and the seed, and all their combinations."""
    recipe = get_recipe(dataset.name, "highest")
    levels: dict[str, Sequence[Any]] = {"links": ("directed", "undirected")}
    if dataset.graph is None:
        levels = {"pairs": ("highest", "nearest"), "similarity": ("cosine", "pmi"), "mean degree": DEGREES}
    levels["seed"] = seeds
    worlds = []
    for *kind, seed in product(*levels.values()):
        if dataset.graph is not None:
            worlds.append(World(recipe, kind == ["directed"], seed))
        else:
            pairs, similarity, degree = kind
            own = replace(recipe, similarity=similarity, mean_degree=degree)
            worlds.append(World(own, True, seed, nearest=pairs == "nearest"))
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
    ranks, chances, sizes = (np.stack([found[key] for found in results]) for key in ("ranks", "chances", "sizes"))
    bounds = {name: [found[name] for found in results] for name in ("nodes", "links")}
    bounds["training"] = sizes[..., 0].ravel().tolist()

    def encode(values: Any, unit: float) -> str:
        return " ".join(map(str, np.rint(values.ravel() / unit).astype(int).tolist()))

    return {
        "factors": factors,
        "ranks": {method: encode(ranks[..., place], UNIT) for place, method in enumerate(METHODS)},
        "chances": {name: encode(chances[..., place], UNIT) for place, name in enumerate(CHANCES)},
        "tested": encode(sizes[..., 1], 1),
        "sizes": {name: [min(values), max(values)] for name, values in bounds.items()},
    }


# ---- results --------------------------------------------------------------------------------------------------------


class Universes:
    """Results of all universes of a dataset, as frames whose index levels are the factors."""

    def __init__(self, name: str, document: Mapping[str, Any]) -> None:
        self.name, self.factors, self.sizes = name, document["factors"], document["sizes"]

        def decode(texts: Mapping[str, str], without: int, unit: float = UNIT) -> pd.DataFrame:
            kept = dict(list(self.factors.items())[: len(self.factors) - without])
            index = pd.MultiIndex.from_product(kept.values(), names=kept)
            return pd.DataFrame({key: np.array(text.split(), float) * unit for key, text in texts.items()}, index)

        self.ranks = decode(document["ranks"], 0)
        self.chances = decode(document["chances"], 1)
        self.tested = decode({"tested": document["tested"]}, 3, 1)["tested"]
        self.r = self.ranks.div(self.ranks[PAGERANK], axis=0) - 1
        self.all_tests = self.r.xs("all", level="test set")
        gained = self.all_tests[["igt", "cpt"]].clip(lower=0).sum(axis=1)
        self.excess = self.all_tests["igt+cpt"] - gained
        """r of igt+cpt minus the sum of those of igt and cpt, where a loss counts as zero; all test choices."""

    @property
    def base(self) -> dict[str, str]:
        """Levels of the protocol of our Table 2, except seed, walkers and test set."""
        levels = BASE | {"burn-in": str(get_recipe(self.name, "highest").burn_in)}
        return {name: level for name, level in levels.items() if name in self.factors}

    def select_base(self, frame: pd.DataFrame, **further: str) -> pd.DataFrame:
        """Return the rows of the protocol of our Table 2."""
        levels = self.base | further
        return frame.xs(tuple(levels.values()), level=list(levels))

    def average_seeds(self, values: pd.Series) -> pd.Series:
        """Return means over seeds by protocol, in the order of the factors."""
        names = [name for name in values.index.names if name != "seed"]
        return values.groupby(level=names, sort=False).mean()

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
    def excess_beyond_seeds(self) -> pd.Series:
        """Mean excess over seeds of each protocol; zero if it is not above zero at 97.5 % (Student's t)."""
        count, mean = len(self.factors["seed"]), self.average_seeds(self.excess)
        if count < 2:
            return mean * 0
        error = self.excess.groupby(level=mean.index.names, sort=False).std() / np.sqrt(count)
        return mean.where(mean > stdtrit(count - 1, 0.975) * error, 0.0)

    @property
    def spread(self) -> float:
        """Standard deviation of r of igt+cpt over seeds in a typical protocol, with all test choices."""
        names = [name for name in self.all_tests.index.names if name != "seed"]
        freedom = min(1, len(self.factors["seed"]) - 1)
        return float(np.sqrt(self.all_tests["igt+cpt"].groupby(level=names).var(ddof=freedom).mean()))

    @property
    def sampling_error(self) -> float:
        """Part of `spread` that is due to the sample of test choices, from the deviation over draws."""
        deviations = self.chances["deviation"].to_numpy().reshape(len(self.tested), -1)
        return float(np.sqrt(np.mean(deviations**2 * SMALL_TEST / self.tested.to_numpy()[:, None])))


def answer_questions(each: Universes) -> dict[str, str]:
    """Return a sentence on each of `QUESTIONS` for a dataset."""
    title, paper = TITLES[each.name], TABLE2[each.name]
    chances, by_protocol = each.chances.mean(), each.average_seeds(each.chances["igt+cpt"])
    (first, most), (second, next_most) = list(each.shares.sort_values("main", ascending=False).iterrows())[:2]
    above = {control: _share(each.compare(control)[0]) for control in CONTROLS}
    beyond, r = each.excess_beyond_seeds, each.all_tests["igt+cpt"]
    where = f", at most {beyond.max():+.1%} ({_describe_place(beyond)})" if beyond.any() else ""
    published = paper["igt+cpt"][0] - paper["igt"][0] - paper["cpt"][0]
    base = ", ".join(f"{_spread(_get_base(each, kind)['igt+cpt'])} ({kind})" for kind in KINDS)
    greedy = each.select_base(each.ranks, **{"walkers": KINDS[0], "test set": "all"})
    ranks = [_spread(greedy[method], ".3f") for method in (PAGERANK, "igt+cpt")]
    return {
        "draws": f"{title}: of the draws of {SMALL_TEST} test choices, {_share(chances['igt+cpt'])} give igt+cpt "
        f"{paper['igt+cpt'][0]:+.1%} or more, {_share(chances['igt'])} give igt {paper['igt'][0]:+.1%} or less, and "
        f"{_share(chances['both'])} both; igt+cpt reaches the value of the paper most often, in "
        f"{_share(by_protocol.max())} of draws, with {_describe_place(by_protocol)}. With all test choices, r of "
        f"igt+cpt is {r.min():+.1%} to {r.max():+.1%}, its median {r.median():+.1%}.",
        "variance": f"{title}: the choice that matters most is {first}, with {_share(most['main'])} of the variance of "
        f"r ({_share(most['total'])} with interactions), then {second} with {_share(next_most['main'])} "
        f"({_share(next_most['total'])}).",
        "controls": f"{title}: with all test choices, igt+cpt is above PageRank in {above[PAGERANK]} of universes "
        f"(equal in {_share(each.compare(PAGERANK)[1])}), above memory in {above[MEMORY]}, above two PageRanks in "
        f"{above[TWO_PAGERANKS]}, and above Markov in {above['markov']}.",
        "super-additivity": f"{title}: igt+cpt gains more than igt and cpt together (in the paper {published:+.1%}) in "
        f"{_share((each.excess > 0).mean())} of universes (mean difference {each.excess.mean():+.1%}) and in "
        f"{_share(chances['super-additive'])} of draws of {SMALL_TEST}; beyond the spread over seeds in "
        f"{np.count_nonzero(beyond):,} of {beyond.size:,} protocols, where chance gives 2.5 %{where}.",
        "seeds": f"{title}: over seeds, r of igt+cpt is {base} in the protocol of our Table 2 (paper: "
        f"± {paper['igt+cpt'][1]:.1%}), with mean percentile ranks {ranks[0]} of PageRank and {ranks[1]} of greedy "
        f"igt+cpt; in a typical protocol r deviates by {each.spread:.1%} over seeds, of which the sample of test "
        f"choices explains {each.sampling_error:.1%}, and by {np.sqrt((each.chances['deviation'] ** 2).mean()):.1%} "
        f"over draws of {SMALL_TEST} choices.",
    }


def _get_base(each: Universes, kind: str) -> pd.DataFrame:
    """Return r by seed in the protocol of our Table 2."""
    return each.select_base(each.r, **{"walkers": kind, "test set": "all"})


def _describe_place(values: pd.Series) -> str:
    place = values.idxmax()
    return ", ".join(f"{name} {level}" for name, level in zip(values.index.names, place, strict=True))


def _share(share: float) -> str:
    """Format a share; small ones with a decimal."""
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def _spread(values: pd.Series, style: str = "+.1%") -> str:
    """Format a mean with the standard deviation."""
    deviation = values.std(ddof=min(1, len(values) - 1))
    return f"{values.mean():{style}} ± {deviation:{style.lstrip('+')}}"


# ---- report ---------------------------------------------------------------------------------------------------------


def report(document: dict[str, Any]) -> Report:
    """Show the answers to all questions with their tables."""
    universes = [Universes(name, each) for name, each in document["universes"].items()]
    draws, variances, controls, bases, levels = [], [], [], [], []
    for each in universes:
        title, paper = TITLES[each.name], TABLE2[each.name]
        events = (f"igt+cpt {paper['igt+cpt'][0]:+.1%} or more", f"igt {paper['igt'][0]:+.1%} or less", "both of these",
                  "igt+cpt above igt and cpt together")  # fmt: skip
        base = each.select_base(each.chances)
        for key, event in zip(CHANCES, events, strict=False):
            shares = (each.chances[key].mean(), base[key].mean(), each.average_seeds(each.chances[key]).max())
            draws.append([title, event, *map(_share, shares)])
        variances += [[title, name, *map(_share, row)] for name, row in each.shares.iterrows()]
        for test in reversed(TESTS):
            found = [each.compare(control, test) for control in CONTROLS]
            cells = [f"{_share(above)} (equal {_share(equal)}), {gap:+.1%}" for above, equal, gap in found]
            controls.append([title, test, f"{len(each.chances):,}", *cells])
        for kind in KINDS:
            ranks = each.select_base(each.ranks, **{"walkers": kind, "test set": "all"})[PAGERANK]
            rows = _get_base(each, kind)
            bases.append([title, kind, _spread(ranks, ".3f"), *(_spread(rows[method]) for method in METHODS[1:])])
        published = ["{:+.1%} ± {:.1%}".format(*paper[method]) if method in paper else "" for method in METHODS[1:]]
        bases.append([title, "paper", "", *published])
        for name in each.factors:
            means = each.r.groupby(level=name, sort=False)[["igt+cpt", MEMORY]].mean()
            levels += [[title, name, level, *(f"{value:+.1%}" for value in row)] for level, row in means.iterrows()]
    settings = document["settings"]
    answers = [answer_questions(each) for each in universes]
    return Report(
        tables={
            "Percentile rank by PageRank, and r of the others, in the protocol of our Table 2": pd.DataFrame(
                bases, columns=["dataset", "walkers", "PageRank", *METHODS[1:]]
            ),
            f"Share of draws of {SMALL_TEST} test choices": pd.DataFrame(
                draws,
                columns=["dataset", "event", "all universes", "protocol of our Table 2", "most favorable protocol"],
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
        + "\n\n"
        + "\n".join(f"- {_describe_sizes(each)}" for each in universes)
        + "\n\nThe JSON document holds the mean percentile rank by every method in every universe, in units of "
        f"{UNIT:.4f} and in the order of the factors, the last one fastest.",
        remarks=[
            f"{question}\n\n" + "\n".join(f"- {answer[name]}" for answer in answers)
            for name, question in QUESTIONS.items()
        ],
        details={
            "Mean r over all universes with a level": pd.DataFrame(
                levels, columns=["dataset", "choice", "level", "igt+cpt", MEMORY]
            )
        },
    )


def _describe_sizes(each: Universes) -> str:
    bounds = {**each.sizes, "test": [int(each.tested.min()), int(each.tested.max())]}
    texts = {name: "{:,} to {:,}".format(*low_high) for name, low_high in bounds.items()}
    return (
        f"{TITLES[each.name]}: {len(each.ranks):,} universes; graphs of {texts['nodes']} nodes and {texts['links']} "
        f"links; {texts['training']} training choices and {texts['test']} test choices, fewer than {SMALL_TEST} in "
        f"{_share((each.tested < SMALL_TEST).mean())} of universes."
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
