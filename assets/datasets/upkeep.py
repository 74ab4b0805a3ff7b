"""Remove what no version needs: uploads that nobody finished, and folders without a row."""

from datetime import timedelta

from django.utils import timezone

from assets.data_source.datasets import bucket, store
from assets.data_source.datasets.model import DatasetVersion, VersionStatus

UNFINISHED = timedelta(days=1)


def remove_unfinished() -> None:
    """Remove versions that were begun a day ago and not finished, and folders of deleted ones."""
    a_day_ago = timezone.now() - UNFINISHED
    old = DatasetVersion.objects.filter(status=VersionStatus.PENDING, created_at__lt=a_day_ago)
    old.delete()
    # The folders come first: the row of a version is there before its folder.
    keys = set(store.stored_keys())
    in_bucket = set(bucket.stored_keys()) if bucket.is_used() else set()
    rows = DatasetVersion.objects.filter(key__in=keys | in_bucket)
    for key in keys - set(rows.filter(bucket="").values_list("key", flat=True)):
        store.remove(key)
    for key in in_bucket - set(rows.values_list("key", flat=True)):
        bucket.remove(bucket.folder_of(key))
