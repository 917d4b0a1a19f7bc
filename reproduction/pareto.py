"""Mean return against CPU time per decision: learned agents and plain beam search."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from curiograph.agents.evaluate import draw_starts
from curiograph.agents.pretrained import shipped_agents
from curiograph.agents.registry import as_agent
from curiograph.arrays import Float64
from curiograph.exploration.mdp import begin, list_starts
from curiograph.files import PathLike, as_path
from curiograph.graph.generators import FAMILIES, generate_split
from curiograph.graph.graph import Graph
from curiograph.graph.splits import read_split
from curiograph.human.data.load import find_dataset, load_dataset
from curiograph.paper.comparison import REWARDS, TITLES, compute_mean_and_error
from curiograph.paper.experiment import Experiment, Table, format_number, format_table
from curiograph.paper.networks import find_networks, list_networks, read_network
from curiograph.paper.timing import time_decisions
from curiograph.plotting import COLORS, create_figure
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN_WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Default widths of plain beams."""
PLANNER_WIDTHS = (1, 2, 4, 8, 16, 32, 64)
"""Default widths of planners."""
CELL_BUDGETS = (50, 100, 200, 400)
"""Microseconds per decision at which agents are compared on the published families."""
REAL_BUDGETS = (100, 300, 1000)
"""Microseconds per decision at which agents are compared on real networks."""
ABOVE, LEVEL, BELOW, NONE = VERDICTS = ("above", "level", "below", "-")
"""Verdicts on the learned agent; a dash if no agent is within the budget."""
_LEVEL_SHARE = 0.99  # "level" requires a plain beam with at least this share of the widest one's return
_ENVIRONMENTS = "paper-environments"
_TICKS = (3, 10, 30, 100, 300, 1000, 3000)  # microseconds, in the figure


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    plain_widths: tuple[int, ...] = PLAIN_WIDTHS
    """Widths of plain beams."""
    planner_widths: tuple[int, ...] = PLANNER_WIDTHS
    """Widths of planners."""
    graphs: int = 10
    """Number of generated test graphs per family, if the published ones are not available."""
    episodes: int = 20
    """Walks per graph of a family."""
    real_episodes: int = 30
    """Walks on each real network."""
    steps: int = 10
    """Nodes per walk, including the start."""
    repeats: int = 3
    """Number of time measurements, of which the median is taken."""
    real: bool = True
    """Whether real networks are included if their folder is found."""
    seed: int = 0
    """Seed of generated graphs and of the walks."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """Returns and time of one agent."""

    learned: bool
    """Whether the agent is learned; otherwise it is a plain beam."""
    microseconds: float
    """CPU time per decision."""
    returns: Float64
    """Mean return on each graph, or the return from each start if there is a single graph."""

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(self.returns.mean())

    @property
    def error(self) -> float:
        """Standard error of the mean return, over graphs or, on a single graph, over starts."""
        return compute_mean_and_error(self.returns)[1]


@dataclass(frozen=True)
class Comparison:
    """The best learned agent and the best plain beam of at most a given cost."""

    budget: int
    """Maximum time per decision in microseconds."""
    learned: str
    """Name of the learned agent; empty if none is fast enough."""
    plain: str
    """Name of the plain beam; empty if none is fast enough."""
    difference: float
    """Mean return of the learned agent minus that of the plain beam."""
    error: float
    """Standard error of the difference from the same starts."""
    verdict: str
    """One of `VERDICTS`."""


@dataclass(frozen=True, eq=False)
class Front:
    """Measurements of all agents on the same walks."""

    reward: str
    """Name of the reward."""
    graphs: str
    """Family in lower case, or name of the network."""
    real: bool
    """Whether this is a real network."""
    measurements: dict[str, Measurement]
    """Measurements by agent."""

    @property
    def budgets(self) -> tuple[int, ...]:
        """Budgets at which agents are compared."""
        return REAL_BUDGETS if self.real else CELL_BUDGETS

    def find_best(self, learned: bool, budget: float = math.inf) -> str | None:
        """Return the agent with the highest mean return whose measured time is at most the budget; None if none is."""
        names = [name for name, m in self.measurements.items() if m.learned == learned and m.microseconds <= budget]
        return max(names, key=lambda name: self.measurements[name].mean, default=None)

    def compare(self, budget: int) -> Comparison:
        """Compare the best learned agent with the best plain beam of at most this cost.

        `above`: the learned agent has the higher mean return, or no plain beam is fast enough. `level`: it has not, but
        the difference is within its standard error and the plain beam has 99 % of the return of the widest one.
        """
        learned, plain = self.find_best(True, budget), self.find_best(False, budget)
        if learned is None or plain is None:
            verdict = NONE if learned == plain else ABOVE if plain is None else BELOW
            return Comparison(budget, learned or "", plain or "", math.nan, math.nan, verdict)
        best, rival = self.measurements[learned], self.measurements[plain]
        difference, error = compute_mean_and_error(best.returns - rival.returns)
        widest = self.measurements[self.widest_beam].mean
        saturated = rival.mean >= _LEVEL_SHARE * widest
        within = abs(difference) <= (0.0 if math.isnan(error) else error)
        verdict = ABOVE if difference > 0 else LEVEL if saturated and within else BELOW
        return Comparison(budget, learned, plain, difference, error, verdict)

    @property
    def widest_beam(self) -> str:
        """Name of the widest plain beam."""
        names = [name for name, measurement in self.measurements.items() if not measurement.learned]
        return max(names, key=_get_width)

    @property
    def comparisons(self) -> list[Comparison]:
        """Comparisons at all budgets."""
        return [self.compare(budget) for budget in self.budgets]


@dataclass(frozen=True)
class Pareto(Experiment):
    """Returns and times of learned agents and plain beams."""

    name = "pareto"

    settings: Settings
    """Settings of the run."""
    source: str
    """Origin of the test graphs of the families."""
    fronts: list[Front]
    """Measurements by reward and graphs."""

    def count_verdicts(self, real: bool) -> dict[str, int]:
        """Return how often each verdict occurs on families, or on real networks."""
        found = [each.verdict for front in self.fronts if front.real == real for each in front.comparisons]
        return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found or verdict != NONE}

    def get_table(self, real: bool) -> Table:
        """Return the comparisons on families, or on real networks."""
        rows = []
        for front in self.fronts:
            if front.real == real:
                cells = [_format_comparison(front, each) for each in front.comparisons]
                widest = front.measurements[front.widest_beam]
                title = front.graphs if real else front.graphs.upper()
                text = f"{format_number(widest.mean)} at {widest.microseconds:,.0f}"
                rows.append([front.reward, title, *cells, text])
        budgets = REAL_BUDGETS if real else CELL_BUDGETS
        widest_name = next((front.widest_beam for front in self.fronts if front.real == real), "beam")
        columns = ["reward", "graphs", *(f"{budget:,} us" for budget in budgets), f"{widest_name}, return at us"]
        return Table("Real networks" if real else "Published families", columns, rows)

    @property
    def _has_real(self) -> bool:
        return any(front.real for front in self.fronts)

    @property
    def sections(self) -> list[Table | str]:
        return [self.get_table(False), *([self.get_table(True)] if self._has_real else [])]

    @property
    def remarks(self) -> list[str]:
        sentences = []
        for real, title in ((False, "Published families"), (True, "Real networks")):
            counts = self.count_verdicts(real)
            total = sum(counts.values())
            if total:
                parts = ", ".join(f"{verdict} in {count}" for verdict, count in counts.items() if verdict != NONE)
                text = f"{title}: the best learned agent is {parts} of {total} comparisons with the best plain beam"
                sentences.append(text + (f" ({counts[NONE]} without an agent)." if counts.get(NONE) else "."))
        if not self._has_real and self.settings.real:
            sentences.append("Real networks are left out: set CURIOGRAPH_DATA to a folder with real-networks.")
        if not any(m.learned for front in self.fronts for m in front.measurements.values()):
            sentences.append("No learned agent is shipped for these rewards, so there is nothing to compare.")
        return sentences

    def to_dict(self) -> dict[str, Any]:
        fronts = []
        for front in self.fronts:
            measurements = {
                name: {
                    "learned": m.learned,
                    "microseconds": m.microseconds,
                    "mean": m.mean,
                    "error": m.error,
                    "returns": m.returns.tolist(),
                }
                for name, m in front.measurements.items()
            }
            fronts.append(
                {
                    "reward": front.reward,
                    "graphs": front.graphs,
                    "real": front.real,
                    "measurements": measurements,
                    "comparisons": [asdict(each) for each in front.comparisons],
                }
            )
        return {
            "settings": asdict(self.settings),
            "source": self.source,
            "counts": {"families": self.count_verdicts(False), "real": self.count_verdicts(True)},
            "remarks": self.remarks,
            "fronts": fronts,
        }

    def to_markdown(self) -> str:
        settings = self.settings
        lines = [
            "Best learned agent against best plain beam of at most the given CPU time per decision on one core: mean "
            "return of the learned agent, its difference to the plain beam ± standard error, and the verdict. Walks "
            f"of {settings.steps} nodes; families: {self.source}, {settings.episodes} walks per graph"
            + (f"; real networks: {settings.real_episodes} walks each" if self._has_real else "")
            + ". Nothing is interpolated: an agent counts from its measured time on. **Above**: higher mean return. "
            "**Level**: not higher, but within the standard error of the difference (over graphs; on one network over "
            "starts), where the plain beam has 99 % of the return of the widest one. Times are the median of "
            f"{settings.repeats} runs of all walks, with all agents in turns. Learned: `planner:WIDTH` (trained on "
            "many kinds of graphs), `special:WIDTH` (planner trained on the family), `horizon` and `gnn`.",
            *(line for remark in self.remarks for line in ("", remark)),
        ]
        for table in (section for section in self.sections if isinstance(section, Table)):
            lines += ["", f"{table.title}:", "", *format_table(table.columns, table.rows)]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot return against time, one panel for each reward and family."""
        figure, panels = create_figure(9.0, 9.6, columns=len(REWARDS), rows=len(FAMILIES))
        handles: dict[str, Any] = {}
        times = [m.microseconds for front in self.fronts if not front.real for m in front.measurements.values()]
        for column, reward in zip(panels.T, REWARDS, strict=True):
            for panel, (family, model) in zip(column, FAMILIES.items(), strict=True):
                front = next((f for f in self.fronts if (f.reward, f.graphs, f.real) == (reward, family, False)), None)
                panel.set_title(f"{reward}, {model.title}", fontsize=10)
                panel.set_xscale("log")
                panel.minorticks_off()
                panel.set_xticks(_TICKS, [f"{tick:,}" for tick in _TICKS])
                panel.set_xlim(0.8 * min(times), 1.25 * max(times))
                panel.spines[["top", "right"]].set_visible(False)
                if front is not None:
                    handles |= _plot_front(front, panel)
                panel.set_ylabel(f"{TITLES[reward]}\nmean return", fontsize=9)
        for panel in panels[-1]:
            panel.set_xlabel("microseconds per decision, one core")
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2, frameon=False)
        axes: Axes = panels[0][0]
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        fronts = [
            Front(
                reward=front["reward"],
                graphs=front["graphs"],
                real=front["real"],
                measurements={
                    name: Measurement(m["learned"], m["microseconds"], np.asarray(m["returns"], np.float64))
                    for name, m in front["measurements"].items()
                },
            )
            for front in document["fronts"]
        ]
        return cls(Settings(**document["settings"]), document["source"], fronts)


_SERIES = {
    "plain beam": ("beam", "D", "--"),
    "planner, trained on many kinds of graphs": ("planner", "o", "-"),
    "planner, trained on the family": ("planner", "^", ":"),
    "horizon and gnn": ("planner", "s", ""),
}
"""Color, marker and line style of each series of the figure; all learned agents have one color."""


def _find_series(name: str, learned: bool) -> str:
    kinds = {"planner": 1, "special": 2}
    return list(_SERIES)[kinds.get(name.partition(":")[0], 3) if learned else 0]


def _plot_front(front: Front, panel: Axes) -> dict[str, Any]:
    """Plot the measurements with error bars, and return the artist of each series."""
    drawn: dict[str, Any] = {}
    for series, (color, marker, line) in _SERIES.items():
        chosen = sorted(
            (m for name, m in front.measurements.items() if _find_series(name, m.learned) == series),
            key=lambda m: m.microseconds,
        )
        if chosen:
            drawn[series] = panel.errorbar(
                [m.microseconds for m in chosen],
                [m.mean for m in chosen],
                yerr=[0.0 if math.isnan(m.error) else m.error for m in chosen],
                color=COLORS[color],
                marker=marker,
                markersize=4,
                linestyle=line,
                linewidth=1.2,
                elinewidth=0.8,
                markerfacecolor=COLORS[color] if marker != "^" else "white",
            )
    return drawn


def _get_width(name: str) -> int:
    return int(name.partition(":")[2] or 0)


def _format_comparison(front: Front, found: Comparison) -> str:
    if found.verdict == NONE:
        return "-"
    if not found.learned:
        return f"{BELOW} (no learned agent)"
    text = f"{format_number(front.measurements[found.learned].mean)} {found.learned}"
    if found.plain:
        text += f", {found.difference:+.2f} ± {format_number(found.error)} to {found.plain}"
    return f"{text}: {found.verdict}"


def run(settings: Settings, data: PathLike | None = None, progress: Progress = no_progress) -> Pareto:
    """Measure all agents on the families, and on real networks if their folder is found.

    Parameters
    ----------
    settings : Settings
        Amount of work.
    data : str or path, optional
        Folder of datasets with paper-environments, real-networks and wikispeedia; default CURIOGRAPH_DATA.
    progress : callable
        Called with a message and the completed share.
    """
    families, source = _load_families(settings, data)
    works: list[tuple[str, bool, list[Graph]]] = [(family, False, graphs) for family, graphs in families.items()]
    if settings.real:
        works += [(name, True, [graph]) for name, graph in _load_real_networks(data).items()]
    total = len(works) * len(REWARDS)
    fronts: list[Front] = []
    for reward in REWARDS:
        for name, real, graphs in works:
            progress(f"{reward} on {name}", len(fronts) / total)
            fronts.append(_measure_front(settings, reward, name, graphs, real))
    return Pareto(settings, source, fronts)


def _load_families(settings: Settings, data: PathLike | None) -> tuple[dict[str, list[Graph]], str]:
    """Read the published test graphs, or generate graphs; return them by family, and their origin."""
    root = os.environ.get("CURIOGRAPH_DATA") if data is None else as_path(data)
    files = {family: Path(root or "", _ENVIRONMENTS, f"synthetic_{family.upper()}_small.json") for family in FAMILIES}
    if root and all(path.is_file() for path in files.values()):
        return {family: read_split(path).test for family, path in files.items()}, "published test graphs"
    graphs = {
        family: generate_split(family, train=0, val=0, test=settings.graphs, seed=settings.seed).test
        for family in FAMILIES
    }
    return graphs, f"{settings.graphs} generated test graphs of 50 nodes each, seed {settings.seed}"


def _load_real_networks(data: PathLike | None) -> dict[str, Graph]:
    """Read the real networks and the graph of Wikispeedia, as far as they are available."""
    has_networks = data is None or as_path(data).is_dir()
    folder = find_networks(data) if has_networks else None
    graphs = {} if folder is None else {name: read_network(path) for name, path in list_networks(folder).items()}
    if find_dataset("wikispeedia", data) is not None:
        wikispeedia = load_dataset("wikispeedia", data).graph
        if wikispeedia is not None:
            graphs["wikispeedia"] = wikispeedia
    return graphs


def _list_agents(settings: Settings, reward: str, graphs: str, real: bool) -> dict[str, tuple[str, bool]]:
    """Return the name of each agent, and whether it is learned, by its name in the results."""
    shipped = set(shipped_agents())
    agents: dict[str, tuple[str, bool]] = {}
    for width in settings.plain_widths:
        agents[f"beam:{width}"] = (f"beam:{width}", False)
    if f"{reward}-all-planner" in shipped:
        agents |= {f"planner:{width}": (f"planner:{width}", True) for width in settings.planner_widths}
    if f"{reward}-all-horizon" in shipped:
        agents["horizon"] = ("horizon", True)
    if not real:
        special = f"{reward}-{graphs}-planner"
        if special in shipped:
            agents |= {f"special:{width}": (f"{special}:{width}", True) for width in settings.planner_widths}
        if f"{reward}-{graphs}-horizon" in shipped:
            agents["special horizon"] = (f"{reward}-{graphs}-horizon", True)
        if f"{reward}-{graphs}" in shipped:
            agents["gnn"] = (f"{reward}-{graphs}", True)
    return agents


def _measure_front(settings: Settings, reward: str, name: str, graphs: Sequence[Graph], real: bool) -> Front:
    """Run and time all agents on the same walks."""
    episodes = settings.real_episodes if real else settings.episodes
    starts = [
        draw_starts(list_starts(graph, "frontier"), episodes, settings.seed, number)
        for number, graph in enumerate(graphs)
    ]
    walks = begin(graphs, starts, reward, settings.steps, seed=settings.seed)
    agents: Mapping[str, tuple[str, bool]] = _list_agents(settings, reward, name, real)
    budgets = REAL_BUDGETS if real else CELL_BUDGETS
    timed = time_decisions(
        {key: as_agent(agent) for key, (agent, _) in agents.items()}, walks, settings.repeats, 2e-6 * max(budgets)
    )
    measurements = {}
    for key, (_, learned) in agents.items():
        returns = timed[key].walks.returns
        if len(graphs) > 1:
            returns = returns.reshape(len(graphs), episodes).mean(axis=1)
        measurements[key] = Measurement(learned, 1e6 * timed[key].seconds, returns)
    return Front(reward=reward, graphs=name, real=real, measurements=measurements)
