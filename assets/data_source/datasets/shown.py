"""What pages show of datasets and their versions."""

from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse

from accounts.models import User
from assets.data_source.datasets.model import DatasetVersion
from assets.data_source.datasets.uses import VERSION, find_version, is_dataset
from assets.data_source.model import DataSource
from assets.links import usage_text, with_usage_counts

MOST_VERSIONS = 50


@dataclass(frozen=True)
class ShownDataset:
    """A row of the list. ``size`` is that of all versions, in bytes."""

    dataset: DataSource
    latest: DatasetVersion | None
    num_versions: int
    size: int
    usage: str

    @classmethod
    def of(cls, dataset: DataSource) -> Self:
        """Return the row of a dataset, which comes with its versions and usage counts."""
        versions = [version for version in dataset.versions.all() if version.is_ready]
        latest = find_version(dataset)
        size = sum(version.size for version in versions)
        return cls(dataset, latest, len(versions), size, usage_text(dataset))


def versions_panel(source: DataSource) -> dict[str, Any] | None:
    """Return what the page of a dataset shows of its latest versions; ``None`` for other data
    sources."""
    if not is_dataset(source):
        return None
    ready = DatasetVersion.objects.filter(dataset=source).ready().select_related("created_by")
    rows = list(with_usage_counts(ready, VERSION)[:MOST_VERSIONS])
    return {
        "versions": [(version, usage_text(version)) for version in rows],
        "num_older": ready.count() - len(rows),
        "command": f"trainyard dataset upload {source.name} FOLDER",
    }


def versions_made_by(workflow_id: UUID, user: User) -> QuerySet[DatasetVersion]:
    """Return the versions that a workflow made, in the order in which it made them."""
    visible = DataSource.objects.visible_to(user)
    rows = DatasetVersion.objects.filter(workflow_id=workflow_id, dataset__in=visible).ready()
    return rows.select_related("dataset").order_by("created_at")


def use_address(version: DatasetVersion) -> str:
    """Return the address that begins a workload with a version."""
    dataset = version.dataset
    query = {"data-source": dataset.pk, "version": version.number}
    if dataset.project_id:
        query["project"] = dataset.project_id
    return f"{reverse('workload-new')}?{urlencode(query)}"
