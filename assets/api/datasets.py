"""REST: the versions of datasets, and their files. The datasets themselves are data sources."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.db.models import Q
from django.http import HttpResponse
from ninja import Field, Query, Router, Status

from accounts.api.tokens import ApiRequest
from assets.data_source.datasets import content
from assets.data_source.datasets.bucket import BucketFailed
from assets.data_source.datasets.model import DatasetFile, DatasetVersion, VersionStatus
from assets.data_source.datasets.uses import LATEST, find_version
from assets.data_source.model import DataSource
from assets.datasets import services
from assets.datasets.services import VersionComplete
from core.deletion import InUse
from core.rest.api import (
    ApiError,
    Issue,
    NextOffset,
    Pages,
    Parameters,
    StrictBody,
    Wire,
    enum_schema,
    not_found,
    refusal_error,
)
from core.rest.filters import (
    DATE,
    ID,
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    filter_queryset,
    sort_queryset,
)
from core.rest.rows import OptionalSort, filter_objects, sort_objects
from core.web.query import parse_number, parse_uuid
from projects.models import Project
from projects.scopes import OwningScope
from spec.data.data_source import SourceKind
from spec.problems.errors import SpecError

router = Router(tags=["Datasets"], by_alias=True)
ONE = "/datasets/{dataset_id}"
VERSION = f"{ONE}/versions/{{version}}"
FIELDS: Fields = {
    "id": ("id", ID),
    "name": ("name", TEXT),
    "description": ("description", TEXT),
    "createdBy": ("created_by", TEXT),
    "createdAt": ("created_at", DATE),
    "latestVersion": ("latest_version", NUMBER),
    "latestVersionAt": ("latest_version_at", DATE),
    "size": ("size", NUMBER),
}
FILE_FIELDS: Fields = {
    "path": ("path", TEXT),
    "size": ("size", NUMBER),
    "sha256": ("sha256", TEXT),
}
LARGEST_PIECE = 2 * 1024 * 1024  # bytes
LARGEST_PART = 8 * 1024 * 1024  # bytes that one answer has of a file
LARGEST_OFFSET = 2**62


class DatasetIn(StrictBody):
    name: str = Field(max_length=63, description="The name, which data sources of a project share")
    project_id: str = Field(description="The ID of the project, or its name")
    description: str = Field(default="", max_length=250, description="What it contains")
    path: str = Field(
        default="", description="Where pods find it; by default /data, and in it the name"
    )


class DatasetVersionOut(Wire):
    id: UUID = Field(description="Its ID")
    number: int | None = Field(description="Its number; null until it is complete")
    status: Annotated[str, enum_schema(*VersionStatus.values)] = Field(
        description="PENDING until it is complete, then READY"
    )
    size: int = Field(description="The bytes of all files")
    files: int = Field(description="How many files it has")
    created_by: str = Field(description="Who made it")
    workflow: str = Field(description="The workflow and the task that made it; empty if none did")
    created_at: datetime = Field(description="When it was begun")

    @classmethod
    def of(cls, version: DatasetVersion) -> Self:
        return cls(
            id=version.pk,
            number=version.number,
            status=version.status,
            size=version.size,
            files=version.num_files,
            created_by=version.created_by.username if version.created_by else "",
            workflow=version.maker,
            created_at=version.created_at,
        )


class DatasetRow(Wire):
    id: UUID = Field(description="Its ID, which is that of the data source")
    name: str = Field(description="Its name")
    description: str = Field(description="What it contains")
    scope: str = Field(description="Who can use it, such as Project vision")
    path: str = Field(description="Where pods find it")
    created_by: str = Field(description="Who created it")
    created_at: datetime = Field(description="When it was created")
    latest_version: int | None = Field(description="The number of the latest version; null if none")
    latest_version_at: datetime | None = Field(description="When the latest version was begun")
    size: int = Field(description="The bytes of all versions")

    @classmethod
    def values_of(cls, dataset: DataSource) -> dict[str, Any]:
        versions = [version for version in dataset.versions.all() if version.is_ready]
        latest = find_version(dataset)
        return {
            "id": dataset.pk,
            "name": dataset.name,
            "description": dataset.description,
            "scope": dataset.scope_name,
            "path": dataset.spec.path,
            "created_by": dataset.created_by.username if dataset.created_by else "",
            "created_at": dataset.created_at,
            "latest_version": latest.number if latest else None,
            "latest_version_at": latest.created_at if latest else None,
            "size": sum(version.size for version in versions),
        }


class DatasetOut(DatasetRow):
    versions: list[DatasetVersionOut] = Field(
        description="The versions, the newest first; those that are not complete come last"
    )

    @classmethod
    def of(cls, dataset: DataSource) -> Self:
        versions = sorted(dataset.versions.all(), key=lambda it: it.number or 0, reverse=True)
        rows = [DatasetVersionOut.of(version) for version in versions]
        return cls(**cls.values_of(dataset), versions=rows)


class DatasetList(Wire):
    datasets: list[DatasetRow] = Field(description="The datasets, by name")
    next: NextOffset


class DatasetFileOut(Wire):
    path: str = Field(description="Its path in the version")
    size: int = Field(description="Its bytes")
    sha256: str = Field(description="Its SHA-256 digest, in hexadecimal")

    @classmethod
    def of(cls, file: DatasetFile) -> Self:
        return cls(path=file.path, size=file.size, sha256=file.sha256)


class DatasetFileList(Wire):
    files: list[DatasetFileOut] = Field(description="The files, by path")
    next: NextOffset


class DatasetListing(Pages, OptionalSort, Filtered):
    name: str = Field(default="", description="Only datasets with this name")
    project_id: str = Field(
        default="", description="Only datasets that workloads of this project can use"
    )


class FileListing(Pages, OptionalSort, Filtered):
    pass


class PieceQuery(Parameters):
    path: str = Field(max_length=1000, min_length=1, description="The path of the file")
    offset: int = Field(
        default=0, ge=0, le=LARGEST_OFFSET, description="Where in the file the piece begins"
    )


@router.get("/datasets", response=DatasetList, operation_id="list_datasets")
def list_datasets(request: ApiRequest, listing: Query[DatasetListing]) -> DatasetList:
    """Datasets that you can see."""
    rows = _visible_datasets(request)
    if listing.name:
        rows = rows.filter(name=listing.name)
    if listing.project_id:
        project = _find_project(request, listing.project_id)
        rows = rows.filter(pk__in=DataSource.objects.usable_in(project).values("pk"))
    entries = [DatasetRow(**DatasetRow.values_of(row)) for row in rows.order_by("name", "pk")]
    matching = filter_objects(entries, listing, FIELDS, "name")
    page, following = listing.cut(sort_objects(matching, listing, FIELDS))
    return DatasetList(datasets=page, next=following)


@router.post("/datasets", response={201: DatasetOut}, operation_id="create_dataset")
def create(request: ApiRequest, body: DatasetIn) -> Status[DatasetOut]:
    """Create a dataset without versions, in a project. 409 if the project has a data source of
    this name."""
    project = _find_project(request, body.project_id)
    with _translated_refusals():
        dataset = services.create_dataset(
            body.name,
            scope=OwningScope(project),
            by=request.user,
            description=body.description,
            path=body.path,
        )
    return Status(201, DatasetOut.of(dataset))


@router.get(ONE, response=DatasetOut, operation_id="read_dataset")
def read(request: ApiRequest, dataset_id: UUID) -> DatasetOut:
    """A dataset with its versions. It is changed and deleted as a data source."""
    return DatasetOut.of(_find_dataset(request, dataset_id))


@router.post(
    f"{ONE}/versions", response={201: DatasetVersionOut}, operation_id="begin_dataset_version"
)
def begin(request: ApiRequest, dataset_id: UUID) -> Status[DatasetVersionOut]:
    """Begin a version. Send its files, then finish it; until then nobody can use it. What is not
    finished within a day is removed."""
    dataset = _find_dataset(request, dataset_id)
    with _translated_refusals():
        version = services.begin_version(dataset, by=request.user)
    return Status(201, DatasetVersionOut.of(version))


@router.post(
    f"{VERSION}/pieces",
    response={204: None},
    operation_id="send_dataset_piece",
    openapi_extra={
        "requestBody": {
            "description": f"The bytes, at most {LARGEST_PIECE}",
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
def send_piece(
    request: ApiRequest, dataset_id: UUID, version: str, query: Query[PieceQuery]
) -> Status[None]:
    """Send a file of a version, or a piece of a file that is larger than 2 MiB. Pieces are sent
    from the beginning to the end of the file, and may be sent again."""
    found = _find_version(request, dataset_id, version)
    with _translated_refusals():
        services.add_piece(
            found, path=query.path, offset=query.offset, data=request.body, by=request.user
        )
    return Status(204, None)


@router.post(f"{VERSION}/finish", response=DatasetVersionOut, operation_id="finish_dataset_version")
def finish(request: ApiRequest, dataset_id: UUID, version: str) -> DatasetVersionOut:
    """Complete a version, which gives it its number. It never changes after that."""
    found = _find_version(request, dataset_id, version)
    with _translated_refusals():
        return DatasetVersionOut.of(services.finish_version(found, by=request.user))


@router.get(f"{VERSION}/files", response=DatasetFileList, operation_id="list_dataset_files")
def list_files(
    request: ApiRequest, dataset_id: UUID, version: str, listing: Query[FileListing]
) -> DatasetFileList:
    """The files of a version, by path."""
    found = _find_version(request, dataset_id, version)
    files = filter_queryset(found.files.all(), listing.filter_by, FILE_FIELDS)
    if listing.search:
        files = files.filter(path__icontains=listing.search)
    page, following = listing.cut(sort_queryset(files, listing, FILE_FIELDS))
    return DatasetFileList(files=[DatasetFileOut.of(file) for file in page], next=following)


@router.get(f"{VERSION}/content", operation_id="read_dataset_file")
def read_file(
    request: ApiRequest, dataset_id: UUID, version: str, query: Query[PieceQuery]
) -> HttpResponse:
    """Bytes of a file from ``offset``, at most 8 MiB; the header ``X-Next-Offset`` says where to
    continue, until it is the size of the file."""
    found = _find_version(request, dataset_id, version)
    file = found.files.filter(path=query.path).first()
    if file is None:
        raise not_found("The file")
    try:
        data = content.read_part(file, query.offset, LARGEST_PART)
    except BucketFailed as error:
        raise ApiError(503, f"The file cannot be read: {error}.") from error
    response = HttpResponse(data, content_type="application/octet-stream")
    response["X-Next-Offset"] = str(query.offset + len(data))
    return response


@router.delete(VERSION, response={204: None}, operation_id="delete_dataset_version")
def delete(request: ApiRequest, dataset_id: UUID, version: str) -> Status[None]:
    """Delete a version and its files. 409 while workloads that were submitted with it exist."""
    found = _find_version(request, dataset_id, version)
    with _translated_refusals():
        services.delete_version(found, by=request.user)
    return Status(204, None)


def _visible_datasets(request: ApiRequest) -> Any:
    rows = DataSource.objects.visible_to(request.user)
    related = rows.select_related("cluster", "department", "project", "created_by")
    return related.filter(spec_json__kind=SourceKind.DATASET).prefetch_related(
        "versions__created_by"
    )


def _find_dataset(request: ApiRequest, dataset_id: UUID) -> DataSource:
    dataset: DataSource | None = _visible_datasets(request).filter(pk=dataset_id).first()
    if dataset is None:
        raise not_found("The dataset")
    return dataset


def _find_version(request: ApiRequest, dataset_id: UUID, version: str) -> DatasetVersion:
    """Return a version by its number or its id, or the latest one. ``ApiError`` 404."""
    dataset = _find_dataset(request, dataset_id)
    rows = DatasetVersion.objects.filter(dataset=dataset).select_related("created_by", "dataset")
    pk = parse_uuid(version)
    number = parse_number(version)
    if version == LATEST:
        rows = rows.ready()
    elif pk:
        rows = rows.filter(pk=pk)
    else:
        rows = rows.filter(number=number) if number else rows.none()
    found = rows.first()
    if found is None:
        raise not_found("The version")
    return found


def _find_project(request: ApiRequest, id_or_name: str) -> Project:
    projects = Project.objects.open_to(request.user, "projects.read").select_related("cluster")
    pk = parse_number(id_or_name)
    project = projects.filter(Q(name=id_or_name) if pk is None else Q(pk=pk)).first()
    if project is None:
        issue = Issue(field="projectId", details="is not one of your projects")
        raise refusal_error("The dataset was not found.", [issue])
    return project


@contextmanager
def _translated_refusals() -> Iterator[None]:
    """Answer 400 with every field that is wrong, and 409 where the state does not allow it."""
    try:
        yield
    except SpecError as error:
        issues = [Issue(field=it.field, details=it.message, rule=it.rule) for it in error.problems]
        raise refusal_error("The dataset cannot be changed.", issues) from error
    except (InUse, VersionComplete) as error:
        raise ApiError(409, str(error)) from error
