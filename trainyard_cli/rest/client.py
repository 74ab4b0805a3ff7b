"""Calls the REST API, with a token that is renewed when needed."""

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from trainyard_cli import __version__
from trainyard_cli.errors import SIGN_IN, CliError, ExitCode
from trainyard_cli.notes import LogLevel, print_note
from trainyard_cli.rest.profile import KEY_VARIABLES, Profile

PATIENCE_SECONDS = 60.0
EARLY_SECONDS = 120.0  # a token is renewed so long before its end
PAGE_SIZE = 500
ERROR_NUMBER = re.compile(r"^\[Errno -?\d+\] ")  # number of an error, which its words explain
AFTER_BREAK = re.compile(r"(?<=[\n\r])")
KEY_ENDED = "The access key of this machine has ended, or was deleted."


class RestClient:
    """A client of one server. Each call leaves a debug note: method, path, status and
    milliseconds."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.http = httpx.Client(
            base_url=f"{profile.server}/api/v1",
            timeout=httpx.Timeout(PATIENCE_SECONDS, connect=10.0),
            headers={"User-Agent": f"trainyard-cli/{__version__}"},
        )

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON of a GET. A query's parameter that is ``None`` is left out. See
        ``send``."""
        return self.send("GET", path, query=query)

    def post(self, path: str, body: Any = None, **query: Any) -> Any:
        """Return the JSON of a POST. See ``send``."""
        return self.send("POST", path, body, query=query)

    def delete(self, path: str) -> Any:
        """Return the JSON of a DELETE, if it has any. See ``send``."""
        return self.send("DELETE", path)

    def send_bytes(self, path: str, data: bytes, /, **query: Any) -> None:
        """Send bytes by a POST. See ``send``."""
        self._authorized("POST", path, data, query)

    def read_bytes(self, path: str, /, **query: Any) -> bytes:
        """Return the bytes that a GET answers. See ``send``."""
        return self._authorized("GET", path, None, query).content

    def send(self, method: str, path: str, body: Any = None, *, query: Any = None) -> Any:
        """Return the JSON of the answer, or ``None`` if it is empty.

        Raises ``CliError`` if the call is refused, the server cannot be reached, or nobody is
        signed in.
        """
        answer = self._authorized(method, path, body, query)
        return answer.json() if answer.content else None

    def pages(self, path: str, key: str, **query: Any) -> Iterator[Any]:
        """Yield every item of a list, page by page. ``key`` is the name of the list in the
        answer."""
        offset: int | None = 0
        while offset is not None:
            page = self.get(path, offset=offset, limit=PAGE_SIZE, **query)
            yield from page[key]
            offset = page.get("next")

    @contextmanager
    def stream(
        self,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        silence: float | None = None,
        **query: Any,
    ) -> Iterator[Iterator[str]]:
        """Open an answer that arrives bit by bit, and yield its lines; see ``split_lines``.

        The connection counts as lost after ``silence`` seconds without a byte; without ``silence``
        it never does. Raises ``CliError`` as ``send`` does.
        """
        with _translate_errors(self.profile.server):
            request = self.http.build_request(
                "GET", path, params=_drop_none(query), headers=self.bearer() | (headers or {})
            )
            request.extensions["timeout"] = httpx.Timeout(PATIENCE_SECONDS, read=silence).as_dict()
            answer = self.http.send(request, stream=True)
            try:
                if answer.is_error:
                    answer.read()
                    raise refusal(answer)
                yield split_lines(answer.iter_text())
            finally:
                answer.close()

    def open_post(self, path: str, body: dict[str, str]) -> Any:
        """Return the JSON of a POST that needs no token, such as those of signing in."""
        answer = self._send("POST", path, body, None, {})
        if answer.is_error:
            raise refusal(answer)
        return answer.json()

    def sign_in(self, body: dict[str, str]) -> None:
        """Exchange credentials for a token, and keep it in the profile."""
        token = self.open_post("/token", body)
        self.profile.token = token["accessToken"]
        self.profile.expires = time.time() + token["expiresIn"]

    def _sign_in_by_key(self) -> None:
        """Get a new token with the access key. Raises ``CliError`` if the key is no longer
        valid."""
        profile = self.profile
        key = {"clientID": profile.client_id, "clientSecret": profile.client_secret}
        try:
            self.sign_in({"grantType": "app_token", **key})
        except CliError as error:
            if error.code != ExitCode.SIGNED_OUT:
                raise
            message = KEY_ENDED
            todo = SIGN_IN
            if profile.from_environment:
                message = f"{' and '.join(KEY_VARIABLES)} do not hold a valid access key."
                todo = "It may have ended. Create one on the page Access keys."
            raise CliError(message, todo, code=ExitCode.SIGNED_OUT) from error

    def _authorized(self, method: str, path: str, body: Any, query: Any) -> httpx.Response:
        """Send a call with a token, and once more with a new token if the first was refused."""
        answer = self._send(method, path, body, query, self.bearer())
        if answer.status_code == 401:  # the token ended early, such as by a new password
            self.profile.expires = 0.0
            answer = self._send(method, path, body, query, self.bearer())
        if answer.is_error:
            raise refusal(answer)
        return answer

    def bearer(self) -> dict[str, str]:
        """Return the header of a call, with a token that stays valid for at least
        ``EARLY_SECONDS``."""
        profile = self.profile
        if not profile.token or time.time() > profile.expires - EARLY_SECONDS:
            if not profile.is_signed_in:
                raise CliError("You are not signed in.", SIGN_IN, code=ExitCode.SIGNED_OUT)
            self._sign_in_by_key()
            if not profile.from_environment:
                profile.save()
        return {"Authorization": f"Bearer {profile.token}"}

    def _send(
        self, method: str, path: str, body: Any, query: Any, headers: dict[str, str]
    ) -> httpx.Response:
        began = time.monotonic()
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        with _translate_errors(self.profile.server):
            answer = self.http.request(
                method, path, **content, params=_drop_none(query or {}), headers=headers
            )
        spent = (time.monotonic() - began) * 1000
        print_note(
            f"{method} {answer.url.path} {answer.status_code} {spent:.0f} ms", LogLevel.DEBUG
        )
        return answer


def split_lines(chunks: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text that arrives in chunks, without their line feeds.

    A state of a line that is not finished ends with a carriage return, which is kept. Nothing else
    ends a line: form feeds, U+2028 and the like, at which ``str.splitlines`` and httpx cut, are
    part of what a program printed.
    """
    pieces: list[str] = []
    for chunk in chunks:
        *ended, rest = AFTER_BREAK.split(chunk)
        for piece in ended:
            yield "".join([*pieces, piece]).removesuffix("\n")
            pieces.clear()
        pieces.append(rest)
    last = "".join(pieces)
    if last:
        yield last


@contextmanager
def _translate_errors(server: str) -> Iterator[None]:
    """Turn errors of the connection within the block into ``CliError``."""
    todo = "Check that it runs and that the address is right: trainyard login --server URL"
    try:
        yield
    except httpx.TimeoutException as error:
        message = f"Trainyard at {server} did not answer in time."
        raise CliError(message, "Try again.", code=ExitCode.UNREACHABLE) from error
    except (httpx.TransportError, httpx.InvalidURL) as error:
        message = f"Cannot reach Trainyard at {server}: {ERROR_NUMBER.sub('', str(error))}."
        raise CliError(message, todo, code=ExitCode.UNREACHABLE) from error


def _drop_none(query: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in query.items() if value is not None}


def refusal(answer: httpx.Response) -> CliError:
    """Return the error for a refused call, with the fields that the server named."""
    try:
        body = answer.json()
        message = str(body["message"])
        details = str(body.get("details") or "")
        issues = [(it["field"], it["details"]) for it in body.get("complianceIssues") or []]
    except (ValueError, KeyError, TypeError):
        message = f"{answer.url.host} answered {answer.status_code}, not as Trainyard."
        details = ""
        issues = []
    if answer.status_code == 401:
        return CliError(message, SIGN_IN, code=ExitCode.SIGNED_OUT)
    code = ExitCode.NOT_FOUND if answer.status_code == 404 else ExitCode.REFUSED
    if answer.status_code >= 500:
        code = ExitCode.UNREACHABLE
    return Refusal(message, "" if issues else details, code=code, issues=issues)


class Refusal(CliError):
    """A refused request. ``issues`` are pairs of a field and its fault."""

    def __init__(
        self, message: str, todo: str, *, code: int, issues: list[tuple[str, str]]
    ) -> None:
        lines = [f"  {field}: {text}" if field else f"  {text}" for field, text in issues]
        super().__init__(message, todo, code=code, lines=lines)
        self.issues = issues
