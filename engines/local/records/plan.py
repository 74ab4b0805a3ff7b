"""The plan for a supervisor: everything resolved except the ports, which each attempt chooses."""

from dataclasses import asdict, dataclass, field, replace

from engines.local.records.layout import Json
from engines.local.records.volume import FILES, Volume


@dataclass(frozen=True)
class RankPlan:
    """The first process of a rank. ``memory_limit`` is in bytes, ``cpu_limit`` in cores.

    ``secrets`` are variables that only the rank gets. They are in no document for people, and in a
    file of their own.
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
    #: Variables whose values may refer to earlier ones; all in the order of the spec.
    expanded: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    leads: bool = False  # the gang ends with it

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"

    @property
    def shares_gpus(self) -> bool:
        """Whether the rank has only parts of its devices, so that others may use the rest."""
        return self.gpu_request < len(self.visible_gpus)


@dataclass(frozen=True)
class BatchPlan:
    """A batch script that runs in place of the ranks' programs, and what its ``#SBATCH`` lines ask
    for: tasks of each node, CPUs of each task, GPUs of all, and all options by their long names.
    ``sets_tasks`` tells whether they have a number of tasks."""

    script: str
    arguments: list[str]
    tasks_per_node: list[int]
    cpus_per_task: int
    gpus: int
    sets_tasks: bool
    options: dict[str, str]


@dataclass(frozen=True)
class GangPlan:
    """A run of a workload. Times are in seconds; ``ran`` is the running time of earlier runs, which
    counts towards ``time_limit``."""

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
    batch: BatchPlan | None = None
    ignores_others: bool = False  # a failure of ranks beside the lead does not end the gang
    #: Credentials of volumes by id; written separately, like the ranks' secrets.
    keys: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    #: Files in volumes, by source; written separately, too.
    files: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)

    def to_json(self) -> Json:
        """The plan without secrets."""
        document = asdict(self)
        del document["keys"], document["files"]
        for rank in document["ranks"]:
            del rank["secrets"]
        return document

    @property
    def lacks_secrets(self) -> bool:
        """Whether secrets that the plan needs are missing, because their file is gone."""
        for rank in self.ranks:
            if not rank.secrets.keys() >= set(rank.secret_names):
                return True
            for volume in rank.volumes:
                if volume.credential and volume.credential not in self.keys:
                    return True
                if volume.kind == FILES and volume.source not in self.files:
                    return True
        return False

    @property
    def secrets(self) -> Json:
        """The secrets by the rank's name, and the volumes' credentials and files."""
        secrets: Json = {rank.name: rank.secrets for rank in self.ranks if rank.secrets}
        if self.keys:
            secrets["keys"] = self.keys
        if self.files:
            secrets["files"] = self.files
        return secrets

    @classmethod
    def from_json(cls, document: Json, secrets: Json | None = None) -> "GangPlan":
        """Return the plan in a document, with ``secrets`` as :attr:`secrets` returns them."""
        secrets = secrets or {}
        batch = document["batch"]
        fields = {
            **document,
            "batch": BatchPlan(**batch) if batch else None,
            "ranks": [_rank_from_json(rank, secrets) for rank in document["ranks"]],
            "keys": secrets.get("keys", {}),
            "files": secrets.get("files", {}),
        }
        return cls(**fields)


def _rank_from_json(document: Json, secrets: Json) -> RankPlan:
    volumes = [Volume(**volume) for volume in document["volumes"]]
    rank = RankPlan(**{**document, "volumes": volumes})
    return replace(rank, secrets=secrets.get(rank.name, {}))
