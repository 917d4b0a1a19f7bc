"""Whether links across gaps are links that were hidden, and whether gaps are where communities are weakly linked."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from curiograph.bootstrap import estimate_means
from curiograph.errors import FileFormatError
from curiograph.files import list_data_folders
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.graph.similarity import Similarity
from curiograph.growth.graph_gaps import Gaps, gaps
from curiograph.human.data.datasets import find_dataset, load_dataset
from reproduction.report import Report, Setup, interval, is_known, percent

FILES = ("obsidian-help/vault", "knowledge-graphs/*.*", "real-networks/citation-*", "real-networks/semantic-*")
"""Graphs of notes, code, topics, papers and words; Wikispeedia is added."""
_LINK = re.compile(r"!?\[\[.*?\]\]|\[[^\]]*\]\([^)]*\)")
_RANKINGS = ("degree product", "Adamic-Adar", "chords by Adamic-Adar")
_EQUAL = "hits over those of equal pairs"
Graphs = dict[str, tuple[Graph, Similarity | None]]


def find_graphs(folder: Path | None) -> Graphs:
    """Return graphs without directions and weights, and similarities of texts, from which links are removed."""
    found: Graphs = {}
    roots = [folder] if folder else list_data_folders()
    for path in (path for root in roots for pattern in FILES for path in sorted(root.glob(pattern))):
        graph = read_graph(path, directed=path.name.endswith(("-directed.tsv", ".csv")) or None).skeleton
        notes = [path / f"{label}.md" for label in graph.labels] if path.is_dir() else []
        texts = [_LINK.sub(" ", note.read_text(errors="replace")) for note in notes]
        found[path.stem.removesuffix("-directed")] = graph, Similarity.from_texts(graph, texts) if texts else None
    if find_dataset("wikispeedia", folder):
        dataset = load_dataset("wikispeedia", folder)
        assert dataset.graph is not None
        found["wikispeedia"] = dataset.graph.skeleton, Similarity.from_texts(dataset.graph, dataset.texts)
    return found


def compute(setup: Setup, repeats: int = 10) -> dict[str, Any]:
    """Hide links of every graph, several times, and compare the gaps of the whole graphs with communities."""
    graphs = find_graphs(setup.folder)
    if not graphs:
        raise FileFormatError("there are no graphs: set CURIOGRAPH_DATA to a folder with knowledge-graphs.")
    tasks = [(name, repeat) for name in graphs for repeat in range(repeats)]
    key = [*(graph for graph, _ in graphs.values()), setup.seed]
    runs = setup.engine.map(_hide_links, (graphs, setup.seed), tasks, name="gaps", key=key, progress=setup.progress)
    results = []
    for place, (name, (graph, _)) in enumerate(graphs.items()):
        own = pd.DataFrame(runs[place * repeats : (place + 1) * repeats])
        counts: dict[Any, Any] = {column: np.ones(own[column].count()) for column in own}
        counts[_EQUAL] = own.pop("hits of equal pairs").to_numpy()  # the ratio of two means
        means = {column: estimate_means(own[[column]].dropna().to_numpy(float), counts[column]) for column in own}
        recovery = {column: asdict(mean) for column, (mean,) in means.items()}
        sizes = {"graph": name, "nodes": graph.num_nodes, "links": graph.num_edges}
        results.append({**sizes, "recovery": recovery, "communities": compare_with_communities(graph)})
    return {"results": results}


def _hide_links(shared: tuple[Graphs, int], task: tuple[str, int]) -> dict[str, Any]:
    (graph, similarity), (source, target, _) = shared[0][task[0]], shared[0][task[0]][0].get_edges()
    count = round(0.1 * len(source))
    drawn = np.random.default_rng([shared[1], task[1]]).choice(len(source), count, replace=False)
    rest = Graph.from_arrays(np.delete(source, drawn), np.delete(target, drawn), names=graph.names)
    links = rest.to_scipy()
    pairs = np.nonzero(np.triu(links.toarray() == 0, 1))
    hidden = graph.to_scipy().toarray()[pairs] > 0
    chords = mark_chords(gaps(rest))[pairs]
    index = (links / np.log(np.maximum(rest.degrees, 2)) @ links).toarray()[pairs]
    scores = {"degree product": rest.degrees[pairs[0]] * rest.degrees[pairs[1]], "Adamic-Adar": index}
    if similarity is not None:
        scores["similarity"] = similarity.compute_pairs(*pairs)
    # pairs are equal if their Adamic-Adar index is between the same two of 21 quantiles of that of chords
    steps = np.quantile(index[chords & (index > 0)], np.linspace(0, 1, 21))
    group = np.searchsorted([np.finfo(float).tiny, *steps], index, "right")
    rates = np.bincount(group, hidden) / np.maximum(np.bincount(group), 1)
    top = min(count, int(np.count_nonzero(chords)))
    found: dict[str, Any] = {"chords": chords.sum(), "compared": top, "recall": hidden[chords].sum() / count}
    found |= {_EQUAL: hidden[chords].sum(), "hits of equal pairs": rates[group[chords]].sum()}
    found["precision of random pairs"] = hidden.mean()
    for title, score in scores.items():
        only = np.where(chords, score, -1.0)
        for name, values in ((title, score), (f"chords by {title}", only)):
            found[f"precision of {name}"] = compute_precision(values, hidden, top)
            found[f"AUC of {name}"] = compute_auc(values, hidden)
        found[f"AUC of {title} among chords"] = compute_auc(score[chords], hidden[chords])
        found[f"gain by {title}"] = found[f"precision of chords by {title}"] - found[f"precision of {title}"]
    return found


def mark_chords(found: Gaps) -> NDArray[np.bool_]:
    """Return a matrix that tells which pairs of nodes are links that would close a gap."""
    ends = found.graph.positions([node for links in found.columns()["links"] for pair in links for node in pair])
    marked = np.zeros((found.graph.num_nodes,) * 2, bool)
    marked[ends[::2], ends[1::2]] = marked[ends[1::2], ends[::2]] = True
    return marked


def compute_precision(score: NDArray[Any], hidden: NDArray[np.bool_], top: int) -> float:
    """Return the share of hidden links among the `top` pairs of the highest scores; ties are in random order."""
    least = np.partition(score, -top)[-top]
    above, tied = score > least, score == least
    return float(hidden[above].sum() + (top - above.sum()) * hidden[tied].mean()) / top


def compute_auc(score: NDArray[Any], hidden: NDArray[np.bool_]) -> float:
    """Return how often a hidden link has a higher score than a pair that is no link; a tie counts half."""
    others, own = np.sort(score[~hidden]), score[hidden]
    below = np.searchsorted(others, own, "left") + np.searchsorted(others, own, "right")
    return float(below.mean() / 2 / len(others)) if len(own) else np.nan


def compare_with_communities(graph: Graph) -> dict[str, Any]:
    """Return where the gaps of a graph lie: shares of loops and of unlinked pairs inside and between communities."""
    found, links = gaps(graph), graph.to_scipy()
    groups, member = np.unique(found.communities, return_inverse=True)
    inside = np.eye(len(groups))[member]
    between, volume = inside.T @ (links @ inside), graph.degrees @ inside
    weak = between < 0.5 * np.outer(volume, volume) / volume.sum()  # none inside: communities have more links
    first, second = pairs = np.nonzero(np.triu(links.toarray() == 0, 1))
    kinds = {"chords": mark_chords(found)[pairs], "near pairs": (links @ links).toarray()[pairs] > 0}
    kinds["unlinked pairs"] = np.full(len(first), True)
    spans = np.array([len(np.unique(member[loop])) for loop in found.loops])
    shares: dict[str, Any] = {"gaps": len(spans), "communities": np.count_nonzero(volume), "loops": np.mean(spans == 1)}
    for kind, kept in kinds.items():
        shares[f"{kind} inside"] = np.mean((member[first] == member[second])[kept])
        shares[f"{kind} between"] = np.mean(weak[member[first], member[second]][kept])
    return shares


def report(document: dict[str, Any]) -> Report:
    """Show how many hidden links are found, and where gaps lie."""
    results = document["results"]

    def tabulate(columns: list[str], style: str) -> pd.DataFrame:
        known = [each for each in results if columns[0] in each["recovery"]]
        rows = [[each["recovery"][name] for name in columns] for each in known]
        cells = [[interval(cell, style) if is_known(cell["low"]) else "-" for cell in row] for row in rows]
        return pd.DataFrame(cells, [each["graph"] for each in known], columns).reset_index(names="graph")

    def span(values: pd.Series[float], style: str = ".0%") -> str:
        return f"{values.min():{style}} to {values.max():{style}}"

    places = pd.DataFrame([{"graph": each["graph"], **each["communities"]} for each in results])
    equal, gains, pairs, chords = (
        pd.DataFrame([each["recovery"][name] for each in results], dtype=float)
        for name in (_EQUAL, "gain by Adamic-Adar", "AUC of Adamic-Adar", "AUC of chords by Adamic-Adar")
    )
    found = ["recall", "precision of random pairs", *(f"precision of {name}" for name in _RANKINGS)]
    compared = ["gain by Adamic-Adar", *(f"AUC of {name}" for name in (*_RANKINGS, "Adamic-Adar among chords")), _EQUAL]
    texts = [f"{kind} of {name}similarity" for kind in ("precision", "AUC") for name in ("", "chords by ")]
    shown = places.map(lambda cell: percent(cell) if isinstance(cell, float) else str(cell))
    return Report(
        tables={
            "Shares of hidden links": tabulate(found, ".1%"),
            "Chords against all pairs": tabulate(compared, ".2f"),
            "By similarity of texts": tabulate([*texts, "AUC of similarity among chords"], ".3f"),
            "Where gaps and pairs lie": shown,
        },
        text="Of the links of each graph, read without direction, 10 % are hidden at random; the rest may be "
        "disconnected. Chords are the pairs that `gaps` lists as links that would close a gap of the rest, up to 10 "
        "for each; other shortest loops could show the same gaps. Recall: share of hidden links that are chords. "
        "Precision: their share in the first pairs, as many as are hidden, or as there are chords if these are fewer. "
        "Gain: precision of chords minus that of all pairs. AUC: how often a hidden link is before a pair that is no "
        "link; pairs that are no chords come last. Equal pairs: unlinked, with about the same Adamic-Adar index. In "
        f"parentheses: 95 % intervals over {document['settings']['repeats']} draws of hidden links, not over graphs. "
        "Texts: notes without their links; titles and categories of articles. The last table is on whole graphs. "
        "Loops: share inside one community (Louvain). Inside: pairs inside one. Between: pairs between two with less "
        "than half of the links that their degrees predict. Near pairs: unlinked, with a common neighbor. A hidden "
        "link may leave the gap that it had filled; a link that is yet to be found need not: this may favor gaps.",
        remarks=[
            "Ranked by Adamic-Adar, chords contain clearly fewer hidden links than the first of all pairs in "
            f"{sum(gains['high'] < 0)} of {len(gains)} graphs, and clearly more in {sum(gains['low'] > 0)}. AUC: "
            f"{span(chords['value'], '.2f')} against {span(pairs['value'], '.2f')}.",
            f"Chords are hidden links {span(equal['value'], '.2f')} times as often as equal pairs: clearly more often "
            f"in {sum(equal['low'] > 1)} graphs, and clearly less often in {sum(equal['high'] < 1)}.",
            f"Of the loops, {span(places['loops'])} lie inside one community. Of the chords, "
            f"{span(places['chords between'])} lie between weakly linked communities; of near pairs "
            f"{span(places['near pairs between'])}, of all unlinked pairs {span(places['unlinked pairs between'])}.",
        ],
    )
