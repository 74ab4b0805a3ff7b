"""Live updates of pages as server-sent events."""

import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.db import Error
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.models import User
from accounts.sessions import user_of_session
from core.broker import stream as live
from core.database.connections import release_connection
from projects.models import Project
from workloads.history import events

log = logging.getLogger(__name__)

LONGEST_SECONDS = 600  # then a stream ends, and the page connects again
CHECK_SECONDS = 10.0  # how soon a stream follows what its reader may see
RETRY_MS = 1000
# A heartbeat event. Scripts do not see comments, and this tells them that the connection is alive.
BEAT = "event: beat\ndata:\n\n"
in_thread = sync_to_async(thread_sensitive=False)


@require_safe
async def stream_changes(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Stream the names of what changed, several in a message. ``output=all`` adds ``o-<id>`` for
    new output of every workload; ``only=<id>`` limits the stream to one workload, output included.
    """
    user = await request.auser()
    if not user.is_authenticated:
        return HttpResponse("Sign in first.", status=403, content_type="text/plain")
    channels = await sync_to_async(channels_of)(user)
    only = request.GET.get("only", "")
    output = request.GET.get("output") == "all"
    watch = PageWatch(request.session.session_key or "", channels, only, all_output=output)
    response = StreamingHttpResponse(watch.messages(), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


def channels_of(user: User) -> list[str]:
    """Return the channels of the updates that the user may see."""
    try:
        own = events.person_channel(user.pk)
        if access.may(user, "workloads.read"):
            return [own, events.EVERY_CHANNEL]
        projects = Project.objects.open_to(user, "workloads.read").order_by("pk")
        return [own, *(events.channel(pk) for pk in projects.values_list("pk", flat=True))]
    finally:
        release_connection()


@dataclass(frozen=True)
class PageWatch:
    """The stream of one page. It ends when the ``session`` of its reader ends, or when the reader
    may see other projects than before."""

    session: str
    channels: list[str]
    only: str
    all_output: bool

    async def messages(self) -> AsyncIterator[str]:
        yield f"retry: {RETRY_MS}\n\n"
        checked = time.monotonic()
        ends = checked + LONGEST_SECONDS
        async with aclosing(live.listen(self.channels)) as batches:
            async for names in batches:
                now = time.monotonic()
                if now - checked > CHECK_SECONDS:
                    checked = now
                    if await in_thread(self._channels_now)() != self.channels:
                        return
                wanted = [name for name in names if self._wants(name)]
                yield f"data: {' '.join(wanted)}\n\n" if wanted else BEAT
                if now > ends:
                    return

    def _wants(self, name: str) -> bool:
        about = name.partition("-")[2]
        if self.only and about:  # a name without an id is for every page of its reader
            return about == self.only
        return self.all_output or not name.startswith("o-")

    def _channels_now(self) -> list[str] | None:
        """Return the channels that the reader may see now. ``None`` if the session has ended, or
        the database does not answer: the stream then ends, and the page connects again."""
        try:
            user = user_of_session(self.session)
            return channels_of(user) if user else None
        except Error as error:  # that of a closed connection is not a DatabaseError
            log.warning("The live updates of a page were cut: %s", error)
            return None
        finally:
            release_connection()
