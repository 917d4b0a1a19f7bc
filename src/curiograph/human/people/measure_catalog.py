"""The measures of a profile: names, groups, labels and the choice of some of them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from curiograph.errors import SettingError, UnknownNameError, quote_value


class Measure(NamedTuple):
    """A measure of a walk; docs/profile.md has the definitions."""

    group: str
    """Name of the group of measures that it belongs to."""
    label: str
    """Label of an axis."""
    length: str | None = "nodes"
    """Measure of the length of a walk, on which the value depends for this reason alone; None if on neither."""


MEASURES = {
    "visits": Measure("sequence", "visits", length=None),
    "nodes": Measure("structure", "distinct nodes", length=None),
    "edges": Measure("structure", "links among them"),
    "density": Measure("structure", "density"),
    "clustering": Measure("structure", "clustering coefficient"),
    "path_length": Measure("structure", "characteristic path length"),
    "efficiency": Measure("structure", "global efficiency"),
    "modularity": Measure("communities", "modularity"),
    "participation": Measure("communities", "participation coefficient"),
    "core_periphery": Measure("communities", "core-periphery"),
    "beta0": Measure("gaps", "components"),
    "beta1": Measure("gaps", "information gaps"),
    "opened": Measure("gaps", "gaps opened"),
    "closed": Measure("gaps", "gaps closed"),
    "compressibility": Measure("compression", "compressibility (bits)"),
    "entropy": Measure("compression", "entropy rate of the subgraph (bits)"),
    "normalized_compressibility": Measure("compression", "compressibility / entropy"),
    "dimension": Measure("conformation", "dimension of conformation"),
    "conformable": Measure("conformation", "conformable degrees of freedom"),
    "step_length": Measure("steps", "step length", length=None),
    "step_exponent": Measure("steps", "exponent of step lengths", length="visits"),
    "revisits": Measure("sequence", "revisits", length="visits"),
    "revisit_share": Measure("sequence", "share of revisits", length="visits"),
    "heaps": Measure("sequence", "Heaps exponent", length="visits"),
    "zipf": Measure("sequence", "Zipf exponent", length="visits"),
    "visit_entropy": Measure("sequence", "entropy of visits (bits)", length="visits"),
    "entropy_rate": Measure("sequence", "entropy rate of visits (bits)", length="visits"),
    "edge_weight": Measure("meaning", "mean edge weight", length=None),
    "weighted_clustering": Measure("meaning", "weighted clustering coefficient"),
    "weighted_path_length": Measure("meaning", "weighted path length"),
    "forward_flow": Measure("meaning", "forward flow", length="visits"),
    "success": Measure("games", "share of games that reach the target", length=None),
    "extra_steps": Measure("games", "moves beyond the shortest path", length=None),
    "loop_rate": Measure("games", "share of moves that return", length="visits"),
    "approach_early": Measure("games", "approach per move, first half", length="visits"),
    "approach_late": Measure("games", "approach per move, second half", length="visits"),
    "hub_seeking": Measure("games", "percentile of chosen out-degrees", length=None),
    "relative_clustering": Measure("small-world", "clustering / that of rewired networks"),
    "small_worldness": Measure("small-world", "small-worldness"),
    "leaps": Measure("leaps", "share of leaps"),
    "dance": Measure("leaps", "share of leaps linked later, of all steps"),
    "style": Measure("style", "style score (hunters above 0)", length=None),
}
"""Measures of a walk by name, in the order of columns; the style is of the person."""
ON_REQUEST = ("small-world", "leaps", "style")
"""Groups that are computed only if they are named: they take longer, or need many walks."""


def list_dependent(names: Sequence[str], lengths: Collection[str]) -> list[str]:
    """Return the measures among some names that depend on one of these measures of the length of walks."""
    return [name for name in dict.fromkeys(names) if name in MEASURES and MEASURES[name].length in lengths]


GROUPS = tuple(dict.fromkeys(measure.group for measure in MEASURES.values()))
"""Names of the groups of measures."""
LENGTHS = ("visits", "nodes")
"""Measures that are the length of a walk."""
COUNTS = ("visits", "nodes", "edges", "beta0", "beta1", "opened", "closed", "dimension", "conformable", "revisits")
"""Measures that are whole numbers."""

_MAX_NODES_FOR_STEPS = 100_000  # a search for the shortest path between far nodes of larger graphs takes milliseconds


def select_measures(measures: Any, *, has_meaning: bool, has_targets: bool = False, num_nodes: int = 0) -> list[str]:
    """Return the names of the measures to compute; `visits`, `nodes` and `edges` are always among them.

    `measures` are names of measures and groups, or None for all that can be computed, without those of `ON_REQUEST` and
    of the groups `steps` and `games` on a graph of more than 100,000 nodes. The group `meaning` needs weights or
    similarities (`has_meaning`), and the group `games` walks with targets.

    >>> select_measures(["compression", "clustering"], has_meaning=False)
    ['visits', 'nodes', 'edges', 'clustering', 'compressibility', 'entropy', 'normalized_compressibility']
    """
    if measures is None:
        left_out = {*ON_REQUEST, None if has_meaning else "meaning", None if has_targets else "games"}
        left_out |= {"steps", "games"} if num_nodes > _MAX_NODES_FOR_STEPS else set()
        return [name for name, measure in MEASURES.items() if measure.group not in left_out]
    given = [measures] if isinstance(measures, str) else measures
    if not isinstance(given, Sequence) or not given:
        raise SettingError(f"measures is {quote_value(measures)}; give names of measures or groups, at least one.")
    for name in given:
        if name not in MEASURES and name not in GROUPS:
            near = difflib.get_close_matches(str(name), [*MEASURES, *GROUPS], n=2)
            nearest = f"; the nearest is {' or '.join(near)}" if near else ""
            raise UnknownNameError(
                f"there is no measure {quote_value(name)}{nearest}; the groups are {', '.join(GROUPS)}, and the "
                f"measures {', '.join(MEASURES)}."
            )
    chosen = {"visits", "nodes", "edges", *given}
    selected = [name for name, measure in MEASURES.items() if name in chosen or measure.group in chosen]
    for group, is_known, needs in (
        ("meaning", has_meaning, "a graph with weights, or similarity="),
        ("games", has_targets, "walks with a target, as from Trajectories.from_walks(targets=...)"),
    ):
        missing = [name for name in selected if MEASURES[name].group == group]
        if missing and not is_known:
            raise SettingError(f"{missing[0]} needs {needs}; give one, or leave it out.")
    return selected
