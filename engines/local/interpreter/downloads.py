"""Fetches files over HTTP, and goes on where an earlier try stopped."""

import base64
import hashlib
import http
import http.client
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from requests.utils import DEFAULT_CA_BUNDLE_PATH

PIECE = 1024 * 1024  # bytes
PATIENCE = 60.0  # seconds without an answer
#: Failures in a row, without a byte between them, after which a file is given up; and the pause
#: after the first, in seconds, which doubles each time.
MOST_FAILURES = 6
FIRST_PAUSE = 1.0
FAILURES = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)


class CannotFetch(Exception):
    """A file cannot be fetched; the message says why."""


@dataclass(frozen=True)
class RemoteFile:
    """A file of a package index. ``digest`` is its SHA-256 in hexadecimal digits."""

    url: str
    digest: str

    @property
    def name(self) -> str:
        return unquote(urlsplit(self.url).path.rpartition("/")[2])


class Downloader:
    """Fetches files into a folder.

    ``passwords`` maps hosts to ``user:password``. ``certificates`` is a file with more authorities.
    """

    def __init__(self, folder: Path, passwords: Mapping[str, str], certificates: str = "") -> None:
        self.folder = folder
        self._passwords = passwords
        context = ssl.create_default_context()  # with the authorities that the system knows
        context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
        if certificates:
            context.load_verify_locations(certificates)
        # The default handlers include that of the proxies in the environment.
        self._opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))

    def size_of(self, file: RemoteFile) -> int:
        """Return the bytes of a file, without fetching it."""
        with self._open(file, method="HEAD") as answer:
            return int(answer.headers["Content-Length"])

    def fetched_bytes(self, file: RemoteFile) -> int:
        """Return the bytes that are here already."""
        for path in (self.folder / file.name, self._part(file)):
            if path.exists():
                return path.stat().st_size
        return 0

    def fetch(self, file: RemoteFile, advance: Callable[[int], None]) -> Path:
        """Return the path of a complete file. ``advance`` is told the bytes as they come.

        Raises ``CannotFetch``, and ``OSError`` if the disk is full.
        """
        target = self.folder / file.name
        if target.exists():
            return target
        self.folder.mkdir(parents=True, exist_ok=True)
        failures = 0
        while True:
            before = self.fetched_bytes(file)
            try:
                self._continue(file, advance)
                break
            except FAILURES as error:
                if before and _is_past_the_end(error):
                    break  # all of it had come when an earlier try stopped
                failures = 1 if self.fetched_bytes(file) > before else failures + 1
                if not _may_pass(error) or failures >= MOST_FAILURES:
                    raise CannotFetch(f"{file.url}: {_words(error)}") from error
                time.sleep(FIRST_PAUSE * 2 ** (failures - 1))
        part = self._part(file)
        with part.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != file.digest:
            advance(-part.stat().st_size)
            part.unlink()
            raise CannotFetch(f"{file.url}: the content does not match the index's digest")
        return part.rename(target)

    def _continue(self, file: RemoteFile, advance: Callable[[int], None]) -> None:
        """Append what is missing of a file to its part."""
        here = self.fetched_bytes(file)
        with (
            self._open(file, Range=f"bytes={here}-") as answer,
            self._part(file).open("ab") as part,
        ):
            if here and answer.status != http.HTTPStatus.PARTIAL_CONTENT:
                advance(-here)  # the server always sends the whole file
                part.truncate(0)
            expected = answer.length
            received = 0
            while piece := answer.read1(PIECE):  # what has come, however little
                part.write(piece)
                received += len(piece)
                advance(len(piece))
            if expected is not None and received < expected:
                raise ConnectionResetError("the connection ended before the file did")

    def _open(
        self, file: RemoteFile, method: str = "GET", **headers: str
    ) -> http.client.HTTPResponse:
        request = urllib.request.Request(file.url, method=method, headers=headers)  # noqa: S310
        password = self._passwords.get(urlsplit(file.url).netloc)
        if password:
            code = base64.b64encode(unquote(password).encode()).decode()
            request.add_unredirected_header("Authorization", f"Basic {code}")
        return self._opener.open(request, timeout=PATIENCE)  # type: ignore[no-any-return]

    def _part(self, file: RemoteFile) -> Path:
        return self.folder / f"{file.name}.part"


def _is_past_the_end(error: Exception) -> bool:
    code = http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
    return isinstance(error, urllib.error.HTTPError) and error.code == code


def _may_pass(error: Exception) -> bool:
    """Whether another try may succeed: not if the server refuses, or its certificate is wrong."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return not isinstance(reason, ssl.SSLCertVerificationError)


def _words(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    return str(error.reason if isinstance(error, urllib.error.URLError) else error)
