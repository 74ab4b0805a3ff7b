"""Copies buckets with ``download.py``, which gets the keys by its environment."""

import sys
from collections.abc import Iterator
from pathlib import Path

from engines.local.records.volume import Volume
from engines.local.volumes.fetcher import Fetcher, Keys
from engines.shared.sources import bucket_failed

PROGRAM = "engines.local.volumes.download"
#: Variables that keep the credentials of this server's user from being used.
NO_USER_CREDENTIALS = {
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def commands(volume: Volume, target: Path) -> Iterator[list[str]]:
    """Yield the command that downloads a bucket."""
    bucket = volume.origin.removeprefix("s3://")
    address = [volume.url] if volume.url else []
    yield [sys.executable, "-m", PROGRAM, bucket, str(target), *address]


def variables(volume: Volume, keys: Keys, scratch: Path) -> dict[str, str]:
    """Return the environment of the download, with the credential of the volume."""
    if not volume.credential:
        return NO_USER_CREDENTIALS
    return {
        **NO_USER_CREDENTIALS,
        "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": keys["SecretKey"],
    }


def describe_progress(output: str) -> str:
    """Return the last line of the download's output."""
    return output.rstrip().rpartition("\n")[2]


def describe_failure(volume: Volume, output: str) -> str:
    """Return a sentence about a failed download, with the last line of its output."""
    failure = bucket_failed(
        volume.origin, volume.place, url=volume.url, opened=bool(volume.credential)
    )
    return f"{failure} {describe_progress(output).rstrip('.')}."


S3_FETCHER = Fetcher(commands, variables, describe_progress, describe_failure)
