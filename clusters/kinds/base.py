"""The definition of a kind of cluster: its connection, and everything else that differs."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from django.core.exceptions import ValidationError
from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic import ValidationError as SchemaError

from core.rest.verdicts import REQUIRED
from engines.base import Claim, Engine, Launch, Site
from spec.data.storage import Storage
from spec.problems.errors import Problem

if TYPE_CHECKING:
    from clusters.kinds.form import ConnectionForm
    from clusters.kinds.wire import Connecting
    from clusters.models import Cluster, Connection


class ConnectionSettings(BaseModel):
    """Administrators' settings of a cluster besides its name. Pages and REST show them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of(cls, cluster: "Cluster") -> Self:
        return cls.model_validate(cluster.settings_json)

    def on(self, site: Site) -> Site:
        """Add to ``site`` what a launch needs of these settings."""
        return site


class ConnectionSecret(BaseModel):
    """The secret part of a connection. It is stored encrypted, and only passed to the engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of(cls, connection: "Connection") -> Self:
        return cls.model_validate_json(connection.secret_json)


@dataclass(frozen=True)
class Rights:
    """The permissions Trainyard needs: ``manifest`` grants them to a user, and ``template``
    explains how to apply it."""

    manifest: Callable[[str], str]
    template: str
    filename: str


@dataclass(frozen=True)
class CommandOptions:
    """Options of ``manage.py add_cluster``: its ``arguments``, and how to ``read`` settings and
    secret from them."""

    arguments: Callable[[argparse._ArgumentGroup], None]
    read: Callable[[Mapping[str, Any]], tuple[dict[str, Any], ConnectionSecret]]


def nothing(*args: Any) -> str:
    return ""


def no_objections(cluster: "Cluster", storage: Storage) -> Iterator[str]:
    yield from ()


def no_names(cluster: "Cluster") -> dict[str, list[str]]:
    return {}


def not_told(cluster: "Cluster", project: str) -> None:
    return None


@dataclass(frozen=True)
class ClusterKind:
    """A row of the table of kinds. Texts are empty if there is nothing to say.

    ``lacks`` says by section of the wizard why it is useless on such clusters, and ``withholds``
    why a field, or a part of a list's items, is. ``names`` are the node types and topologies that a
    cluster has, as far as known. ``reached_by`` are settings whose change needs a new connection;
    ``fixed`` are settings that cannot change while the cluster has projects, with the reason, and
    ``exclusive`` is the one that only one Trainyard may use on a cluster.
    """

    slug: str
    label: str
    connect: Callable[["Cluster"], Engine]
    complaints: Callable[["Cluster", Launch], Iterator[Problem]]
    #: What in a spec has no effect there, or is still to be created, and why.
    warnings: Callable[["Cluster", Launch], Iterator[Problem]] | None = None
    settings: type[ConnectionSettings] = ConnectionSettings
    secret: type[ConnectionSecret] = ConnectionSecret
    form: "type[ConnectionForm] | None" = None  # without one it cannot be added or edited
    form_template: str = "clusters/kinds/fields.html"
    wire: "type[Connecting] | None" = None  # the REST schema; set if and only if ``form`` is
    #: Ends a pause after failures, before a connection test.
    end_pause: Callable[["Cluster"], object] = nothing
    command: CommandOptions | None = None  # options of ``manage.py add_cluster``
    reached_by: frozenset[str] = frozenset()
    fixed: Mapping[str, str] = field(default_factory=dict)
    exclusive: str = ""
    names_are_fixed: bool = False  # project names cannot change once they have workloads
    permanent: str = ""  # why such a cluster cannot be deleted
    server: str = "Cluster"  # what a connection test checks first
    rights: Rights | None = None
    lacks: Mapping[str, str] = field(default_factory=dict)
    withholds: Callable[["Cluster", str], str] = nothing
    names: Callable[["Cluster"], Mapping[str, Sequence[str]]] = no_names
    #: A project's claims by project name; ``None`` if unknown.
    claims: Callable[["Cluster", str], Sequence[Claim] | None] = not_told
    #: Names of a project's ConfigMaps; ``None`` if unknown.
    config_maps: Callable[["Cluster", str], Sequence[str] | None] = not_told
    bounds: Callable[["Cluster", str], str] = nothing  # the cluster's limits of a project, in words
    #: Whether it has a queue of its own; assumed until the cluster is asked.
    queues: bool = True
    has_secrets: bool = False  # variables may come from Secrets and ConfigMaps
    runs_batch_scripts: bool = False  # Slurm's, unchanged
    calls: int = 8  # parallel submissions
    keeps_stopped: bool = False  # a stopped workload keeps its job and volumes there
    pulls_images: bool = False  # from registries, with credentials
    #: Why storage in a spec cannot be mounted there.
    storage: Callable[["Cluster", Storage], Iterator[str]] = no_objections
    external_urls: Callable[["Cluster"], str] = nothing  # why tools cannot have their own URLs
    #: A project's namespace; empty if the kind has none.
    namespace: Callable[["Cluster", str], str] = nothing
    #: For clusters where jobs run under people's own names: ``login`` is the user's name there, or
    #: empty if all jobs run as one. ``act`` returns the engine that acts as that person, with a
    #: private key.
    login: Callable[["Cluster", str], str] = nothing
    act: Callable[["Cluster", Engine, str, str], Engine] | None = None

    @property
    def is_editable(self) -> bool:
        return self.form is not None

    def judge(self, values: Mapping[str, Any]) -> ConnectionSettings:
        """Validate settings. ``ValidationError`` names the wrong ones."""
        try:
            return self.settings.model_validate(values)
        except SchemaError as error:
            wrong = {str(item["loc"][0]): _words(item["msg"]) for item in error.errors()}
            raise ValidationError(wrong) from error


def rules(*validators: Callable[[str], None], required: bool = False) -> AfterValidator:
    """Apply Django's validators to a text setting; an empty one passes unless ``required``."""

    def judge(value: str) -> str:
        if not value and required:
            raise ValueError(REQUIRED)
        for validator in validators if value else ():
            try:
                validator(value)
            except ValidationError as error:
                raise ValueError(" ".join(error.messages)) from error
        return value

    return AfterValidator(judge)


def _words(message: str) -> str:
    return message.removeprefix("Value error, ")
