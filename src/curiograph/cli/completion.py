"""What the shell offers when a value is completed: names from the registries, found without numba or torch.

Each function gives all values; typer keeps those that begin like what was typed. Where none is left, bash and zsh
complete the names of files, which is what graphs, agents and data may be as well.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path


def complete_agents() -> list[str]:
    """Who can walk: planners, baselines and shipped agents."""
    from curiograph.agents.pretrained import shipped_agents
    from curiograph.agents.registry import AGENTS

    return [*AGENTS, *shipped_agents()]


def complete_learners() -> list[str]:
    """What `train` can train."""
    return ["gnn", "horizon"]


def complete_presets() -> list[str]:
    """Named settings of `train`."""
    return ["best", "paper"]


def complete_rewards() -> list[str]:
    """What agents look at."""
    from curiograph.rewards.registry import REWARDS

    return list(REWARDS)


def complete_families() -> list[str]:
    """Families of generated graphs."""
    from curiograph.graph.generators import FAMILIES

    return list(FAMILIES)


def complete_large_graphs() -> list[str]:
    """Kinds of large generated graphs."""
    from curiograph.graph.generators import LARGE_KINDS

    return list(LARGE_KINDS)


def complete_fallbacks() -> list[str]:
    """Where to go at a dead end."""
    return ["frontier", "anywhere"]


def complete_engines() -> list[str]:
    """Where tasks run."""
    return ["local", "ray"]


def complete_rankers() -> list[str]:
    """What `recommend` ranks by."""
    from curiograph.recommendation.recommender import RANKERS

    return list(RANKERS)


def complete_sources() -> list[str]:
    """Data sets that `data get` gets."""
    from curiograph.human.data.registry import SOURCES

    return list(SOURCES)


def complete_datasets() -> list[str]:
    """Data sets that can be read by name."""
    from curiograph.human.data.registry import READERS, SOURCES

    return list(dict.fromkeys([*READERS, *SOURCES]))


def complete_published() -> list[str]:
    """Data sets of the paper."""
    from curiograph.paper.people import DATASETS

    return list(DATASETS)


def complete_graphs(incomplete: str) -> list[str]:
    """Toy graphs, and files in this folder beside them; other paths are left to the shell."""
    from curiograph.graph.io.read import EXTENSIONS
    from curiograph.graph.toys import TOYS

    toys = [f"toy:{name}" for name in TOYS]
    if not any(toy.startswith(incomplete) for toy in toys):
        return []
    return toys + sorted(path.name for path in Path().iterdir() if path.suffix.lower() in EXTENSIONS and path.is_file())


def complete_in_bash(program: Callable[[], object]) -> None:
    """Run the program where bash asks for completions, with words put together that bash takes apart.

    Bash ends a word at `:` and `=`, so that `toy:li` arrives as three words, and only what follows the last of them
    is replaced by what we answer.
    """
    known = _mend_words()
    with redirect_stdout(io.StringIO()) as answer, suppress(SystemExit):
        program()
    print("\n".join(line.removeprefix(known) for line in answer.getvalue().splitlines()))


def _mend_words() -> str:
    """Put words together in what bash passes on, one a line; returns what the shell keeps of the completed value."""
    given = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
    if len(given) == 1:
        return ""
    words: list[str] = []
    for word in given:
        if words and (word in (":", "=") or words[-1].endswith((":", "="))):
            words[-1] += word
        else:
            words.append(word)
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(words), str(len(words) - 1)
    if words[-1] == given[-1]:
        return ""
    value = words[-1].partition("=")[2] if words[-1].startswith("-") else words[-1]
    return value[: value.rfind(":") + 1]
