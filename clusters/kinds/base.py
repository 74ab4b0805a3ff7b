"""The definition of a kind of cluster: its connection, and everything else that differs."""

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from django.core.exceptions import ValidationError
from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic import ValidationError as SchemaError

from core.rest.validation import REQUIRED
from engines.base import Claim, Engine, Launch, Site
from engines.local_queues import LocalQueue
from engines.preparation import Preparation
from spec.data.storage import Storage
from spec.imports.hosts import ScriptHost
from spec.problems.causes import Cause
from spec.problems.errors import Problem
from spec.workload import WorkloadSpec

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

    def apply_to(self, site: Site) -> Site:
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
    """The permissions that Trainyard needs. ``manifest`` returns the YAML that grants them to a
    user, and ``template`` explains how to apply it."""

    manifest: Callable[[str], str]
    template: str
    filename: str


class ClusterKind(ABC):
    """A kind of cluster. Each is a subclass with one instance in the table of kinds.

    Texts are empty if there is nothing to say. Methods get the row of the cluster. None of them
    connects to the cluster; only the engine that :meth:`connect` returns does.
    """

    slug: str
    label: str

    #: The administrators' settings, and the secret part of a connection.
    settings: type[ConnectionSettings] = ConnectionSettings
    secret: type[ConnectionSecret] = ConnectionSecret
    #: Settings whose change needs a new connection.
    connection_settings: frozenset[str] = frozenset()
    #: Settings that cannot change while the cluster has projects, and why.
    fixed_settings: Mapping[str, str] = MappingProxyType({})
    #: The setting whose value only one Trainyard may use on a cluster.
    exclusive_setting: str = ""

    #: The form of the settings and the secret. Without one the kind cannot be added or edited.
    form: "type[ConnectionForm] | None" = None
    form_template: str = "clusters/kinds/fields.html"
    #: The REST schema, set if and only if ``form`` is.
    wire: "type[Connecting] | None" = None
    #: Whether ``manage.py add_cluster`` can add it.
    has_command: bool = False
    #: Why such a cluster cannot be deleted.
    why_permanent: str = ""
    #: What a connection test checks first.
    server: str = "Cluster"
    rights: Rights | None = None

    #: Why a section of the wizard is useless on such clusters, by its key.
    missing_sections: Mapping[str, str] = MappingProxyType({})
    #: Fields of the wizard that have no effect on such clusters although none refuses them, with
    #: the reason as a phrase.
    useless_fields: Mapping[str, str] = MappingProxyType({})
    #: Whether it has its own queue, as long as the cluster has not been checked.
    has_queue: bool = True
    #: Whether variables may come from Secrets and ConfigMaps.
    has_secrets: bool = False
    #: Whether all workloads run on one machine, which is the server's own.
    is_one_machine: bool = False
    #: Whether ranks of several workloads share the ports and programs of a machine.
    shares_ports: bool = False
    #: Who runs Slurm's batch scripts unchanged; nobody if it is ``None``.
    script_host: ScriptHost | None = None
    #: Whether it pulls images from registries, with credentials.
    pulls_images: bool = False
    #: Whether a stopped workload keeps its job and volumes there.
    keeps_stopped_workloads: bool = False
    #: Whether project names cannot change once the projects have workloads.
    names_are_fixed: bool = False
    #: How many submissions are made at the same time.
    parallel_submissions: int = 8

    @property
    def is_editable(self) -> bool:
        return self.form is not None

    def validate_settings(self, values: Mapping[str, Any]) -> ConnectionSettings:
        """Return the settings. ``ValidationError`` names the wrong ones."""
        try:
            return self.settings.model_validate(values)
        except SchemaError as error:
            wrong = {str(item["loc"][0]): _without_prefix(item["msg"]) for item in error.errors()}
            raise ValidationError(wrong) from error

    def add_arguments(self, parser: argparse._ArgumentGroup) -> None:
        """Add the options of ``manage.py add_cluster``, if the kind has that command."""
        raise NotImplementedError

    def read_options(self, options: Mapping[str, Any]) -> tuple[dict[str, Any], ConnectionSecret]:
        """Return the settings and the secret in the command's options. ``CommandError`` says what
        is missing."""
        raise NotImplementedError

    @abstractmethod
    def connect(self, cluster: "Cluster") -> Engine:
        """Return the engine of a cluster. ``EngineUnavailable`` if it cannot be reached as its row
        says."""

    def preparation(self, cluster: "Cluster") -> Preparation | None:
        """Return how far the cluster is with what all of its workloads wait for; ``None`` if it
        prepares nothing."""
        return None

    def prepare_again(self, cluster: "Cluster") -> None:  # noqa: B027  # most kinds prepare nothing
        """Try again what failed in the preparation."""

    def end_pause(self, cluster: "Cluster") -> None:  # noqa: B027  # most kinds make no pause
        """End a pause after failed connections, before a connection test."""

    @abstractmethod
    def complaints(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        """Yield everything that would be refused at submission, as far as that is known without
        asking the cluster."""

    def unsupported(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        """Yield the complaints about fields that the cluster cannot provide with any value. The
        wizard does not offer these fields."""
        return iter(())

    def runs_as(self, cluster: "Cluster", launch: Launch) -> str:
        """Say what runs a workload on the cluster and why, such as ``a PyTorchJob of the Kubeflow
        training operator``; empty if there is nothing to tell."""
        return ""

    def warnings(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        """Yield the parts of a spec that have no effect on the cluster, or need something that is
        still to be created."""
        return iter(())

    def never_starts(self, cluster: "Cluster", launch: Launch) -> Cause | None:
        """Return why the cluster would never start a workload, beyond what its nodes show; ``None``
        if nothing is known to prevent it."""
        return None

    def waits_for(self, cluster: "Cluster", launch: Launch) -> Cause | None:
        """Return what a workload would wait for that does not exist yet, such as a claim; ``None``
        if nothing is known to be missing."""
        return None

    def storage_complaints(self, cluster: "Cluster", storage: Storage) -> Iterator[str]:
        """Yield the reasons why storage cannot be mounted there."""
        return iter(())

    def known_names(self, cluster: "Cluster") -> Mapping[str, Sequence[str]]:
        """Return names to choose from, as far as the cluster reported them: node types and
        topologies."""
        return {}

    def claims(self, cluster: "Cluster", project: str) -> Sequence[Claim] | None:
        """Return the claims that a project's pods can mount; ``None`` if they are unknown."""
        return None

    def reads_claims(self, cluster: "Cluster") -> bool:
        """Whether this server has the content of claims in folders."""
        return False

    def claim_folder(self, cluster: "Cluster", project: str, claim: str) -> Path | None:
        """Return the folder of this server with the content of a project's claim; ``None`` if
        claims are elsewhere."""
        return None

    def config_maps(self, cluster: "Cluster", project: str) -> Sequence[str] | None:
        """Return the names of a project's ConfigMaps; ``None`` if they are unknown."""
        return None

    def local_queues(self, cluster: "Cluster", project: str) -> Sequence[LocalQueue] | None:
        """Return the queues of Kueue that can start a project's workloads; ``None`` if they are
        unknown."""
        return None

    def starting_queue(
        self, cluster: "Cluster", project: str, spec: WorkloadSpec
    ) -> LocalQueue | None:
        """Return the queue of Kueue that decides when a workload starts; ``None`` without one."""
        return None

    def namespace(self, cluster: "Cluster", project: str) -> str:
        """Return a project's namespace; empty if the kind has none."""
        return ""

    def project_limits(self, cluster: "Cluster", project: str) -> str:
        """Describe the limits that the cluster itself sets for a project."""
        return ""

    def login_name(self, cluster: "Cluster", username: str) -> str:
        """Return a user's name on a cluster where jobs run under people's own names; empty if all
        jobs run as one user."""
        return ""

    def act_as(self, cluster: "Cluster", engine: Engine, user: str, key: str) -> Engine:
        """Return the engine that acts as ``user`` of the cluster, by a private key."""
        return engine


def rules(*validators: Callable[[str], None], required: bool = False) -> AfterValidator:
    """Apply Django's validators to a text setting; an empty one passes unless ``required``."""

    def validate(value: str) -> str:
        if not value and required:
            raise ValueError(REQUIRED)
        for validator in validators if value else ():
            try:
                validator(value)
            except ValidationError as error:
                raise ValueError(" ".join(error.messages)) from error
        return value

    return AfterValidator(validate)


def _without_prefix(message: str) -> str:
    return message.removeprefix("Value error, ")
