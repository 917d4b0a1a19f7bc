"""A server of the Model Context Protocol, by which language models read graphs and folders of notes."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import anyio
import numpy as np
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

import curiograph as cg
from curiograph.errors import CuriographError, FileFormatError, GraphError, quote_value, shorten_text
from curiograph.files import MAX_FILE_BYTES, check_file
from curiograph.graph.io.formats import EXTENSIONS, read_graph
from curiograph.graph.io.markdown import list_files, read_vault
from curiograph.graph.labels import LabelReader
from curiograph.recommendation.recommender import Recommender
from curiograph.service.json_labels import JsonLabel, encode_label
from curiograph.service.step_view import view_step

MAX_ANSWER = 8_000
"""Bytes of an answer; what does not fit is left out and counted."""
MAX_LINKS = 2_000_000
"""Links of a graph."""
_MAX_WALK, _MAX_ROWS, _MAX_LOOP, _MAX_NAMES = 500, 50, 20, 10
_MAX_GRAPHS = 4  # that are kept in memory
_LEAST_BITS = 0.01  # of compressibility in a step that are a gain: along a chain of nodes, fewer are added
_INSTRUCTIONS = (
    "Graphs and folders of Markdown notes, and their gaps. A gap is a loop of linked nodes that nothing fills: a "
    "question to think about, not a link that is missing. Begin with open_graph, look before each step, and ask growth "
    "when to stop. What can be opened: "
)

GraphPath = Annotated[str, Field(description="Name or path of a graph file or a folder of notes.")]
History = Annotated[list[JsonLabel], Field(max_length=_MAX_WALK, description="Names of the nodes read, in order.")]
Walk = Annotated[History, Field(min_length=1)]
Count = Annotated[int, Field(ge=1, le=_MAX_ROWS)]


class ServedGraph:
    """A graph in memory, with what was computed for it."""

    def __init__(self, path: Path, seed: int) -> None:
        self.unresolved: dict[str, list[str]] | None = None
        if path.is_dir():
            vault = read_vault(path)
            self.graph, self.unresolved = vault.graph, vault.unresolved
        else:
            self.graph = read_graph(path)
        if self.graph.num_edges > MAX_LINKS:
            raise GraphError(f"{path}: has {self.graph.num_edges:,} links; at most {MAX_LINKS:,} are served.")
        self.labels, self._seed = LabelReader(self.graph), seed

    @cached_property
    def recommender(self) -> Recommender:
        """The recommender, which keeps what it has computed."""
        return Recommender(self.graph, seed=self._seed)

    @cached_property
    def gaps(self) -> tuple[int, dict[str, Any]]:
        """The number of gaps, and the table of the first."""
        found = cg.gaps(self.graph)
        return found.total, found.head(_MAX_ROWS).columns()

    def name(self, label: Hashable) -> JsonLabel:
        """Return the name of a node: its title, or its label if other nodes have this title."""
        position = self.graph.position(label)
        title = self.graph.title(position)
        return title if self.labels.find(title) == position else encode_label(label)

    def name_all(self, labels: Iterable[Hashable], most: int = _MAX_LOOP) -> list[JsonLabel]:
        """Return the names of the first of some nodes."""
        return [self.name(label) for label in islice(labels, most)]


class GraphTools:
    """The tools of a server that reads some files and folders; their docstrings are what a language model sees."""

    def __init__(self, places: Sequence[Path], seed: int = 0) -> None:
        self._places = [place.resolve() for place in places]
        for place in self._places:
            if not place.is_dir():
                check_file(place)
        self._read = lru_cache(_MAX_GRAPHS)(lambda path, stamp: ServedGraph(path, seed))

    def list_names(self) -> str:
        """Return the names of the given files and folders, and of the graph files in these, as text."""
        names = [place.name for place in self._places]
        for place in self._places:
            files = [each for each in place.glob("[!.]*") if not each.is_symlink()]
            names += sorted(each.name for each in files if each.suffix.lower() in EXTENSIONS)
        return ", ".join([*names[:_MAX_NAMES], *(["..."] if len(names) > _MAX_NAMES else [])])

    def find(self, path: str) -> Path:
        """Return the file or folder of a path or name; raise FileFormatError unless it may be read."""
        try:
            found = [place for place in self._places if place.name == path]
            found += [(place / path).resolve() for place in self._places]  # an absolute path stays as it is
            inside = [each for each in found if any(each.is_relative_to(place) for place in self._places)]
            existing = [each for each in inside if each.exists()]
        except (OSError, ValueError, RuntimeError):  # too long, a NUL, or a circle of symbolic links
            raise FileFormatError(f"{quote_value(path)} is not the path of a file; try {self.list_names()}.") from None
        if not existing:  # one message for files elsewhere, whether they exist or not
            fault = "there is no file or folder" if inside else "what this server may read does not include"
            raise FileFormatError(f"{fault} {quote_value(path)}; try {self.list_names()}.")
        return existing[0]

    def open(self, path: str) -> ServedGraph:
        """Return a graph; it is read again if its files have changed."""
        found = self.find(path)
        try:
            files = sorted(file for _, file in list_files(found)) if found.is_dir() else [str(found)]
            states = [Path(file).stat() for file in files]
        except OSError as error:
            raise FileFormatError(f"{error.filename}: cannot be read ({error.strerror}).") from None
        stamp = tuple((file, state.st_size, state.st_mtime_ns) for file, state in zip(files, states, strict=True))
        size = sum(size for file, size, _ in stamp if not found.is_dir() or file.lower().endswith(".md"))
        if size > MAX_FILE_BYTES:
            raise FileFormatError(f"{found}: has {size:,} bytes; at most {MAX_FILE_BYTES:,} are served.")
        return self._read(found, stamp)

    def open_graph(self, path: GraphPath) -> CallToolResult:
        """Open a graph or a folder of notes: its size, its best linked nodes, and links to notes that do not exist."""
        served = self.open(path)
        graph = served.graph
        best = np.argsort(-np.diff(graph.skeleton.indptr), kind="stable")[:_MAX_NAMES]
        answer = {
            "graph": shorten_text(path, 500),
            "nodes": graph.num_nodes,
            "links": graph.num_edges,
            "gaps": cg.betti(graph, dim=1),
        }
        answer["best_linked"] = served.name_all(graph.label(int(v)) for v in best)
        if served.unresolved is not None:
            wanted = sorted(served.unresolved.items(), key=lambda item: -len(item[1]))[:_MAX_NAMES]
            answer["missing_notes"] = len(served.unresolved)
            answer["most_wanted"] = [{"note": note, "linked_from": served.name_all(by, 3)} for note, by in wanted]
        return build_answer(answer)

    def gaps(self, graph: GraphPath, limit: Count = 10) -> CallToolResult:
        """List the gaps of a graph, the most important first: loops of nodes, and what would close each.

        One of the links closes a gap of length 4; length 5 takes two, and so on. Or a node that is linked to all of it.
        """
        served = self.open(graph)
        total, table = served.gaps
        rows = []
        for loop, links, nodes in islice(zip(table["loop"], table["links"], table["nodes"], strict=True), limit):
            near = {node: set(served.graph.skeleton.neighbors(node)) for node in nodes}
            closers = [
                {"node": served.name(node), "needs_links_to": served.name_all(v for v in loop if v not in near[node])}
                for node in nodes
            ]
            pairs = [served.name_all(pair) for pair in links[:3]]
            rows.append({"loop": served.name_all(loop), "length": len(loop), "links": pairs, "nodes": closers})
        return build_answer({"total": total, "gaps": rows})

    def look(self, graph: GraphPath, walk: Walk) -> CallToolResult:
        """Show the nodes that may come next in a walk, best first, with the gaps that each would open and close."""
        served = self.open(graph)
        labels = served.labels.walk(walk)
        view = view_step(served.graph, labels, motives=["pagerank"])
        rows = []
        for i in np.lexsort((-view.values["pagerank"], -view.values["igt"]))[:_MAX_LOOP].tolist():
            longer = [*labels, view.nodes[i]]
            gaps = cg.measure(served.graph, longer, compressibility=False).gaps
            opened = [number for number, gap in enumerate(gaps) if gap.opened_at == len(longer)]
            closed = [number for number, gap in enumerate(gaps) if gap.closed_at == len(longer)]
            row: dict[str, Any] = {"node": served.name(view.nodes[i]), "opens": len(opened), "closes": len(closed)}
            loops = cg.gap_loops(served.graph, longer) if opened or closed else []
            if opened:
                row["opened_loop"] = served.name_all(loops[opened[0]])
            if closed:
                row["closed_loop"] = served.name_all(loops[closed[0]])
            rows.append(row)
        return build_answer({"open_gaps": int(view.igt), "candidates": len(view.nodes), "next": rows})

    def recommend(self, graph: GraphPath, history: History, k: Count = 5) -> CallToolResult:
        """Recommend nodes to read next, anywhere in the graph, with a reason for each."""
        served = self.open(graph)
        reasons = served.recommender.recommend(history, k).reasons
        rows = [{"node": served.name(reason.node), "reason": reason.sentence} for reason in reasons]
        return build_answer({"recommendations": rows})

    def growth(self, graph: GraphPath, walk: Walk, last: Count = 5) -> CallToolResult:
        """Tell whether a walk has stopped gaining: open gaps and compressibility in bits, over its last steps."""
        served = self.open(graph)
        frame = cg.measure(served.graph, served.labels.walk(walk)).to_frame()
        frame = frame.rename(columns={"beta1": "gaps", "compressibility": "bits"})
        steps = frame[["node", "gaps", "opened", "closed", "bits"]].tail(last).round(3)
        sentence = f"The walk has {len(frame)} nodes, too few to judge its last {last} steps."
        if len(frame) > last:
            opened, closed = steps["opened"].sum(), steps["closed"].sum()
            bits = frame["bits"].iloc[-1] - frame["bits"].iloc[-1 - last]
            state = "still gains" if opened or closed or bits >= _LEAST_BITS * last else "has stopped gaining"
            sentence = (
                f"This reading {state}: in its last {last} steps, {opened} gaps opened, {closed} closed, and "
                f"compressibility changed by {bits:+.2f} bits."
            )
        rows = [{**row, "node": served.name(row["node"])} for row in steps.to_dict("records")]
        return build_answer({"sentence": sentence, "steps": rows})


def build_answer(answer: dict[str, Any]) -> CallToolResult:
    """Return an answer as JSON; what makes it too long is removed from the ends of its longest lists."""
    while len(data := json.dumps(answer, ensure_ascii=False).encode(errors="replace")) > MAX_ANSWER:
        max((rows for rows in answer.values() if isinstance(rows, list)), key=lambda rows: len(json.dumps(rows))).pop()
        answer["left_out"] = answer.get("left_out", 0) + 1
    text = data.decode()
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(text))


class _SerialServer(MCPServer[Any]):
    """A server that computes one answer at a time, in a thread, so that pings are answered; errors are one sentence."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._lock = anyio.Lock()

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            async with self._lock:
                return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause, message = error.__cause__, str(error.__cause__)
            if isinstance(cause, ValidationError):
                problem = cause.errors()[0]
                given = "" if isinstance(problem["input"], (dict, list)) else f"; it is {quote_value(problem['input'])}"
                message = f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}{given}."
            elif not isinstance(cause, CuriographError):  # an unknown tool, or a bug that the log shows
                raise
            raise ToolError(shorten_text(message, 500)) from None


def create_server(places: Sequence[Path], seed: int = 0) -> MCPServer[Any]:
    """Create a server that reads some files, and everything below some folders; raise if one does not exist."""
    tools = GraphTools(places, seed)
    server = _SerialServer(
        name="curiograph",
        version=cg.__version__,
        instructions=_INSTRUCTIONS + tools.list_names(),
        log_level="ERROR",
    )
    for tool in (tools.open_graph, tools.gaps, tools.look, tools.recommend, tools.growth):
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    return server
