"""Shares of the attainable return on real networks, by agents that have not been trained on them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from curiograph.agents.evaluate import draw_starts
from curiograph.agents.pretrained import shipped_agents
from curiograph.agents.registry import as_agent
from curiograph.exploration.mdp import begin, list_starts
from curiograph.files import PathLike
from curiograph.paper.comparison import REWARDS, TITLES, compute_ratio_of_means
from curiograph.paper.experiment import Experiment, Table, format_percent, format_table
from curiograph.paper.networks import list_networks, read_network, require_networks
from curiograph.paper.timing import time_decisions
from curiograph.plotting import create_figure, get_color
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REFERENCE = "beam:64"
"""Agent whose return is the attainable one, and whose time is the unit of times."""
AGENTS = ("greedy", "horizon", "planner", "planner:4")
"""Agents whose shares are computed, in the order of the table."""
PORTFOLIO = ("greedy", "planner:4", "beam:8")
"""Agents that all plan every walk, of which the best walk is kept: a simple safeguard, at the cost of all of them."""
TOLERANCE = 0.02
"""An agent counts as below greedy if its share is lower by more than this."""


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    episodes: int = 50
    """Walks on each network."""
    steps: int = 10
    """Nodes per walk, including the start."""
    repeats: int = 3
    """Number of time measurements, of which the median is taken."""
    seed: int = 0
    """Seed of starts and ties."""


@dataclass(frozen=True)
class NetworkResult:
    """Results for one reward on one network."""

    reward: str
    """Name of the reward."""
    network: str
    """Name of the network."""
    nodes: int
    """Number of nodes of the network."""
    means: dict[str, float]
    """Mean return by agent, with `random` and the reference."""
    shares: dict[str, float]
    """(agent - random) / (beam:64 - random) by agent."""
    errors: dict[str, float]
    """Standard error of each share over starts."""
    microseconds: dict[str, float]
    """CPU time per decision on one core by agent, with the reference."""

    def compute_relative_time(self, agent: str) -> float:
        """Return the time per decision of an agent relative to that of the reference."""
        return self.microseconds[agent] / self.microseconds[REFERENCE]

    def is_below_greedy(self, agent: str) -> bool:
        """Return whether the share of an agent is below that of greedy by more than the tolerance."""
        return self.shares[agent] < self.shares["greedy"] - TOLERANCE


@dataclass(frozen=True)
class RealNetworks(Experiment):
    """Shares of the attainable return on real networks."""

    name = "real"

    settings: Settings
    """Settings of the run."""
    results: list[NetworkResult]
    """Results by reward and network."""

    @property
    def agents(self) -> list[str]:
        """Agents that were evaluated."""
        return list(self.results[0].shares)

    def select(self, reward: str) -> list[NetworkResult]:
        """Return the results for one reward."""
        return [result for result in self.results if result.reward == reward]

    def summarize(self, reward: str, agent: str) -> dict[str, Any]:
        """Return mean and lowest share, relative time, and the networks on which an agent is below greedy."""
        known = [result for result in self.select(reward) if not math.isnan(result.shares[agent])]
        if not known:
            return {"mean": math.nan, "lowest": math.nan, "lowest_on": "-", "time": math.nan, "below_greedy": []}
        worst = min(known, key=lambda result: result.shares[agent])
        return {
            "mean": float(np.mean([result.shares[agent] for result in known])),
            "lowest": worst.shares[agent],
            "lowest_on": worst.network,
            "time": float(np.mean([result.compute_relative_time(agent) for result in self.select(reward)])),
            "below_greedy": [result.network for result in known if result.is_below_greedy(agent)],
        }

    @property
    def summary(self) -> Table:
        """Mean and lowest share, time and the number of networks below greedy, by reward and agent."""
        rows = []
        for reward in REWARDS:
            for agent in self.agents:
                found = self.summarize(reward, agent)
                rows.append(
                    [
                        reward,
                        agent,
                        format_percent(found["mean"]),
                        f"{format_percent(found['lowest'])} ({found['lowest_on']})",
                        format_percent(found["time"]),
                        len(found["below_greedy"]),
                    ]
                )
        columns = ["reward", "agent", "mean share", "lowest share", f"time / {REFERENCE}'s", "networks below greedy"]
        return Table(f"Share of {REFERENCE} on {len(self.select(REWARDS[0]))} real networks", columns, rows)

    @property
    def table(self) -> Table:
        """Shares on each network."""
        rows = [
            [
                result.reward,
                result.network,
                f"{result.nodes:,}",
                *(format_percent(result.shares[agent], result.errors[agent]) for agent in self.agents),
                f"{result.means[REFERENCE]:.2f} at {result.microseconds[REFERENCE]:,.0f} us",
            ]
            for result in self.results
        ]
        return Table("Shares by network", ["reward", "network", "nodes", *self.agents, f"{REFERENCE}, return"], rows)

    @property
    def sections(self) -> list[Table | str]:
        return [self.summary, self.table]

    @property
    def remarks(self) -> list[str]:
        sentences = []
        for agent in self.agents[1:]:
            below = [
                f"{reward} {network}" for reward in REWARDS for network in self.summarize(reward, agent)["below_greedy"]
            ]
            found = f"below greedy by more than {100 * TOLERANCE:.0f} points on {len(below)} of {len(self.results)}"
            sentences.append(f"{agent} is {found}" + (f": {', '.join(below)}." if below else "."))
        missing = [agent for agent in AGENTS if agent not in self.agents]
        if missing:
            sentences.append(f"Left out, no such agent is shipped for both rewards: {', '.join(missing)}.")
        return sentences

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "reference": REFERENCE,
            "summary": {reward: {agent: self.summarize(reward, agent) for agent in self.agents} for reward in REWARDS},
            "remarks": self.remarks,
            "results": [asdict(result) for result in self.results],
        }

    def to_markdown(self) -> str:
        settings = self.settings
        lines = [
            f"Share of the attainable return, (agent - random) / ({REFERENCE} - random), of {settings.steps}-node "
            f"walks from {settings.episodes} starts on each network, ± standard error over starts. No agent was "
            f"trained on these networks. Times are CPU times per decision on one core, relative to {REFERENCE}, the "
            f"median of {settings.repeats} runs with all agents in turns. An agent is below greedy if its share is "
            f"lower by more than {100 * TOLERANCE:.0f} points. portfolio: the best of the walks of "
            f"{', '.join(PORTFOLIO)}, at the time of all of them.",
            *(line for remark in self.remarks for line in ("", remark)),
        ]
        for table in (self.summary, self.table):
            lines += ["", f"{table.title}:", "", *format_table(table.columns, table.rows)]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot the share of every agent on every network, one panel for each reward."""
        figure, panels = create_figure(9.0, 1.2 + 0.28 * len(self.select(REWARDS[0])), columns=len(REWARDS))
        markers = dict(zip(self.agents, "sovD^", strict=False))
        for panel, reward in zip(panels, REWARDS, strict=True):
            results = self.select(reward)
            for agent in self.agents:
                panel.plot(
                    [result.shares[agent] for result in results],
                    range(len(results)),
                    markers[agent],
                    color=get_color(agent),
                    markerfacecolor="none" if ":" in agent else get_color(agent),
                    markersize=6,
                    label=agent,
                )
            panel.axvline(1.0, color=get_color("beam"), linewidth=0.8, linestyle="--")
            panel.set_yticks(range(len(results)), [result.network for result in results])
            panel.invert_yaxis()
            panel.set_xlabel(f"share of {REFERENCE}")
            panel.set_title(TITLES[reward], fontsize=10)
            panel.spines[["top", "right"]].set_visible(False)
        panels[1].tick_params(labelleft=False)  # the same networks
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        axes: Axes = panels[0]
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        results = [
            NetworkResult(
                **{
                    **result,
                    **{
                        key: {agent: math.nan if value is None else value for agent, value in result[key].items()}
                        for key in ("shares", "errors")
                    },
                }
            )
            for result in document["results"]
        ]
        return cls(Settings(**document["settings"]), results)


def run(settings: Settings, data: PathLike | None = None, progress: Progress = no_progress) -> RealNetworks:
    """Evaluate and time all agents on every network of the folder.

    Parameters
    ----------
    settings : Settings
        Amount of work.
    data : str or path, optional
        Folder of edge lists, or folder of datasets with the subfolder real-networks; default CURIOGRAPH_DATA.
    progress : callable
        Called with a message and the completed share.
    """
    networks = list_networks(require_networks(data))
    agents = _find_agents()
    results: list[NetworkResult] = []
    for reward in REWARDS:
        for name, path in networks.items():
            progress(f"{reward} on {name}", len(results) / (len(networks) * len(REWARDS)))
            results.append(_evaluate_network(settings, reward, name, path, agents))
    return RealNetworks(settings, results)


def _find_agents() -> list[str]:
    """Return the agents that are shipped for both rewards."""
    shipped = shipped_agents()
    return [
        agent
        for agent in AGENTS
        if agent == "greedy" or all(f"{reward}-all-{agent.partition(':')[0]}" in shipped for reward in REWARDS)
    ]


def _evaluate_network(settings: Settings, reward: str, name: str, path: Path, agents: list[str]) -> NetworkResult:
    graph = read_network(path)
    starts = draw_starts(list_starts(graph, "frontier"), settings.episodes, settings.seed)
    walks = begin([graph], [starts], reward, settings.steps, seed=settings.seed)
    run_agents = list(dict.fromkeys(("random", *agents, *PORTFOLIO, REFERENCE)))
    timed = time_decisions({agent: as_agent(agent) for agent in run_agents}, walks, settings.repeats)
    returns = {agent: found.walks.returns for agent, found in timed.items()}
    seconds = {agent: found.seconds for agent, found in timed.items()}
    returns["portfolio"] = np.max([returns[agent] for agent in PORTFOLIO], axis=0)
    seconds["portfolio"] = sum(seconds[agent] for agent in PORTFOLIO)
    attainable = returns[REFERENCE] - returns["random"]
    shown = [*agents, "portfolio"]
    shares = {agent: compute_ratio_of_means(returns[agent] - returns["random"], attainable) for agent in shown}
    return NetworkResult(
        reward=reward,
        network=name,
        nodes=graph.num_nodes,
        means={agent: float(returns[agent].mean()) for agent in ("random", *shown, REFERENCE)},
        shares={agent: share for agent, (share, _) in shares.items()},
        errors={agent: error for agent, (_, error) in shares.items()},
        microseconds={agent: 1e6 * seconds[agent] for agent in ("random", *shown, REFERENCE)},
    )
