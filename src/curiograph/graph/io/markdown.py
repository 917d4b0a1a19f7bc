"""A folder of Markdown notes, such as a vault of Obsidian: notes are nodes, and links between them are edges."""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from curiograph.errors import FileFormatError, quote_value
from curiograph.files import PathLike, as_path
from curiograph.graph.edge_arrays import as_flag
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels

# possessive and bounded quantifiers: no file takes more than linear time
_HIDDEN = re.compile(
    r"^[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)?(?:(`{3,}+)[^`\n]*+|(~{3,}+)[^\n]*+)$"  # code between fences
    r".*?(?:^[ \t>]*+(?:\1`*+|\2~*+)[ \t]*+$|\Z)"
    r"|(?<!`)(`++)[^\n]{1,2000}?(?<!`)\3(?!`)"  # code in a line
    r"|%%.*?%%|<!--.*?(?:-->|\Z)",  # comments
    re.M | re.S,
)
_INDENTED = re.compile(  # code of indented lines, after a line that is neither indented nor of a list
    r"(\A|^(?![-*+][ \t]|[0-9]{1,9}[.)][ \t])\S[^\n]*+\n)(?:[ \t]*+\n)++"
    r"(?:(?: {4}|\t)[^\n]*+(?:\n|\Z)(?:[ \t]*+\n)*+)++",
    re.M,
)
_LINK = re.compile(
    r"\[\[([^\[\]\n]++)\]\]|\]\([ \t]*+(?:<([^<>\n]++)>|([^\s()<>]++(?:\([^\s()<>]*+\)[^\s()<>]*+)*+)(?=[\s)]))"
)
_WEB = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)
_ATTACHMENT = re.compile(
    r".*\.(?:avif|bmp|gif|jpe?g|png|svg|webp|3gp|flac|m4a|mp3|ogg|wav|webm|mkv|mov|mp4|ogv|pdf|canvas|base)", re.I
)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$", re.M | re.S)
_ALIASES = re.compile(r"^alias(?:es)?[ \t]*:[ \t]*(?:\[([^\]]{0,10000}+)\]|(.*(?:\n[ \t]*-[ \t].*)*))", re.M | re.I)
_ALIAS = re.compile(r"""[\s,]*("[^"\n]*"|'[^'\n]*'|[^,\n]+)""")


@dataclass(frozen=True)
class Vault:
    """A folder of notes: the graph of their links, and the links that lead nowhere."""

    graph: Graph
    """Notes by their path without `.md`, with their names as titles; notes without links are isolated nodes."""
    unresolved: dict[str, list[str]]
    """Notes that do not exist, sorted, each with the labels of the notes that link to it."""


def read_vault(folder: PathLike, *, directed: bool = False) -> Vault:
    """Read the Markdown notes (`.md`) of a folder and its subfolders.

    Parameters
    ----------
    folder : str or path
        The folder. Hidden files and folders (`.obsidian`, `.trash`) and symbolic links are skipped. Bytes that are not
        UTF-8 are replaced.
    directed : bool
        Whether links have a direction.

    Returns
    -------
    Vault
        The graph, and links to notes that do not exist. It does not depend on the order of files on the disk.

    Notes
    -----
    Links are `[[note]]`, with a heading or an alias, embeds `![[note]]` and Markdown links to `.md` files, outside code
    and comments; those to attachments and from a note to itself are ignored. As in Obsidian, a link leads to the note
    with exactly this path (Markdown links: relative to the note), otherwise to the note whose path ends like this,
    ignoring case, with the fewest folders; then to the note with such an alias in its front matter. Tags are not read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "Tea.md").write_text("Drunk from a [[cup]] with [[Honey|some honey]].")
    ...     _ = (Path(folder) / "Cup.md").write_text("[Tea](tea.md)")
    ...     read_vault(folder)
    Vault(graph=Graph(2 nodes, 1 edges, undirected), unresolved={'Honey': ['Tea']})
    """
    root, directed = as_path(folder), as_flag(directed)
    try:
        listed = sorted(list_files(root))
        files, notes = dict(listed), dict[str, str]()
        for name, path in listed:
            if name.lower().endswith(".md"):
                if name[:-3] in notes:
                    raise FileFormatError(f"{root}: two notes are called {quote_value(name[:-3])}; rename one of them.")
                notes[name[:-3]] = path
                files.pop(name, None)
        read = (Path(path).read_bytes() for path in notes.values())
        texts = [data.decode("utf-8-sig", "replace").replace("\r\n", "\n") for data in read]
    except OSError as error:
        raise FileFormatError(f"{error.filename}: cannot be read ({error.strerror}).") from None
    if not notes:
        raise FileFormatError(f"{root}: holds no Markdown notes; give a folder with .md files, or a file with a graph.")
    labels = list(notes)
    index = _Index(labels, {posixpath.basename(name).casefold() for name in files})
    for label, text in zip(labels, texts, strict=True):
        for alias in list_aliases(text):
            index.by_alias[alias.casefold()].append(label)
    positions = {label: position for position, label in enumerate(labels)}
    pairs: set[tuple[int, int]] = set()
    missing: dict[str, tuple[str, dict[str, None]]] = {}  # by folded name: the first spelling, and the notes
    for label, text in zip(labels, texts, strict=True):
        for target, is_wiki in list_links(text):
            found = index.find(target, posixpath.dirname(label), is_wiki)
            if found is not None and found != label:
                pairs.add((positions[label], positions[found]))
            elif found is None and not index.is_attachment(target, is_wiki):
                name = target if is_wiki else posixpath.join(posixpath.dirname(label), target)
                name = posixpath.normpath(_strip_ending(name))
                missing.setdefault(name.casefold(), (name, {}))[1][label] = None
    short = [posixpath.basename(label) for label in labels]
    titles = [
        name if len(index.by_name[name.casefold()]) == 1 else label for name, label in zip(short, labels, strict=True)
    ]
    ends = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    graph = Graph.from_arrays(ends[:, 0], ends[:, 1], names=as_labels(labels, titles), directed=directed)
    return Vault(graph, {name: list(sources) for name, sources in sorted(missing.values(), key=lambda each: each[0])})


def list_links(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the target of every link of a note without its heading, and whether it is a wikilink.

    >>> list(list_links("[[Tea#Taste|cup]], `[[code]]` and [more](other%20note.md#x), [[#Here]]"))
    [('Tea', True), ('other note.md', False)]
    """
    visible = _INDENTED.sub(r"\1\n", _HIDDEN.sub("", text))
    for wiki, quoted, plain in _LINK.findall(visible):
        target = wiki.partition("|")[0].rstrip("\\") if wiki else quoted or plain  # [[note\|alias]] in a table
        target = target.partition("#")[0].strip()
        if target and (wiki or not _WEB.match(target)):
            yield _normalize(target if wiki else unquote(target)), bool(wiki)


def list_aliases(text: str) -> list[str]:
    """Return the aliases in the front matter of a note: a list, an inline list or one name.

    >>> list_aliases("---\\naliases: [Chai, 'Tea, black']\\n---\\nA drink.")
    ['Chai', 'Tea, black']
    """
    front = _FRONT_MATTER.match(text)
    items: list[str] = []
    for inline, block in _ALIASES.findall(front[1]) if front else ():
        items += _ALIAS.findall(inline) if inline else re.split(r"\n[ \t]*-[ \t]", block)
    return [name for item in items if (name := item.strip().strip("\"'"))]


class _Index:
    """The notes that links lead to."""

    def __init__(self, labels: list[str], attachments: set[str]) -> None:
        self.attachments = attachments
        self._found: dict[str, list[str]] = {}  # notes by the end of their path, or by their alias
        self.by_path = {label: label for label in labels}
        self.by_name: dict[str, list[str]] = defaultdict(list)
        self.by_alias: dict[str, list[str]] = defaultdict(list)
        for label in labels:
            self.by_path.setdefault(label.casefold(), label)
            self.by_name[posixpath.basename(label).casefold()].append(label)

    def find(self, target: str, folder: str, is_wiki: bool) -> str | None:
        """Return the label of the note that a link in a note of this folder leads to, or None."""
        path = _strip_ending(target)
        here = posixpath.normpath(posixpath.join(folder, path))
        path = path.lstrip("/")
        for exact in (path, here) if is_wiki and not path.startswith(".") else (here, path):
            for key in (exact, exact.casefold()):
                if key in self.by_path:
                    return self.by_path[key]
        folded = path.casefold()
        if folded not in self._found:
            same = self.by_name.get(posixpath.basename(folded), [])
            near = [each for each in same if f"/{each}".casefold().endswith(f"/{folded}")]
            self._found[folded] = near or self.by_alias.get(folded, [])
        found = self._found[folded]
        return min(found, key=lambda label: (label.count("/"), posixpath.dirname(label) != folder, label), default=None)

    def is_attachment(self, target: str, is_wiki: bool) -> bool:
        """Return whether a link that leads to no note is none to a missing note either."""
        if not is_wiki:
            return not target.lower().endswith(".md")
        return bool(_ATTACHMENT.fullmatch(target)) or posixpath.basename(target).casefold() in self.attachments


def list_files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the name relative to the folder, in Unicode form C and with slashes, and the path of every file."""
    folders = [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    name = os.fsencode(os.path.relpath(entry.path, root)).decode(errors="replace")
                    yield _normalize(name.replace(os.sep, "/")), entry.path


def _strip_ending(target: str) -> str:
    return target[:-3] if target.lower().endswith(".md") else target


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\xa0", " ")
