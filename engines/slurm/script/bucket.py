"""Download a bucket: ``python3 bucket.py BUCKET FOLDER [URL]``, run on a node of the cluster.

The node's Python may be as old as 3.6 and has only the standard library. Requests are signed if
``AWS_ACCESS_KEY_ID`` is set, else they are anonymous.
"""

import hashlib
import hmac
import os
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree

AT_ONCE, TRIES = 8, 3
PATIENCE = 60  # seconds to wait for the service's next bytes
REGION = "us-east-1"  # which other services accept too
NOTHING = hashlib.sha256(b"").hexdigest()
AGAIN = {500, 502, 503, 504}


class Bucket:
    """A bucket of the service at ``url``. If that is empty it is AWS, which reports the region if
    it is another one."""

    def __init__(self, name: str, url: str) -> None:
        self.name, self.url, self.region = name, url.rstrip("/"), REGION
        self.key = os.environ.get("AWS_ACCESS_KEY_ID", "")
        self.secret = os.environ.get("AWS_SECRET_ACCESS_KEY", "")

    def objects(self) -> "list[tuple[str, int]]":
        """Key and size in bytes of each object, without those that only stand for a folder."""
        results = []
        query = {"list-type": "2"}
        while True:
            with self.open("", query) as answer:
                tree = ElementTree.fromstring(answer.read())  # noqa: S314 -- of the user's service
            space = tree.tag.partition("}")[0] + "}" if "}" in tree.tag else ""
            for item in tree.iter(space + "Contents"):
                key = item.findtext(space + "Key", "")
                if not key.endswith("/"):
                    results.append((key, int(item.findtext(space + "Size", "0"))))
            token = tree.findtext(space + "NextContinuationToken")
            if not token:
                return results
            query["continuation-token"] = token

    def save(self, key: str, size: int, place: Path) -> None:
        """Download an object of ``size`` bytes, and try again if the connection breaks."""
        place.parent.mkdir(parents=True, exist_ok=True)
        for left in reversed(range(TRIES)):
            try:
                with self.open(key, {}) as answer, place.open("wb") as file:
                    copy(answer, file, size)
                return
            except (HTTPException, ConnectionError):
                if not left:
                    raise

    def open(self, key: str, query: "dict[str, str]") -> HTTPResponse:
        """Get an object, or for an empty key the bucket itself. Tries again if the service is busy,
        or says that the bucket is in another region."""
        for left in reversed(range(TRIES)):
            try:
                call = self.request(key, query)
                answer: HTTPResponse = urllib.request.urlopen(call, timeout=PATIENCE)  # noqa: S310
                return answer
            except urllib.error.HTTPError as error:
                region = error.headers.get("x-amz-bucket-region", self.region)
                if not left or (error.code not in AGAIN and region == self.region):
                    raise
                self.region = region
            except urllib.error.URLError:
                if not left:
                    raise
                time.sleep(1)
        raise AssertionError("unreachable")

    def request(self, key: str, query: "dict[str, str]") -> urllib.request.Request:
        server = self.url or f"https://s3.{self.region}.amazonaws.com"
        path = urllib.parse.quote(f"/{self.name}/{key}" if key else f"/{self.name}", safe="/-_.~")
        words = "&".join(f"{it}={quoted(query[it])}" for it in sorted(query))
        address = urllib.parse.urlsplit(server + path)
        headers = self.signed(address.netloc, address.path, words) if self.key else {}
        line = f"{server}{path}{'?' * bool(words)}{words}"
        return urllib.request.Request(line, headers=headers)  # noqa: S310 -- a spec takes http alone

    def signed(self, host: str, path: str, query: str) -> "dict[str, str]":
        """Headers with AWS Signature Version 4, for a request without a body."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        own = {"host": host, "x-amz-content-sha256": NOTHING, "x-amz-date": now}
        lines = "".join(f"{name}:{value}\n" for name, value in own.items())
        names = ";".join(own)
        call = "\n".join(["GET", path, query, lines, names, NOTHING])
        text = "\n".join(
            ["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(call.encode()).hexdigest()]
        )
        key = b"AWS4" + self.secret.encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        mark = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        who = f"Credential={self.key}/{scope}, SignedHeaders={names}, Signature={mark}"
        del own["host"]  # urllib adds it
        return {**own, "Authorization": f"AWS4-HMAC-SHA256 {who}"}


def quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="-_.~")


def copy(answer: HTTPResponse, file: BinaryIO, size: int) -> None:
    """Write the answer to the file. Raises ``HTTPException`` unless it has ``size`` bytes."""
    shutil.copyfileobj(answer, file, 1024 * 1024)
    if file.tell() != size:
        raise HTTPException(f"it ended after {file.tell()} of {size} bytes")


def place_of(key: str, folder: Path) -> Path:
    """The path of an object below the folder. Raises ``ValueError`` for a key that would be outside
    of it."""
    steps = [step for step in key.split("/") if step not in {"", "."}]
    if ".." in steps or "\0" in key:
        raise ValueError(f"The object {key!r} has no place in a folder; rename it")
    return folder.joinpath(*steps)


def explained(error: Exception) -> str:
    """The error in the words of the service, if it sent any."""
    if isinstance(error, urllib.error.HTTPError):
        try:
            tree = ElementTree.fromstring(error.read())  # noqa: S314 -- of the user's service
            return tree.findtext("Message") or str(error)
        except ElementTree.ParseError:
            return str(error)
    return str(error.reason if isinstance(error, urllib.error.URLError) else error)


def main(name: str, folder: str, url: str = "") -> int:
    bucket = Bucket(name, url)
    try:
        Path(folder).mkdir(parents=True)
        objects = [(key, size, place_of(key, Path(folder))) for key, size in bucket.objects()]
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for done in [threads.submit(bucket.save, *each) for each in objects]:
                done.result()
    except (OSError, HTTPException, ValueError, ElementTree.ParseError) as error:
        sys.stdout.write(" ".join(explained(error).split()) + "\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
