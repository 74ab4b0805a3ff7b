"""What an engine is handed to start a workload."""

import json
from dataclasses import replace
from typing import Any

import yaml

from accounts.models import User
from assets.credential.injection import registries
from assets.credential.injection.values import MissingValue, values_for
from assets.credential.model import Credential
from clusters.connections import engine_for, site_of
from clusters.models import Cluster
from core.database.fields import Unreadable
from engines.base import EngineError, EngineRefused, Launch
from projects.models import Project
from spec.problems.errors import SpecError
from spec.workload import WorkloadSpec
from workloads.models import Workload

AGAIN = "Copy & edit starts it again."


def launch_of(workload: Workload) -> Launch:
    """With the values of its credentials, for the engine and nobody else. ``EngineRefused`` where
    one cannot be had, or the spec was written under other rules."""
    launch, pulls = _launch(workload)
    try:
        secrets = values_for(launch.spec, workload.created_by)
        return replace(launch, secrets=secrets, registries=registries.opened(pulls))
    except (MissingValue, Unreadable) as error:
        raise EngineRefused(f"{error} {AGAIN}") from error


def shown_launch_of(workload: Workload) -> Launch:
    """Without those values."""
    return _launch(workload)[0]


def _launch(workload: Workload) -> tuple[Launch, list[Credential]]:
    """Without values, and the credentials of its registries."""
    try:
        spec = workload.spec
    except SpecError as error:
        raise EngineRefused(f"The spec is no longer valid: {error}. {AGAIN}") from error
    pulls = pulled_with(spec, workload.project, on=workload.cluster, by=workload.created_by)
    launch = Launch(
        handle=workload.handle,
        run=workload.run,
        spec=spec,
        submitted_by=workload.created_by.username if workload.created_by else "",
        gpus=_devices(workload),
        site=site_of(workload.cluster, spec),
        ran=workload.running_seconds,
        registries=registries.shown(pulls),
    )
    return launch, pulls


def pulled_with(
    spec: WorkloadSpec, project: Project, *, on: Cluster, by: User | None
) -> list[Credential]:
    """The credentials of registries for its images; none where the cluster pulls no image."""
    return registries.applied(spec, project, by) if on.definition.pulls_images else []


def manifests(cluster: Cluster, launch: Launch) -> list[dict[str, Any]]:
    """What the engine hands over for a launch. Made here: no cluster is asked. ``EngineError``."""
    documents: list[dict[str, Any]] = json.loads(
        json.dumps(engine_for(cluster).render(launch), default=str)
    )
    return documents


def manifest(cluster: Cluster, launch: Launch) -> str:
    """The same as YAML; where there is none, a comment says why."""
    try:
        documents = manifests(cluster, launch)
    except EngineError as error:
        return f"# {error}"
    return str(yaml.dump_all(documents, Dumper=ScriptDumper, sort_keys=False, width=100))


class ScriptDumper(yaml.SafeDumper):
    """YAML in which a text of several lines, such as a script, stands as it is."""

    def represent_lines(self, text: str) -> yaml.ScalarNode:
        style = "|" if "\n" in text else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


ScriptDumper.add_representer(str, ScriptDumper.represent_lines)


def _devices(workload: Workload) -> dict[int, tuple[int, ...]]:
    """What admission gave each rank; nothing where the cluster chooses."""
    if workload.cluster.capabilities.queues:
        return {}
    return {rank.rank: tuple(rank.gpu_devices) for rank in workload.ranks.all()}
