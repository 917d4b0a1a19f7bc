"""The words of the page: one plain name per motive and agent, and the sentences of tooltips, help and tour."""

from __future__ import annotations

from collections.abc import Hashable

from pydantic import BaseModel

from curiograph.errors import shorten_text
from curiograph.service.computations import REWARD_DESCRIPTIONS, describe_agents
from curiograph.service.json_labels import encode_label

YOU = "you"
MOTIVES = {
    "igt": "information gaps",
    "cpt": "compression",
    "cct": "flexibility",
    "pagerank": "PageRank",
    "degree": "many links",
}
"""Plain names of motives; the keys are the codes of the API."""
MOTIVE_DESCRIPTIONS = REWARD_DESCRIPTIONS | {
    "pagerank": "how often a walker who follows random links from this walk arrives there",
    "degree": "number of links of the node",
}
AGENTS = {
    "planner": "Planner",
    "greedy": "Greedy",
    "beam:16": "Beam search",
    "random": "Random",
    "max-degree": "Most links first",
    "min-degree": "Fewest links first",
}
"""Agents that the page offers, with their plain names; the first is the default."""
MAX_LABEL = 48
"""Maximum number of characters of a label."""

INTRODUCTION = (
    "Walk from node to node. When your steps form a loop with nothing inside, an information gap opens; "
    "a later node can close it."
)
TABS = {
    "Next": "What every next node would do.",
    "Gaps": "All gaps of this walk, open and closed.",
    "Compare": "You and agents from the same start.",
    "Recommend": "Where to go next, with reasons.",
}
"""Titles of the panels, with their descriptions."""
LEGEND = (
    ("diamond", "start", "The first node of the walk."),
    ("square", "your step", "A node that you chose."),
    ("disc", "agent's step", "A node that the agent chose."),
    ("ring", "next node", "A node that you can visit next: click it."),
    ("open", "open gap", "A loop of linked nodes with nothing inside."),
    ("closed", "closed gap", "A loop that a later node closed."),
)
"""Shapes, their meanings, and the descriptions of these."""
TOUR = (
    (
        ".cg-picture",
        "A walk of curiosity",
        "Each numbered shape is something visited, in this order. Lines are links between them.",
    ),
    (
        ".cg-legend",
        "Information gaps",
        "A blue area is an open gap: a loop of linked nodes with nothing inside, so something is missing there. "
        "It turns green when a later node closes it.",
    ),
    (
        ".cg-walk",
        "Your turn",
        "Press Step to let the agent choose the next node. Or choose yourself: click a next node in the picture "
        "or in the table.",
    ),
    (
        ".cg-side",
        "What each choice does",
        "For every node that you can visit next: how many gaps it opens or closes, and more. The other tabs list the "
        "gaps, compare you with agents, and recommend.",
    ),
    (
        ".cg-choose",
        "Make it yours",
        "Choose another graph or your own file, and where to start. The address of the page always holds your walk.",
    ),
)
"""Selector, title and text of every part of the guided tour."""
SHORTCUTS = (
    ("→ or n", "let the agent take a step"),
    ("← or u", "undo the last step"),
    ("p", "play or pause"),
    ("r", "restart from the same node"),
    ("1 to 9", "go to the first to ninth next node in the table"),
    ("+, - and 0", "zoom in, zoom out, show the whole walk"),
    ("/", "search for a start node"),
    ("?", "show these shortcuts"),
)


def format_label(node: Hashable, limit: int = MAX_LABEL) -> str:
    """Return a label as a title: with spaces instead of underscores, and short enough for the page.

    >>> format_label("Bertrand_Russell")
    'Bertrand Russell'
    """
    return shorten_text(str(encode_label(node)).replace("_", " "), limit)


def format_chooser(by: str) -> str:
    """Return the name of who chose a step.

    >>> format_chooser("planner"), format_chooser("you")
    ('Planner', 'you')
    """
    return "the example" if by == "example" else AGENTS.get(by, by)


def count_things(number: int, thing: str) -> str:
    """Return a number with a noun.

    >>> count_things(1, "gap"), count_things(2, "gap")
    ('1 gap', '2 gaps')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def describe_agent(name: str) -> str:
    """Describe an agent in a sentence, as the API does.

    >>> describe_agent("beam:16")
    'Beam search over whole walks with exact rewards.'
    """
    return describe_agents()[name.partition(":")[0]]


def describe_motive(name: str) -> str:
    """Describe a motive in a sentence, as the API does."""
    text = MOTIVE_DESCRIPTIONS[name]
    return f"{text[0].upper()}{text[1:]}."


def describe_field(model: type[BaseModel], field: str) -> str:
    """Return the description of a field of the API.

    >>> from curiograph.service.schemas import GrowthResponse
    >>> describe_field(GrowthResponse, "beta1")
    'Number of open information gaps.'
    """
    return model.model_fields[field].description or ""
