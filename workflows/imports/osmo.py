"""A workflow file of OSMO as types: the fields of versions 6.0 to 6.4, closed to unknown keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from spec.problems.errors import Path
from spec.values.patterns import pattern_with_message
from workflows.imports.durations import Duration
from workflows.imports.exit_codes import ExitCodes

NAME = pattern_with_message(
    r"^[a-zA-Z]([a-zA-Z0-9_-]*[a-zA-Z0-9])?$",
    "must begin with a letter, and contain only letters, digits, and - _ between them",
)
Name = Annotated[str, Field(max_length=64, pattern=NAME)]
DEFAULT_RESOURCE = "default"


def _value_text(value: Any) -> Any:
    """Return a boolean as OSMO writes it into a variable: as Python does."""
    return str(value) if isinstance(value, bool) else value


ValueText = Annotated[str, BeforeValidator(_value_text)]


class OsmoPart(BaseModel):
    """Numbers become text where text is asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class OsmoFile(OsmoPart):
    """A file that a task finds at ``path``: its contents, or a local file that comes along."""

    path: str
    contents: str | None = None
    localpath: str | None = None
    base64: bool = False


class OsmoDataset(OsmoPart):
    """A dataset that a task reads, or of which its output becomes a version."""

    name: str = Field(min_length=1)
    path: str = ""
    regex: str = ""
    metadata: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    localpath: str | None = None


class OsmoUpdate(OsmoPart):
    """Files that are added to the last version of a dataset."""

    name: str = Field(min_length=1)
    paths: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class OsmoInput(OsmoPart):
    task: str | None = None
    url: str | None = None
    dataset: OsmoDataset | None = None
    regex: str = ""


class OsmoOutput(OsmoPart):
    url: str | None = None
    dataset: OsmoDataset | None = None
    update_dataset: OsmoUpdate | None = None
    regex: str = ""


class OsmoCheckpoint(OsmoPart):
    """A folder that is uploaded while the task runs, with a pause of ``frequency`` seconds."""

    path: str = Field(min_length=1)
    url: str = Field(min_length=1)
    frequency: Duration
    regex: str = ""


class OsmoTask(OsmoPart):
    name: Name
    image: str = Field(min_length=1)
    command: tuple[str, ...] = Field(min_length=1)
    args: tuple[str, ...] = ()
    environment: dict[str, ValueText] = {}
    resource: str = DEFAULT_RESOURCE
    lead: bool = False
    files: tuple[OsmoFile, ...] = ()
    inputs: tuple[OsmoInput, ...] = ()
    outputs: tuple[OsmoOutput, ...] = ()
    credentials: dict[str, str | dict[str, ValueText]] = {}
    checkpoint: tuple[OsmoCheckpoint, ...] = ()
    exit_actions: dict[str, ExitCodes] = Field({}, alias="exitActions")
    volume_mounts: tuple[str, ...] = Field((), alias="volumeMounts")
    privileged: bool = False
    host_network: bool = Field(False, alias="hostNetwork")
    #: Accepted without effect, as by OSMO.
    kpis: Any = None
    download_type: Any = Field(None, alias="downloadType")
    cache_size: Any = Field(None, alias="cacheSize")
    backend: Any = None
    resources: Any = None


class OsmoGroup(OsmoPart):
    name: Name
    barrier: bool = True
    ignore_nonlead_status: bool | None = Field(None, alias="ignoreNonleadStatus")
    tasks: tuple[OsmoTask, ...] = Field(min_length=1)


class OsmoTopology(OsmoPart):
    key: str = Field(min_length=1)
    group: str = "default"
    requirement_type: str = Field("required", alias="requirementType")


class OsmoResource(OsmoPart):
    """What each pod of a task requests."""

    cpu: int = Field(0, ge=0)
    gpu: int = Field(0, ge=0)
    memory: str = ""
    storage: str = ""
    platform: str = ""
    nodes_excluded: tuple[str, ...] = Field((), alias="nodesExcluded")
    topology: tuple[OsmoTopology, ...] = ()


class OsmoTimeout(OsmoPart):
    exec_timeout: Duration | None = None
    queue_timeout: Duration | None = None


class OsmoWorkflow(OsmoPart):
    name: Name
    pool: str = ""
    backend: str = ""
    labels: dict[str, ValueText] = {}
    timeout: OsmoTimeout = OsmoTimeout()
    resources: dict[str, OsmoResource] = {}
    tasks: tuple[OsmoTask, ...] = ()
    groups: tuple[OsmoGroup, ...] = ()

    def placed_groups(self) -> Iterator["PlacedGroup"]:
        """Yield the groups with their paths. Each task of a file without groups is a group."""
        for number, group in enumerate(self.groups):
            path = ("workflow", "groups", number)
            tasks = tuple(
                PlacedTask(task, (*path, "tasks", position))
                for position, task in enumerate(group.tasks)
            )
            yield PlacedGroup(group, path, tasks)
        for number, task in enumerate(self.tasks):
            path = ("workflow", "tasks", number)
            # Its name may be longer than one that people give.
            group = OsmoGroup.model_construct(name=f"{task.name}-group", tasks=(task,))
            yield PlacedGroup(group, path, (PlacedTask(task, path),))


class OsmoDocument(OsmoPart):
    workflow: OsmoWorkflow


@dataclass(frozen=True)
class PlacedTask:
    """A task and its path in the file."""

    task: OsmoTask
    path: Path


@dataclass(frozen=True)
class PlacedGroup:
    """A group, its path in the file, and its tasks."""

    group: OsmoGroup
    path: Path
    tasks: tuple[PlacedTask, ...]


def comparable_name(name: str) -> str:
    """Return what two names have in common that OSMO takes for one."""
    return name.lower().replace("_", "-")
