"""Live updates of pages as server-sent events."""

import time
from collections.abc import AsyncIterator
from contextlib import aclosing

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.models import User
from core.broker import stream as live
from core.database.connections import let_go
from projects.models import Project
from workloads.history import events

# Streams end after this time and pages reconnect, so that permissions are checked again.
LONGEST_SECONDS = 600
RETRY_MS = 1000
# A heartbeat event. Scripts do not see comments, and this tells them that the connection is alive.
BEAT = "event: beat\ndata:\n\n"


@require_safe
async def stream(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Stream the names of what changed, several in a message. ``output=all`` adds ``o-<id>`` for
    new output of every workload; ``only=<id>`` limits the stream to one workload, output included.
    """
    user = await request.auser()
    if not user.is_authenticated:
        return HttpResponse("Sign in first.", status=403, content_type="text/plain")
    channels = await sync_to_async(channels_of)(user)
    only, output = request.GET.get("only", ""), request.GET.get("output") == "all"
    response = StreamingHttpResponse(
        _messages(channels, only, output=output), content_type="text/event-stream"
    )
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


def channels_of(user: User) -> list[str]:
    """The channels with updates that the user may see."""
    try:
        if access.may(user, "workloads.read"):
            return [events.EVERY_CHANNEL]
        projects = Project.objects.open_to(user, "workloads.read").order_by()
        return [events.channel(pk) for pk in projects.values_list("pk", flat=True)]
    finally:
        let_go()


async def _messages(channels: list[str], only: str, *, output: bool) -> AsyncIterator[str]:
    yield f"retry: {RETRY_MS}\n\n"
    ends = time.monotonic() + LONGEST_SECONDS
    async with aclosing(live.listen(channels)) as batches:
        async for names in batches:
            wanted = [name for name in names if _wants(name, only, output=output)]
            yield f"data: {' '.join(wanted)}\n\n" if wanted else BEAT
            if time.monotonic() > ends:
                return


def _wants(name: str, only: str, *, output: bool) -> bool:
    if only:
        return name.partition("-")[2] == only
    return output or not name.startswith("o-")
