"""Download a bucket: ``python -m engines.local.volumes.download BUCKET FOLDER [URL]``.

It signs requests with ``AWS_ACCESS_KEY_ID`` from the environment, if set. The last line it prints
is its progress, or why it ended.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from boto3.s3.transfer import TransferConfig
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from engines.local.system.exit import size

AT_ONCE = 8
PATIENCE = 20  # seconds for a service to answer a call
EVERY = 0.5  # seconds between two lines


@dataclass
class DownloadProgress:
    """Counts files and bytes, for several threads."""

    files: int
    bytes: int
    done_files: int = 0
    done_bytes: int = 0
    _said_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, *, files: int = 0, bytes: int = 0) -> None:
        with self._lock:
            self.done_files += files
            self.done_bytes += bytes
            if time.monotonic() - self._said_at > EVERY:
                self._said_at = time.monotonic()
                say(str(self))

    def __str__(self) -> str:
        volume = f"{size(self.done_bytes)} of {size(self.bytes)}"
        return f"{self.done_files} of {self.files} files, {volume}"


def say(text: str) -> None:
    sys.stdout.write(f"{' '.join(text.split())}\n")
    sys.stdout.flush()


def main(bucket: str, folder: str, url: str | None = None) -> int:
    try:
        _download(_client(url), bucket, Path(folder))
    except ClientError as error:
        say(error.response.get("Error", {}).get("Message") or str(error))
    except (BotoCoreError, OSError, ValueError) as error:
        say(str(error))
    else:
        return 0
    return 1


def _client(url: str | None) -> Any:
    signs = "AWS_ACCESS_KEY_ID" in os.environ
    config = Config(
        signature_version=None if signs else UNSIGNED,
        max_pool_connections=2 * AT_ONCE,
        connect_timeout=PATIENCE,
        retries={"total_max_attempts": 3},
        response_checksum_validation="when_required",  # other services do not send any
    )
    return boto3.client("s3", endpoint_url=url, region_name="us-east-1", config=config)


def _download(client: Any, bucket: str, folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True)
    objects = list(_objects(client, bucket))
    places = {key: place_of(key, folder) for key, _ in objects}
    progress = DownloadProgress(len(objects), sum(size for _, size in objects))
    one_by_one = TransferConfig(use_threads=False)

    def fetch(key: str) -> None:
        places[key].parent.mkdir(parents=True, exist_ok=True)
        count = lambda bytes: progress.count(bytes=bytes)  # noqa: E731
        client.download_file(bucket, key, str(places[key]), Config=one_by_one, Callback=count)
        progress.count(files=1)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            for _ in threads.map(fetch, places):
                pass
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
    say(str(progress))


def _objects(client: Any, bucket: str) -> Iterator[tuple[str, int]]:
    """Key and size of each object that is not just the name of a folder."""
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for item in page.get("Contents", ()):
            if not item["Key"].endswith("/"):
                yield item["Key"], item["Size"]


def place_of(key: str, folder: Path) -> Path:
    """The path of a key; ``ValueError`` if it would be outside the folder."""
    steps = [step for step in key.split("/") if step not in {"", "."}]
    if ".." in steps or "\0" in key:
        raise ValueError(f"The object {key!r} has no place in a folder; rename it")
    return folder.joinpath(*steps)


def arguments(argv: Sequence[str]) -> tuple[str, str, str | None]:
    bucket, folder, *url = argv
    return bucket, folder, url[0] if url else None


if __name__ == "__main__":
    sys.exit(main(*arguments(sys.argv[1:])))
