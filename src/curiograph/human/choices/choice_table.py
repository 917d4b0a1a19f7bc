"""`ChoiceTable`: choices with their options, given row by row, where an option has uncertain outcomes."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Int64
from curiograph.errors import FileFormatError, WalkError, quote_value, shorten_text
from curiograph.exploration.mdp import Candidates
from curiograph.files import PathLike, check_file, wrap_parse_errors
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.trajectories import Windows
from curiograph.results import Skipped

_COLUMNS = ["user", "state", "options", "chosen"]
_MARKS = ";|,"  # between options that are given as a text; the first of them that is in it
_WHOLE = re.compile(r"(-?[0-9]+)\.0")  # a whole number in a column with gaps, which pandas writes as 2.0


@dataclass(frozen=True, eq=False)
class ChoiceTable:
    """Choices of people among given options, as in laboratory tasks: state, options, chosen option, and outcome.

    The same option of two states is two options. Create one with `from_frame`, and give it to `hypotheses`.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"user": ["ann"] * 3, "state": ["hall", "attic", "hall"], "options": ["up;down", "up;down",
    ...     "up;down"], "chosen": ["up", "down", "up"]})
    >>> ChoiceTable.from_frame(rows)
    ChoiceTable(3 choices by 1 users, 4 options of 2 states)
    """

    users: Int64
    """Number of the user of each row; the rows of a user are adjacent."""
    is_first: NDArray[np.bool_]
    """Whether each row begins a session."""
    states: Int64
    """Number of the state of each row."""
    chosen: Int64
    """Number of the chosen option of each row."""
    outcomes: Int64
    """Number of the state that each choice led to, or -1."""
    candidates: Candidates
    """Options of each row."""
    owned: Int64
    """Options of all states, sorted by state."""
    owned_bounds: Int64
    """Bounds of the states in `owned`."""
    user_names: list[Hashable]
    """Names of the users by number."""
    user_columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Values of further columns by the name of the column, one value per user number."""
    skipped: Skipped = field(default_factory=Skipped)
    """Nothing: a row that is not understood is an error."""

    @classmethod
    def from_frame(cls, frame: Any, *, keep: Sequence[str] = ()) -> ChoiceTable:
        """Create a table from a data frame with one row per choice, in order.

        Parameters
        ----------
        frame : DataFrame
            One row per choice, as a data frame of pandas or polars; the rows of a user are in order of time. Columns
            are user, state, options, chosen and, optionally, `outcome` (the state that the choice led to; by default
            the state of the next row of the session) and `session` (what a user has learned is kept; by default every
            user has one). Options are lists, or texts with semicolons, or else bars, or else commas between them.
            Labels are compared as texts, and whole numbers as such: 2.0 is 2.
        keep : sequence of str
            Further columns to keep, such as a group; the first value of each user counts.
        """
        frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
        if not isinstance(frame, pd.DataFrame):
            raise WalkError(f"the table is {quote_value(frame)}; give a data frame of pandas or polars.")
        missing = [name for name in (*_COLUMNS, *keep) if name not in frame]
        if missing:
            columns = shorten_text(", ".join(map(str, frame.columns)), 200)
            raise FileFormatError(
                f"the table of choices has no column {quote_value(missing[0])}; the columns are {columns}: rename one, "
                "as by frame.rename(columns={'place': 'state'})."
            )
        frame = frame.reset_index(drop=True)
        required = frame[_COLUMNS]
        gaps = required.isna() | required.map(lambda value: isinstance(value, str) and not value.strip())
        if not len(frame) or gaps.to_numpy().any():
            row = int(np.flatnonzero(gaps.any(axis=1))[0]) + 1 if len(frame) else 0
            raise WalkError(f"row {row} of the table has no {gaps.columns[gaps.any()][0]}; fill it." if row else
                            "the table has no rows; give one row per choice.")  # fmt: skip
        users, user_names = pd.factorize(frame["user"])
        frame = frame.iloc[np.argsort(users, kind="stable")]
        users = np.sort(users)
        rows, listed = _split_options(frame)
        sessions = pd.factorize(frame["session"])[0] if "session" in frame else np.zeros(len(frame))
        is_first = np.concatenate([[True], (np.diff(users) != 0) | (np.diff(sessions) != 0)])
        begins = frame["state"].astype(object).map(_as_text)
        ends = begins.shift(-1).where(~np.append(is_first[1:], True))
        if "outcome" in frame:
            ends = frame["outcome"].astype(object).map(_as_text)
        both, known_states = pd.factorize(pd.concat([begins, ends]))
        states, outcomes = both[: len(frame)], both[len(frame) :]
        pairs, known = pd.factorize(pd.MultiIndex.from_arrays([states[rows], listed]))
        owners = np.array([owner for owner, _ in known], np.int64)
        offsets = np.searchsorted(rows, np.arange(len(frame) + 1))
        order = np.lexsort((pairs, rows))
        owned = np.argsort(owners, kind="stable")
        is_chosen = np.array(listed, object) == frame["chosen"].astype(object).map(_as_text).to_numpy()[rows]
        return cls(
            users=users.astype(np.int64),
            is_first=is_first,
            states=states.astype(np.int64),
            chosen=pairs[is_chosen].astype(np.int64),
            outcomes=outcomes.astype(np.int64),
            candidates=Candidates(offsets, pairs[order].astype(np.int32)),
            owned=owned,
            owned_bounds=np.searchsorted(owners[owned], np.arange(len(known_states) + 1)),
            user_names=list(user_names),
            user_columns={name: frame.groupby(users)[name].first().tolist() for name in keep},
        )

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        size = f"{len(self):,} choices by {len(self.user_names):,} users"
        return f"ChoiceTable({size}, {len(self.owned):,} options of {len(self.owned_bounds) - 1:,} states)"

    def find_choices(self) -> tuple[ChoiceSet, dict[str, int]]:
        """Return the rows with two options or more, and the number of the others.

        The nodes of their graph are the states and then the options, and each state links to its options.
        """
        num_states, counts = len(self.owned_bounds) - 1, self.candidates.counts
        owners = np.repeat(np.arange(num_states), np.diff(self.owned_bounds))
        graph = Graph.from_arrays(owners, self.owned + num_states, directed=True)
        visits = np.arange(len(self))
        windows = Windows(self.states[:, None].astype(np.int32), (self.chosen + num_states).astype(np.int32),
                          self.users, visits)  # fmt: skip
        candidates = Candidates(self.candidates.offsets, self.candidates.nodes + np.int32(num_states))
        streams = kernels.random.make_streams(np.uint64(0), 0, len(self))
        choices = ChoiceSet(graph, windows, candidates, streams, returns=True, table=self)
        return choices.rows(counts > 1), {"only candidate": int(np.count_nonzero(counts < 2))}


def read_choices(path: PathLike, *, keep: Sequence[str] = ()) -> ChoiceTable:
    """Read a table of choices from a file with a header, its columns separated by commas or, in a .tsv file, by tabs.

    Columns are those of `ChoiceTable.from_frame`.
    """
    file = check_file(path)
    with wrap_parse_errors(file, "table"):
        frame = pd.read_csv(file, sep="\t" if file.suffix == ".tsv" else ",", dtype=str, keep_default_na=False)
    return ChoiceTable.from_frame(frame, keep=keep)


def _as_text(value: Any) -> str | None:
    """Return a label as a stripped text, or None if it is missing or empty."""
    text = "" if pd.isna(value) else str(value).strip()
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text or None


def _split_options(frame: pd.DataFrame) -> tuple[Int64, list[str]]:
    """Return the row and the text of every option; raise WalkError if the chosen one is not among them."""
    rows: list[int] = []
    listed: list[str] = []
    for number, (given, taken) in enumerate(zip(frame["options"], frame["chosen"], strict=True)):
        if isinstance(given, str):
            parts = given.split(next((mark for mark in _MARKS if mark in given), ";"))
        else:
            parts = list(given) if np.iterable(given) else [given]
        texts = [text for part in parts if (text := _as_text(part)) is not None]
        if texts.count(str(_as_text(taken))) != 1 or len(set(texts)) < len(parts):
            row = int(frame.index[number]) + 1
            raise WalkError(
                f"row {row} of the table: the chosen option {quote_value(taken)} must be once among its options "
                f"{quote_value(given)}, which must differ and not be empty; correct the row."
            )
        rows += [number] * len(texts)
        listed += texts
    return np.array(rows, np.int64), listed
