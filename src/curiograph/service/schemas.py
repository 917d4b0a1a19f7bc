"""What requests and answers look like: the models behind the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, model_validator

from curiograph.service.step_view import DEFAULT_AHEAD

Label = Annotated[
    StrictStr | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)],
    Field(
        description="A node: text or a number. Where a graph's labels are numbers, text that looks like one will do."
    ),
]
Walk = Annotated[list[Label], Field(min_length=1, description="Nodes in order of visit.")]
Walks = Annotated[list[Walk], Field(min_length=1)]
GraphId = Annotated[str, Field(max_length=200, description="Id of a graph, as `GET /api/v1/graphs` lists them.")]
AgentName = Annotated[str, Field(max_length=200, description="As `GET /api/v1/agents` lists them, or `beam:WIDTH`.")]
RewardName = Annotated[str, Field(max_length=200, description="`igt` or `cpt`.")]
Seed = Annotated[int, Field(ge=0, lt=2**63, description="Same seed, same answer.")]
Steps = Annotated[int, Field(ge=1, description="Nodes to visit, the start included.")]
Count = Annotated[int, Field(ge=1, description="How many nodes to list.")]
Alpha = Annotated[float, Field(ge=0, le=0.999, description="Chance to go on instead of teleporting.")]
Greediness = Annotated[float, Field(ge=0, le=1, description="0: always the agent's best candidate; 1: any candidate.")]


class Asked(BaseModel):
    """A request: nothing else than what it says, of the types that it says."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [values]})


class MeasureRequest(Asked):
    """One walk, or several."""

    model_config = _example(graph="toy:library", walk=["music", "physics", "chemistry"])
    graph: GraphId
    walk: Walk | None = None
    walks: Walks | None = None
    compressibility: bool = True

    @model_validator(mode="after")
    def _one_of_two(self) -> MeasureRequest:
        check_one("walk", self.walk, "walks", self.walks)
        return self


class ExploreRequest(Asked):
    """A whole walk by an agent."""

    model_config = _example(graph="toy:library", agent="greedy", reward="igt", start="music", steps=8, seed=0)
    graph: GraphId
    agent: AgentName = "greedy"
    reward: RewardName = "igt"
    start: Label | None = None
    steps: Steps = 10
    fallback: Literal["frontier", "anywhere"] = "frontier"
    seed: Seed = 0


class LookRequest(Asked):
    """One step: the walk so far, and who would go on."""

    model_config = _example(graph="toy:library", walk=["music", "physics"], agent="greedy", reward="igt", seed=0)
    graph: GraphId
    walk: Walk
    agent: AgentName = "greedy"
    reward: RewardName = "igt"
    ahead: Annotated[int, Field(ge=1, description="Nodes still to be visited, for agents that look ahead.")] = (
        DEFAULT_AHEAD
    )
    seed: Seed = 0


class RankRequest(Asked):
    """PageRank, or PageRank that an agent walks."""

    model_config = _example(graph="toy:library", history=["music", "logic"], agent="greedy", reward="igt", k=5)
    graph: GraphId
    history: Walk | None = None
    agent: AgentName | None = None
    reward: RewardName = "igt"
    alpha: Alpha = 0.85
    p_g: Greediness = 0.5
    k: Count = 10
    seed: Seed = 0


class RecommendRequest(Asked):
    """What to visit next, for one history or for several."""

    model_config = _example(graph="toy:library", history=["music", "physics"], k=3, candidates="last", reasons=True)
    graph: GraphId
    history: Walk | None = None
    histories: Walks | None = None
    k: Count = 10
    candidates: Literal["last", "history", "all"] = "all"
    reasons: bool = False
    prepared_only: Annotated[
        bool,
        Field(
            description="Let no walkers walk: answer at once from those nodes of a history that are prepared, and from "
            "PageRank alone where none is. Otherwise what is missing is computed, which may take long."
        ),
    ] = False

    @model_validator(mode="after")
    def _one_of_two(self) -> RecommendRequest:
        check_one("history", self.history, "histories", self.histories)
        return self


class PredictRequest(Asked):
    """Where someone with this history goes next; with the choice that was made, how high it stands."""

    model_config = _example(graph="toy:library", history=["music", "physics"], choice="mathematics", k=5)
    graph: GraphId
    history: Walk
    choice: Label | None = None
    k: Count = 10


class EvaluateJobRequest(Asked):
    """A job: returns of an agent over many walks."""

    model_config = _example(kind="evaluate", graph="rg", agent="greedy", reward="igt", steps=10, episodes=50)
    kind: Literal["evaluate"]
    graph: GraphId
    agent: AgentName = "greedy"
    reward: RewardName = "igt"
    steps: Steps = 10
    episodes: Annotated[int, Field(ge=1, description="Walks from random starts.")] = 100
    seed: Seed = 0


class MeasureJobRequest(Asked):
    """A job: what many walks grew."""

    model_config = _example(kind="measure", graph="toy:library", walks=[["music", "physics"], ["logic", "computing"]])
    kind: Literal["measure"]
    graph: GraphId
    walks: Walks


class RankJobRequest(RankRequest):
    """A job: curious PageRank that may take long."""

    model_config = _example(kind="rank", graph="rg", history=[3, 7], agent="igt-rg-horizon", reward="igt", k=10)
    kind: Literal["rank"]


class PrepareJobRequest(Asked):
    """A job: compute ahead what recommendations for these nodes need, or for all nodes."""

    model_config = _example(kind="prepare", graph="toy:library")
    kind: Literal["prepare"]
    graph: GraphId
    nodes: Walk | None = None


JobRequest = Annotated[
    EvaluateJobRequest | MeasureJobRequest | RankJobRequest | PrepareJobRequest, Field(discriminator="kind")
]


def check_one(one: str, given: object, other: str, given_too: object) -> None:
    """Raise unless exactly one of two things is given."""
    if (given is None) == (given_too is None):
        raise ValueError(f"give {one} or {other}, one of them")


class ErrorDetail(BaseModel):
    """Why there is no answer."""

    type: str
    message: str


class ErrorResponse(BaseModel):
    """The shape of every answer that is not one."""

    error: ErrorDetail


class GraphEntry(BaseModel):
    """A graph on offer; its size is null until it has been read."""

    id: str
    title: str
    kind: Literal["built-in", "data set", "file", "upload"]
    nodes: int | None
    edges: int | None
    directed: bool | None


class GraphList(BaseModel):
    """All graphs on offer."""

    graphs: list[GraphEntry]


class NodeList(BaseModel):
    """Labels that match a search, the best match first."""

    nodes: list[Label]
    total: int


class CatalogEntry(BaseModel):
    """An agent or a reward, and what it is."""

    name: str
    about: str


class AgentList(BaseModel):
    """Agents that can be named."""

    agents: list[CatalogEntry]


class RewardList(BaseModel):
    """Rewards that can be named."""

    rewards: list[CatalogEntry]


class GapResponse(BaseModel):
    """A gap: which node opened and which closed it, after how many visited nodes."""

    dim: int
    opened_by: Label
    closed_by: Label | None
    opened_at: int
    closed_at: int | None
    lifetime: int | None


class GrowthResponse(BaseModel):
    """What a walk grew, an entry per distinct node in order of first visit."""

    step: list[int]
    node: list[Label]
    edges: list[int]
    beta0: list[int]
    beta1: list[int]
    compressibility: list[float | None]
    opened: list[int]
    closed: list[int]
    gaps: list[GapResponse]
    revisits: int


class GrowthsResponse(BaseModel):
    """What several walks grew."""

    walks: list[GrowthResponse]


class WalkResponse(BaseModel):
    """A walk of an agent, with the reward after every step but the start."""

    agent: str
    reward: str
    nodes: list[Label]
    rewards: list[float | None]
    total: float | None
    ended_early: bool


class LookCandidate(BaseModel):
    """Where a walk may go, and what that is worth by each motive."""

    node: Label
    values: dict[str, float | None]
    score: float | None


class LookResponse(BaseModel):
    """What a walk sees before its next step."""

    candidates: list[LookCandidate]
    choice: Label | None
    """Where the agent goes."""
    best: dict[str, list[Label]]
    """What each motive would choose; several where they are equal."""
    igt: float | None
    cpt: float | None
    on_the_way: bool


class RankedNode(BaseModel):
    """A node and its score."""

    rank: int
    node: Label
    score: float
    stderr: float | None = None


class RankResponse(BaseModel):
    """The best nodes."""

    history: list[Label] | None
    agent: str | None
    alpha: float
    converged: bool
    ranking: list[RankedNode]


class RecommendedNode(BaseModel):
    """A node to visit next; what is below `stderr` is there where reasons were asked for."""

    node: Label
    score: float
    stderr: float
    ranks: dict[str, int] | None = None
    candidates: int | None = None
    links: list[Label] | None = None
    opens: list[list[Label]] | None = None
    closes: list[Label] | None = None
    compressibility: float | None = None


class RecommendResponse(BaseModel):
    """What to visit next, best first."""

    history: list[Label]
    candidates: int
    recommendations: list[RecommendedNode]
    used: list[Label] | None = None
    """With `prepared_only`: the nodes of the history that are prepared; PageRank counts all of it."""


class RecommendManyResponse(BaseModel):
    """What to visit next, by history."""

    users: list[RecommendResponse]


class PredictedNode(BaseModel):
    """A candidate: its share of the scores, and the share of the others that it beats."""

    node: Label
    shares: dict[str, float | None]
    percentiles: dict[str, float | None]


class PredictResponse(BaseModel):
    """The likeliest next nodes by the mixture, and how high the choice stands."""

    candidates: int
    ranking: list[PredictedNode]
    choice: PredictedNode | None


class JobResponse(BaseModel):
    """A job: its progress and, once done, its result."""

    id: str
    kind: Literal["evaluate", "measure", "rank", "prepare"]
    graph: str
    state: Literal["waiting", "running", "cancelling", "done", "failed", "cancelled"]
    done: int
    of: int
    """Units of work in all; zero before it is known, and more where more turns out to be needed."""
    result: dict[str, Any] | None
    error: ErrorDetail | None


class JobList(BaseModel):
    """All jobs that are remembered, without their results."""

    jobs: list[JobResponse]


class HealthResponse(BaseModel):
    """Whether the service is there."""

    status: Literal["ok"]
