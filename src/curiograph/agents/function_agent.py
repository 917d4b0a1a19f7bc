"""An agent whose choices come from a function, such as a call of a language model, or from a file of answers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np

from curiograph.agents.agent import Agent
from curiograph.agents.answer_file import AnswerFile, encode_label
from curiograph.arrays import Float64
from curiograph.errors import AgentError, SettingError, UnansweredError, quote_value
from curiograph.exploration.mdp import Exploration
from curiograph.files import PathLike, hash_chunks
from curiograph.graph.labels import loosen_label
from curiograph.validation import check_integer, check_seed

Choose = Callable[..., Any]

_MARKS = " \t\r\n\"'`*.[]()"  # around the answers of language models


@dataclass(frozen=True)
class Prompt:
    """What an agent is asked: which of the candidates to visit next."""

    history: Sequence[Hashable]
    """Labels in order of visit; a label may occur several times in a game with returns."""
    candidates: Sequence[Hashable]
    """Labels to choose from, in the order of the graph."""
    target: Hashable | None = None
    """Label of the node to reach, if there is one."""
    game: int = 0
    """Number of the game among those with the same start and target, so that each is asked for itself."""


@dataclass(eq=False, repr=False, kw_only=True)
class FunctionAgent(Agent):
    """Agent that visits the candidate which a function, or a file of answers, chooses; see `from_function`."""

    choose: Choose | None
    target: Hashable | None
    texts: Mapping[Hashable, str] | None
    answers: AnswerFile
    retries: int
    name: str
    seed: int
    workers: int
    fingerprint: str | None = None
    """Text that changes whenever the function does; needed with the run folder of an `Engine`."""
    _invalid: set[str] = field(default_factory=set)

    @property
    def invalid(self) -> int:
        """Number of prompts, of those asked in this process, whose answers are no candidates."""
        return len(self._invalid)

    def scores(self, exploration: Exploration) -> Float64:
        """Return 1 for the chosen candidate of each walk and 0 for the others."""
        offsets, nodes = exploration.candidates.offsets, exploration.candidates.nodes
        moving = np.flatnonzero(np.diff(offsets)).tolist()
        prompts = []
        for walk in moving:
            graph = int(exploration.graph_of[walk])
            names, first = exploration.stack.graphs[graph].names, int(exploration.stack.starts[graph])
            visited = exploration.nodes[walk, : exploration.lengths[walk]].tolist()
            history, candidates = (
                [names[node - first] for node in part]
                for part in (visited, nodes[offsets[walk] : offsets[walk + 1]].tolist())
            )
            prompts.append(Prompt(history, candidates, self.target))
        scores = np.zeros(len(nodes))
        scores[offsets[moving] + np.array([place for place, _ in self.ask(prompts)], np.int64)] = 1.0
        return scores

    def ask(self, prompts: Sequence[Prompt]) -> list[tuple[int, bool]]:
        """Return for each prompt the index of the chosen candidate, and whether an answer was a candidate.

        Each prompt is asked once, and up to `retries` times more if the answer is no candidate; then one is drawn.
        """
        keys = [self._make_row(prompt)["key"] for prompt in prompts]
        by_key = dict(zip(keys, prompts, strict=True))
        if self._list_open(by_key):
            with self.answers.lock():
                if self.choose is None:
                    self._export(self._list_open(by_key))
                while left := self._list_open(by_key):
                    self._call(left)
        chosen = []
        for key, prompt in zip(keys, prompts, strict=True):
            place = self._find_choice(key, prompt)
            if place is None:
                self._invalid.add(key)
            drawn = int(hash_chunks([key])[:16], 16) % len(prompt.candidates)
            chosen.append((drawn, False) if place is None else (place, True))
        return chosen

    def _find_choice(self, key: str, prompt: Prompt) -> int | None:
        """Return the index of the candidate that the first valid answer names; None if there is none."""
        places = (match_answer(answer, prompt.candidates) for answer in self.answers.by_key.get(key, ()))
        return next((place for place in places if place is not None), None)

    def _list_open(self, by_key: Mapping[str, Prompt]) -> dict[str, Prompt]:
        """Return the prompts that have no valid answer and may be asked again."""
        most = 0 if self.choose is None else self.retries
        return {
            key: prompt
            for key, prompt in by_key.items()
            if len(self.answers.by_key.get(key, ())) <= most and self._find_choice(key, prompt) is None
        }

    def _export(self, left: Mapping[str, Prompt]) -> None:
        """Write the prompts without an answer to the file, and raise UnansweredError if there are any."""
        for key, prompt in left.items():
            if key not in self.answers.waiting:
                self.answers.append(self._make_row(prompt))
        if left:
            raise UnansweredError(
                f"agent {self.name!r}: {len(left):,} prompts wait for answers in {self.answers.path}; fill in their "
                "answers and rerun."
            )

    def _call(self, left: Mapping[str, Prompt]) -> None:
        """Call the function once per prompt and keep its answers; raise AgentError if it fails."""
        choose: Any = self.choose
        keywords = _list_keywords(choose)
        failures: list[Exception] = []

        def call(key: str, prompt: Prompt) -> tuple[str, Any]:
            given = {"target": prompt.target, "texts": self._select_texts(prompt)}
            given = {name: given[name] for name in keywords}
            for attempt in range(self.retries + 1):
                try:
                    if failures:  # of another prompt
                        break
                    return key, (choose(list(prompt.history), list(prompt.candidates), **given),)
                except Exception as error:
                    if attempt == self.retries:
                        failures.append(error)
            return key, None

        tasks = (joblib.delayed(call)(*item) for item in left.items())
        pool = joblib.Parallel(self.workers, require="sharedmem", pre_dispatch="all", return_as="generator_unordered")
        for key, result in pool(tasks):
            if result is not None:
                row = self._make_row(left[key]) | {"answer": encode_label("" if result[0] is None else result[0])}
                self.answers.append({name: value for name, value in row.items() if name != "texts"})
        if failures:
            path = self.answers.path
            kept = "give a journal to keep answers" if path is None else f"answers so far are in {path}"
            raise AgentError(
                f"agent {self.name!r}: its function raised {quote_value(failures[0])} {self.retries + 1} times; "
                f"{kept}, so that a rerun resumes."
            ) from failures[0]

    def _select_texts(self, prompt: Prompt) -> dict[Hashable, str] | None:
        """Return the texts of the labels in a prompt that have one."""
        if self.texts is None:
            return None
        labels = dict.fromkeys([*prompt.history, *prompt.candidates, prompt.target])
        return {label: self.texts[label] for label in labels if label in self.texts}

    def _make_row(self, prompt: Prompt) -> dict[str, Any]:
        """Return the row of a prompt in the file; its key depends on all other fields."""
        texts = self._select_texts(prompt)
        row: dict[str, Any] = {
            "name": self.name,
            "seed": self.seed,
            "game": prompt.game,
            "target": None if prompt.target is None else encode_label(prompt.target),
            "history": [encode_label(label) for label in prompt.history],
            "candidates": [encode_label(label) for label in prompt.candidates],
        }
        if texts is not None:
            row["texts"] = {str(label): str(text) for label, text in texts.items()}
        key = "p" + hash_chunks([json.dumps(row)])[:16]  # a letter first: spreadsheets take 12e4 for a number
        return {"key": key, **row, "answer": None}


def match_answer(answer: Any, candidates: Sequence[Hashable]) -> int | None:
    """Return the index of the candidate that an answer names, or None.

    It is that label, the only one that prints like it, or the only one that is equal without case and quotes.

    >>> match_answer('"new york".', ["Newark", "New York"]), match_answer("3", [2, 3]), match_answer("a or b", ["a"])
    (1, 1, None)
    """
    for form in (encode_label, str, lambda label: loosen_label(str(label).strip(_MARKS))):
        wanted = form(answer)
        found = [place for place, label in enumerate(candidates) if form(label) == wanted]
        if len(found) == 1:
            return found[0]
    return None


def _list_keywords(choose: Choose) -> tuple[str, ...]:
    """Return which of the keywords `target` and `texts` a function accepts."""
    try:
        parameters = inspect.signature(choose).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return ()
    names = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters)
    return tuple(name for name in ("target", "texts") if takes_all or name in names)


def from_function(
    choose: Choose | None = None,
    *,
    target: Hashable | None = None,
    texts: Mapping[Hashable, str] | None = None,
    journal: PathLike | None = None,
    retries: int = 2,
    name: str = "function",
    seed: int = 0,
    workers: int = 1,
) -> FunctionAgent:
    """Return an agent whose choices come from a function: a call of a language model, a person, or any rule.

    The same prompt is asked once. An answer may be a label or its text; the case, and quotes around it, do not matter.
    If no answer to a prompt is a candidate, the prompt counts in `agent.invalid`, and a candidate is drawn.

    Parameters
    ----------
    choose : callable, optional
        Called as `choose(history, candidates, target=..., texts=...)` with the labels visited so far and those to
        choose from; returns one of `candidates`. The keywords are left out if it has no such parameters. Without a
        function, answers are read from the journal, to which unanswered prompts are written (`UnansweredError`).
    target : label, optional
        The node to reach. `cg.human.play_games` has one per game instead.
    texts : mapping, optional
        Texts by label; the function gets those of the history, the candidates and the target.
    journal : path, optional
        File to which every answer is appended, and from which it is read again: rerun an interrupted call to resume
        it. A line is a JSON object with `key`, `name`, `seed`, `game`, `target`, `history`, `candidates` and `answer`
        (null until it is known; then also `texts`). Default: answers are kept in memory.
    retries : int
        How often a prompt is asked again if the answer is no candidate, and a call is repeated if it raises.
    name : str
        Name in tables; give each model and each way to prompt it another name. Part of the key of a prompt.
    seed : int
        Seed of the candidates that are drawn; part of the key of a prompt, so that another seed asks again.
    workers : int
        Number of calls at a time, in threads. With 1, all calls are made by this thread.

    Returns
    -------
    FunctionAgent
        An agent for `explore`, `evaluate`, `hypotheses` and `cg.human.play_games`.

    Raises
    ------
    AgentError
        In walks, if the function still raises after the retries; answers so far are in the journal.
    UnansweredError
        In walks without a function, if prompts wait for answers in the journal.

    Examples
    --------
    >>> import curiograph as cg
    >>> agent = cg.agents.from_function(lambda history, candidates: candidates[-1], name="last")
    >>> cg.explore(cg.toys.library(), agent, start="music", steps=4).nodes
    ['music', 'poetry', 'history', 'philosophy']
    """
    if choose is None and journal is None:
        raise SettingError("choose is None and journal is None; give a function, or a file of prompts and answers.")
    if choose is not None and not callable(choose):
        raise SettingError(f"choose is {quote_value(choose)}; give a function of history and candidates.")
    if texts is not None and not isinstance(texts, Mapping):
        raise SettingError(f"texts is {quote_value(texts)}; give a dict from labels to texts.")
    return FunctionAgent(
        choose=choose,
        target=target,
        texts=texts,
        answers=AnswerFile(journal),
        retries=check_integer("retries", retries, 0, "give a whole number, 0 or more"),
        name=str(name),
        seed=check_seed(seed),
        workers=check_integer("workers", workers, 1, "give a whole number of calls at a time, 1 or more"),
    )
