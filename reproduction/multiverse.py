"""Multiverse analysis of Table 2: its results under all combinations of what the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from curiograph.agents.registry import as_agent
from curiograph.arrays import Float64
from curiograph.files import PathLike
from curiograph.human.data.cooccurrence import Keep
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.item_neighbors import Similarity
from curiograph.human.data.load import load_dataset
from curiograph.human.prediction.components import PAGERANK, REWARDS
from curiograph.human.prediction.fitting import KINDS
from curiograph.human.prediction.protocol import get_recipe
from curiograph.human.prediction.results import MEMORY
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.people import DATASETS, TITLES
from curiograph.paper.published import TABLE2
from curiograph.paper.universe_results import THEORIES, UNIT, Universes
from curiograph.paper.universes import (
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
from curiograph.parallel import IN_PROCESS, Engine, Job, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_graph, hash_values
from curiograph.plotting import COLORS, create_figure, get_color
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONTROLS = (PAGERANK, MEMORY, TWO_PAGERANKS, "markov")
"""Methods with which igt+cpt is compared."""
DEGREES = (8, 16, 32)
"""Mean degrees of co-occurrence graphs."""
_TITLES = {PAGERANK: "PageRank", "markov": "Markov"}
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


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    datasets: Sequence[str] = DATASETS
    """Names of the datasets."""
    seeds: int = 5
    """Number of seeds of users, graphs, choices, walkers and agents."""
    effort: Effort = field(default_factory=Effort)
    """How much to compute for each graph."""
    seed: int = 0
    """First of the seeds."""


QUICK = Settings(
    seeds=2,
    effort=Effort(training=100, test=200, candidates=16, walkers=8, trained_walkers=2, draws=50),
)
"""A first look."""


@dataclass(frozen=True, eq=False)
class Multiverse(Experiment):
    """Universes of each dataset, and what they say about the claims of the paper."""

    name = "multiverse"

    settings: Settings
    """Datasets, seeds and effort."""
    universes: Sequence[Universes]
    """Universes of each dataset."""

    @property
    def draw_table(self) -> Table:
        """How often small test sets give the numbers of the paper."""
        rows = []
        for each in self.universes:
            paper = TABLE2[each.name]
            levels = {name: level for name, level in each.base.items() if name != "test set"}
            base = each.select(each.chances, **levels).reshape(-1, len(CHANCES)).mean(axis=0)
            everywhere = each.chances.reshape(-1, len(CHANCES)).mean(axis=0)
            for place, (name, event) in enumerate(_list_events(paper)):
                best = each.chances[..., place].mean(axis=list(each.factors).index("seed")).max()
                rows.append(
                    [
                        TITLES[each.name] if name == "igt+cpt" else "",
                        event,
                        *map(_format_share, (everywhere[place], base[place], best)),
                    ]
                )
        columns = ["dataset", "event", "all universes", "protocol of our Table 2", "most favorable protocol"]
        return Table(f"share of draws of {SMALL_TEST} test choices", columns, rows)

    @property
    def variance_table(self) -> Table:
        """Shares of the variance of r of igt+cpt by factor."""
        shares = [each.shares for each in self.universes]
        names = list(dict.fromkeys(name for each in shares for name in each))
        rows = [
            [
                name,
                *(text for each in shares for text in (map(_format_share, each[name]) if name in each else ("", ""))),
            ]
            for name in names
        ]
        columns = [f"{TITLES[each.name]}, {part}" for each in self.universes for part in ("main", "total")]
        return Table("share of the variance of r of igt+cpt over universes", ["choice", *columns], rows)

    @property
    def level_table(self) -> Table:
        """Mean r of igt+cpt by level of each factor."""
        rows = []
        for each in self.universes:
            r, memory = (each.get_improvement(method) for method in ("igt+cpt", MEMORY))
            for name, levels in each.factors.items():
                for level in levels:
                    chosen = {name: level}
                    mean, control = (float(each.select(values, **chosen).mean()) for values in (r, memory))
                    rows.append([TITLES[each.name], name, level, f"{mean:+.1%}", f"{control:+.1%}"])
        return Table("mean r over universes", ["dataset", "choice", "level", "igt+cpt", MEMORY], rows)

    @property
    def control_table(self) -> Table:
        """Share of universes in which igt+cpt is above each control."""
        rows = []
        for each in self.universes:
            for test in reversed(TESTS):
                cells = []
                for control in CONTROLS:
                    above, equal, difference = each.compare(control, test)
                    cells.append(f"{_format_share(above)} (equal {_format_share(equal)}), {difference:+.1%}")
                number = f"{each.chances[..., 0].size:,}"
                rows.append([TITLES[each.name], "all" if test == "all" else f"{test} choices", number, *cells])
        columns = ["dataset", "test set", "universes", *(f"above {_TITLES.get(name, name)}" for name in CONTROLS)]
        title = "share of universes in which igt+cpt ranks choices higher than a control, and mean difference of r"
        return Table(title, columns, rows)

    @property
    def base_table(self) -> Table:
        """r over seeds in the protocol of our Table 2."""
        rows = []
        methods = METHODS[1:]
        for each in self.universes:
            for kind in KINDS:
                cells = [_format_spread(each.get_base(method, kind)) for method in methods]
                rows.append([TITLES[each.name], kind, _format_rank(each.get_base_ranks(PAGERANK, kind)), *cells])
            paper = TABLE2[each.name]
            cells = ["{:+.1%} ± {:.1%}".format(*paper[method]) if method in paper else "" for method in methods]
            rows.append([TITLES[each.name], "paper", "", *cells])
        columns = ["dataset", "walkers", "PageRank", *(_TITLES.get(method, method) for method in methods)]
        return Table(
            f"percentile rank by PageRank, and r of the others, in the protocol of our Table 2: mean ± deviation over "
            f"{self.settings.seeds} seeds",
            columns,
            rows,
        )

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return [self.base_table, self.draw_table, self.variance_table, self.control_table, self.level_table]

    @property
    def sections(self) -> list[Table | str]:
        return list(self.tables)

    def answer(self, each: Universes) -> dict[str, str]:
        """Return a sentence on each question for a dataset."""
        title, paper = TITLES[each.name], TABLE2[each.name]
        chances = each.chances.reshape(-1, len(CHANCES)).mean(axis=0)
        by_protocol = each.chances[..., 0].mean(axis=list(each.factors).index("seed"))
        best = np.unravel_index(np.argmax(by_protocol), by_protocol.shape)
        ordered = sorted(each.shares.items(), key=lambda share: -share[1].main)
        (first, most), (second, next_most) = ordered[:2]
        above = {control: _format_share(each.compare(control).above) for control in CONTROLS}
        equal = _format_share(each.compare(PAGERANK).equal)
        excess, beyond = each.excess, each.excess_beyond_seeds
        published = paper["igt+cpt"][0] - paper["igt"][0] - paper["cpt"][0]
        place = np.unravel_index(np.argmax(beyond), beyond.shape)
        where = f", at most {beyond[place]:+.1%} ({each.describe(place, ('seed', 'test set'))})" if beyond.any() else ""
        r = each.select(each.get_improvement("igt+cpt"), **{"test set": "all"})
        ranks = [_format_rank(each.get_base_ranks(method, KINDS[0])) for method in (PAGERANK, "igt+cpt")]
        deviation = float(np.sqrt(np.mean(each.chances[..., CHANCES.index("deviation")] ** 2)))
        base = ", ".join(f"{_format_spread(each.get_base('igt+cpt', kind))} ({kind})" for kind in KINDS)
        return {
            "draws": f"{title}: of the draws of {SMALL_TEST} test choices, {_format_share(chances[0])} give igt+cpt "
            f"{paper['igt+cpt'][0]:+.1%} or more, {_format_share(chances[1])} give igt {paper['igt'][0]:+.1%} or less, "
            f"and {_format_share(chances[2])} both; igt+cpt reaches the value of the paper most often, in "
            f"{_format_share(by_protocol[best])} of draws, with {each.describe(best, ('seed', 'test set'))}. With all "
            f"test choices, r of igt+cpt is {r.min():+.1%} to {r.max():+.1%}, its median {np.median(r):+.1%}.",
            "variance": f"{title}: the choice that matters most is {first}, with {_format_share(most.main)} of the "
            f"variance of r ({_format_share(most.total)} with interactions), then {second} with "
            f"{_format_share(next_most.main)} ({_format_share(next_most.total)}).",
            "controls": f"{title}: with all test choices, igt+cpt is above PageRank in {above[PAGERANK]} of "
            f"universes (equal in {equal}), above memory in {above[MEMORY]}, above two PageRanks in "
            f"{above[TWO_PAGERANKS]}, and above Markov in {above['markov']}.",
            "super-additivity": f"{title}: igt+cpt gains more than igt and cpt together (in the paper "
            f"{published:+.1%}) in {_format_share(np.mean(excess > 0))} of universes (mean difference "
            f"{excess.mean():+.1%}) and in {_format_share(chances[3])} of draws of {SMALL_TEST}; beyond the spread "
            f"over seeds in {np.count_nonzero(beyond):,} of {beyond.size:,} protocols, where chance gives 2.5 %"
            f"{where}.",
            "seeds": f"{title}: over seeds, r of igt+cpt is {base} in the protocol of our Table 2 (paper: "
            f"± {paper['igt+cpt'][1]:.1%}), with mean percentile ranks {ranks[0]} of PageRank and {ranks[1]} of "
            f"greedy igt+cpt; in a typical protocol r deviates by {each.spread:.1%} over seeds, of which the sample of "
            f"test choices explains {each.sampling_error:.1%}, and by {deviation:.1%} over draws of {SMALL_TEST} "
            "choices.",
        }

    @property
    def remarks(self) -> list[str]:
        return [sentence for each in self.universes for sentence in self.answer(each).values()]

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "unit": UNIT,
            "paper": {each.name: TABLE2[each.name] for each in self.universes},
            "universes": {each.name: each.to_dict() for each in self.universes},
            "remarks": self.remarks,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        settings = document["settings"]
        return cls(
            settings=Settings(**settings | {"effort": Effort(**settings["effort"])}),
            universes=[Universes.from_dict(name, each) for name, each in document["universes"].items()],
        )

    def to_markdown(self) -> str:
        answers = [self.answer(each) for each in self.universes]
        lines = [
            "Table 2 of the paper leaves open many choices. Each universe is one combination of them; r is the "
            "improvement of the mean percentile rank of human choices over PageRank.",
            "",
            _METHOD.format(**asdict(self.settings.effort), seeds=self.settings.seeds, small=SMALL_TEST),
            "",
            *(f"- {_describe_sizes(each)}" for each in self.universes),
            "",
            "The JSON document holds the mean percentile rank by every method in every universe, in units of "
            f"{UNIT:.4f} and in the order of the factors, the last one fastest.",
            "",
        ]
        tables = {
            "draws": self.draw_table,
            "variance": self.variance_table,
            "controls": self.control_table,
            "super-additivity": None,
            "seeds": self.base_table,
        }
        for question, heading in QUESTIONS.items():
            lines += [f"## {heading}", "", *(f"- {answer[question]}" for answer in answers), ""]
            table = tables[question]
            if table is not None:
                lines += [
                    f"{table.title[0].upper()}{table.title[1:]}:",
                    "",
                    *format_table(table.columns, table.rows),
                    "",
                ]
        lines += [
            "## Every level",
            "",
            "Mean r over all universes with a level:",
            "",
            *format_table(self.level_table.columns, self.level_table.rows),
        ]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot the five answers, one column of panels per dataset."""
        count = len(self.universes)
        _, cells = create_figure(3.2 * count, 16, columns=count, rows=len(_PLOTS))
        cells = cells.reshape(len(_PLOTS), count)
        for panels, each in zip(cells.T, self.universes, strict=True):
            for ax, plot in zip(panels, _PLOTS, strict=True):
                plot(ax, each)
                ax.spines[["top", "right"]].set_visible(False)
            reached = _format_share(each.chances[..., 0].mean())
            title = f"{TITLES[each.name]}\n{reached} of draws of {SMALL_TEST}\nreach the value of the paper"
            panels[0].set_title(title, fontsize=10)
        for row in cells:
            row[0].legend(frameon=False, fontsize=8)
            for ax in row[1:]:
                ax.set_ylabel("")
        axes: Axes = cells[0, 0]
        return axes


_SLANTED: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}  # text of ticks


def _plot_draws(ax: Axes, each: Universes) -> None:
    """Plot r of igt+cpt in all universes, sorted, and the share of draws that reach the value of the paper."""
    for test, style in zip(TESTS, (":", "-"), strict=True):
        for method in (MEMORY, "igt+cpt"):
            values = np.sort(each.select(each.get_improvement(method), **{"test set": test}).ravel())
            label = f"{method}, {'all' if test == 'all' else test} test choices"
            ax.plot(np.linspace(0, 1, len(values)), values, style, color=get_color(method), label=label)
    value, error = TABLE2[each.name]["igt+cpt"]
    ax.axhspan(value - error, value + error, color=COLORS["paper"], alpha=0.15, linewidth=0)
    ax.axhline(value, color=COLORS["paper"], label="igt+cpt of the paper")
    ax.axhline(0, color=COLORS["muted"], linewidth=0.8)
    ax.yaxis.set_major_formatter(_format_tick)
    ax.set(xlabel="universes, sorted", ylabel="r over PageRank")


def _plot_shares(ax: Axes, each: Universes) -> None:
    """Plot the shares of variance that each choice explains."""
    shares = sorted(each.shares.items(), key=lambda share: share[1].total)
    places = range(len(shares))
    ax.barh(places, [share.total for _, share in shares], color=COLORS["random"], label="with interactions")
    ax.barh(places, [share.main for _, share in shares], color=COLORS["igt"], label="alone")
    ax.set_yticks(places, [name for name, _ in shares])
    ax.set_xlabel("share of the variance of r")


def _plot_controls(ax: Axes, each: Universes) -> None:
    """Plot the share of universes in which igt+cpt is above each control."""
    places = np.arange(len(CONTROLS))
    for test, shift, color in (("all", -0.2, "mixture"), (TESTS[0], 0.2, "random")):
        values = [each.compare(control, test).above for control in CONTROLS]
        label = "all test choices" if test == "all" else f"{test} test choices"
        ax.bar(places + shift, values, 0.4, color=COLORS[color], label=label)
    ax.axhline(0.5, color=COLORS["text"], linewidth=0.8, linestyle=":")
    ax.set_xticks(places, [_TITLES.get(control, control) for control in CONTROLS], **_SLANTED)
    ax.set(ylim=(0, 1.02), ylabel="share of universes: igt+cpt above")


def _plot_excess(ax: Axes, each: Universes) -> None:
    """Plot by how much igt+cpt exceeds the sum of igt and cpt."""
    paper = TABLE2[each.name]
    ax.hist(100 * each.excess.ravel(), bins=40, color=COLORS["mixture"], label="universes")
    ax.axvline(0, color=COLORS["text"], linewidth=0.8)
    published = 100 * (paper["igt+cpt"][0] - paper["igt"][0] - paper["cpt"][0])
    ax.axvline(published, color=COLORS["paper"], linestyle="--", label="paper")
    ax.set(xlabel="r(igt+cpt) - r(igt) - r(cpt), %", ylabel="universes")


def _plot_seeds(ax: Axes, each: Universes) -> None:
    """Plot r of every seed in the protocol of our Table 2, with the value of the paper."""
    methods = METHODS[1:]
    for shift, kind, marker in ((-0.12, KINDS[0], "o"), (0.12, KINDS[1], "s")):
        for place, method in enumerate(methods):
            values = each.get_base(method, kind)
            label = f"{kind} walkers" if place == 0 else None
            x = np.full(len(values), place + shift)
            ax.plot(x, values, marker, color=get_color(method), markersize=4, fillstyle="none", label=label)
    for place, method in enumerate(THEORIES):
        value, error = TABLE2[each.name][method]
        label = "paper" if place == 0 else None
        ax.errorbar(place + 0.32, value, error, fmt="D", color=COLORS["paper"], markersize=4, capsize=2, label=label)
    ax.axhline(0, color=COLORS["muted"], linewidth=0.8)
    ax.yaxis.set_major_formatter(_format_tick)
    ax.set_xticks(range(len(methods)), [_TITLES.get(method, method) for method in methods], **_SLANTED)
    ax.set_ylabel("r over PageRank, one mark per seed")
    ax.margins(y=0.2)  # leaves room for the legend


_PLOTS = (_plot_draws, _plot_shares, _plot_controls, _plot_excess, _plot_seeds)


def _format_tick(value: float, _: Any) -> str:
    return f"{value:+.0%}"


def _format_share(share: Any) -> str:
    """Format a share; small ones with a decimal."""
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def _format_spread(values: Float64) -> str:
    """Format a mean with the standard deviation."""
    return f"{values.mean():+.1%} ± {values.std(ddof=min(1, len(values) - 1)):.1%}"


def _format_rank(values: Float64) -> str:
    """Format a mean percentile rank with the standard deviation."""
    return f"{values.mean():.3f} ± {values.std(ddof=min(1, len(values) - 1)):.3f}"


def _list_events(paper: Mapping[str, tuple[float, float]]) -> list[tuple[str, str]]:
    """Return the first four of `CHANCES` with a description."""
    both, igt = f"igt+cpt {paper['igt+cpt'][0]:+.1%} or more", f"igt {paper['igt'][0]:+.1%} or less"
    return list(zip(CHANCES, (both, igt, "both of these", "igt+cpt above igt and cpt together"), strict=False))


def _describe_sizes(each: Universes) -> str:
    bounds = {**each.sizes, "test": [int(each.tested.min()), int(each.tested.max())]}
    texts = {name: "{:,} to {:,}".format(*low_high) for name, low_high in bounds.items()}
    return (
        f"{TITLES[each.name]}: {each.ranks[..., 0].size:,} universes; graphs of {texts['nodes']} nodes and "
        f"{texts['links']} links; {texts['training']} training choices and {texts['test']} test choices, "
        f"fewer than {SMALL_TEST} in {_format_share(np.mean(each.tested < SMALL_TEST))} of universes."
    )


# ---- computation ----------------------------------------------------------------------------------------------------


def list_worlds(dataset: Dataset, seeds: Sequence[int]) -> tuple[dict[str, list[str]], list[World]]:
    """Return the factors of the graph and the seed, and all their combinations."""
    recipe = get_recipe(dataset.name, "highest")
    numbers = [str(seed) for seed in seeds]
    if dataset.graph is not None:
        factors = {"links": ["directed", "undirected"], "seed": numbers}
        return factors, [World(recipe, directed, seed) for directed, seed in product((True, False), seeds)]
    pairs: tuple[Keep, ...] = ("highest", "nearest")
    similarities: tuple[Similarity, ...] = ("cosine", "pmi")
    factors = {
        "pairs": list(pairs),
        "similarity": list(similarities),
        "mean degree": list(map(str, DEGREES)),
        "seed": numbers,
    }
    worlds = [
        World(replace(recipe, keep=keep, similarity=similarity, mean_degree=degree), True, seed)
        for keep, similarity, degree, seed in product(pairs, similarities, DEGREES, seeds)
    ]
    return factors, worlds


def run(
    settings: Settings,
    folder: PathLike | None = None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> Multiverse:
    """Compute all universes of each dataset; with a run folder, finished graphs are kept there."""
    datasets = [load_dataset(name, folder) for name in settings.datasets]
    with engine.connect():
        return Multiverse(settings, [run_dataset(dataset, settings, engine, progress) for dataset in datasets])


def run_dataset(
    dataset: Dataset, settings: Settings, engine: Engine = IN_PROCESS, progress: Progress = no_progress
) -> Universes:
    """Compute all universes of a dataset as a job, one task per graph and seed."""
    walks, effort = dataset.walks, settings.effort
    factors, worlds = list_worlds(dataset, range(settings.seed, settings.seed + settings.seeds))
    job = Job(
        name=f"universes-{dataset.name}",
        function=compute_universes,
        shared=(replace(dataset, titles={}, texts={}), TABLE2[dataset.name], effort),
        tasks=worlds,
        key=lambda: {
            "walks": hash_values(walks.nodes, walks.offsets, walks.users),
            "graph": dataset.graph and hash_graph(dataset.graph),
            "worlds": [[asdict(world.recipe), world.directed, world.seed] for world in worlds],
            "agents": [
                fingerprint("agent", as_agent(f"{reward}-{family}")) for reward, family in product(REWARDS, FAMILIES)
            ],
            "effort": asdict(effort),
        },
        describe_task=lambda world: f"{dataset.name}, {world}",
        unit="graphs",
        fix="draw fewer choices (Effort)",
    )
    results = run_job(job, engine, progress)
    factors |= {
        "burn-in": list(map(str, BURN_INS)), "candidates": list(SCOPES), "runs": list(RUNS), "signs": list(SIGNS),
        "walkers": list(KINDS), "test set": list(TESTS),
    }  # fmt: skip
    shape = [len(levels) for levels in factors.values()]
    sizes = np.stack([result["sizes"] for result in results])
    bounds = {name: [result[name] for result in results] for name in ("nodes", "links")}
    bounds["training"] = sizes[..., 0].ravel().tolist()
    return Universes(
        name=dataset.name,
        factors=factors,
        ranks=np.rint(np.stack([result["ranks"] for result in results]) / UNIT).reshape(*shape, -1) * UNIT,
        chances=np.rint(np.stack([result["chances"] for result in results]) / UNIT).reshape(*shape[:-1], -1) * UNIT,
        tested=sizes[..., 1].reshape(shape[:-3]).astype(np.float64),
        sizes={name: [min(values), max(values)] for name, values in bounds.items()},
    )
