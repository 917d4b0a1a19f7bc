"""Shell completion of argument values, from the registries and without importing numba or torch.

Each function returns all values; typer keeps those that start with the text typed so far. If none is left, bash and
zsh complete file names, which graphs, agents and data may be as well.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path


def complete_agents() -> list[str]:
    """Heuristic agents, planners and shipped agents."""
    from curiograph.agents.pretrained import shipped_agents
    from curiograph.agents.registry import AGENTS

    return [*AGENTS, *shipped_agents()]


def complete_learners() -> list[str]:
    """Kinds of agents that `train` trains."""
    return ["gnn", "horizon", "planner"]


def complete_presets() -> list[str]:
    """Named settings of `train`."""
    return ["best", "paper"]


def complete_rewards() -> list[str]:
    """Registered rewards."""
    from curiograph.rewards.registry import REWARDS

    return list(REWARDS)


def complete_null_models() -> list[str]:
    """Null models of growth."""
    from curiograph.human.null_models.models import NULL_MODELS

    return list(NULL_MODELS)


def complete_families() -> list[str]:
    """Families of generated graphs."""
    from curiograph.graph.generators import FAMILIES

    return list(FAMILIES)


def complete_item_graphs() -> list[str]:
    """Kinds of graphs of items."""
    return ["knn", "highest", "nearest"]


def complete_similarities() -> list[str]:
    """Similarities of items."""
    return ["cosine", "pmi", "sequence"]


def complete_large_graphs() -> list[str]:
    """Kinds of large generated graphs."""
    from curiograph.graph.generators import LARGE_KINDS

    return list(LARGE_KINDS)


def complete_fallbacks() -> list[str]:
    """Candidates at a dead end."""
    return ["frontier", "anywhere"]


def complete_measures() -> list[str]:
    """Groups of measures and measures of `profile`."""
    from curiograph.human.profile.measures import GROUPS, MEASURES

    return [*GROUPS, *MEASURES]


def complete_profile_tables() -> list[str]:
    """Rows of the tables of `profile`."""
    return ["walks", "users"]


def complete_tables() -> list[str]:
    """Rows of the tables of `measure`."""
    return ["steps", "gaps", "users", "persistence"]


def complete_engines() -> list[str]:
    """Execution backends."""
    return ["local", "ray"]


def complete_rankers() -> list[str]:
    """Rankers of `recommend`."""
    from curiograph.recommendation.rankers import RANKERS

    return list(RANKERS)


def complete_recommenders() -> list[str]:
    """Methods of `evaluate-recommender`."""
    from curiograph.recommendation.evaluation import METHODS

    return list(METHODS)


def complete_recommender_splits() -> list[str]:
    """Splits of `evaluate-recommender`."""
    return ["time", "user", "last"]


def complete_sources() -> list[str]:
    """Datasets that `data get` downloads."""
    from curiograph.human.data.registry import SOURCES

    return list(SOURCES)


def complete_datasets() -> list[str]:
    """Datasets that can be read by name."""
    from curiograph.human.data.registry import READERS, SOURCES

    return list(dict.fromkeys([*READERS, *SOURCES]))


def complete_published() -> list[str]:
    """Datasets of the paper."""
    from curiograph.paper.people import DATASETS

    return list(DATASETS)


def complete_graphs(incomplete: str) -> list[str]:
    """Toy graphs and graph files in the current folder; other paths are left to the shell."""
    from curiograph.graph.io.read import EXTENSIONS
    from curiograph.graph.toys import TOYS

    toys = [f"toy:{name}" for name in TOYS]
    if not any(toy.startswith(incomplete) for toy in toys):
        return []
    files = (path for path in Path().iterdir() if path.suffix.lower() in EXTENSIONS and path.is_file())
    return toys + sorted(path.name for path in files)


def complete_in_bash(program: Callable[[], object]) -> None:
    """Print the completions that bash asks for.

    Bash splits words at `:` and `=`, so that `toy:li` arrives as three words, and it replaces only the text after the
    last separator. Join the words before the program runs, and remove the prefix that bash keeps from its answers.
    """
    prefix = _join_split_words()
    with redirect_stdout(io.StringIO()) as answer, suppress(SystemExit):
        program()
    print("\n".join(line.removeprefix(prefix) for line in answer.getvalue().splitlines()))


def _join_split_words() -> str:
    """Join the words in COMP_WORDS that bash has split; return the part of the last word that bash keeps."""
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
