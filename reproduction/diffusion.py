"""Figure 4C: distance of unbiased and curious walkers from their start, on the graphs of the three datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from curiograph.centrality.walk_statistics import UNBIASED, WalkComparison, WalkStatistics, walk_statistics
from curiograph.files import PathLike
from curiograph.human.prediction.components import REWARDS
from curiograph.human.prediction.predict import Effort
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.people import TITLES, Settings, prepare_predictions
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = {
    UNBIASED: ("pagerank", "-"),
    "igt": ("igt", "-"),
    "cpt": ("cpt", "-"),
    "greedy igt": ("igt", ":"),
    "greedy cpt": ("cpt", ":"),
}  # color and line style of each kind of walkers


@dataclass(frozen=True)
class Walking:
    """Settings of the walkers."""

    walks: int = 400
    """Number of walkers of each kind."""
    steps: int = 20
    """Nodes per walk, including the start."""
    p_g: float = 0.5
    """Parameter of the rank transition: 0 takes the agent's best candidate, 1 any candidate."""


@dataclass(frozen=True)
class Diffusion(Experiment):
    """Walk statistics by dataset, for unbiased walkers and trained and greedy ones of both rewards."""

    name = "diffusion"

    settings: Settings
    """Datasets, effort and seed."""
    walking: Walking
    """Settings of the walkers."""
    walkers: Mapping[str, WalkComparison]
    """Statistics of all kinds of walkers by dataset."""

    @property
    def table(self) -> Table:
        """Distance from the start after a few steps and at the end."""
        columns = ["dataset", "walker", "after 3 steps", "after 5", "at the end", "distinct nodes", "gaps at the end"]
        rows = []
        for name, comparison in self.walkers.items():
            for kind, statistics in comparison.items():
                values = [(statistics.distance, step) for step in (3, 5, len(statistics) - 1)]
                values += [(statistics.coverage, -1), (statistics.gaps, -1)]
                cells = [f"{curve.mean[step]:.2f} ± {curve.stderr[step]:.2f}" for curve, step in values]
                rows.append([TITLES[name], kind, *cells])
        return Table("links from the start", columns, rows)

    @property
    def sections(self) -> list[Table | str]:
        return [self.table]

    @property
    def remarks(self) -> list[str]:
        """Order of the walkers by distance; in the paper, cpt stays closest on two of the datasets."""
        sentences = []
        for name, comparison in self.walkers.items():
            ends = {kind: statistics.distance.mean[-1] for kind, statistics in comparison.items()}
            order = " < ".join(f"{kind} {ends[kind]:.2f}" for kind in sorted(ends, key=ends.__getitem__))
            sentences.append(f"{TITLES[name]}, links from the start at the end: {order}.")
        return sentences

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "walking": asdict(self.walking),
            "walkers": {name: comparison.to_dict() for name, comparison in self.walkers.items()},
            "remarks": self.remarks,
        }

    def to_markdown(self) -> str:
        lines = [
            f"Links on the shortest path from the start, mean ± standard error over {self.walking.walks} walkers of "
            f"{self.walking.steps} nodes, p_g {self.walking.p_g}. Unbiased walkers are those of PageRank and may "
            "return to a node; curious walkers (igt, cpt: agents trained on the graph; greedy: the exact reward of the "
            "next step) remember their path.",
            "",
            *format_table(self.table.columns, self.table.rows),
            "",
            *(f"- {line}" for line in self.remarks),
            "",
            "The paper reports small differences, with cpt closest to the start on MovieLens and Wikispeedia.",
        ]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot distance against steps, one panel per dataset."""
        rows = -(-len(self.walkers) // 2)
        _, cells = create_figure(9.0, 3.8 * rows, columns=2, rows=rows)
        panels = list(cells.flat)
        for spare in panels[len(self.walkers) :]:
            spare.set_axis_off()
        for ax, (name, comparison) in zip(panels, self.walkers.items(), strict=False):
            for kind, statistics in comparison.items():
                color_name, style = _LINES[kind]
                color = COLORS[color_name]
                mean, error = statistics.distance.mean, statistics.distance.stderr
                ax.plot(mean, style, color=color, label=kind, linewidth=2)
                ax.fill_between(range(len(mean)), mean - error, mean + error, color=color, alpha=0.2, linewidth=0)
            ax.set_title(TITLES[name])
            ax.set_xlabel("step")
            ax.set_ylabel("distance from the start (links)")
            ax.xaxis.get_major_locator().set_params(integer=True)
        panels[0].legend(frameon=False)
        axes: Axes = panels[0]
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        settings = document["settings"]
        return cls(
            settings=Settings(**settings | {"effort": Effort(**settings["effort"])}),
            walking=Walking(**document["walking"]),
            walkers={
                name: WalkComparison({kind: WalkStatistics.from_dict(each) for kind, each in kinds.items()})
                for name, kinds in document["walkers"].items()
            },
        )


def run(
    settings: Settings,
    walking: Walking,
    folder: PathLike | None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> Diffusion:
    """Run walkers of every kind on every graph from the same starts, with the agents of Table 2's run folder."""
    walkers = {}
    for prediction in prepare_predictions(settings, folder, engine, progress):
        name, graph = prediction.study.name, prediction.study.graph
        shared: dict[str, Any] = {**asdict(walking), "seed": settings.seed}
        prediction.progress("unbiased walkers", 0.0)
        statistics = {UNBIASED: walk_statistics(graph, None, **shared)}
        for number, reward in enumerate(REWARDS, start=1):
            prediction.progress(f"walkers for {reward}", number / (len(REWARDS) + 1))
            statistics[reward] = walk_statistics(graph, prediction.agents[reward], reward=reward, **shared)
            statistics[f"greedy {reward}"] = walk_statistics(graph, "greedy", reward=reward, **shared)
        walkers[name] = WalkComparison(statistics)
    return Diffusion(settings, walking, walkers)
