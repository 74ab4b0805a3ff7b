"""A watch of one collection in a thread of its own, which reconnects when it is cut off."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from uuid import UUID

from urllib3.response import BaseHTTPResponse

from engines.base import EngineError, EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, Gone, watch_events
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.status.job import resource_version

OUTAGE_SECONDS = 10.0  # seconds without a connection until a watch gives up
PING_SECONDS = 5.0  # seconds between two pings of the server
DISCOVER_SECONDS = 30.0  # seconds between two checks for new kinds
PAUSE_SECONDS = 0.5  # seconds between two attempts
WATCH_SECONDS = 290  # the server ends a watch after this time, and it is opened again

PAGE_SIZE = 500  # objects per page


@dataclass(frozen=True)
class Collection:
    """The objects of a path that carry our label, or that ``field_selector`` selects.

    ``is_queue`` selects all objects, because Kueue's Workloads carry none of our labels.
    ``workload_id`` limits them to one workload. ``kind`` is set for jobs. We may lack the right to
    read an ``optional`` collection.
    """

    path: str
    kind: JobKind | None = None
    workload_id: UUID | None = None
    field_selector: str = ""
    optional: bool = False
    is_queue: bool = False

    @property
    def query(self) -> dict[str, str]:
        if self.is_queue:
            return {}
        if self.field_selector:
            return {"fieldSelector": self.field_selector}
        return {"labelSelector": f"{WORKLOAD}={self.workload_id}" if self.workload_id else WORKLOAD}


Change = tuple[Collection, str, Manifest]  # the collection, the type of change, and the object


class Changes(SimpleQueue[Change | EngineError | None]):
    """The queue between the threads of a watch and the thread that iterates over it."""

    def wake(self) -> None:
        """Wake up the thread that waits for the next change."""
        if self.empty():
            self.put(None)


class PagedList:
    """Reads a collection page by page. ``resource_version`` is the version of the list."""

    def __init__(self, api: Api, collection: Collection) -> None:
        self._api = api
        self._collection = collection
        self.resource_version = "0"

    def __iter__(self) -> Iterator[Manifest]:
        """Yield each object. Raises ``Gone`` if this takes longer than the server remembers."""
        token: dict[str, str] = {}
        while True:
            page = self._api.get(
                self._collection.path, limit=PAGE_SIZE, **self._collection.query, **token
            )
            yield from page["items"]
            self.resource_version = page["metadata"]["resourceVersion"]
            if not page["metadata"].get("continue"):
                return
            token = {"continue": page["metadata"]["continue"]}


class Listener(Thread):
    """A thread that puts changes into the queue; an error is the last thing it puts."""

    def __init__(self, api: Api, what: str, changes: Changes) -> None:
        super().__init__(daemon=True, name=what)
        self._api = api
        self._what = what
        self._changes = changes
        self._is_closed = Event()

    def run(self) -> None:
        try:
            self._listen()
        except Exception as error:
            # A bug of ours. It is logged by re-raising; without the message the watch would
            # silently miss changes.
            self._changes.put(EngineUnavailable(f"{self._what} broke: {error!r}"))
            raise

    def _listen(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._is_closed.set()


class ServerProbe(Listener):
    """Pings the server, because a watch is quiet, too, when the server is down. Also notices when
    the cluster serves other kinds than those that are watched, which ``others`` returns."""

    def __init__(self, api: Api, *, changes: Changes, others: Callable[[], bool]) -> None:
        super().__init__(api, "Asking whether the server answers", changes)
        self._has_other_kinds = others

    def _listen(self) -> None:
        discovered = time.monotonic()
        while not self._is_closed.wait(min(PING_SECONDS, DISCOVER_SECONDS)):
            try:
                self._api.ping()
                if time.monotonic() - discovered < DISCOVER_SECONDS:
                    continue
                discovered = time.monotonic()
                if self._has_other_kinds():
                    raise Gone("The kinds served by the cluster have changed.")
            except EngineError as error:
                self._changes.put(error)
                return


class Reflector(Listener):
    """Watches a collection for changes after ``since``."""

    def __init__(self, api: Api, collection: Collection, *, since: str, changes: Changes) -> None:
        super().__init__(api, f"Reading the changes of {collection.path}", changes)
        self._collection = collection
        self._since = since
        self._response: BaseHTTPResponse | None = None

    def _listen(self) -> None:
        answered = time.monotonic()
        while not self._is_closed.is_set():
            opened = False
            try:
                self._response = self._open()
                opened = True
                self._forward_changes(self._response)
            except EngineError as error:
                away = not opened and time.monotonic() - answered > OUTAGE_SECONDS
                if isinstance(error, Gone) or not isinstance(error, EngineUnavailable) or away:
                    self._changes.put(error)
                    return
            if opened:  # the read timeout also cuts a quiet watch: no reason to give up
                answered = time.monotonic()
            self._is_closed.wait(PAUSE_SECONDS)

    def close(self) -> None:
        super().close()
        if self._response is not None:
            with suppress(ValueError, OSError, RuntimeError):  # it may have ended by itself
                self._response.shutdown()

    def _open(self) -> BaseHTTPResponse:
        return self._api.stream(
            self._collection.path,
            **self._collection.query,
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=self._since,
            timeoutSeconds=WATCH_SECONDS,
        )

    def _forward_changes(self, response: BaseHTTPResponse) -> None:
        with response:
            for what, item in watch_events(response):
                if self._is_closed.is_set():
                    return
                self._since = str(resource_version(item))
                if what != "BOOKMARK":
                    self._changes.put((self._collection, what, item))
