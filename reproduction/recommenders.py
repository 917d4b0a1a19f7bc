"""Recommenders on held-out events of MovieLens, Books and Wikispeedia: accuracy, novelty, diversity and coverage."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from curiograph.files import PathLike
from curiograph.human.data.cooccurrence import core
from curiograph.human.data.load import load_dataset
from curiograph.human.data.wikispeedia import read_wikispeedia
from curiograph.human.recommenders.evaluate import evaluate_recommenders
from curiograph.human.recommenders.results import RecommenderEvaluation, add_legend, tabulate_methods, tabulate_paths
from curiograph.human.recommenders.splits import SplitKind
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.people import TITLES
from curiograph.plotting import create_figure
from curiograph.progress import Progress, no_progress, split_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPLITS: dict[str, tuple[SplitKind, ...]] = {"movielens": ("time", "last"), "books": ("last",), "wikispeedia": ("user",)}
"""Datasets, and how each is split: only MovieLens has times of all events."""
BASES = ("pagerank", "item-knn")
"""Methods whose lists are re-ranked; fixed before the results were known."""
_NOTES = (
    "MovieLens: all events after one point in time are test events; only few users are active both before and after "
    "it, so that the last new film of every user is tested as well, with films that others rated later among the "
    "training events. Books: the last new book of every reader; the file "
    "has the order of reviews but no times. Wikispeedia: finished games, each counted as a user; the last fifth of the "
    "pages of held-out games, and the published links as the graph. All other graphs are `cooccurrence_graph` of the "
    "training events. Hyperparameters are the defaults of the methods and were not tuned on any of the datasets.",
    "Every method ranks all unvisited items of the catalog. Intervals: 95 %, over test users.",
)


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    max_users: int = 1_000
    """Maximum number of test users per dataset."""
    walkers: int = 256
    """Number of curious walkers from each visited item."""
    item_users: int = 10
    """Minimum number of training users of an item."""
    book_users: int = 20
    """Minimum number of readers of a book in the subsample of Books."""
    reader_books: int = 10
    """Minimum number of books of a reader in the subsample of Books."""
    loss: float = 0.05
    """Allowed relative loss of NDCG when re-ranked lists are compared."""
    seed: int = 0
    """Random seed."""


@dataclass(frozen=True)
class Recommenders(Experiment):
    """Evaluations of all methods by dataset."""

    name = "recommenders"

    settings: Settings
    """Settings of the run."""
    documents: dict[str, dict[str, Any]]
    """Results of `evaluate_recommenders` as plain values, by dataset and split."""

    @property
    def sections(self) -> list[Table | str]:
        tables: list[Table | str] = []
        for name, document in self.documents.items():
            size = f"{document['test_users']:,} test users, {document['items']:,} items"
            tables.append(Table(f"{name} split, {size}", *tabulate_methods(document, 10)))
            lost = f"{100 * self.settings.loss:.0f} %"
            tables.append(Table(f"{name} split: at most {lost} less NDCG@10 than the base", *tabulate_paths(document)))
        return tables

    @property
    def remarks(self) -> list[str]:
        sentences = []
        for name, document in self.documents.items():
            methods = document["methods"]
            best = max(methods, key=lambda method: methods[method]["ndcg@10"][0])
            accuracy = ", ".join(
                f"{method} {methods[method]['ndcg@10'][0]:.3f}"
                for method in dict.fromkeys([best, "pagerank", "mixture"])
            )
            rows = document["equal_accuracy"]
            higher = [f"{row['measure']} of {row['base']}" for row in rows if row["difference"]["low"] > 0]
            lower = [f"{row['measure']} of {row['base']}" for row in rows if row["difference"]["high"] < 0]
            named = f" ({', '.join(higher)})" if higher else ""
            sentences.append(
                f"{name} split: NDCG@10 of {accuracy}. At equal accuracy, curiosity adds more than the better of "
                f"popularity discount and random sampling in {len(higher)} of {len(rows)} comparisons"
                f"{named} and clearly less in {len(lower)}."
            )
            sentences += [f"{name} split: left out: {reason}" for reason in document["skipped_methods"].values()]
        return sentences

    def to_dict(self) -> dict[str, Any]:
        return {"settings": asdict(self.settings), "remarks": self.remarks, "datasets": self.documents}

    def to_markdown(self) -> str:
        lines = [
            "[Recommenders](../recommenders.md) on held-out events: accuracy, novelty, serendipity, intra-list "
            "diversity, coverage and Gini coefficient of lists of ten. "
            "In the figure, lines lead from a base method to its lists re-ranked ever more strongly: by curious "
            "walkers, by a popularity discount, and at random.",
            *(line for remark in (*self.remarks, *_NOTES) for line in ("", remark)),
        ]
        for section in self.sections:
            if isinstance(section, Table):
                lines += ["", f"{section.title}:", "", *format_table(section.columns, section.rows)]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot NDCG@10 against novelty, coverage and diversity, one row of panels per dataset."""
        count = len(self.documents)
        figure, cells = create_figure(9.6, 1.4 + 3.0 * count, columns=3, rows=count)
        grid = np.asarray(cells).reshape(count, 3)
        for row, (name, document) in zip(grid, self.documents.items(), strict=True):
            RecommenderEvaluation.from_dict(document).plot_on(row)
            row[0].set_title(f"{name} split", loc="left", fontsize=10)
        add_legend(figure, grid[0, 0])
        axes: Axes = grid[0, 0]
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        return cls(Settings(**document["settings"]), document["datasets"])


def run(
    settings: Settings,
    folder: PathLike | None = None,
    only: tuple[str, ...] = tuple(SPLITS),
    progress: Progress = no_progress,
) -> Recommenders:
    """Evaluate all methods on the three datasets.

    Parameters
    ----------
    settings : Settings
        Sizes and seed.
    folder : str or path, optional
        Folder of the datasets; default CURIOGRAPH_DATA.
    only : tuple of str
        Datasets to evaluate on.
    progress : callable
        Called with a message and the completed share.
    """
    documents = {}
    studies = [(name, split) for name in only for split in SPLITS[name]]
    for (name, split), stage in zip(studies, split_progress(progress, [1] * len(studies)), strict=True):
        dataset = load_dataset(name, folder)
        walks, graph = dataset.walks, dataset.graph
        if name == "wikispeedia":
            games = read_wikispeedia(dataset.source_path / "paths_finished.tsv")
            walks, graph = games.walks, games.graph
        elif name == "books":
            walks = core(walks, settings.book_users, settings.reader_books)
        found = evaluate_recommenders(
            walks,
            split,
            ks=(5, 10, 20),
            graph=graph,
            item_users=settings.item_users,
            max_users=settings.max_users,
            walkers=settings.walkers,
            bases=BASES,
            seed=settings.seed,
            progress=partial(_report, stage, f"{name}, {split}"),
        )
        documents[f"{TITLES[name]}, {split}"] = found.to_dict() | {"equal_accuracy": found.compare_paths(settings.loss)}
    return Recommenders(settings, documents)


def _report(progress: Progress, title: str, message: str, share: float | None = None) -> None:
    progress(f"{title}: {message}", share)
