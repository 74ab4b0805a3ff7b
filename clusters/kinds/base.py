"""What a kind of cluster is: how it is reached, and everything that is different about it."""

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
    """What administrators say of a cluster beside its name. Pages and REST show it to them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of(cls, cluster: "Cluster") -> Self:
        return cls.model_validate(cluster.settings_json)

    def on(self, site: Site) -> Site:
        """What a launch needs to know of them."""
        return site


class ConnectionSecret(BaseModel):
    """What opens a cluster. It is kept encrypted and goes to nobody but the engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of(cls, connection: "Connection") -> Self:
        return cls.model_validate_json(connection.secret_json)


@dataclass(frozen=True)
class Rights:
    """Permissions Trainyard needs there: ``manifest`` grants them to a user, and a page tells
    by ``template`` how it is applied."""

    manifest: Callable[[str], str]
    template: str
    filename: str


@dataclass(frozen=True)
class CommandOptions:
    """How the command line connects a cluster: what it takes, and what was given as settings and
    secret."""

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
    """A row of the table of kinds. Sentences for people are empty where there is nothing to say.

    ``lacks`` says by section of the wizard why it is of no use on such clusters, ``withholds`` why
    one field, or one part of a list's items, is not for a cluster, ``names`` which node types and
    topologies it has, as far as it told. ``reached_by`` are settings whose change connects anew;
    ``fixed`` those that stay while the cluster has projects, with the reason.
    """

    slug: str
    label: str
    connect: Callable[["Cluster"], Engine]
    complaints: Callable[["Cluster", Launch], Iterator[Problem]]
    #: What of a spec makes no difference there, or is to be made yet, by its place, and why.
    warnings: Callable[["Cluster", Launch], Iterator[Problem]] | None = None
    settings: type[ConnectionSettings] = ConnectionSettings
    secret: type[ConnectionSecret] = ConnectionSecret
    form: "type[ConnectionForm] | None" = None  # without one nobody adds or changes such a cluster
    form_template: str = "clusters/kinds/fields.html"
    wire: "type[Connecting] | None" = None  # the same over REST; there exactly where a form is
    #: Before somebody tests the connection, where it pauses after failures.
    end_pause: Callable[["Cluster"], object] = nothing
    command: CommandOptions | None = None  # the same for ``manage.py add_cluster``
    reached_by: frozenset[str] = frozenset()
    fixed: Mapping[str, str] = field(default_factory=dict)
    names_are_fixed: bool = False  # of projects that have workloads
    permanent: str = ""  # why such a cluster cannot be deleted
    server: str = "Cluster"  # what a connection test asks first
    rights: Rights | None = None
    lacks: Mapping[str, str] = field(default_factory=dict)
    withholds: Callable[["Cluster", str], str] = nothing
    names: Callable[["Cluster"], Mapping[str, Sequence[str]]] = no_names
    #: Which claims a project has there, by its name; ``None`` where nobody says.
    claims: Callable[["Cluster", str], Sequence[Claim] | None] = not_told
    #: The same of its ConfigMaps, by their names.
    config_maps: Callable[["Cluster", str], Sequence[str] | None] = not_told
    bounds: Callable[["Cluster", str], str] = nothing  # its own limits of a project, by its name
    #: Whether it has a queue of its own, as long as the cluster has not been asked.
    queues: bool = True
    has_secrets: bool = False  # the value of a variable may be in a Secret or ConfigMap
    runs_batch_scripts: bool = False  # of Slurm, as they stand
    calls: int = 8  # at the same time, when workloads are handed over
    keeps_stopped: bool = False  # the job of a stopped workload stays there, with its volumes
    pulls_images: bool = False  # from registries, with the passwords that it is given
    #: Why pods there cannot have what is mounted.
    storage: Callable[["Cluster", Storage], Iterator[str]] = no_objections
    external_urls: Callable[["Cluster"], str] = nothing  # why tools can have none of their own
    #: The namespace there of a project, by its name; empty where clusters have none.
    namespace: Callable[["Cluster", str], str] = nothing
    #: Where jobs run under people's own names: as whom a user of Trainyard is known there. Empty
    #: where all run as one. ``act`` is the engine by which such a person acts, with a private key.
    login: Callable[["Cluster", str], str] = nothing
    act: Callable[["Cluster", Engine, str, str], Engine] | None = None

    @property
    def is_editable(self) -> bool:
        return self.form is not None

    def judge(self, values: Mapping[str, Any]) -> ConnectionSettings:
        """``ValidationError`` names the settings that are wrong."""
        try:
            return self.settings.model_validate(values)
        except SchemaError as error:
            wrong = {str(item["loc"][0]): _words(item["msg"]) for item in error.errors()}
            raise ValidationError(wrong) from error


def rules(*validators: Callable[[str], None], required: bool = False) -> AfterValidator:
    """Django's validators on a text of the settings; an empty one passes unless ``required``."""

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
