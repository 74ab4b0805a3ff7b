"""Requests and watches of one API server, with its errors as ours.

Objects are plain dicts, as on the wire, so that no field of an older or newer server is lost.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf
from threading import Lock
from urllib.parse import urlencode

import orjson
from kubernetes.client.api_client import ApiClient
from kubernetes.client.exceptions import ApiException
from kubernetes.stream.ws_client import create_websocket, get_websocket_url
from urllib3.exceptions import HTTPError, ReadTimeoutError
from urllib3.response import BaseHTTPResponse
from urllib3.util import Timeout
from websocket import (
    WebSocket,
    WebSocketBadStatusException,
    WebSocketException,
    setdefaulttimeout,
)

from engines.base import EngineRefused, EngineUnavailable, Manifest
from engines.kubernetes.client.outage import explain_outage, refusing_server_cause
from engines.kubernetes.client.quotas import is_never_allowed, quota_cause

FIELD_MANAGER = "trainyard"
TIMEOUT = (5.0, 30.0)  # seconds to connect, and between two chunks of an answer
READ_SECONDS = 10.0  # seconds for reads, which only the server itself can delay
JSON = "application/json"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
ACCEPT_ANY = "application/json, */*"
ACCEPT_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
JSON_HEADERS = {"Accept": ACCEPT_ANY, "Content-Type": JSON}
RENEW_SECONDS = 10.0  # seconds between two requests for credentials from a plugin
PAGE_SIZE = 500  # items per page of a list
CHANNEL_PROTOCOL = "v4.channel.k8s.io"
UNAUTHORIZED = 401
UNAVAILABLE = {UNAUTHORIZED, 408, 429}  # and all 5xx; a revoked token may be renewed
Query = Mapping[str, str | int]


setdefaulttimeout(TIMEOUT[1])  # by default the library waits for ever


class NotFound(EngineRefused):
    """404: the object, or its kind, does not exist."""


class Conflict(EngineRefused):
    """409: it exists, or changed since it was read."""


class Denied(EngineRefused):
    """403: the account may not do this."""


class Gone(EngineUnavailable):
    """410: the watch is older than what the server remembers; list again."""


class Api:
    """Answers as dicts. Every method may raise ``EngineRefused`` and ``EngineUnavailable``."""

    def __init__(self, client: ApiClient, renew: Callable[[], ApiClient] | None = None) -> None:
        """``renew`` makes a client with new credentials once the present ones have expired."""
        self._client = client
        self._renew = renew
        self._renewing = Lock()
        self._renewed_at = -inf

    @property
    def address(self) -> str:
        return str(self._client.configuration.host)

    def get(self, path: str, **query: str | int) -> Manifest:
        return self._json("GET", path, query)

    def ping(self) -> None:
        """``EngineUnavailable`` if the server does not answer soon; a refusal is an answer."""
        with suppress(EngineRefused), translate_api_errors():
            self._call("GET", "/version", {}, silence=READ_SECONDS).close()

    def items(self, path: str, **query: str | int) -> list[Manifest]:
        return list(self.get(path, **query)["items"])

    def all_items(self, path: str, **query: str | int) -> Iterator[Manifest]:
        """The items of a long list, page by page."""
        return self._pages(path, query, ACCEPT_ANY)

    def all_metadata(self, path: str) -> Iterator[Manifest]:
        """Only the metadata of the items, page by page."""
        return self._pages(path, {}, ACCEPT_METADATA)

    def _pages(self, path: str, query: Query, accept: str) -> Iterator[Manifest]:
        more = ""
        while True:
            place = {"continue": more} if more else {}
            page = self._json("GET", path, {"limit": PAGE_SIZE, **query, **place}, accept=accept)
            yield from page["items"]
            more = page["metadata"].get("continue", "")
            if not more:
                return

    def find(self, path: str) -> Manifest | None:
        """The object, or ``None`` if it does not exist."""
        try:
            return self.get(path)
        except NotFound:
            return None

    def create(self, path: str, body: Manifest, **query: str | int) -> Manifest:
        return self._json("POST", path, {"fieldManager": FIELD_MANAGER, **query}, body)

    def apply(self, path: str, body: Manifest, **query: str | int) -> Manifest:
        """Server-side apply: create the object, or change what differs."""
        wanted = {"fieldManager": FIELD_MANAGER, "force": "true", **query}
        return self._json("PATCH", path, wanted, body, APPLY)

    def merge(self, path: str, body: Manifest) -> Manifest:
        return self._json("PATCH", path, {"fieldManager": FIELD_MANAGER}, body, MERGE)

    def delete(self, path: str, **query: str | int) -> Manifest | None:
        """Delete an object; returns it if it only goes later. Gone is success."""
        try:
            left = self._json("DELETE", path, query)
        except NotFound:
            return None
        return left if (left.get("metadata") or {}).get("deletionTimestamp") else None

    def get_bytes(self, path: str, **query: str | int) -> bytes:
        with translate_api_errors(), self._call("GET", path, query) as response:
            return bytes(response.read())

    def stream(self, path: str, **query: str | int) -> BaseHTTPResponse:
        """A response without an end; ``shutdown`` ends it from another thread."""
        return self.follow(path, query, silence=TIMEOUT[1])

    def follow(self, path: str, query: Query, *, silence: float) -> BaseHTTPResponse:
        """Like :meth:`stream`; counts as cut off after ``silence`` seconds without data."""
        with translate_api_errors():
            return self._call("GET", path, query, silence=silence)

    def websocket(self, path: str, query: Sequence[tuple[str, str]]) -> WebSocket:
        """A websocket with channels to a pod; see ``websocket.Bridge``."""
        headers = {"sec-websocket-protocol": CHANNEL_PROTOCOL}
        self._client.update_params_for_auth(headers, [], ["BearerToken"])
        lower_case = {name.lower(): value for name, value in headers.items()}
        url = get_websocket_url(self.address + path, query)
        with translate_api_errors():
            try:
                connection: WebSocket = create_websocket(
                    self._client.configuration, url, lower_case
                )
            except WebSocketBadStatusException as error:
                failed = ApiException(status=error.status_code, reason="no connection")
                failed.body = error.resp_body
                raise failed from error
            except WebSocketException as error:
                raise OSError(str(error)) from error
        return connection

    def _json(
        self,
        method: str,
        path: str,
        query: Query,
        body: Manifest | None = None,
        content: str = JSON,
        accept: str = ACCEPT_ANY,
    ) -> Manifest:
        silence = READ_SECONDS if method == "GET" else TIMEOUT[1]
        kinds = {"Accept": accept, "Content-Type": content}
        with (
            translate_api_errors(),
            self._call(method, path, query, body, kinds, silence=silence) as response,
        ):
            document: Manifest = orjson.loads(response.read())
            return document

    def _call(
        self,
        method: str,
        path: str,
        query: Query,
        body: Manifest | None = None,
        kinds: Mapping[str, str] = JSON_HEADERS,
        *,
        silence: float = TIMEOUT[1],
    ) -> BaseHTTPResponse:
        client = self._client
        response = _send(client, method, path, query, body, kinds, silence)
        if response.status == UNAUTHORIZED and self._has_newer_credentials(client):
            response.close()
            response = _send(self._client, method, path, query, body, kinds, silence)
        if response.status >= 300:
            failed = ApiException(status=response.status, reason=response.reason)
            failed.body = response.read()
            raise failed
        return response

    def _has_newer_credentials(self, used: ApiClient) -> bool:
        """Whether there are newer credentials than ``used``, which the server rejected."""
        if self._renew is None:
            return False
        with self._renewing:
            if self._client is used and time.monotonic() - self._renewed_at > RENEW_SECONDS:
                self._renewed_at = time.monotonic()
                with suppress(EngineRefused):
                    renewed = self._renew()
                    settings = renewed.configuration
                    if settings.api_key or settings.cert_file:  # otherwise the plugin failed
                        self._client = renewed
            return self._client is not used


def _send(
    client: ApiClient,
    method: str,
    path: str,
    query: Query,
    body: Manifest | None,
    kinds: Mapping[str, str],
    silence: float,
) -> BaseHTTPResponse:
    """Send by the library's connections and credentials; its own calls would copy the body
    twice."""
    headers = {**kinds}
    client.update_params_for_auth(headers, [], ["BearerToken"])
    address = f"{client.configuration.host}{path}"
    try:
        response: BaseHTTPResponse = client.rest_client.pool_manager.request(
            method,
            f"{address}?{urlencode(query)}" if query else address,
            body=None if body is None else orjson.dumps(body),
            headers={**client.default_headers, **headers},
            preload_content=False,
            timeout=Timeout(connect=TIMEOUT[0], read=silence),
        )
    except ReadTimeoutError:
        # Other idle connections may be dead too, for example if the address moved to another
        # machine.
        client.rest_client.pool_manager.clear()
        raise
    return response


def watch_events(response: BaseHTTPResponse) -> Iterator[tuple[str, Manifest]]:
    """Type and object of each line of a watch. :class:`Gone` if a new list is needed."""
    rest = b""
    with translate_api_errors():
        for piece in response.stream(65_536):
            *lines, rest = (rest + piece).split(b"\n")
            for line in filter(None, lines):
                event = orjson.loads(line)
                if event["type"] == "ERROR":
                    raise Gone(event["object"].get("message", "the watch is too old"))
                yield event["type"], event["object"]


@contextmanager
def translate_api_errors() -> Iterator[None]:
    """Translate exceptions of the client library into ours."""
    try:
        yield
    except ApiException as error:
        raise _translate_error(error) from error
    except (HTTPError, OSError, ValueError) as error:  # ValueError: not JSON, or cut off
        raise EngineUnavailable(explain_outage(error)) from error


def _translate_error(error: ApiException) -> Exception:
    message, causes = _message_and_causes(error)
    field = next((cause["field"] for cause in causes if cause.get("field")), "")
    ending = any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
    if error.status == 410:
        return Gone(message)
    if error.status == UNAUTHORIZED:
        return EngineUnavailable(
            f"The API server does not accept the credentials (401: {message}). If they ended or "
            "were revoked, replace the kubeconfig of the cluster."
        )
    if error.status in UNAVAILABLE or error.status >= 500 or ending:
        answer = f"The API server answered {error.status}: {message.rstrip('.')}."
        return EngineUnavailable(answer, cause=refusing_server_cause(message))
    quota = quota_cause(message)
    if quota and not is_never_allowed(message):  # what others give back is room for it
        return EngineUnavailable(f"{quota.title}. {quota.todo}", cause=quota)
    kind = {403: Denied, 404: NotFound, 409: Conflict}.get(error.status, EngineRefused)
    return kind(f"The cluster refused: {message}", field=field)


def _message_and_causes(error: ApiException) -> tuple[str, list[dict[str, str]]]:
    """The message and the causes of a Status object."""
    try:
        status = orjson.loads(error.body)
        return status["message"], (status.get("details") or {}).get("causes") or []
    except (TypeError, ValueError, KeyError):
        return str(error.reason or error.status), []
