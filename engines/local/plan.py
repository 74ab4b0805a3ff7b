"""What a supervisor is told: everything resolved but the ports, which each attempt picks anew."""

from dataclasses import asdict, dataclass, field, replace

from engines.local.layout import Json
from engines.local.volumes.volume import Volume

KEYS = "keys"  # among the secrets, next to the names of ranks


@dataclass(frozen=True)
class RankPlan:
    """One process. ``memory_limit`` in bytes, ``cpu_limit`` in cores. ``secrets`` are variables
    that no document for people has: they are written apart, and only the rank sees them."""

    rank: int
    role: str
    index: int
    argv: list[str]
    variables: dict[str, str]
    working_dir: str  # empty: a folder of its own
    visible_gpus: list[int]
    gpu_request: float
    cpu_limit: float | None
    memory_limit: int | None
    own_home: bool
    volumes: list[Volume] = field(default_factory=list)
    tool_ports: list[int] = field(default_factory=list)  # of the container
    secret_names: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"


@dataclass(frozen=True)
class GangPlan:
    """One run of a workload. Times are in seconds: ``ran`` is that of earlier runs, which the
    ``time_limit`` counts, too."""

    workload_id: str
    name: str
    project: str
    run: int
    framework: str
    node: str
    backoff_limit: int
    grace: int
    restart_delay: float
    base: dict[str, str]
    ranks: list[RankPlan]
    time_limit: int | None = None
    ran: float = 0.0
    processes: int = 1  # that torchrun starts for each of ``ranks``
    setup: list[str] = field(default_factory=list)  # lines of a shell, before each program
    #: What opens volumes, by the ids of credentials. Written apart, as the secrets of ranks are.
    keys: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)

    @property
    def has_master(self) -> bool:
        return self.ranks[0].role == "master"

    def to_json(self) -> Json:
        """All but the secrets."""
        document = asdict(self)
        del document["keys"]
        for rank in document["ranks"]:
            del rank["secrets"]
        return document

    @property
    def lacks_secrets(self) -> bool:
        """Whether the file with their values is gone."""
        needed = {it.credential for rank in self.ranks for it in rank.volumes if it.credential}
        lost = any(set(rank.secret_names) - set(rank.secrets) for rank in self.ranks)
        return lost or bool(needed - set(self.keys))

    @property
    def secrets(self) -> Json:
        """By the names of ranks, those that have any; and the keys, where there are some."""
        of_ranks = {rank.name: rank.secrets for rank in self.ranks if rank.secrets}
        return of_ranks | ({KEYS: self.keys} if self.keys else {})

    @classmethod
    def from_json(cls, document: Json, secrets: Json | None = None) -> "GangPlan":
        secrets = secrets or {}
        ranks = [_rank(rank, secrets) for rank in document["ranks"]]
        return cls(**{**document, "ranks": ranks, "keys": secrets.get(KEYS, {})})


def _rank(document: Json, secrets: Json) -> RankPlan:
    volumes = [Volume(**volume) for volume in document.get("volumes", [])]
    rank = RankPlan(**{**document, "volumes": volumes})
    return replace(rank, secrets=secrets.get(rank.name, {}))
