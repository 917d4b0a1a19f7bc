"""Games on a graph, from a start to a target, played by a function such as a language model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import count
from typing import Any

from curiograph.agents.function_agent import Choose, FunctionAgent, Prompt, from_function
from curiograph.errors import SettingError, quote_value
from curiograph.exploration.mdp import check_steps
from curiograph.graph.graph import Graph, as_graph
from curiograph.human.trajectories import Trajectories


def play_games(
    graph: Graph,
    choose: Choose | FunctionAgent | None,
    games: Sequence[tuple[Hashable, Hashable | None]],
    *,
    steps: int = 30,
    returns: bool = True,
    **settings: Any,
) -> Trajectories:
    """Let a function, such as a call of a language model, play games from a start to a target.

    Candidates are the out-neighbors of the current node. A game ends at its target, at a node without candidates, or
    after `steps` nodes. Without a function, a call writes the next prompts of all games to the journal and raises
    UnansweredError, until all games have ended.

    Parameters
    ----------
    graph : Graph
        The graph to play on.
    choose : callable, FunctionAgent or None
        The function, or what `cg.agents.from_function` returned; None to read answers from the journal alone.
    games : sequence of pairs
        Label of the start and of the target of each game; the target None is a walk of `steps` nodes. Games with the
        same pair are independent repetitions: each is asked for itself.
    steps : int
        Maximum number of nodes of a game, the start included.
    returns : bool
        Whether visited nodes are candidates.
    **settings
        `texts`, `journal`, `retries`, `name` and `seed`, as for `cg.agents.from_function`.

    Returns
    -------
    Trajectories
        One walk per game, with its target, of the users `NAME-1`, `NAME-2`, ...; `user_columns` has their `group`, the
        name of the function, and their `invalid` choices, which were drawn because no answer was a candidate.

    Examples
    --------
    >>> import curiograph as cg
    >>> def choose(history, candidates, target):
    ...     return target if target in candidates else candidates[-1]
    >>> walks = cg.human.play_games(cg.toys.library(), choose, [("music", "history"), ("logic", "music")], steps=5)
    >>> walks[0], walks[1]
    (['music', 'poetry', 'history'], ['logic', 'computing', 'physics', 'music'])
    """
    graph, steps = as_graph(graph), check_steps(steps)
    if isinstance(choose, FunctionAgent) and settings:
        raise SettingError(f"{', '.join(settings)}: the agent has its own; give them to from_function.")
    agent = choose if isinstance(choose, FunctionAgent) else from_function(choose, **settings)
    pairs = [_check_game(graph, game) for game in games]
    counts: defaultdict[Any, count[int]] = defaultdict(count)
    numbers = [next(counts[pair]) for pair in pairs]  # of each game among those with the same pair
    walks, invalid = [[start] for start, _ in pairs], [0] * len(pairs)
    while True:
        prompts = {}  # of all games that have not ended
        for game, (walk, (_, target), number) in enumerate(zip(walks, pairs, numbers, strict=True)):
            candidates = [label for label in graph.neighbors(walk[-1]) if returns or label not in walk]
            if candidates and len(walk) < steps and walk[-1] != target:
                prompts[game] = Prompt(walk, candidates, target, number)
        if not prompts:
            break
        for (game, prompt), (place, is_valid) in zip(prompts.items(), agent.ask(list(prompts.values())), strict=True):
            walks[game].append(prompt.candidates[place])
            invalid[game] += not is_valid
    users = [f"{agent.name}-{number}" for number in range(1, len(pairs) + 1)]
    return Trajectories.from_walks(
        walks,
        users,
        graph,
        targets=[target for _, target in pairs],
        user_columns={"group": dict.fromkeys(users, agent.name), "invalid": dict(zip(users, invalid, strict=True))},
    )


def _check_game(graph: Graph, game: Any) -> tuple[Hashable, Hashable | None]:
    """Return the labels of the start and the target of a game; raise unless both are nodes."""
    try:
        start, target = game
    except (TypeError, ValueError):
        raise SettingError(f"a game is {quote_value(game)}; give pairs of a start and a target.") from None
    return graph.label(graph.position(start)), None if target is None else graph.label(graph.position(target))
