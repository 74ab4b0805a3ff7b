"""Views of a workload's output: windows of merged lines, search, and downloads."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import Request
from workloads.http import find_with_deleted
from workloads.logs.choice import SEARCH_SECONDS, Choice, line_address
from workloads.logs.reading import merge
from workloads.logs.reading.lines import Line
from workloads.logs.store import Stream, first_offset, read_output, size
from workloads.logs.text import plain_text

CHUNK_BYTES = 256 * 1024
LINES_AT_ONCE = 2000


@login_required
@require_safe
def log_lines(request: Request, pk: UUID) -> HttpResponse:
    """Show a window of lines: ``before`` or ``after`` a cursor, around a ``line`` or a ``time``, or
    the last ones."""
    choice = Choice.of(find_with_deleted(request, pk), request.GET)
    where = {name: request.GET.get(name, "") for name in ("before", "after", "time")}
    window = choice.window(**where)
    context = {
        "lines": choice.shown_lines(window.lines),
        "start": merge.encode_cursor(window.start),
        "end": merge.encode_cursor(window.end),
        "window": window,
        "aim": line_address(window.aim) if window.aim else "",
    }
    return render(request, "workloads/detail/_lines.html", context)


@login_required
@require_safe
def log_search(request: Request, pk: UUID) -> JsonResponse:
    """The progress of the search for ``text``, and, once it is complete, a hit relative to
    ``line``: the ``next`` one, the ``previous`` one, or with ``here`` the line itself. It wraps
    around."""
    choice = Choice.of(find_with_deleted(request, pk), request.GET)
    hits = choice.hits
    if hits is None:
        return JsonResponse({"count": 0, "searched": 0, "size": 0, "hit": None})
    hits.search(SEARCH_SECONDS)
    line = choice.line(choice.line_address)
    go = request.GET.get("go", "next")
    hit = hits.step(line, go) if hits.is_done else None
    place = (
        {"number": hit.number, "line": merge.encode_cursor({hit.rank: hit.offset})} if hit else None
    )
    return JsonResponse(
        {"count": hits.count, "searched": hits.searched, "size": hits.size, "hit": place}
    )


async def log_download(request: Request, pk: UUID) -> HttpResponse | StreamingHttpResponse:
    """Download one rank's output as printed, or all ranks' lines merged, with time and rank."""
    request.user = await request.auser()  # type: ignore[assignment]  # looked at just below
    if not request.user.is_authenticated:
        return redirect(f"{reverse('account_login')}?next={request.path}")
    choice = await sync_to_async(_choice_with_ranks)(request, pk)
    if choice.only_rank is not None:
        stream = choice.streams[0]
        name = choice.names[choice.only_rank]
        start = await sync_to_async(first_offset)(stream)
        end = await sync_to_async(size)(stream)
        response = StreamingHttpResponse(
            _stream_bytes(stream, start, end), content_type="text/plain"
        )
        response["Content-Length"] = str(end - start)
    else:
        name = "all"
        response = StreamingHttpResponse(_stream_lines(choice), content_type="text/plain")
    file = f"{choice.workload.name}_{name}_{choice.run}-{choice.attempt}.log"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


def _choice_with_ranks(request: Request, pk: UUID) -> Choice:
    choice = Choice.of(find_with_deleted(request, pk), request.GET)
    if not choice.names:
        raise Http404
    return choice


async def _stream_bytes(stream: Stream, offset: int, end: int) -> AsyncIterator[bytes]:
    """The bytes that existed when the download started."""
    while offset < end:
        data = await sync_to_async(read_output)(stream, offset, min(CHUNK_BYTES, end - offset))
        if not data:
            return  # the workload was deleted meanwhile
        yield data
        offset += len(data)


async def _stream_lines(choice: Choice) -> AsyncIterator[str]:
    lines = merge.merge_all_lines(choice.streams)
    while text := await sync_to_async(_format_lines)(lines, choice.names):
        yield text


def _format_lines(lines: Iterator[Line], names: dict[int, str]) -> str:
    return "".join(
        f"{line.at:%Y-%m-%dT%H:%M:%S.%fZ} {names.get(line.rank, line.rank)} "
        f"{plain_text(line.data)}\n"
        for line in islice(lines, LINES_AT_ONCE)
    )
