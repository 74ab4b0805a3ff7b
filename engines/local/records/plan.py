"""The plan for a supervisor: everything resolved except the ports, which each attempt chooses."""

from dataclasses import asdict, dataclass, field, replace

from engines.local.records.layout import Json
from engines.local.records.volume import FILES, Volume


@dataclass(frozen=True)
class RankPlan:
    """A process. ``memory_limit`` is in bytes, ``cpu_limit`` in cores. ``secrets`` are variables
    that are not in documents for people: they are written separately, and only the rank gets them.
    """

    rank: int
    role: str
    index: int
    argv: list[str]
    variables: dict[str, str]
    working_dir: str  # empty: the rank's own folder
    visible_gpus: list[int]
    gpu_request: float
    cpu_limit: float | None
    memory_limit: int | None
    own_home: bool
    volumes: list[Volume] = field(default_factory=list)
    tool_ports: list[int] = field(default_factory=list)  # in the container
    secret_names: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"

    @property
    def shares_gpus(self) -> bool:
        """Whether it has parts of its devices, and others may have the rest."""
        return self.gpu_request < len(self.visible_gpus)


@dataclass(frozen=True)
class GangPlan:
    """A run of a workload. Times are in seconds: ``ran`` is that of earlier runs, which counts
    towards ``time_limit``."""

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
    processes: int = 1  # started by torchrun for each of ``ranks``
    setup: list[str] = field(default_factory=list)  # shell lines before each program
    #: Credentials of volumes by id; written separately, like the ranks' secrets.
    keys: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    #: Files in volumes, by source; written separately, too.
    files: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)

    @property
    def has_master(self) -> bool:
        return self.ranks[0].role == "master"

    def to_json(self) -> Json:
        """The plan without secrets."""
        document = asdict(self)
        del document["keys"], document["files"]
        for rank in document["ranks"]:
            del rank["secrets"]
        return document

    @property
    def lacks_secrets(self) -> bool:
        """Whether the file with the secrets is gone."""
        volumes = [volume for rank in self.ranks for volume in rank.volumes]
        lost = any(set(rank.secret_names) - set(rank.secrets) for rank in self.ranks)
        lost |= any(it.credential not in self.keys for it in volumes if it.credential)
        return lost or any(it.source not in self.files for it in volumes if it.kind == FILES)

    @property
    def secrets(self) -> Json:
        """The secrets by rank, and the volumes' credentials and files."""
        apart = {"keys": self.keys, "files": self.files}
        of_ranks = {rank.name: rank.secrets for rank in self.ranks if rank.secrets}
        return of_ranks | {name: held for name, held in apart.items() if held}

    @classmethod
    def from_json(cls, document: Json, secrets: Json | None = None) -> "GangPlan":
        secrets = secrets or {}
        ranks = [_rank(rank, secrets) for rank in document["ranks"]]
        apart = {name: secrets.get(name, {}) for name in ("keys", "files")}
        return cls(**{**document, "ranks": ranks, **apart})


def _rank(document: Json, secrets: Json) -> RankPlan:
    volumes = [Volume(**volume) for volume in document["volumes"]]
    rank = RankPlan(**{**document, "volumes": volumes})
    return replace(rank, secrets=secrets.get(rank.name, {}))
