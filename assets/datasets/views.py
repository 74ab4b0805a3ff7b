"""The pages of datasets: the list, and one version with its files. A dataset itself has the page of
its data source."""

from collections.abc import AsyncIterator
from urllib.parse import quote
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import Request
from assets import services as assets
from assets.data_source.datasets import content, shown, store
from assets.data_source.datasets.model import DatasetFile, DatasetVersion
from assets.data_source.datasets.uses import holders_of_version, obstacle_to_delete
from assets.data_source.kind import DATA_SOURCE
from assets.datasets import services
from core.web.http import render_partial
from core.web.pages import deletion_page
from core.web.query import search_text
from spec.data.data_source import SourceKind

DATASETS_A_PAGE = 50
FILES_A_PAGE = 25
MOST_USERS = 20
CRUMB = "Datasets"


@require_safe
@login_required
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    rows = DATA_SOURCE.visible_to(request.user).filter(spec_json__kind=SourceKind.DATASET)
    rows = rows.prefetch_related("versions__created_by").order_by("name", "pk")
    if text:
        rows = rows.filter(Q(name__icontains=text) | Q(description__icontains=text))
    page = Paginator(rows, DATASETS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": [shown.ShownDataset.of(dataset) for dataset in page],
        "q": text,
        "create_address": _create_address(request),
    }
    return render_partial(request, "assets/datasets/list.html", "rows", context)


@require_safe
@login_required
def version(request: Request, pk: UUID, number: int) -> HttpResponse:
    """Show the files of a version, and what uses it."""
    found = _find_version(request, pk, number)
    page = Paginator(found.files.all(), FILES_A_PAGE).get_page(request.GET.get("page"))
    may_delete = DATA_SOURCE.rows.editable_by(request.user, "delete").filter(pk=pk).exists()
    context = {
        "version": found,
        "page": page,
        "users": [
            (noun.capitalize(), holder)
            for noun, rows in holders_of_version(found)
            for holder in rows.visible_to(request.user)[:MOST_USERS]
        ],
        "may_delete": may_delete,
        "use_address": shown.use_address(found),
    }
    return render_partial(request, "assets/datasets/version.html", "files", context)


@require_safe
@login_required
def download(request: Request, pk: UUID, number: int) -> StreamingHttpResponse:
    """Download the file of a version that ``?path=`` names."""
    found = _find_version(request, pk, number)
    file = get_object_or_404(
        found.files.select_related("version"), path=request.GET.get("path", "")
    )
    # Always a download: a browser must not open a page that a stranger uploaded here.
    response = StreamingHttpResponse(_stream(file), content_type="application/octet-stream")
    response["Content-Length"] = str(file.size)
    name = quote(file.path.rpartition("/")[2], safe="")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: Request, pk: UUID, number: int) -> HttpResponse:
    found = _find_version(request, pk, number)
    assets.check_editable(DATA_SOURCE, found.dataset, request.user, "delete")
    return deletion_page(
        request,
        found,
        "version",
        lambda: services.delete_version(found, by=request.user),
        text="Its files are deleted. This cannot be undone.",
        crumb=(CRUMB, reverse("dataset-list")),
        back=reverse("dataset-version", args=[pk, number]),
        home=found.dataset.get_absolute_url(),
        obstacle=obstacle_to_delete(found, request.user),
    )


def _find_version(request: Request, pk: UUID, number: int) -> DatasetVersion:
    dataset = get_object_or_404(DATA_SOURCE.rows.visible_to(request.user), pk=pk)
    versions = DatasetVersion.objects.filter(dataset=dataset).ready()
    return get_object_or_404(versions.select_related("created_by", "dataset"), number=number)


async def _stream(file: DatasetFile) -> AsyncIterator[bytes]:
    offset = 0
    while data := await sync_to_async(content.read_part)(file, offset, store.PART):
        yield data
        offset += len(data)


def _create_address(request: Request) -> str:
    return DATA_SOURCE.address("create") if DATA_SOURCE.may_create(request.user) else ""
