"""Build the ``Launch`` that an engine gets to start a workload."""

import json
from dataclasses import replace
from typing import Any

import yaml

from accounts.models import User
from assets.credential.injection import registries
from assets.credential.injection.values import MissingValue, credential_values
from assets.credential.model import Credential
from clusters.connections import engine_for, site_of
from clusters.models import Cluster
from core.database.fields import Unreadable
from engines.base import EngineError, EngineRefused, Launch
from projects.models import Project
from spec.problems.errors import SpecError
from spec.workload import WorkloadSpec
from workloads.models import Workload

COPY_AND_EDIT = "Copy & edit starts it again."


def launch_with_secrets(workload: Workload) -> Launch:
    """Return the launch with the values of its credentials, for the engine only. ``EngineRefused``
    if a value is not available, or current rules no longer accept the spec."""
    launch, credentials = _launch_and_registries(workload)
    try:
        secrets = credential_values(launch.spec, workload.created_by)
        return replace(
            launch, secrets=secrets, registries=registries.registries_with_passwords(credentials)
        )
    except (MissingValue, Unreadable) as error:
        raise EngineRefused(f"{error} {COPY_AND_EDIT}") from error


def launch_without_secrets(workload: Workload) -> Launch:
    """Return the launch without secret values, to show to people."""
    return _launch_and_registries(workload)[0]


def _launch_and_registries(workload: Workload) -> tuple[Launch, list[Credential]]:
    """Return the launch without secret values, and the registry credentials that it needs."""
    try:
        spec = workload.spec
    except SpecError as error:
        raise EngineRefused(f"The spec is no longer valid: {error}. {COPY_AND_EDIT}") from error
    credentials = registry_credentials(
        spec, workload.project, on=workload.cluster, by=workload.created_by
    )
    launch = Launch(
        handle=workload.handle,
        run=workload.run,
        spec=spec,
        submitted_by=workload.created_by.username if workload.created_by else "",
        gpus=_assigned_gpus(workload),
        site=site_of(workload.cluster, spec),
        ran=workload.running_seconds,
        registries=registries.registries_without_passwords(credentials),
    )
    return launch, credentials


def registry_credentials(
    spec: WorkloadSpec, project: Project, *, on: Cluster, by: User | None
) -> list[Credential]:
    """Return the registry credentials for the images of a spec; none if the cluster pulls no
    images."""
    return registries.registry_credentials(spec, project, by) if on.definition.pulls_images else []


def render_manifests(cluster: Cluster, launch: Launch) -> list[dict[str, Any]]:
    """Return the manifests that the engine would submit, without asking the cluster.
    ``EngineError`` if it cannot render the spec."""
    rendered = engine_for(cluster).render(launch)
    # Only types of JSON, so that every caller can write them: an engine may use others.
    documents: list[dict[str, Any]] = json.loads(json.dumps(rendered, default=str))
    return documents


def render_manifests_as_yaml(cluster: Cluster, launch: Launch) -> str:
    """Return the manifests as YAML, or a comment that says why there are none."""
    try:
        documents = render_manifests(cluster, launch)
    except EngineError as error:
        return f"# {error}"
    return str(yaml.dump_all(documents, Dumper=ScriptDumper, sort_keys=False, width=100))


class ScriptDumper(yaml.SafeDumper):
    """Writes strings of several lines, such as scripts, as YAML block scalars."""

    def represent_lines(self, text: str) -> yaml.ScalarNode:
        style = "|" if "\n" in text else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


ScriptDumper.add_representer(str, ScriptDumper.represent_lines)


def _assigned_gpus(workload: Workload) -> dict[int, tuple[int, ...]]:
    """Return the GPU indexes that admission assigned to each rank; empty if the cluster has a
    scheduler of its own."""
    if workload.cluster.capabilities.queues:
        return {}
    return {rank.rank: tuple(rank.gpu_devices) for rank in workload.ranks.all()}
