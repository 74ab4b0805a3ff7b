"""Output of a workload: windows of merged lines, and downloads."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import Request
from workloads.logs import merge
from workloads.logs.choice import Choice
from workloads.logs.lines import Line
from workloads.logs.store import Stream, read, size
from workloads.page.text import shown
from workloads.views.actions import find

PIECE = 256 * 1024
LINES_AT_ONCE = 2000


@login_required
@require_safe
def log_lines(request: Request, pk: UUID) -> HttpResponse:
    """A window of lines: ``before`` or ``after`` a cursor, or the last ones."""
    choice = Choice.of(find(request, pk), request.GET)
    window = choice.window(before=request.GET.get("before", ""), after=request.GET.get("after", ""))
    context = {
        "lines": choice.told(window.lines),
        "start": merge.encode(window.start),
        "end": merge.encode(window.end),
        "window": window,
    }
    return render(request, "workloads/detail/_lines.html", context)


async def log_download(request: Request, pk: UUID) -> HttpResponse | StreamingHttpResponse:
    """One rank's output as it was printed, or all ranks' lines merged, with time and rank."""
    request.user = await request.auser()  # type: ignore[assignment]  # looked at just below
    if not request.user.is_authenticated:
        return redirect(f"{reverse('account_login')}?next={request.path}")
    choice = await sync_to_async(_choice)(request, pk)
    if len(choice.ranks) == 1:
        stream, name = choice.streams[0], choice.names[choice.ranks[0]]
        length = await sync_to_async(size)(stream)
        response = StreamingHttpResponse(_plain(stream, length), content_type="text/plain")
        response["Content-Length"] = str(length)
    else:
        name = "all"
        response = StreamingHttpResponse(_merged(choice), content_type="text/plain")
    file = f"{choice.workload.name}_{name}_{choice.run}-{choice.attempt}.log"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


def _choice(request: Request, pk: UUID) -> Choice:
    choice = Choice.of(find(request, pk), request.GET)
    if not choice.names:
        raise Http404
    return choice


async def _plain(stream: Stream, length: int) -> AsyncIterator[bytes]:
    """Exactly ``length`` bytes: what was there when the download began."""
    offset = 0
    while offset < length:
        data = await sync_to_async(read)(stream, offset, min(PIECE, length - offset))
        if not data:
            return  # the workload was deleted meanwhile
        yield data
        offset += len(data)


async def _merged(choice: Choice) -> AsyncIterator[str]:
    lines = merge.everything(choice.streams)
    while text := await sync_to_async(_next)(lines, choice.names):
        yield text


def _next(lines: Iterator[Line], names: dict[int, str]) -> str:
    return "".join(
        f"{line.at:%Y-%m-%dT%H:%M:%S.%fZ} {names.get(line.rank, line.rank)} {shown(line.data)}\n"
        for line in islice(lines, LINES_AT_ONCE)
    )
