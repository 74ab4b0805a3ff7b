"""Download a bucket: ``python -m engines.local.volumes.download BUCKET FOLDER [URL]``.

It signs requests if ``AWS_ACCESS_KEY_ID`` is in the environment. The last line that it prints is
its progress, or why it failed.
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

from engines.local.system.exit import format_size

THREADS = 8
PATIENCE = 20  # seconds for a service to answer a call
EVERY = 0.5  # seconds between two lines


@dataclass
class DownloadProgress:
    """Counts files and bytes, for several threads."""

    files: int
    bytes: int
    done_files: int = 0
    done_bytes: int = 0
    _printed_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, *, files: int = 0, bytes: int = 0) -> None:
        with self._lock:
            self.done_files += files
            self.done_bytes += bytes
            if time.monotonic() - self._printed_at > EVERY:
                self._printed_at = time.monotonic()
                print_line(str(self))

    def __str__(self) -> str:
        volume = f"{format_size(self.done_bytes)} of {format_size(self.bytes)}"
        return f"{self.done_files} of {self.files} files, {volume}"


def print_line(text: str) -> None:
    sys.stdout.write(f"{' '.join(text.split())}\n")
    sys.stdout.flush()


def main(bucket: str, folder: str, url: str | None = None) -> int:
    try:
        _download(_client(url), bucket, Path(folder))
    except ClientError as error:
        print_line(error.response.get("Error", {}).get("Message") or str(error))
    except (BotoCoreError, OSError, ValueError) as error:
        print_line(str(error))
    else:
        return 0
    return 1


def _client(url: str | None) -> Any:
    signs = "AWS_ACCESS_KEY_ID" in os.environ
    config = Config(
        signature_version=None if signs else UNSIGNED,
        max_pool_connections=2 * THREADS,
        connect_timeout=PATIENCE,
        retries={"total_max_attempts": 3},
        response_checksum_validation="when_required",  # other services do not send any
    )
    return boto3.client("s3", endpoint_url=url, region_name="us-east-1", config=config)


def _download(client: Any, source: str, folder: Path) -> None:
    """Download a bucket, or with ``bucket/folder`` the content of a folder in it."""
    folder.mkdir(mode=0o700, parents=True)
    bucket, _, inside = source.partition("/")
    prefix = f"{inside.strip('/')}/" if inside.strip("/") else ""
    objects = list(_objects(client, bucket, prefix))
    paths = {key: path_for_key(key.removeprefix(prefix), folder) for key, _ in objects}
    progress = DownloadProgress(len(objects), sum(size for _, size in objects))
    single_thread = TransferConfig(use_threads=False)  # of each file; several files at once

    def count_bytes(bytes: int) -> None:
        progress.count(bytes=bytes)

    def fetch(key: str) -> None:
        path = paths[key]
        path.parent.mkdir(parents=True, exist_ok=True)
        client.download_file(bucket, key, str(path), Config=single_thread, Callback=count_bytes)
        progress.count(files=1)

    with ThreadPoolExecutor(THREADS) as threads:
        try:
            for _ in threads.map(fetch, paths):  # iterated to raise the first error
                pass
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
    print_line(str(progress))


def _objects(client: Any, bucket: str, prefix: str) -> Iterator[tuple[str, int]]:
    """Yield key and size of each object whose key begins with a prefix and is not just the name of
    a folder."""
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for item in page.get("Contents", ()):
            if not item["Key"].endswith("/"):
                yield item["Key"], item["Size"]


def path_for_key(key: str, folder: Path) -> Path:
    """Return the path of a key. Raises ``ValueError`` if it would be outside the folder."""
    steps = [step for step in key.split("/") if step not in {"", "."}]
    if ".." in steps or "\0" in key:
        raise ValueError(f"The object {key!r} has no place in a folder; rename it")
    return folder.joinpath(*steps)


def parse_arguments(argv: Sequence[str]) -> tuple[str, str, str | None]:
    bucket, folder, *url = argv
    return bucket, folder, url[0] if url else None


if __name__ == "__main__":
    sys.exit(main(*parse_arguments(sys.argv[1:])))
