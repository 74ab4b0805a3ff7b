"""One watch in a thread of its own, which reconnects where it was cut."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from uuid import UUID

from urllib3.response import BaseHTTPResponse

from engines.base import EngineError, EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, Gone, events
from engines.kubernetes.jobs import WORKLOAD, JobKind
from engines.kubernetes.status.job import version

PATIENCE = 10.0  # seconds without any connection until it gives up
PULSE = 5.0  # seconds between two questions whether the server answers
DISCOVER_SECONDS = 30.0  # between two looks whether it serves other kinds
PAUSE = 0.5  # seconds between two attempts
SERVER_SECONDS = 290  # the server ends a watch after this, and it is opened again

PAGE = 500  # objects of one answer


@dataclass(frozen=True)
class Collection:
    """All objects of a sort that carry our label, be it of ``only`` one workload, or that
    ``fields`` select. ``kind`` is set for jobs; an ``optional`` one may be forbidden."""

    path: str
    kind: JobKind | None = None
    only: UUID | None = None
    fields: str = ""
    optional: bool = False

    @property
    def query(self) -> dict[str, str]:
        if self.fields:
            return {"fieldSelector": self.fields}
        return {"labelSelector": f"{WORKLOAD}={self.only}" if self.only else WORKLOAD}


Change = tuple[Collection, str, Manifest]  # what happened to the object


class Changes(SimpleQueue[Change | EngineError | None]):
    """What the threads of a watch heard, for whoever follows it."""

    def wake(self) -> None:
        """Whoever waits for the next change waits no longer: something else happened."""
        if self.empty():
            self.put(None)


class PagedList:
    """Everything of a source at one moment, page by page; ``since`` is that moment."""

    def __init__(self, api: Api, collection: Collection) -> None:
        self._api, self._collection = api, collection
        self.since = "0"

    def __iter__(self) -> Iterator[Manifest]:
        """May raise :class:`Gone` when reading takes longer than the server remembers."""
        token: dict[str, str] = {}
        while True:
            page = self._api.get(
                self._collection.path, limit=PAGE, **self._collection.query, **token
            )
            yield from page["items"]
            self.since = page["metadata"]["resourceVersion"]
            if not page["metadata"].get("continue"):
                return
            token = {"continue": page["metadata"]["continue"]}


class Listener(Thread):
    """Puts what it hears into ``changes``; an error is the last thing it puts."""

    def __init__(self, api: Api, what: str, changes: Changes) -> None:
        super().__init__(daemon=True, name=what)
        self._api, self._what, self._changes = api, what, changes
        self._over = Event()

    def run(self) -> None:
        try:
            self._go_on()
        except Exception as error:
            # Our own mistake, which goes to the log; in silence the watch would miss what it hears.
            self._changes.put(EngineUnavailable(f"{self._what} broke: {error!r}"))
            raise

    def _go_on(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._over.set()


class ServerProbe(Listener):
    """Notices that the server no longer answers, for a watch may be quiet because nothing happens,
    and that it serves kinds by now that are not watched (``others``)."""

    def __init__(self, api: Api, *, changes: Changes, others: Callable[[], bool]) -> None:
        super().__init__(api, "Asking whether the server answers", changes)
        self._others = others

    def _go_on(self) -> None:
        discovered = time.monotonic()
        while not self._over.wait(min(PULSE, DISCOVER_SECONDS)):
            try:
                self._api.ping()
                if time.monotonic() - discovered < DISCOVER_SECONDS:
                    continue
                discovered = time.monotonic()
                if self._others():
                    raise Gone("The kinds served by the cluster have changed.")
            except EngineError as error:
                self._changes.put(error)
                return


class Reflector(Listener):
    """Hears each change of a source after ``since``."""

    def __init__(self, api: Api, collection: Collection, *, since: str, changes: Changes) -> None:
        super().__init__(api, f"Reading the changes of {collection.path}", changes)
        self._collection, self._since = collection, since
        self._response: BaseHTTPResponse | None = None

    def _go_on(self) -> None:
        answered = time.monotonic()
        while not self._over.is_set():
            opened = False
            try:
                self._response = self._open()
                opened = True
                self._pass_on(self._response)
            except EngineError as error:
                away = not opened and time.monotonic() - answered > PATIENCE
                if isinstance(error, Gone) or not isinstance(error, EngineUnavailable) or away:
                    self._changes.put(error)
                    return
            if opened:  # a quiet watch is cut by the time-out for reading: no reason to give up
                answered = time.monotonic()
            self._over.wait(PAUSE)

    def close(self) -> None:
        super().close()
        if self._response is not None:
            with suppress(ValueError, OSError, RuntimeError):  # it may be over by itself
                self._response.shutdown()

    def _open(self) -> BaseHTTPResponse:
        return self._api.stream(
            self._collection.path,
            **self._collection.query,
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=self._since,
            timeoutSeconds=SERVER_SECONDS,
        )

    def _pass_on(self, response: BaseHTTPResponse) -> None:
        with response:
            for what, item in events(response):
                if self._over.is_set():
                    return
                self._since = str(version(item))
                if what != "BOOKMARK":
                    self._changes.put((self._collection, what, item))
