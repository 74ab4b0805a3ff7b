"""Remove what no version needs: uploads that nobody finished, and folders without a row."""

from datetime import timedelta

from django.utils import timezone

from assets.data_source.datasets import store
from assets.data_source.datasets.model import DatasetVersion, VersionStatus

UNFINISHED = timedelta(days=1)


def remove_unfinished() -> None:
    """Remove versions that were begun a day ago and not finished, and folders of deleted ones."""
    a_day_ago = timezone.now() - UNFINISHED
    old = DatasetVersion.objects.filter(status=VersionStatus.PENDING, created_at__lt=a_day_ago)
    old.delete()
    # The folders come first: the row of a version is there before its folder.
    keys = set(store.stored_keys())
    for key in keys - set(
        DatasetVersion.objects.filter(key__in=keys).values_list("key", flat=True)
    ):
        store.remove(key)
