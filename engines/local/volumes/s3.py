"""Copies buckets with a program of ours, which gets the keys by its environment."""

import sys
from collections.abc import Iterator
from pathlib import Path

from engines.local.records.volume import Volume
from engines.local.volumes.fetcher import Fetcher, Keys
from engines.shared.sources import bucket_failed

PROGRAM = "engines.local.volumes.download"
#: Keeps credentials of this server's user from being used.
ALONE = {
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def steps(volume: Volume, target: Path) -> Iterator[list[str]]:
    address = [volume.url] if volume.url else []
    yield [
        sys.executable,
        "-m",
        PROGRAM,
        volume.origin.removeprefix("s3://"),
        str(target),
        *address,
    ]


def variables(volume: Volume, keys: Keys, scratch: Path) -> dict[str, str]:
    if not volume.credential:
        return ALONE
    opened = {
        "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": keys["SecretKey"],
    }
    return {**ALONE, **opened}


def progress(said: str) -> str:
    return said.rstrip().rpartition("\n")[2]


def trouble(volume: Volume, said: str) -> str:
    failed = bucket_failed(
        volume.origin, volume.place, url=volume.url, opened=bool(volume.credential)
    )
    return f"{failed} {progress(said).rstrip('.')}."


S3 = Fetcher(steps, variables, progress, trouble)
