"""An agent whose choices come from a function, such as a call of a language model, or from a file of answers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from curiograph.agents.agent import Agent
from curiograph.agents.answer_file import AnswerFile
from curiograph.arrays import Float64
from curiograph.errors import AgentError, SettingError, UnansweredError, quote_value
from curiograph.exploration.mdp import Exploration
from curiograph.files import PathLike, hash_chunks
from curiograph.results import encode_label
from curiograph.validation import check_integer, check_seed

Choose = Callable[..., Any]

_AROUND = " \t\r\n\"'`.*"  # what models write around an answer


@dataclass(frozen=True)
class Prompt:
    """What an agent is asked: which of the candidates to visit next."""

    history: Sequence[Hashable]
    candidates: Sequence[Hashable]
    target: Hashable | None = None
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
            history = [names[node - first] for node in exploration.nodes[walk, : exploration.lengths[walk]].tolist()]
            candidates = [names[node - first] for node in nodes[offsets[walk] : offsets[walk + 1]].tolist()]
            prompts.append(Prompt(history, candidates, self.target))
        scores = np.zeros(len(nodes))
        for walk, (place, _) in zip(moving, self.ask(prompts), strict=True):
            scores[offsets[walk] + place] = 1.0
        return scores

    def ask(self, prompts: Sequence[Prompt]) -> list[tuple[int, bool]]:
        """Return for each prompt the index of the chosen candidate, and whether an answer was a candidate."""
        asked = [(self._make_row(prompt), prompt) for prompt in prompts]
        if any(self._find_place(*each) is None for each in asked):
            with self.answers.lock():
                self._answer([each for each in asked if self._find_place(*each) is None])
        chosen = []
        for row, prompt in asked:
            place = self._find_place(row, prompt)
            if is_invalid := place is None or place < 0:
                self._invalid.add(row["key"])
                place = int(hash_chunks([row["key"]])[:16], 16) % len(prompt.candidates)
            chosen.append((place or 0, not is_invalid))
        return chosen

    def _find_place(self, row: Mapping[str, Any], prompt: Prompt) -> int | None:
        """Return the index of the chosen candidate; -1 if all answers are invalid, None to ask (again)."""
        answers = self.answers.by_key.get(row["key"], [])
        places = (match_answer(answer, prompt.candidates) for answer in answers)
        most = 0 if self.choose is None else self.retries
        return next((place for place in places if place is not None), -1 if len(answers) > most else None)

    def _answer(self, asked: Sequence[tuple[dict[str, Any], Prompt]]) -> None:
        for row, prompt in asked:
            if self.choose is None and row["key"] not in self.answers.by_key:
                self.answers.append(row)
            while self.choose is not None and self._find_place(row, prompt) is None:
                answer = self._call(prompt)
                row.pop("texts", None)
                self.answers.append(row | {"answer": encode_label("" if answer is None else answer)})
        if self.choose is None and asked:
            waiting = f"{len({row['key'] for row, _ in asked}):,} prompts wait for answers in {self.answers.path}"
            raise UnansweredError(f"agent {self.name!r}: {waiting}; fill in their answers and rerun.")

    def _call(self, prompt: Prompt) -> Any:
        choose: Any = self.choose
        for attempt in range(self.retries + 1):
            try:
                parameters = inspect.signature(choose).parameters
                takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
                given = {"target": prompt.target, "texts": self._select_texts(prompt)}
                given = {name: value for name, value in given.items() if takes_all or name in parameters}
                return choose(list(prompt.history), list(prompt.candidates), **given)
            except Exception as error:
                if attempt == self.retries:
                    path = self.answers.path
                    kept = "give a journal to keep answers" if path is None else f"answers so far are in {path}"
                    raise AgentError(
                        f"agent {self.name!r}: its function raised {quote_value(error)} {self.retries + 1} times; "
                        f"{kept}, so that a rerun resumes."
                    ) from error

    def _select_texts(self, prompt: Prompt) -> dict[Hashable, str] | None:
        labels = dict.fromkeys([*prompt.history, *prompt.candidates, prompt.target])
        return None if self.texts is None else {label: self.texts[label] for label in labels if label in self.texts}

    def _make_row(self, prompt: Prompt) -> dict[str, Any]:
        row: dict[str, Any] = {
            "name": self.name,
            "seed": self.seed,
            "game": prompt.game,
            "target": None if prompt.target is None else encode_label(prompt.target),
            "history": [encode_label(label) for label in prompt.history],
            "candidates": [encode_label(label) for label in prompt.candidates],
        }
        if (texts := self._select_texts(prompt)) is not None:
            row["texts"] = {str(label): str(text) for label, text in texts.items()}
        key = "p" + hash_chunks([json.dumps(row)])[:16]  # a letter first: spreadsheets take 12e4 for a number
        return {"key": key, **row, "answer": None}


def match_answer(answer: Any, candidates: Sequence[Hashable]) -> int | None:
    """Return the index of the only candidate that is equal to an answer, as text, or without case; else None.

    >>> match_answer('"new york".', ["Newark", "New York"]), match_answer("3", [2, 3]), match_answer("a or b", ["a"])
    (1, 1, None)
    """
    for form in (encode_label, str, lambda label: str(label).strip(_AROUND).casefold()):
        found = [place for place, label in enumerate(candidates) if form(label) == form(answer)]
        if len(found) == 1:
            return found[0]
    return None


def from_function(
    choose: Choose | None = None,
    *,
    target: Hashable | None = None,
    texts: Mapping[Hashable, str] | None = None,
    journal: PathLike | None = None,
    retries: int = 2,
    name: str = "function",
    seed: int = 0,
) -> FunctionAgent:
    """Return an agent whose choices come from a function: a call of a language model, a person, or any rule.

    The same prompt is asked once. An answer may be a label or its text, in any case if that is unique. If no answer to
    a prompt is a candidate, the prompt counts in `agent.invalid`, and a candidate is drawn.

    Parameters
    ----------
    choose : callable, optional
        Called as `choose(history, candidates, target=..., texts=...)`, without the keywords that it does not have;
        returns one of `candidates`. Without a function, answers are read from the journal, to which unanswered prompts
        are written (`UnansweredError`).
    target : label, optional
        The node to reach. `cg.human.play_games` has one per game instead.
    texts : mapping, optional
        Texts by label; the function gets those of the history, the candidates and the target.
    journal : path, optional
        File of JSON lines to which every answer is appended, and from which it is read again: rerun an interrupted
        call to resume it. Processes that share it ask one after the other. Default: answers are kept in memory.
    retries : int
        How often a prompt is asked again if the answer is no candidate, and a call is repeated if it raises; if it
        still raises, the walk raises `AgentError`.
    name : str
        Name in tables; give each model and each way to prompt it another name, which asks again.
    seed : int
        Seed of the candidates that are drawn; another seed asks again.

    Examples
    --------
    >>> import curiograph as cg
    >>> agent = cg.agents.from_function(lambda history, candidates: candidates[-1], name="last")
    >>> cg.explore(cg.toys.library(), agent, start="music", steps=4).nodes
    ['music', 'poetry', 'history', 'philosophy']
    """
    if not callable(choose) and (choose is not None or journal is None):
        fix = "give a function of history and candidates, or None and a journal with answers"
        raise SettingError(f"choose is {quote_value(choose)}; {fix}.")
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
    )
