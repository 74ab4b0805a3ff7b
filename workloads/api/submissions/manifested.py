"""Answers about workloads that were submitted as manifests, in the form of Run:ai's version 2."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from pydantic import Field

from core.rest.api import TENANT, Wire, enum_schema
from engines.base import EngineError
from spec.formats.documents import mask_secret_values
from spec.formats.stored import as_mapping
from spec.phases import Phase
from workloads.api.schemas import author, desired_phase
from workloads.api.submissions.dry_run import mask_spec
from workloads.api.warnings import WarningOut, warnings_of
from workloads.api.words import DesiredPhase
from workloads.launch import launch_without_secrets, render_manifests
from workloads.models import Workload

VARIABLES = "env"  # the key of a manifest that has environment variables
QUEUED = "Queued"
SYNCED = "Synced"
DELETING = "Deleting"
DELETED = "Deleted"
FAILED = "Failed"


class Gvk(Wire):
    """The type of a manifest. The group is empty for types of Kubernetes' core."""

    group: str = Field(description="The API group; empty for the core of Kubernetes")
    version: str = Field(description="The version of the API group, such as v1")
    kind: str = Field(description="The kind, such as PyTorchJob")

    @classmethod
    def of(cls, manifest: dict[str, Any]) -> Self:
        group, _, version = str(manifest.get("apiVersion", "")).rpartition("/")
        return cls(group=group, version=version, kind=str(manifest.get("kind", "")))


class ManifestMetadataOut(Wire):
    id: UUID = Field(description="Its ID")
    name: str = Field(description="The name")
    gvk: Gvk = Field(description="The type of the manifest")
    tenant_id: int = Field(default=TENANT, description="Always 1: there is one account")
    cluster_id: UUID = Field(description="The ID of the cluster")
    project_id: str = Field(description="The ID of the project")
    project_name: str = Field(description="The name of the project")
    department_id: str = Field(description="The ID of the department")
    department_name: str = Field(description="The name of the department")
    priority: str | None = Field(description="Its priority class; null for the usual one")
    category: str | None = Field(description="Its category; null if it has none")
    preemptibility: str | None = Field(
        description=(
            "Whether it may be stopped for a workload with a better claim; if it is null, its "
            "priority decides"
        )
    )
    created_at: datetime = Field(description="When it was created")
    created_by: str = Field(description="The username of the person who created it")
    updated_at: datetime = Field(description="When it last changed")
    updated_by: str = Field(description="The username of the person who submitted it")
    deleted_at: datetime | None = Field(description="When it was deleted; null unless it was")

    @classmethod
    def of(cls, workload: Workload, manifest: dict[str, Any]) -> Self:
        project = workload.project
        return cls(
            id=workload.pk,
            name=workload.name,
            gvk=Gvk.of(manifest),
            cluster_id=workload.cluster_id,
            project_id=str(project.pk),
            project_name=project.name,
            department_id=str(project.department_id),
            department_name=project.department.name,
            priority=workload.priority or None,
            category=workload.category or None,
            preemptibility=as_mapping(workload.spec_json).get("preemptibility"),
            created_at=workload.created_at,
            created_by=author(workload),
            updated_at=workload.phase_updated_at,
            updated_by=author(workload),
            deleted_at=workload.deleted_at,
        )


class ManifestedOut(Wire):
    """``rawManifest`` is the manifest as submitted. ``workloadManifest`` is what the cluster gets
    for it: the object of the same type, or a List of all objects. If a variable's name looks like a
    secret's, its value is shown as ``***``."""

    metadata: ManifestMetadataOut = Field(
        description="Its name, where it belongs and how it is grouped"
    )
    desired_phase: DesiredPhase = Field(
        description="The phase that its user asked for: Running, Stopped or Deleted"
    )
    raw_manifest: dict[str, Any] = Field(description="The manifest as it was submitted")
    workload_manifest: dict[str, Any] = Field(
        description=(
            "The manifest that its cluster gets: the object of the same kind, or a List of all "
            "objects"
        )
    )


class SyncOut(Wire):
    """Whether the cluster has the workload: ``Queued`` until then, and ``Failed`` if it
    never will."""

    status: Annotated[str, enum_schema(QUEUED, SYNCED, DELETING, DELETED, FAILED)] = Field(
        description="Queued until the cluster has received it, then Synced"
    )
    message: str = Field(description="Why it has this status; empty if there is nothing to say")

    @classmethod
    def of(cls, workload: Workload) -> Self:
        if workload.deleted_at or workload.phase == Phase.DELETING:
            status = DELETED if workload.deleted_at else DELETING
        elif workload.handed_over_at or workload.started_at:
            status = SYNCED
        else:
            status = FAILED if workload.phase == Phase.FAILED else QUEUED
        return cls(status=status, message=workload.message)


class ManifestWorkloadOut(Wire):
    workload: ManifestedOut = Field(description="The workload")
    sync_info: SyncOut = Field(description="Whether its cluster has received it")
    warnings: list[WarningOut] = Field(
        description=(
            "Parts of the request that have no effect on the cluster, need something that does not "
            "exist yet, or can be opened by more people than it seems"
        )
    )

    @classmethod
    def of(cls, workload: Workload) -> Self:
        raw = as_mapping(workload.manifest_json)
        return cls(
            workload=ManifestedOut(
                metadata=ManifestMetadataOut.of(workload, raw),
                desired_phase=desired_phase(workload),
                raw_manifest=mask_secret_values(raw, VARIABLES),
                workload_manifest=_cluster_manifest(workload, raw),
            ),
            sync_info=SyncOut.of(workload),
            warnings=warnings_of(workload),
        )


def _cluster_manifest(workload: Workload, raw: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest for the cluster, or an empty List if the engine cannot render it."""
    items: list[dict[str, Any]] = []
    with suppress(EngineError, ObjectDoesNotExist):
        launch = launch_without_secrets(workload)
        items = render_manifests(workload.cluster, replace(launch, spec=mask_spec(launch.spec)))
    same = (it for it in items if Gvk.of(it) == Gvk.of(raw))
    return next(same, {"apiVersion": "v1", "kind": "List", "items": items})
