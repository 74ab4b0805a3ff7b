"""Slurm as a kind of cluster."""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from clusters.kinds.base import ClusterKind
from clusters.kinds.slurm import command, names
from clusters.kinds.slurm.form import SlurmForm
from clusters.kinds.slurm.settings import SlurmSecret, SlurmSettings
from clusters.kinds.slurm.wire import SlurmConnecting
from core.database.fields import Unreadable
from engines.base import Engine, EngineUnavailable, Launch
from engines.slurm import charging, limits, unsupported
from engines.slurm.client.ssh import connect as connect_by_ssh
from engines.slurm.client.ssh import end_pause as end_pause_of_ssh
from engines.slurm.client.transport import LocalTransport
from engines.slurm.engine import SlurmEngine
from engines.slurm.script.rank import containers, volumes
from spec.data.storage import Storage
from spec.imports.hosts import ScriptHost
from spec.problems.causes import Cause, CauseKind
from spec.problems.errors import Problem

if TYPE_CHECKING:
    from clusters.models import Cluster

LOST = "The stored private key of this cluster can no longer be read; enter it again."
KEPT_DIRECTORY = (
    "The files of its workloads are in it, so it cannot change while there are projects."
)


#: Reasons against sections of the wizard.
MISSING_SECTIONS = {
    "runtime": "On Slurm ranks run as the user of their job. Kubernetes clusters have these "
    "settings.",
    "readiness": "On Slurm a rank is ready when it runs. Kubernetes clusters have these settings.",
}


class SlurmKind(ClusterKind):
    slug = "slurm"
    label = "Slurm"
    settings = SlurmSettings
    secret = SlurmSecret
    connection_settings = frozenset(SlurmSettings.model_fields)
    fixed_settings = MappingProxyType({"directory": KEPT_DIRECTORY})
    form = SlurmForm
    form_template = "clusters/kinds/slurm.html"
    wire = SlurmConnecting
    has_command = True
    server = "Login node"
    missing_sections = MISSING_SECTIONS
    shares_ports = True
    useless_fields = MappingProxyType({"tolerations": "Slurm has no taints"})
    script_host = ScriptHost.SLURM
    parallel_submissions = 64  # these are combined into few remote calls

    def add_arguments(self, parser: argparse._ArgumentGroup) -> None:
        command.add_arguments(parser)

    def read_options(self, options: Mapping[str, Any]) -> tuple[dict[str, Any], SlurmSecret]:
        return command.read_options(options)

    def connect(self, cluster: "Cluster") -> Engine:
        try:
            key = SlurmSecret.of(cluster.connection).private_key
        except Unreadable as error:
            raise EngineUnavailable(str(error)) from error
        except ValidationError as error:
            raise EngineUnavailable(LOST) from error
        settings = SlurmSettings.of(cluster)
        programs = settings.slurm_programs
        if not settings.host:
            return SlurmEngine(LocalTransport(programs), settings.site)
        try:
            return SlurmEngine(connect_by_ssh(settings.login(key), programs), settings.site)
        except OSError as error:
            raise EngineUnavailable(f"The key cannot be handed to ssh: {error}.") from error

    def end_pause(self, cluster: "Cluster") -> None:
        with suppress(Unreadable, ValidationError, OSError):  # connecting reports these
            key = SlurmSecret.of(cluster.connection).private_key
            end_pause_of_ssh(SlurmSettings.of(cluster).login(key))

    def login_name(self, cluster: "Cluster", username: str) -> str:
        try:
            return SlurmSettings.of(cluster).login_name(username)
        except ValidationError:  # nothing is launched until an administrator corrects the settings
            return ""

    def act_as(self, cluster: "Cluster", engine: Engine, user: str, key: str) -> Engine:
        """Return the engine for the same login node that acts as ``user``."""
        settings = SlurmSettings.of(cluster)
        login = replace(settings.login(key), user=user)
        try:
            person = connect_by_ssh(login, settings.slurm_programs)
        except OSError as error:
            raise EngineUnavailable(f"The key cannot be handed to ssh: {error}.") from error
        return engine.acting(person) if isinstance(engine, SlurmEngine) else engine

    def complaints(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        with suppress(ValidationError):  # nothing is launched until the settings are corrected
            site = SlurmSettings.of(cluster).site
            yield from charging.complaints(launch, site)
            yield from limits.complaints(launch, site)
        yield from self.unsupported(cluster, launch)
        yield from names.unknown_names(cluster, launch.spec)

    def unsupported(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        with suppress(ValidationError):
            yield from unsupported.complaints(launch, SlurmSettings.of(cluster).site)

    def warnings(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        with suppress(ValidationError):
            yield from containers.unused_images(launch, SlurmSettings.of(cluster).site)

    def project_limits(self, cluster: "Cluster", project: str) -> str:
        """Describe the limits of the account to which the project's jobs are charged."""
        try:
            settings = SlurmSettings.of(cluster)
        except ValidationError:
            return ""
        name = settings.site.account_of(project)
        if not name and settings.site.own_names:
            return "Those of each person's default account"
        for account in cluster.capabilities.accounts:
            # Without a name the jobs are charged to the default account.
            is_charged = account.name == name if name else account.is_default
            if is_charged:
                return f"{account.limits or 'None'} (account {account.name})"
        return f"Account {name}, whose limits Slurm does not show" if name else ""

    def never_starts(self, cluster: "Cluster", launch: Launch) -> Cause | None:
        with suppress(ValidationError):
            site = SlurmSettings.of(cluster).site
            refusals = chain(charging.complaints(launch, site), limits.complaints(launch, site))
            if refusal := next(refusals, None):
                message = refusal.message
                return Cause(CauseKind.NODES, f"{message[:1].upper()}{message[1:]}")
            return charging.cause_of_excess(charging.excess(launch, site))
        return None

    def storage_complaints(self, cluster: "Cluster", storage: Storage) -> Iterator[str]:
        with suppress(ValidationError):
            site = SlurmSettings.of(cluster).site
            yield from (why for _, why in unsupported.storage_complaints(storage, site))

    def reads_claims(self, cluster: "Cluster") -> bool:
        """Whether Slurm's commands run on this server, which then has the shared directory."""
        try:
            settings = SlurmSettings.of(cluster)
        except ValidationError:
            return False
        return not settings.host and not settings.site.own_names

    def claim_folder(self, cluster: "Cluster", project: str, claim: str) -> Path | None:
        if not self.reads_claims(cluster):
            return None
        return Path(volumes.claim_folder(SlurmSettings.of(cluster).site, project, claim))

    def known_names(self, cluster: "Cluster") -> dict[str, list[str]]:
        return names.known_names(cluster)


SLURM = SlurmKind()
