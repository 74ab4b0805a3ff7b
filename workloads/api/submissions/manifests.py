"""REST: submit a Kubernetes manifest as a workload. The calls and their paths are those of Run:ai's
API version 2."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, TypeVar
from uuid import UUID

from ninja import Field, Query, Router, Status

from accounts import access
from accounts.api.tokens import ApiRequest
from accounts.models import User
from core import text
from core.rest.api import ApiError, Issue, StrictBody, refusal_error, unreadable_request
from core.web.query import parse_number
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.formats.documents import mask_secret_values
from spec.formats.lines import LONGEST, YamlError
from spec.formats.lines import parse_yaml as read_yaml
from spec.formats.stored import as_mapping
from spec.imports.manifest.jobs import ImportedManifest, import_manifest
from spec.problems.errors import SpecError
from workloads import services
from workloads.api.bodies import DistributedIn, OnePodIn
from workloads.api.lookup import WithDeleted, find_in_rows
from workloads.api.submissions.distributed import (
    CANNOT,
    Accepted,
    apply_verb,
    check_request,
    draft_of,
    submission_refusal,
)
from workloads.api.submissions.dry_run import DryRun, DryRunOut
from workloads.api.submissions.manifested import VARIABLES, ManifestWorkloadOut
from workloads.api.submissions.one_pod import draft_of_one_pod
from workloads.api.warnings import WarningOut
from workloads.api.words import ProjectId
from workloads.manifests import fit_manifest
from workloads.models import Source, Workload

Named = TypeVar("Named", Issue, WarningOut)
router = Router(tags=["Manifests"], by_alias=True)

MANIFEST = "manifest"
ENCODED = "manifestBase64Encoded"
#: Fields of the metadata that override the manifest, by their name in the spec.
OVERRIDES = {
    "priorityClass": "priority",
    "category": "category",
    "preemptibility": "preemptibility",
}
UNCHANGEABLE = "A workload that was submitted does not change."


class ManifestIn(StrictBody):
    """The manifest as JSON, or as YAML in Base64, of up to 192 KiB."""

    manifest: dict[str, Any] | None = Field(default=None, description="The manifest as JSON")
    manifest_base64_encoded: Annotated[str, Field(max_length=text.LONGEST)] | None = Field(
        default=None, description="The manifest as YAML in Base64, in place of manifest"
    )


class ManifestMetadataIn(StrictBody):
    """If ``name`` is empty, the manifest's name is used. All fields override the manifest."""

    name: str = Field(
        default="", description="The name of the workload; that of the manifest if it is empty"
    )
    use_given_name_as_prefix: bool = Field(
        default=False,
        description="true adds a random suffix to the name, so that the name is always free",
    )
    project_id: ProjectId = Field(description="The ID of the project")
    cluster_id: UUID = Field(description="The ID of the cluster")
    priority: str | None = Field(
        default=None,
        description="Its priority class, such as low; if it is left out, that of the manifest",
    )
    category: str | None = Field(default=None, description="A word by which you group workloads")
    preemptibility: str | None = Field(
        default=None,
        description=(
            "Whether it may be stopped for a workload with a better claim; if it is null, its "
            "priority decides"
        ),
    )


class ManifestCreationIn(ManifestIn):
    metadata: ManifestMetadataIn = Field(
        description="Where the workload runs, and values that override the manifest"
    )


class ManifestClassIn(StrictBody):
    priority: str | None = Field(
        default=None, description="Its priority class, as it was submitted"
    )
    category: str | None = Field(default=None, description="Its category, as it was submitted")


class ManifestUpdateIn(ManifestIn):
    """The manifest, the priority and the category, all as they were submitted."""

    metadata: ManifestClassIn | None = Field(
        default=None, description="Its priority and category, as they were submitted"
    )


@router.post(
    "/manifests",
    response={200: DryRunOut, 202: ManifestWorkloadOut},
    operation_id="create_from_manifest",
    summary="Submit a manifest of Kubernetes",
    url_name="manifests",
)
def create(
    request: ApiRequest, body: ManifestCreationIn, query: Query[DryRun]
) -> Status[DryRunOut] | Status[ManifestWorkloadOut]:
    """Submit a job of Kubeflow's operators, or a Job of Kubernetes, as a workload on any cluster.
    400 lists everything in it that workloads do not have, such as ``manifest.spec.volumes``. With
    ``dryRun=true`` nothing is submitted; the answer is 200 and uses the names of the spec."""
    manifest = _read_manifest(body)
    by = request.user
    job = import_manifest(manifest)
    creation, draft = _convert_manifest(body.metadata, job, by)
    field_of = partial(_manifest_field, metadata=body.metadata, job=job)
    notes = [WarningOut(field=f"{MANIFEST}.{it.path}", details=it.text) for it in job.notes]
    if query.dry_run:
        checked = check_request(creation, draft, by=by)
        checked.compliance_issues = _rename_fields(checked.compliance_issues, field_of)
        checked.warnings = [*notes, *_rename_fields(checked.warnings, field_of)]
        return Status(200, checked)
    try:
        workload = services.submit(draft(), by=by, source=Source.API, manifest=manifest)
    except SpecError as error:
        issues = _rename_fields(submission_refusal(error, creation).issues, field_of)
        raise refusal_error(CANNOT, issues) from error
    answer = ManifestWorkloadOut.of(workload)
    answer.warnings = [*notes, *_rename_fields(answer.warnings, field_of)]
    return Status(202, answer)


@router.get(
    "/manifests/{workload_id}",
    response=ManifestWorkloadOut,
    operation_id="read_manifest_workload",
    url_name="manifest",
)
def read(request: ApiRequest, workload_id: UUID, query: Query[WithDeleted]) -> ManifestWorkloadOut:
    """A workload that was submitted as a manifest, with that manifest and the one its cluster gets.
    404 for one that was submitted in another way: read it at the path of its kind."""
    return ManifestWorkloadOut.of(_find(request, workload_id, deleted=query.deleted))


@router.put(
    "/manifests/{workload_id}",
    response=ManifestWorkloadOut,
    operation_id="update_manifest_workload",
)
def update(request: ApiRequest, workload_id: UUID, body: ManifestUpdateIn) -> ManifestWorkloadOut:
    """For programs that apply the same manifest repeatedly: 200 if nothing differs. A submitted
    workload does not change, so 409 lists the fields that differ."""
    workload = _find(request, workload_id)
    access.require(request.user, "workloads.update", *workload.project.scope_keys)
    differing = list(_differing_fields(body, workload))
    if differing:
        issues = [Issue(field=it, details="is not as it was submitted") for it in differing]
        details = f"{differing[0]} differs; delete the workload, or submit it by another name."
        raise ApiError(409, UNCHANGEABLE, details=details, issues=issues)
    return ManifestWorkloadOut.of(workload)


@router.delete(
    "/manifests/{workload_id}",
    response={202: Accepted},
    operation_id="delete_manifest_workload",
)
def delete(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
    """Delete the workload. If it runs, it is killed. Logs, metrics and events are kept for
    a time."""
    workload = _find(request, workload_id)
    return apply_verb(services.delete, workload, request.user, "is being deleted")


def _find(request: ApiRequest, workload_id: UUID, *, deleted: bool = False) -> Workload:
    workloads = Workload.objects
    user = request.user
    rows = workloads.within_reach(user) if deleted else workloads.visible_to(user)
    return find_in_rows(rows.filter(manifest_json__isnull=False), workload_id)


def _rename_fields(items: list[Named], field_of: Callable[[str], str]) -> list[Named]:
    """Return issues or warnings with other fields."""
    return [item.model_copy(update={"field": field_of(item.field)}) for item in items]


def _manifest_field(field: str, *, metadata: ManifestMetadataIn, job: ImportedManifest) -> str:
    """Return the path in the request of a field of the spec: of the metadata if that has it, else
    its place in the manifest."""
    fields = _request_fields(metadata)
    if field in fields:
        return fields[field]
    place = job.place_of(field)
    return f"{MANIFEST}.{place}" if place else field


def _request_fields(metadata: ManifestMetadataIn) -> dict[str, str]:
    """Return the names in the request of fields that the metadata has by another name."""
    fields = {
        "name": "metadata.name" if metadata.name else f"{MANIFEST}.metadata.name",
        "projectId": "metadata.projectId",
        "clusterId": "metadata.clusterId",
    }
    overridden = {f"spec.{key}": f"metadata.{OVERRIDES[key]}" for key in _overrides(metadata)}
    return fields | overridden


def _overrides(metadata: ManifestMetadataIn) -> dict[str, str]:
    """Return the values that override the manifest, by their names in the spec."""
    values = {key: getattr(metadata, name) for key, name in OVERRIDES.items()}
    return {key: value for key, value in values.items() if value is not None}


def _read_manifest(body: ManifestIn) -> dict[str, Any]:
    """Return the manifest of a request. ``ApiError`` 400 if there is not exactly one, or it is not
    valid."""
    if (body.manifest is None) == (body.manifest_base64_encoded is None):
        details = f"give either {MANIFEST} or {ENCODED}"
        raise unreadable_request([Issue(field=MANIFEST, details=details, rule="required")])
    key = ENCODED if body.manifest is None else MANIFEST
    manifest = _decode_manifest(body) if body.manifest is None else body.manifest
    if len(json.dumps(manifest, ensure_ascii=False)) > LONGEST:
        details = f"is longer than {LONGEST:,} characters of JSON"
        raise unreadable_request([Issue(field=key, details=details, rule="max")])
    return manifest


def _decode_manifest(body: ManifestIn) -> dict[str, Any]:
    try:
        return read_yaml(
            b64decode(str(body.manifest_base64_encoded), validate=True).decode()
        ).values
    except YamlError as error:
        raise unreadable_request(
            [
                Issue(field=ENCODED, details=f"line {it.line}: {it.sentence}", rule="format")
                for it in error.problems
            ]
        ) from error
    except ValueError as error:  # not valid Base64 or UTF-8
        details = "must be YAML, as UTF-8 in Base64"
        raise unreadable_request([Issue(field=ENCODED, details=details, rule="format")]) from error


def _convert_manifest(
    metadata: ManifestMetadataIn, job: ImportedManifest, by: User
) -> tuple[OnePodIn, Callable[[], WorkloadDraft]]:
    """Convert a manifest to the request of its kind of workload, and a function that builds its
    draft. What its project's cluster has not is left out. Raises ``ApiError`` 400 with everything
    in it that workloads do not have."""
    project = _find_project(metadata, by)
    if project:
        fit_manifest(job, project)
    issues = [Issue(field=f"{MANIFEST}.{it.path}", details=it.text) for it in job.faults]
    if issues:
        raise refusal_error(CANNOT, issues)
    generates = job.generates_name and not metadata.name
    request = {
        "name": metadata.name or job.name,
        "useGivenNameAsPrefix": metadata.use_given_name_as_prefix or generates,
        "projectId": metadata.project_id,
        "clusterId": metadata.cluster_id,
        "spec": job.spec | _overrides(metadata),
    }
    if not job.kind.is_gang:
        one_pod = OnePodIn.model_validate(request)
        return one_pod, partial(draft_of_one_pod, one_pod, job.kind, by=by)
    same = None if job.no_master else job.master is None
    request |= {"noMaster": job.no_master, "masterSpecSameAsWorker": same, "masterSpec": job.master}
    gang = DistributedIn.model_validate(request)
    return gang, partial(draft_of, gang, by=by)


def _find_project(metadata: ManifestMetadataIn, by: User) -> Project | None:
    """Return the project of a request. If there is none, the plan reports that."""
    number = parse_number(metadata.project_id)
    projects = Project.objects.visible_to(by).select_related("cluster")
    return None if number is None else projects.filter(pk=number).first()


def _differing_fields(body: ManifestUpdateIn, workload: Workload) -> Iterator[str]:
    """Yield the paths of the fields that differ from the submitted workload. A masked value, as
    answers show it, counts as unchanged."""
    metadata = body.metadata or ManifestClassIn()
    if metadata.priority not in {None, workload.priority}:
        yield "metadata.priority"
    if metadata.category not in {None, workload.category}:
        yield "metadata.category"
    if body.manifest is None and body.manifest_base64_encoded is None:
        return
    manifest = as_mapping(workload.manifest_json)
    yield from _differing_paths(
        _read_manifest(body), manifest, mask_secret_values(manifest, VARIABLES), MANIFEST
    )


def _differing_paths(document: Any, stored: Any, masked: Any, path: str) -> Iterator[str]:
    """Yield the paths where a document differs from the stored one and from its ``masked`` copy, as
    deep as all three have the same structure."""
    if document in (stored, masked):
        return
    if all(isinstance(it, dict) for it in (document, stored, masked)):
        for key in dict.fromkeys([*document, *stored]):
            yield from _differing_paths(
                document.get(key), stored.get(key), masked.get(key), f"{path}.{key}"
            )
    elif _are_equally_long_lists(document, stored, masked):
        for number, trio in enumerate(zip(document, stored, masked, strict=True)):
            yield from _differing_paths(*trio, f"{path}.{number}")
    else:
        yield path


def _are_equally_long_lists(*documents: Any) -> bool:
    return all(isinstance(it, list) for it in documents) and len({*map(len, documents)}) == 1
