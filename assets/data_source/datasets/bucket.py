"""The files of versions in S3: a folder of a bucket for each version, named by its key."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import boto3
from boto3.exceptions import Boto3Error
from botocore.client import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings

from assets.credential.model import Credential, SecretValue
from projects.scopes import Scope
from spec.data.credential import CredentialKind

PATIENCE_SECONDS = 10
MOST_AT_ONCE = 1000  # objects that one request deletes


class BucketFailed(OSError):
    """The bucket did not do what it was asked for; the message says why."""


def is_used() -> bool:
    """Whether new versions are kept in a bucket."""
    return bool(settings.DATASETS_BUCKET)


def folder_of(key: UUID) -> str:
    """Return the bucket with the folder of a version: ``bucket/prefix/key``."""
    return f"{settings.DATASETS_BUCKET}/{key.hex}"


def find_credential() -> Credential | None:
    """Return the credential that opens the bucket; ``None`` if there is none of this name."""
    rows = Credential.objects.shared().filter(
        scope=Scope.ACCOUNT,
        name=settings.DATASETS_CREDENTIAL,
        spec_json__kind=CredentialKind.ACCESS_KEY,
    )
    return rows.first()


def store_files(folder: str, files: dict[str, Path]) -> Iterator[None]:
    """Store files, which are given by their paths in the folder. Yields after each."""
    name, prefix = _divide(folder)
    with _client() as client:
        for path, file in files.items():
            client.upload_file(str(file), name, f"{prefix}{path}")
            yield


def read_part(folder: str, path: str, offset: int, length: int) -> bytes:
    """Return bytes of a file; none behind its end."""
    name, prefix = _divide(folder)
    span = f"bytes={offset}-{offset + length - 1}"
    with _client() as client:
        answer = client.get_object(Bucket=name, Key=f"{prefix}{path}", Range=span)
        data: bytes = answer["Body"].read()
        return data


def fetch_file(folder: str, path: str, target: Path) -> None:
    """Download a file."""
    name, prefix = _divide(folder)
    with _client() as client:
        client.download_file(name, f"{prefix}{path}", str(target))


def stored_keys() -> Iterator[UUID]:
    """Yield the keys of all folders in the bucket."""
    name, prefix = _divide(settings.DATASETS_BUCKET)
    with _client() as client:
        pages = client.get_paginator("list_objects_v2").paginate(
            Bucket=name, Prefix=prefix.removeprefix("/"), Delimiter="/"
        )
        for page in pages:
            for item in page.get("CommonPrefixes", ()):
                folder = item["Prefix"].rstrip("/").rpartition("/")[2]
                try:
                    yield UUID(hex=folder)
                except ValueError:
                    continue  # not one of ours


def remove(folder: str) -> None:
    """Remove the folder of a version with all files."""
    name, prefix = _divide(folder)
    with _client() as client:
        for page in client.get_paginator("list_objects_v2").paginate(
            Bucket=name, Prefix=prefix, PaginationConfig={"PageSize": MOST_AT_ONCE}
        ):
            keys = [{"Key": item["Key"]} for item in page.get("Contents", ())]
            if keys:
                client.delete_objects(Bucket=name, Delete={"Objects": keys})


def _divide(folder: str) -> tuple[str, str]:
    """Return the name of the bucket, and what the keys of the files in the folder begin with."""
    name, _, prefix = folder.partition("/")
    return name, f"{prefix}/"


@contextmanager
def _client() -> Iterator[Any]:
    """A client of the service. Its errors become ``BucketFailed``."""
    credential = find_credential()
    if credential is None:
        raise BucketFailed(
            f"there is no access key {settings.DATASETS_CREDENTIAL!r} in the account's "
            "credentials; an administrator creates it"
        )
    rows = SecretValue.objects.filter(credential=credential)
    values = dict(rows.values_list("key", "value"))
    config = Config(
        connect_timeout=PATIENCE_SECONDS,
        retries={"total_max_attempts": 3},
        response_checksum_validation="when_required",  # other services do not send any
        request_checksum_calculation="when_required",
    )
    client = boto3.client(
        "s3",
        endpoint_url=settings.DATASETS_S3_URL or None,
        region_name="us-east-1",
        aws_access_key_id=values.get("AccessKeyId"),
        aws_secret_access_key=values.get("SecretKey"),
        config=config,
    )
    try:
        yield client
    except ClientError as error:
        message = error.response.get("Error", {}).get("Message") or str(error)
        raise BucketFailed(f"s3://{settings.DATASETS_BUCKET}: {message}") from error
    except (BotoCoreError, Boto3Error) as error:
        raise BucketFailed(f"s3://{settings.DATASETS_BUCKET}: {error}") from error
