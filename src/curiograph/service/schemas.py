"""Request and response models, which define the OpenAPI document."""

from __future__ import annotations

import math
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

from curiograph.service.graph_store import GraphInfo
from curiograph.service.jobs import JobState
from curiograph.service.labels import encode_label
from curiograph.service.step_view import DEFAULT_AHEAD

Label = Annotated[
    StrictStr | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)],
    Field(description="Label of a node: text or a number. Numeric labels may also be given as text."),
]
NodeLabel = Annotated[Label, BeforeValidator(encode_label)]
"""A label in a response: labels of other types become text."""
Walk = Annotated[list[Label], Field(min_length=1, description="Nodes in order of visit.")]
Walks = Annotated[list[Walk], Field(min_length=1)]
GraphId = Annotated[str, Field(max_length=200, description="Id of a graph, as listed by `GET /api/v1/graphs`.")]
AgentName = Annotated[str, Field(max_length=200, description="As listed by `GET /api/v1/agents`, or `beam:WIDTH`.")]
RewardName = Annotated[str, Field(max_length=200, description="`igt` or `cpt`.")]
Seed = Annotated[int, Field(ge=0, lt=2**63, description="Random seed; the same seed gives the same response.")]
Steps = Annotated[int, Field(ge=1, description="Number of nodes to visit, including the start.")]
Count = Annotated[int, Field(ge=1, description="Maximum number of nodes to list.")]
Alpha = Annotated[float, Field(ge=0, le=0.999, description="Probability to continue instead of teleporting.")]
Greediness = Annotated[
    float, Field(ge=0, le=1, description="0: always the best candidate of the agent; 1: a uniformly random candidate.")
]


def encode_number(value: float | None) -> float | None:
    """Replace a number that is not finite by None (null).

    >>> encode_number(0.5), encode_number(float("nan"))
    (0.5, None)
    """
    return None if value is None or not math.isfinite(value) else float(value)


Number = Annotated[float | None, AfterValidator(encode_number)]


def _config(**example: Any) -> ConfigDict:
    """Configure a request model: strict types, no other fields, and an example for the OpenAPI document."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [example]})


class MeasureRequest(BaseModel):
    """One walk, or several."""

    model_config = _config(graph="toy:library", walk=["music", "physics", "chemistry"])
    graph: GraphId
    walk: Walk | None = None
    walks: Walks | None = None
    compressibility: bool = True

    @model_validator(mode="after")
    def _check_walks(self) -> Self:
        if (self.walk is None) == (self.walks is None):
            raise ValueError("give either walk or walks")
        return self

    @property
    def batch(self) -> list[list[Any]]:
        """All walks of the request."""
        return self.walks or [self.walk or []]


class ExploreRequest(BaseModel):
    """A whole walk by an agent."""

    model_config = _config(graph="toy:library", agent="greedy", reward="igt", start="music", steps=8, seed=0)
    graph: GraphId
    agent: AgentName = "greedy"
    reward: RewardName = "igt"
    start: Label | None = None
    steps: Steps = 10
    fallback: Literal["frontier", "anywhere"] = "frontier"
    seed: Seed = 0


class LookRequest(BaseModel):
    """One step: the walk so far, and the agent that chooses the next node."""

    model_config = _config(graph="toy:library", walk=["music", "physics"], agent="greedy", reward="igt", seed=0)
    graph: GraphId
    walk: Walk
    agent: AgentName = "greedy"
    reward: RewardName = "igt"
    ahead: Annotated[int, Field(ge=1, description="Nodes still to be visited, for agents that look ahead.")] = (
        DEFAULT_AHEAD
    )
    seed: Seed = 0


class RankRequest(BaseModel):
    """PageRank, or curious PageRank by an agent."""

    model_config = _config(graph="toy:library", history=["music", "logic"], agent="greedy", reward="igt", k=5)
    graph: GraphId
    history: Walk | None = None
    agent: AgentName | None = None
    reward: RewardName = "igt"
    alpha: Alpha = 0.85
    p_g: Greediness = 0.5
    k: Count = 10
    seed: Seed = 0


class RecommendRequest(BaseModel):
    """Nodes to visit next, for one history or for several."""

    model_config = _config(graph="toy:library", history=["music", "physics"], k=3, candidates="last", reasons=True)
    graph: GraphId
    history: Walk | None = None
    histories: Walks | None = None
    k: Count = 10
    candidates: Literal["last", "history", "all"] = "all"
    reasons: bool = False
    prepared_only: Annotated[
        bool,
        Field(
            description="Answer at once, without simulation: use the prepared nodes of a history, and PageRank alone "
            "if none is prepared. Otherwise missing nodes are prepared first, which may take long."
        ),
    ] = False

    @model_validator(mode="after")
    def _check_histories(self) -> Self:
        if (self.history is None) == (self.histories is None):
            raise ValueError("give either history or histories")
        return self

    @property
    def batch(self) -> list[list[Any]]:
        """All histories of the request."""
        return self.histories or [self.history or []]


class PredictRequest(BaseModel):
    """A history whose next node is predicted and, to see its percentile, the choice that was made."""

    model_config = _config(graph="toy:library", history=["music", "physics"], choice="mathematics", k=5)
    graph: GraphId
    history: Walk
    choice: Label | None = None
    k: Count = 10


class EvaluateJobRequest(BaseModel):
    """A job: returns of an agent over many walks."""

    model_config = _config(kind="evaluate", graph="rg", agent="greedy", reward="igt", steps=10, episodes=50)
    kind: Literal["evaluate"]
    graph: GraphId
    agent: AgentName = "greedy"
    reward: RewardName = "igt"
    steps: Steps = 10
    episodes: Annotated[int, Field(ge=1, description="Number of walks from random starts.")] = 100
    seed: Seed = 0


class MeasureJobRequest(BaseModel):
    """A job: growth of many walks."""

    model_config = _config(kind="measure", graph="toy:library", walks=[["music", "physics"], ["logic", "computing"]])
    kind: Literal["measure"]
    graph: GraphId
    walks: Walks


class RankJobRequest(RankRequest):
    """A job: curious PageRank that may take long."""

    model_config = _config(kind="rank", graph="rg", history=[3, 7], agent="igt-rg-horizon", reward="igt", k=10)
    kind: Literal["rank"]


class PrepareJobRequest(BaseModel):
    """A job: prepare recommendations for some nodes, or for all."""

    model_config = _config(kind="prepare", graph="toy:library")
    kind: Literal["prepare"]
    graph: GraphId
    nodes: Walk | None = None


JobRequest = Annotated[
    EvaluateJobRequest | MeasureJobRequest | RankJobRequest | PrepareJobRequest, Field(discriminator="kind")
]


class ErrorDetail(BaseModel):
    """Type and message of an error."""

    type: str
    message: str


class ErrorResponse(BaseModel):
    """The format of every error."""

    error: ErrorDetail


class GraphList(BaseModel):
    """All graphs."""

    graphs: list[GraphInfo]


class NodeList(BaseModel):
    """Labels that match a search, the best match first, and the number of nodes of the graph."""

    nodes: list[NodeLabel]
    total: int


class CatalogEntry(BaseModel):
    """Name and description of an agent or a reward."""

    name: str
    about: str


class AgentList(BaseModel):
    """All agents."""

    agents: list[CatalogEntry]


class RewardList(BaseModel):
    """All rewards."""

    rewards: list[CatalogEntry]


class GapResponse(BaseModel):
    """A gap: the nodes that opened and closed it, and the numbers of visited nodes at which they did."""

    dim: int
    opened_by: NodeLabel
    closed_by: NodeLabel | None
    opened_at: int
    closed_at: int | None
    lifetime: int | None


class GrowthResponse(BaseModel):
    """Growth of a walk, one entry per distinct node in order of first visit."""

    step: list[int]
    node: list[NodeLabel]
    edges: list[int]
    beta0: list[int]
    beta1: list[int]
    compressibility: list[Number]
    opened: list[int]
    closed: list[int]
    gaps: list[GapResponse]
    revisits: int


class GrowthsResponse(BaseModel):
    """Growth of several walks."""

    walks: list[GrowthResponse]


class WalkResponse(BaseModel):
    """A walk of an agent, with the reward after every step except the start."""

    agent: str
    reward: str
    nodes: list[NodeLabel]
    rewards: list[Number]
    total: Number
    ended_early: bool


class LookCandidate(BaseModel):
    """A candidate with its value for each motive and the score that the agent gives it."""

    node: NodeLabel
    values: dict[str, Number]
    score: Number


class LookResponse(BaseModel):
    """Candidates of a walk for its next step."""

    candidates: list[LookCandidate]
    choice: NodeLabel | None
    """Choice of the agent."""
    best: dict[str, list[NodeLabel]]
    """Choice of each motive; several nodes if they are equal."""
    igt: Number
    cpt: Number
    on_the_way: bool


class RankedNode(BaseModel):
    """A node with its rank and score."""

    rank: int
    node: NodeLabel
    score: float
    stderr: Number = None


class RankResponse(BaseModel):
    """The best nodes."""

    history: list[NodeLabel] | None
    agent: str | None
    alpha: float
    converged: bool
    ranking: list[RankedNode]


class RecommendedNode(BaseModel):
    """A node to visit next; the fields after `stderr` are present if reasons were requested."""

    node: NodeLabel
    score: float
    stderr: float
    ranks: dict[str, int] | None = None
    candidates: int | None = None
    links: list[NodeLabel] | None = None
    opens: list[list[NodeLabel]] | None = None
    closes: list[NodeLabel] | None = None
    compressibility: Number = None


class RecommendResponse(BaseModel):
    """Nodes to visit next, best first."""

    history: list[NodeLabel]
    candidates: int
    recommendations: list[RecommendedNode]
    used: list[NodeLabel] | None = None
    """Prepared nodes of the history, with `prepared_only`; PageRank uses the whole history."""


class RecommendManyResponse(BaseModel):
    """Nodes to visit next, for each history."""

    users: list[RecommendResponse]


class PredictedNode(BaseModel):
    """A candidate with its share of the scores, and the share of the other candidates that it beats."""

    node: NodeLabel
    shares: dict[str, Number]
    percentiles: dict[str, Number]


class PredictResponse(BaseModel):
    """The likeliest next nodes by the mixture, and the choice that was made if given."""

    candidates: int
    ranking: list[PredictedNode]
    choice: PredictedNode | None


class JobResponse(BaseModel):
    """A job: its progress and, once done, its result."""

    id: str
    kind: Literal["evaluate", "measure", "rank", "prepare"]
    graph: str
    state: JobState
    done: int
    of: int
    """Total units of work; 0 until it is known, and it may grow."""
    result: dict[str, Any] | None
    error: ErrorDetail | None


class JobList(BaseModel):
    """All jobs, without their results."""

    jobs: list[JobResponse]


class HealthResponse(BaseModel):
    """Status of the service."""

    status: Literal["ok"]
