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
_MAX_ITEMS = 100_000
"""Maximum number of items of any list, checked before the limits of the service."""
Labels = Annotated[list[Label], Field(fail_fast=True, max_length=_MAX_ITEMS)]
Walk = Annotated[
    list[Label], Field(fail_fast=True, min_length=1, max_length=_MAX_ITEMS, description="Nodes in order of visit.")
]
Walks = Annotated[list[Walk], Field(fail_fast=True, min_length=1, max_length=_MAX_ITEMS)]
GraphId = Annotated[str, Field(max_length=200, description="Id of a graph, as listed by `GET /api/v1/graphs`.")]
AgentName = Annotated[str, Field(max_length=200, description="As listed by `GET /api/v1/agents`, or `beam:WIDTH`.")]
RewardName = Annotated[str, Field(max_length=200, description="`igt`, `cpt`, or a weighted sum such as `igt+0.5*cpt`.")]
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


class _Model(BaseModel):
    """Base of all models: the docstrings of fields are their descriptions in the OpenAPI document."""

    model_config = ConfigDict(use_attribute_docstrings=True)


def _config(**example: Any) -> ConfigDict:
    """Configure a request model: strict types, no other fields, and an example for the OpenAPI document."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [example]})


class MeasureRequest(_Model):
    """One walk, or several."""

    model_config = _config(graph="toy:library", walk=["music", "physics", "chemistry"])
    graph: GraphId
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


class ExploreRequest(_Model):
    """A whole walk by an agent."""

    model_config = _config(graph="toy:library", agent="planner", reward="igt", start="music", steps=8, seed=0)
    graph: GraphId
    agent: AgentName = "planner"
    reward: RewardName = "igt"
    start: Label | None = None
    """First node of the walk; random if null."""
    steps: Steps = 10
    fallback: Literal["frontier", "anywhere"] = "frontier"
    """Candidates at a dead end: the unvisited neighbors of the walk, or all unvisited nodes."""
    seed: Seed = 0


class LookRequest(_Model):
    """One step: the walk so far, and the agent that chooses the next node."""

    model_config = _config(graph="toy:library", walk=["music", "physics"], agent="planner", reward="igt", seed=0)
    graph: GraphId
    walk: Walk
    agent: AgentName = "planner"
    reward: RewardName = "igt"
    ahead: Annotated[int, Field(ge=1, description="Nodes still to be visited, for agents that look ahead.")] = (
        DEFAULT_AHEAD
    )
    seed: Seed = 0


class RankRequest(_Model):
    """PageRank, or curious PageRank by an agent."""

    model_config = _config(graph="toy:library", history=["music", "logic"], agent="greedy", reward="igt", k=5)
    graph: GraphId
    history: Walk | None = None
    """Nodes to teleport to; all nodes if null."""
    agent: AgentName | None = None
    """Agent that walks, as listed by `GET /api/v1/agents`; plain PageRank if null."""
    reward: RewardName = "igt"
    alpha: Alpha = 0.85
    p_g: Greediness = 0.5
    k: Count = 10
    seed: Seed = 0


class RecommendRequest(_Model):
    """Nodes to visit next, for one history or for several."""

    model_config = _config(graph="toy:library", history=["music", "physics"], k=3, candidates="last", reasons=True)
    graph: GraphId
    history: Labels | None = None
    """One history; give this or `histories`. If it is empty, the nodes of the highest PageRank are recommended."""
    histories: Annotated[list[Labels], Field(fail_fast=True, min_length=1, max_length=_MAX_ITEMS)] | None = None
    """Several histories, each possibly empty; give this or `history`."""
    k: Count = 10
    candidates: Literal["last", "history", "all"] = "all"
    """Nodes to choose from: the unvisited neighbors of the last node, those of the history, or all unvisited nodes."""
    exclude: Labels = []
    """Nodes that are never recommended; labels that the graph does not have make no difference."""
    filter: Labels | None = None
    """Nodes that may be recommended; all if null."""
    unknown: Annotated[
        Literal["error", "skip"] | None,
        Field(
            description="Labels of a history that the graph does not have are an `error`, or are left out (`skip`) and "
            "listed in `skipped`. Null: `error` with `history`, `skip` with `histories`."
        ),
    ] = None
    diversity: Annotated[
        float, Field(ge=0, le=1, description="0: the best scores; 1: nodes that share the fewest neighbors.")
    ] = 0.0
    reasons: bool = False
    """Also return the reasons of every recommendation."""
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

    @property
    def skips_unknown(self) -> bool:
        """Whether unknown labels are left out."""
        return self.unknown == "skip" or (self.unknown is None and self.histories is not None)


class PredictRequest(_Model):
    """A history whose next node is predicted and, to see its percentile, the choice that was made."""

    model_config = _config(graph="toy:library", history=["music", "physics"], choice="mathematics", k=5)
    graph: GraphId
    history: Walk
    """Nodes visited so far, in order."""
    choice: Label | None = None
    """The node that was chosen next, to see its percentile."""
    k: Count = 10


class EvaluateJobRequest(_Model):
    """A job: returns of an agent over many walks."""

    model_config = _config(kind="evaluate", graph="rg", agent="greedy", reward="igt", steps=10, episodes=50)
    kind: Literal["evaluate"]
    """Kind of the job."""
    graph: GraphId
    agent: AgentName = "greedy"
    reward: RewardName = "igt"
    steps: Steps = 10
    episodes: Annotated[int, Field(ge=1, description="Number of walks from random starts.")] = 100
    seed: Seed = 0


class MeasureJobRequest(_Model):
    """A job: growth of many walks."""

    model_config = _config(kind="measure", graph="toy:library", walks=[["music", "physics"], ["logic", "computing"]])
    kind: Literal["measure"]
    """Kind of the job."""
    graph: GraphId
    walks: Walks
    """The walks to measure."""

    @property
    def batch(self) -> list[list[Any]]:
        """All walks of the job."""
        return self.walks


class RankJobRequest(RankRequest):
    """A job: curious PageRank that may take long."""

    model_config = _config(kind="rank", graph="rg", history=[3, 7], agent="igt-rg-planner", reward="igt", k=10)
    kind: Literal["rank"]
    """Kind of the job."""


class PrepareJobRequest(_Model):
    """A job: prepare recommendations for some nodes, or for all."""

    model_config = _config(kind="prepare", graph="toy:library")
    kind: Literal["prepare"]
    """Kind of the job."""
    graph: GraphId
    nodes: Walk | None = None
    """Nodes to prepare; all nodes if null."""


JobRequest = Annotated[
    EvaluateJobRequest | MeasureJobRequest | RankJobRequest | PrepareJobRequest, Field(discriminator="kind")
]


class ErrorDetail(_Model):
    """Type and message of an error."""

    type: str
    """Type of the error."""
    message: str
    """What is wrong, and how to fix it."""


class ErrorResponse(_Model):
    """The format of every error."""

    error: ErrorDetail
    """Type and message."""


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorResponse, "description": "The request cannot be read."},
    401: {"model": ErrorResponse, "description": "The token is missing or wrong."},
    403: {"model": ErrorResponse, "description": "The request comes from a page of another site."},
    404: {"model": ErrorResponse, "description": "There is no such graph or job."},
    405: {"model": ErrorResponse, "description": "The path has other methods; Allow lists them."},
    408: {"model": ErrorResponse, "description": "The body did not arrive in time."},
    413: {"model": ErrorResponse, "description": "The request is larger than the limits allow."},
    422: {"model": ErrorResponse, "description": "The request is invalid; the message names the problem and the fix."},
    429: {"model": ErrorResponse, "description": "The service is busy; Retry-After gives the seconds to wait."},
    500: {"model": ErrorResponse, "description": "Something went wrong on the server; its log says what."},
    503: {"model": ErrorResponse, "description": "The request takes too long, or the service is not ready."},
}
"""The errors of every route."""


class GraphList(_Model):
    """All graphs."""

    graphs: list[GraphInfo]
    """Id, title and size of every graph."""


class ReloadResponse(_Model):
    """Ids of the graphs of files, by what a reload did."""

    reloaded: list[str]
    """Graphs that were replaced because their files changed."""
    failed: list[str]
    """Graphs whose new files cannot be used; the old graphs stay, and the log of the server gives the reasons."""
    unchanged: list[str]
    """Graphs whose files did not change."""


class NodeList(_Model):
    """Labels that match a search, the best match first, and the number of nodes of the graph."""

    nodes: list[NodeLabel]
    """Matching labels."""
    total: int
    """Number of nodes of the graph."""


class CatalogEntry(_Model):
    """Name and description of an agent or a reward."""

    name: str
    """Name to use in requests."""
    about: str
    """Description in one sentence."""


class AgentList(_Model):
    """All agents."""

    agents: list[CatalogEntry]
    """Name and description of every agent."""


class RewardList(_Model):
    """All rewards."""

    rewards: list[CatalogEntry]
    """Name and description of every reward."""


class GapResponse(_Model):
    """A gap: the nodes that opened and closed it, and the numbers of visited nodes at which they did."""

    opened_by: NodeLabel
    """Node that opened the gap."""
    closed_by: NodeLabel | None
    """Node that closed the gap; null if it is open."""
    opened_at: int
    """Number of nodes visited when the gap opened."""
    closed_at: int | None
    """Number of nodes visited when the gap closed; null if it is open."""
    lifetime: int | None
    """Steps from opening to closing; null if the gap is open."""


class GrowthResponse(_Model):
    """Growth of a walk, one entry per distinct node in order of first visit."""

    step: list[int]
    """Number of nodes visited."""
    node: list[NodeLabel]
    """Visited nodes, first visits only."""
    edges: list[int]
    """Number of edges of the visited subgraph."""
    beta0: list[int]
    """Number of components of the visited subgraph."""
    beta1: list[int]
    """Number of open information gaps."""
    compressibility: list[Number]
    """Compressibility of the visited subgraph in bits; null if not computed."""
    opened: list[int]
    """Number of gaps that the step opened."""
    closed: list[int]
    """Number of gaps that the step closed."""
    dimension: list[int]
    """Dimension in which the visited subgraph moves as a network of bars and joints; it never falls."""
    freedom: list[int]
    """Degrees of freedom of that network."""
    conformable: list[int]
    """Degrees of freedom that are not rigid motions of the whole network."""
    gaps: list[GapResponse]
    """All gaps, in order of opening."""
    revisits: int
    """Number of visits that were skipped because the node had been visited before."""


class GrowthsResponse(_Model):
    """Growth of several walks."""

    walks: list[GrowthResponse]
    """Growth of every walk, in the order of the request."""


class WalkResponse(_Model):
    """A walk of an agent, with the reward after every step except the start."""

    agent: str
    """Name of the agent."""
    reward: str
    """Name of the reward."""
    nodes: list[NodeLabel]
    """Visited nodes in order."""
    rewards: list[Number]
    """Reward after every step except the start."""
    total: Number
    """Sum of the rewards."""
    ended_early: bool
    """Whether the walk ran out of candidates before its last step."""


class LookCandidate(_Model):
    """A candidate with its value for each motive and the score that the agent gives it."""

    node: NodeLabel
    """Label of the candidate."""
    values: dict[str, Number]
    """Value of the visited subgraph with this candidate, by motive."""
    score: Number
    """Score by the agent; higher is better."""


class LookResponse(_Model):
    """Candidates of a walk for its next step."""

    candidates: list[LookCandidate]
    """All candidates."""
    choice: NodeLabel | None
    """Choice of the agent."""
    best: dict[str, list[NodeLabel]]
    """Choice of each motive; several nodes if they are equal."""
    igt: Number
    """Open information gaps of the walk so far."""
    cpt: Number
    """Compressibility of the walk so far in bits; null for long walks."""
    cct: Number
    """Conformable degrees of freedom of the walk so far."""
    on_the_way: bool
    """Whether all candidates are neighbors of the last node; false at a dead end."""


class RankedNode(_Model):
    """A node with its rank and score."""

    rank: int
    """Rank, from 1."""
    node: NodeLabel
    """Label of the node."""
    score: float
    """Score; all scores of a graph sum to 1."""
    stderr: Number = None
    """Standard error of the score; null if it is exact."""


class RankResponse(_Model):
    """The best nodes."""

    history: list[NodeLabel] | None
    """History of the request."""
    agent: str | None
    """Agent of the request."""
    alpha: float
    """Probability to continue instead of teleporting."""
    converged: bool
    """Whether the requested precision was reached."""
    ranking: list[RankedNode]
    """The best nodes, best first."""


class RecommendedNode(_Model):
    """A node to visit next; the fields after `stderr` are present if reasons were requested."""

    node: NodeLabel
    """Label of the node."""
    score: float
    """Score; higher is better."""
    stderr: float
    """Standard error of the score."""
    ranks: dict[str, int] | None = None
    """Rank among all candidates, by each kind of walker."""
    candidates: int | None = None
    """Number of candidates that were ranked."""
    links: list[NodeLabel] | None = None
    """Nodes of the history that link to the node."""
    opens: list[list[NodeLabel]] | None = None
    """Loops of the gaps that a visit of the node would open."""
    closes: list[NodeLabel] | None = None
    """Nodes that opened the gaps which a visit of the node would close."""
    compressibility: Number = None
    """Change of compressibility by a visit of the node, in bits."""
    sentence: str | None = None
    """The main reason as one sentence for users."""


class RecommendResponse(_Model):
    """Nodes to visit next, best first."""

    history: list[NodeLabel]
    """History of the request."""
    candidates: int
    """Number of candidates that were ranked."""
    recommendations: list[RecommendedNode]
    """Recommended nodes, best first."""
    used: list[NodeLabel] | None = None
    """Prepared nodes of the history, with `prepared_only`; PageRank uses the whole history."""
    skipped: list[NodeLabel] | None = None
    """Labels of the history that the graph does not have, if some were left out."""


class RecommendManyResponse(_Model):
    """Nodes to visit next, for each history."""

    users: list[RecommendResponse]
    """Recommendations for every history, in the order of the request."""


class PredictedNode(_Model):
    """A candidate with its share of the scores, and the share of the other candidates that it beats."""

    node: NodeLabel
    """Label of the candidate."""
    shares: dict[str, Number]
    """Share of the scores of all candidates, by component."""
    percentiles: dict[str, Number]
    """Share of the other candidates with a lower score, by component."""


class PredictResponse(_Model):
    """The likeliest next nodes by the mixture, and the choice that was made if given."""

    candidates: int
    """Number of candidates."""
    ranking: list[PredictedNode]
    """The likeliest candidates, best first."""
    choice: PredictedNode | None
    """The choice that was given, if it is a candidate."""


class EvaluateResult(_Model):
    """Result of an evaluation: returns of an agent over many walks."""

    agent: str
    """Name of the agent."""
    reward: str
    """Name of the reward."""
    steps: int
    """Number of nodes that was requested for every walk."""
    episodes: int
    """Number of walks."""
    mean: Number
    """Mean return."""
    sem: Number
    """Standard error of the mean return."""
    ended_early: int
    """Number of walks that ran out of candidates before their last step."""


class PrepareResult(_Model):
    """Result of a preparation."""

    nodes: int
    """Number of nodes that were to be prepared."""
    known: int
    """Number of parts that are prepared, over all nodes and components."""


class JobResponse(_Model):
    """A job: its progress and, once done, its result."""

    id: str
    """Id of the job."""
    kind: Literal["evaluate", "measure", "rank", "prepare"]
    """Kind of the job."""
    graph: str
    """Id of the graph."""
    state: JobState
    """State of the job."""
    done: int
    """Units of work that are done."""
    of: int
    """Total units of work; 0 until it is known."""
    result: EvaluateResult | GrowthsResponse | RankResponse | PrepareResult | None
    """Result of a finished job, by its kind; null before."""
    error: ErrorDetail | None
    """Error of a failed job."""


class JobList(_Model):
    """All jobs, without their results."""

    jobs: list[JobResponse]
    """All jobs."""


class HealthResponse(_Model):
    """Status of the service."""

    status: Literal["ok"]
    """Always ok."""
