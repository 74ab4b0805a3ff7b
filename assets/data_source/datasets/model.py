"""The models of a version of a dataset and of its files."""

import uuid
from typing import TYPE_CHECKING, Self

from django.db import models
from django.utils import timezone

from accounts.models import User
from assets.data_source.model import DataSource
from core.database.choices import Choices

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

LONGEST_PATH = 1000  # characters of the path of a file in a version


class VersionStatus(models.TextChoices):
    """Whether a version is complete, in OSMO's words."""

    PENDING = "PENDING", "Pending"
    READY = "READY", "Ready"


def version_statuses() -> Choices:
    return VersionStatus.choices


class DatasetVersionQuerySet(models.QuerySet["DatasetVersion"]):
    def ready(self) -> Self:
        """Complete versions, the newest first."""
        return self.filter(status=VersionStatus.READY).order_by("-number")


class DatasetVersion(models.Model):
    """A version of a dataset. It gets its number when it is complete, and never changes after that.

    ``key`` is the name of the folder with its files, and changes each time that someone begins to
    fill the version. ``bucket`` is that folder in S3, if the version is kept there. ``workflow_id``
    and ``maker`` tell which task of a workflow made it, if one did.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(DataSource, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(null=True, blank=True)
    status = models.CharField(
        max_length=10, choices=version_statuses, default=VersionStatus.PENDING
    )
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    size = models.BigIntegerField(default=0)  # bytes
    bucket = models.CharField(max_length=250, blank=True)
    num_files = models.PositiveIntegerField(default=0)
    workflow_id = models.UUIDField(null=True, blank=True)
    maker = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = DatasetVersionQuerySet.as_manager()

    if TYPE_CHECKING:
        files: RelatedManager["DatasetFile"]

    class Meta:
        verbose_name = "dataset version"
        ordering = ["dataset_id", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="dataset_version_number"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset}:{self.number}" if self.number else f"{self.dataset} (not finished)"

    @property
    def is_ready(self) -> bool:
        return self.status == VersionStatus.READY


class DatasetFile(models.Model):
    """A file of a complete version."""

    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=LONGEST_PATH)
    size = models.BigIntegerField()  # bytes
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(fields=["version", "path"], name="one_file_a_path"),
        ]

    def __str__(self) -> str:
        return self.path
