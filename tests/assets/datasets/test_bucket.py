"""Versions in S3: a real server keeps them, and any cluster can mount them."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from accounts.models import User
from assets.data_source.datasets import bucket, content
from assets.data_source.datasets.model import DatasetVersion
from assets.data_source.datasets.uses import volume_of, why_unfit
from assets.data_source.model import DataSource
from assets.datasets import services
from assets.datasets.upkeep import remove_unfinished
from spec.problems.errors import SpecError
from tests.datasets import add_version
from tests.engines.local import buckets
from tests.engines.local.buckets import Store
from tests.factories import ClusterFactory, CredentialFactory


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with buckets.store({"other": b"not ours"}) as store:
        yield store


@pytest.fixture
def _key(server: Store, settings: Settings, db: None) -> None:
    settings.DATASETS_BUCKET = "sets/kept"
    settings.DATASETS_S3_URL = server.url
    CredentialFactory.create(
        in_account=True,
        name="datasets",
        spec_json={"kind": "accessKey", "keys": ["AccessKeyId", "SecretKey"]},
        entered={"AccessKeyId": server.access_key, "SecretKey": server.secret_key},
    )


def stored(server: Store) -> set[str]:
    words = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
    client = boto3.client("s3", endpoint_url=server.url, **words)
    return {item["Key"] for item in client.list_objects_v2(Bucket="sets")["Contents"]}


@pytest.mark.usefixtures("_key")
def test_a_version_in_a_bucket_is_read_mounted_anywhere_and_deleted(
    dataset: DataSource,
    user: User,
    server: Store,
    tmp_path: Path,
    datasets_folder: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        version = add_version(dataset, user, tmp_path, a="text", b="more")
    assert version.bucket == f"sets/kept/{version.key.hex}"
    assert f"kept/{version.key.hex}/a.txt" in stored(server)
    assert list(datasets_folder.iterdir()) == [], "the bucket alone keeps it"
    (first, _) = version.files.all()
    assert content.read_part(first, 1, 2) == b"ex"
    assert content.read_part(first, 4, 2) == b""
    fetched = content.local_files(version, tmp_path / "scratch")
    assert fetched["b.txt"].read_text() == "more"
    elsewhere = ClusterFactory.create(kind="kubernetes")
    dataset = DataSource.objects.get(pk=dataset.pk)
    assert why_unfit(dataset, "", elsewhere) == ("", "")
    kind, item = volume_of(dataset, "", "/data") or ("", {})
    assert (kind, item["bucket"], item["url"]) == ("s3", version.bucket, server.url)
    assert item["credential"]["name"] == "datasets"
    with django_capture_on_commit_callbacks(execute=True):
        services.delete_version(version, by=user)
    assert stored(server) == {"other"}


@pytest.mark.usefixtures("_key")
def test_objects_of_no_version_are_removed(
    dataset: DataSource, user: User, server: Store, tmp_path: Path
) -> None:
    version = add_version(dataset, user, tmp_path, a="text")
    killed = add_version(dataset, user, tmp_path, a="text")
    DatasetVersion.objects.filter(pk=killed.pk).delete()
    remove_unfinished()
    assert stored(server) == {f"kept/{version.key.hex}/a.txt", "other"}
    bucket.remove(version.bucket)


@pytest.mark.usefixtures("_key")
def test_a_bucket_that_cannot_be_used_says_why(
    dataset: DataSource, user: User, tmp_path: Path, settings: Settings
) -> None:
    settings.DATASETS_BUCKET = "nowhere/kept"
    with pytest.raises(SpecError, match="s3://nowhere/kept"):
        add_version(dataset, user, tmp_path, a="text")
    settings.DATASETS_CREDENTIAL = "forgotten"
    with pytest.raises(SpecError, match="no access key 'forgotten'"):
        add_version(dataset, user, tmp_path, a="text")
    assert not DatasetVersion.objects.ready().exists()
