"""REST: changes of workloads as server-sent events, so that programs need not poll."""

import json
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.http import StreamingHttpResponse
from ninja import Field, Query, Router

from accounts import tokens
from accounts.api.tokens import ApiRequest, AsyncBearer
from core.broker import stream as live
from core.database.connections import release_connection
from core.rest.api import Parameters
from core.web.query import parse_uuids
from workloads.history import changes, events
from workloads.history.changes import Cursor, WorkloadChange
from workloads.live import LONGEST_SECONDS, RETRY_MS, channels_of

log = logging.getLogger(__name__)
router = Router(tags=["Workloads"])

CHECK_SECONDS = 10.0  # how often a stream checks its caller's permissions
BEAT = ":\n\n"
in_thread = sync_to_async(thread_sensitive=False)


class WatchQuery(Parameters):
    project_id: int | None = Field(default=None, description="Only workloads of this project")
    workload_id: UUID | None = Field(default=None, description="Only this workload")

    def wants(self, change: WorkloadChange) -> bool:
        return self.project_id in (None, change.project) and self.workload_id in (None, change.pk)


@router.get("/watch", auth=AsyncBearer(), operation_id="watch_workloads")
async def watch(request: ApiRequest, query: Query[WatchQuery]) -> StreamingHttpResponse:
    """Server-sent events for workloads that change, with their phase, as it happens. The header
    ``Last-Event-ID`` continues an earlier stream. The stream ends when the token does, and after
    ten minutes.

    Not part of Run:ai's API.
    """
    headers = request.headers
    token = headers.get("Authorization", "").partition(" ")[2].strip()
    watching = ProgramWatch(token, query, headers.get("Last-Event-ID"))
    response = StreamingHttpResponse(watching.messages(), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


@dataclass
class ProgramWatch:
    """A stream of changes. It ends when the caller's ``token`` does, or when what they may see
    changes. ``last`` is the id of the last event they received, or ``None``."""

    token: str
    query: WatchQuery
    last_event_id: str | None

    async def messages(self) -> AsyncIterator[str]:
        yield f"retry: {RETRY_MS}\n\n"
        checked = monotonic()
        ends = monotonic() + LONGEST_SECONDS
        self.channels = await in_thread(self._channels)()
        if self.channels is None:
            return
        try:
            async with aclosing(live.listen(self.channels)) as batches:
                await anext(batches)  # from here on no change is missed
                async for part in self._first_messages():
                    yield part
                async for names in batches:
                    if monotonic() - checked > CHECK_SECONDS:
                        checked = monotonic()
                        if await in_thread(self._channels)() != self.channels:
                            return
                    yield await self._change_messages(names) or BEAT
                    if monotonic() > ends:
                        return
        except (DatabaseError, StopAsyncIteration) as error:
            log.warning("A program's watch was cut: %s", error)

    async def _first_messages(self) -> AsyncIterator[str]:
        """Yield the changes since the last id, then the id from which the stream continues."""
        self.cursor = await in_thread(changes.newest_cursor)()
        missed: set[UUID] | None = set()
        if self.last_event_id is not None:
            missed = await in_thread(self._missed_ids)(Cursor.of(self.last_event_id))
        yield self._format_changes(await changes.read_changes(missed or ()))
        event = "reset" if missed is None else "ready"
        yield f"event: {event}\nid: {self.cursor}\ndata: {{}}\n\n"

    async def _change_messages(self, names: Iterable[str]) -> str:
        """Return a message for each workload that changed. Only the last one has an id, which
        confirms all of them."""
        parts = (name.partition("-") for name in names)
        ids = parse_uuids(rest for kind, _, rest in parts if kind != "o")
        current = await changes.read_changes(ids)
        text = self._format_changes(current)
        if text:
            self.cursor = self.cursor.advanced_by(current)
            text = f"{text[:-1]}id: {self.cursor}\n\n"
        return text

    def _format_changes(self, current: Iterable[WorkloadChange]) -> str:
        wanted = (it for it in current if self._may_see(it) and self.query.wants(it))
        return "".join(f"event: workload\ndata: {json.dumps(it.as_json())}\n\n" for it in wanted)

    def _may_see(self, change: WorkloadChange) -> bool:
        channel = events.channel(change.project)
        return any(it in (channel, events.EVERY_CHANNEL) for it in self.channels or ())

    def _channels(self) -> list[str] | None:
        """Return the channels to which the caller may listen; ``None`` if the token is no longer
        valid."""
        try:
            user = tokens.token_owner(self.token)
            return channels_of(user) if user else None
        finally:
            release_connection()

    def _missed_ids(self, since: Cursor | None) -> set[UUID] | None:
        try:
            user = tokens.token_owner(self.token)
            return changes.changed_since(since, user, self.cursor) if since and user else None
        finally:
            release_connection()
