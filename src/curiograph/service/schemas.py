"""Request and response models, which define the OpenAPI document."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from curiograph.service.json_labels import encode_label
from curiograph.service.server_settings import MAX_LABEL
from curiograph.service.step_view import DEFAULT_AHEAD
from curiograph.service.store import GraphInfo

_MAX_ITEMS = 100_000
"""Maximum number of items of any list, checked before the limits of the service."""
_MAX_FIELDS = 64
"""Maximum number of fields of a body; every unknown one would be reported."""

Label = Annotated[
    Annotated[StrictStr, Field(max_length=MAX_LABEL)] | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)],
    Field(description="Label of a node: text or a number. Numeric labels may also be given as text."),
]
NodeLabel = Annotated[StrictStr | StrictInt | StrictFloat, BeforeValidator(encode_label)]
"""A label in a response: labels of other types become text."""
Labels = Annotated[list[Label], Field(fail_fast=True, max_length=_MAX_ITEMS)]
Walk = Annotated[Labels, Field(min_length=1, description="Nodes in order of visit.")]
Walks = Annotated[list[Walk], Field(fail_fast=True, min_length=1, max_length=_MAX_ITEMS)]
GraphId = Annotated[str, Field(max_length=200, description="Id of a graph, as listed by `GET /api/v1/graphs`.")]
AgentName = Annotated[str, Field(max_length=200, description="As listed by `GET /api/v1/agents`, or `beam:WIDTH`.")]
RewardName = Annotated[str, Field(max_length=200, description="`igt`, `cpt`, or a weighted sum such as `igt+0.5*cpt`.")]
Seed = Annotated[int, Field(ge=0, lt=2**63, description="Random seed; the same seed gives the same response.")]
Count = Annotated[int, Field(ge=1, description="Maximum number of nodes to list.")]


def encode_number(value: float | None) -> float | None:
    """Replace a number that is not finite by None (null)."""
    return None if value is None or not math.isfinite(value) else float(value)


Number = Annotated[float | None, AfterValidator(encode_number)]


class _Response(BaseModel):
    """Base of all models: the docstrings of fields are their descriptions in the OpenAPI document."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class _Request(_Response):
    """Base of requests: strict types, and no other fields."""

    model_config = ConfigDict(extra="forbid", strict=True)
    graph: GraphId

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, values: Any) -> Any:
        if isinstance(values, dict) and len(values) > _MAX_FIELDS:
            raise ValueError(f"there are {len(values):,} fields; no request has more than {_MAX_FIELDS}")
        return values


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [values]})


class MeasureRequest(_Request):
    """One walk, or several."""

    model_config = _example(graph="toy:library", walk=["music", "physics", "chemistry"])
    walk: Walk | None = None
    """One walk; give this or `walks`."""
    walks: Walks | None = None
    """Several walks; give this or `walk`."""
    compressibility: bool = True
    """Also compute compressibility, which takes time proportional to the cube of a walk's length."""

    @model_validator(mode="after")
    def _check_walks(self) -> Self:
        if (self.walk is None) == (self.walks is None):
            raise ValueError("give either walk or walks")
        return self

    @property
    def batch(self) -> list[list[Any]]:
        """All walks of the request."""
        return self.walks or [self.walk or []]


class ExploreRequest(_Request):
    """A whole walk by an agent."""

    model_config = _example(graph="toy:library", agent="planner", reward="igt", start="music", steps=8, seed=0)
    agent: AgentName = "planner"
    reward: RewardName = "igt"
    start: Label | None = None
    """First node of the walk; random if null."""
    steps: Annotated[int, Field(ge=1, description="Number of nodes to visit, including the start.")] = 10
    fallback: Literal["frontier", "anywhere"] = "frontier"
    """Candidates at a dead end: the unvisited neighbors of the walk, or all unvisited nodes."""
    seed: Seed = 0


class LookRequest(_Request):
    """One step: the walk so far, and the agent that chooses the next node."""

    model_config = _example(graph="toy:library", walk=["music", "physics"], agent="planner", reward="igt", seed=0)
    walk: Walk
    agent: AgentName = "planner"
    reward: RewardName = "igt"
    ahead: Annotated[int, Field(ge=1, description="Nodes that planners look ahead.")] = DEFAULT_AHEAD
    seed: Seed = 0


class ViewRequest(LookRequest):
    """A walk to show, and the agent that chooses the next node."""

    more: bool = False
    """Also compute compressibility, flexibility and PageRank."""


class RankRequest(_Request):
    """PageRank, or curious PageRank by an agent."""

    model_config = _example(graph="toy:library", history=["music", "logic"], agent="greedy", reward="igt", k=5)
    history: Walk | None = None
    """Nodes to teleport to; all nodes if null."""
    agent: AgentName | None = None
    """Agent that walks, as listed by `GET /api/v1/agents`; plain PageRank if null."""
    reward: RewardName = "igt"
    alpha: Annotated[float, Field(ge=0, le=0.999, description="Probability to continue, not teleport.")] = 0.85
    p_g: Annotated[float, Field(ge=0, le=1, description="0: the best candidate of the agent; 1: a random one.")] = 0.5
    k: Count = 10
    seed: Seed = 0


class RecommendRequest(_Request):
    """Nodes to visit next, for one history or for several."""

    model_config = _example(graph="toy:library", history=["music", "physics"], k=3, candidates="last", reasons=True)
    history: Labels | None = None
    """One history; give this or `histories`. If it is empty, the nodes with the most visitors are recommended,
    or with the highest PageRank."""
    histories: Annotated[list[Labels], Field(fail_fast=True, min_length=1, max_length=_MAX_ITEMS)] | None = None
    """Several histories, each possibly empty; give this or `history`."""
    k: Count = 10
    candidates: Literal["last", "history", "all"] = "all"
    """Nodes to choose from: the unvisited neighbors of the last node, those of the history, or all unvisited nodes."""
    exclude: Labels = []
    """Nodes that are never recommended; labels that the graph does not have make no difference."""
    filter: Labels | None = None
    """Nodes that may be recommended; all if null."""
    unknown: Literal["error", "skip"] | None = None
    """Labels of a history that the graph does not have are an `error`, or are left out (`skip`) and listed in
    `skipped`. Null: `error` with `history`, `skip` with `histories`."""
    diversity: Annotated[float, Field(ge=0, le=1)] = 0.0
    """0: the best scores; 1: nodes that share the fewest neighbors."""
    ranker: Annotated[str, Field(max_length=200)] | None = None
    """`pagerank`; `pagerank:0.9`, in which a visit has 0.9 times the weight of the next; `igt` or `cpt`, PageRank of
    walkers that are curious about gaps or compressibility; or `mixture`. Null: that of the prepared nodes, or the
    mixture."""
    alpha: Annotated[float, Field(gt=0, le=0.999)] | None = None
    """Probability to continue instead of teleporting to the history; null: that of the prepared nodes. With another,
    every request is computed from scratch, which takes longer."""
    weights: Annotated[dict[str, float], Field(max_length=10)] | None = None
    """Weights of the components of the mixture, by the names of their rankers; equal if null. Only their proportions
    matter."""
    reasons: bool = False
    theory: bool = False
    """Reasons also have the gaps that a node opens and closes, and the change of compressibility."""
    prepared_only: bool = False
    """Answer at once: use only the nodes of a history that are prepared by now; if there are none, PageRank of all.
    Otherwise missing nodes are prepared first, which may take long."""

    @model_validator(mode="after")
    def _check_histories(self) -> Self:
        if (self.history is None) == (self.histories is None):
            raise ValueError("give either history or histories")
        return self

    @property
    def batch(self) -> list[list[Any]]:
        """All histories of the request."""
        return self.histories or [self.history or []]

    def fill(self, settings: Mapping[str, Any]) -> None:
        """Replace null by the settings of the prepared nodes."""
        if self.ranker is None and self.weights is None:
            self.ranker, self.weights = settings["ranker"], settings["weights"]
        self.ranker = self.ranker or "mixture"
        self.alpha = settings["alpha"] if self.alpha is None else self.alpha

    @property
    def ranker_settings(self) -> tuple[Any, ...]:
        """Name of the ranker, weights as pairs, and whether missing nodes are computed."""
        weights = None if self.weights is None else tuple(self.weights.items())
        return self.ranker, weights, not self.prepared_only

    @property
    def unknown_labels(self) -> Literal["error", "skip"]:
        """What to do with unknown labels."""
        return self.unknown or ("error" if self.histories is None else "skip")

    def join_answers(self, answers: Sequence[bytes]) -> bytes:
        """Return the response as JSON, given that for each history."""
        return answers[0] if self.histories is None else b'{"users":[%b]}' % b",".join(answers)


class ErrorDetail(_Response):
    """Type and message of an error."""

    type: str
    message: str


class ErrorResponse(_Response):
    """The format of every error."""

    error: ErrorDetail


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorResponse, "description": description}
    for status, description in {
        400: "The request cannot be read.",
        401: "The token is missing or wrong.",
        403: "The request comes from a page of another site.",
        404: "There is no such graph.",
        405: "The path has other methods; Allow lists them.",
        408: "The body did not arrive in time.",
        413: "The request is larger than the limits allow.",
        422: "The request is invalid; the message names the problem and the fix.",
        429: "The service is busy; Retry-After gives the seconds to wait.",
        500: "Something went wrong on the server; its log says what.",
        503: "The request takes too long, or the service is not ready.",
    }.items()
}
"""The errors of every route."""


class HealthResponse(_Response):
    """Status of the service."""

    status: Literal["ok"]


class GraphList(_Response):
    """All graphs except uploads, which only those know who have their ids."""

    graphs: list[GraphInfo]


class ReloadResponse(_Response):
    """Ids of the graphs of files, by what a reload did; the log of the server gives the reasons of failures."""

    reloaded: list[str]
    failed: list[str]
    unchanged: list[str]


class NodeList(_Response):
    """Labels that match a search, the best match first, with their titles, and the number of nodes of the graph."""

    nodes: list[NodeLabel]
    titles: list[str]
    total: int


class CatalogEntry(_Response):
    """Name and description of an agent or a reward."""

    name: str
    about: str


class AgentList(_Response):
    """All agents."""

    agents: list[CatalogEntry]


class RewardList(_Response):
    """All rewards."""

    rewards: list[CatalogEntry]


class GapResponse(_Response):
    """A gap: the nodes that opened and closed it, and the numbers of visited nodes at which they did; null if open."""

    opened_by: NodeLabel
    closed_by: NodeLabel | None
    opened_at: int
    closed_at: int | None
    lifetime: int | None


class GrowthResponse(_Response):
    """Growth of a walk, one entry per distinct node in order of first visit: size, Betti numbers, compressibility, gaps
    opened and closed by the step, and freedom of the visited subgraph as a network of bars and joints."""

    step: list[int]
    node: list[NodeLabel]
    edges: list[int]
    beta0: list[int]
    beta1: list[int]
    """Number of open information gaps."""
    compressibility: list[Number]
    """Compressibility of the visited subgraph in bits; null if not computed."""
    opened: list[int]
    closed: list[int]
    dimension: list[int]
    freedom: list[int]
    conformable: list[int]
    gaps: list[GapResponse]
    """All gaps, in order of opening."""
    revisits: int


class GrowthsResponse(_Response):
    """Growth of several walks, in the order of the request."""

    walks: list[GrowthResponse]


class WalkResponse(_Response):
    """A walk of an agent, with the reward after every step except the start."""

    agent: str
    reward: str
    nodes: list[NodeLabel]
    rewards: list[Number]
    total: Number
    ended_early: bool
    """Whether the walk ran out of candidates before its last step."""


class LookCandidate(_Response):
    """A candidate with its value for each motive and the score that the agent gives it."""

    node: NodeLabel
    values: dict[str, Number]
    score: Number
    """Score by the agent; higher is better; null for planners, which score whole walks."""


class _StepResponse(_Response):
    """A walk before its next step."""

    total: int
    """Number of all candidates."""
    choice: NodeLabel | None = None
    """Choice of the agent; none if there is no candidate."""
    igt: Number
    cpt: Number = None
    """Compressibility of the walk so far in bits; none for long walks."""
    cct: Number = None
    on_the_way: bool
    """Whether all candidates are neighbors of the last node; false at a dead end."""


class LookResponse(_StepResponse):
    """Candidates of a walk for its next step."""

    candidates: list[LookCandidate]
    """The best candidates: the choice of the agent, then by reward and PageRank; at most 1,000."""
    best: dict[str, list[NodeLabel]]
    """Choice of each motive; several nodes if they are equal, at most 1,000."""


class ViewCandidate(_Response):
    """A candidate with the gaps that it opens and closes, and its values as in `look`."""

    node: NodeLabel
    values: dict[str, Number]
    opens: int
    closes: int
    linked: list[int]
    """Visited nodes that it is linked to, as steps of the walk from 0."""


class LoopResponse(_Response):
    """A gap of a walk: its loop as steps from 0, and the numbers of nodes at which it opened and closed."""

    loop: list[int]
    opened_at: int
    closed_at: int | None = None


class ViewResponse(_StepResponse):
    """A walk with its growth, its gaps, its picture, and the effect of every next node."""

    walk: list[NodeLabel]
    beta1: list[int]
    """Number of open gaps after every step."""
    compressibility: list[Number] | None = None
    """Compressibility after every step in bits, with `more`; none for long walks."""
    links: list[list[int]]
    """Links between visited nodes, as pairs of steps."""
    gaps: list[LoopResponse]
    candidates: list[ViewCandidate]
    """The best candidates, first the choice of the agent."""
    reason: str | None = None
    """What the choice does, as a sentence."""
    places: list[list[float]]
    """Coordinates of the visited nodes, then of candidates; those of `picture`, unless the graph is dense."""
    map: list[list[float]] | None = None
    """Coordinates of the visited nodes in `picture`, if the graph is dense."""
    titles: list[str] | None = None
    """Names to show of the visited nodes, then of the candidates, if the graph has any."""


class PictureResponse(_Response):
    """A graph in the plane: all nodes and links, or the density of nodes if there are many."""

    nodes: int
    edges: int
    directed: bool
    weighted: bool
    dense: bool
    """Whether walks have a layout of their own, because the links of the graph would be a knot."""
    start: NodeLabel | None = None
    """The node with the most links, as a start."""
    area: list[float]
    """Lowest and highest coordinates: left, top, right, bottom."""
    labels: list[NodeLabel] | None = None
    """All nodes, if there are at most 3,000."""
    titles: list[str] | None = None
    """Names to show instead of the labels, if the graph has any."""
    places: list[list[float]] | None = None
    """Coordinates of all nodes."""
    links: list[list[int]] | None = None
    """Links as pairs of indices of `labels`; none of them if the graph is dense."""
    shade: list[list[int]] | None = None
    """Number of nodes in each cell of a grid over the area, row by row, if there are more than 3,000 nodes."""


class GraphGap(_Response):
    """A gap of a graph: its loop, and what would close it."""

    loop: list[NodeLabel]
    titles: list[str]
    links: list[list[NodeLabel]]
    """Pairs of nodes across it that are not linked, the most promising first."""
    nodes: list[NodeLabel]
    """Nodes linked to more than half of the loop."""


class GraphGapsResponse(_Response):
    """The gaps of a whole graph, the most important first."""

    total: int
    """Number of gaps of the graph."""
    gaps: list[GraphGap]


class RankedNode(_Response):
    """A node with its rank, from 1, and its score; all scores of a graph sum to 1."""

    rank: int
    node: NodeLabel
    score: float
    stderr: Number = None
    """Standard error of the score; null if it is exact."""


class RankResponse(_Response):
    """The best nodes, best first."""

    history: list[NodeLabel] | None
    agent: str | None
    alpha: float
    converged: bool
    ranking: list[RankedNode]


class RecommendedNode(_Response):
    """A node to visit next; the fields after `score` are present if reasons were requested, the last three if `theory`
    was."""

    node: NodeLabel
    score: float
    ranks: dict[str, int] | None = None
    """Rank among all candidates, by each kind of walker."""
    candidates: int | None = None
    sentence: str | None = None
    """The main reason as one sentence for users."""
    shares: list[tuple[NodeLabel, float]] | None = None
    """The visited nodes with the largest shares of the score, at most 20; none if it is not a sum over the history."""
    links: list[NodeLabel] | None = None
    """Visited nodes linked to it, at most 20."""
    opens: list[list[NodeLabel]] | None = None
    """Loops of the gaps that a visit of the node would open."""
    closes: list[NodeLabel] | None = None
    """Nodes that opened the gaps which a visit of the node would close."""
    compressibility: Number = None
    """Change of compressibility by a visit of the node, in bits."""


class RecommendResponse(_Response):
    """Nodes to visit next, best first."""

    history: list[NodeLabel]
    candidates: int
    recommendations: list[RecommendedNode]
    used: list[NodeLabel] | None = None
    """Prepared nodes of the history, with `prepared_only`; if there are none, PageRank uses the whole history."""
    skipped: list[NodeLabel] | None = None
    """Labels of the history that the graph does not have, if some were left out."""


class RecommendManyResponse(_Response):
    """Nodes to visit next, for each history in the order of the request."""

    users: list[RecommendResponse]
