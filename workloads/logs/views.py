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
from workloads.logs.store import Stream
from workloads.logs.text import plain_text

LINES_AT_ONCE = 2000


@login_required
@require_safe
def log_lines(request: Request, pk: UUID) -> HttpResponse:
    """Show a window of lines: ``before`` or ``after`` a cursor, around a ``line`` or a ``time``, or
    the last ones."""
    choice = Choice.of(find_with_deleted(request, pk), request.GET)
    where = {name: request.GET.get(name, "") for name in ("before", "after", "time")}
    window = choice.window(**where)
    is_at_end = not (where["before"] or window.later or (where["after"] and window.more))
    context = {
        "lines": choice.shown_lines(window.lines),
        "start": merge.encode_cursor(window.start),
        "end": merge.encode_cursor(window.end),
        "window": window,
        "aim": line_address(window.aim) if window.aim else "",
        "unfinished": choice.unfinished_lines() if is_at_end else [],
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
    """Download one rank's output, or all ranks' lines merged, with time and rank.

    Each line is there once, and only the last state of a progress bar, which overwrites itself.
    """
    request.user = await request.auser()  # type: ignore[assignment]  # looked at just below
    if not request.user.is_authenticated:
        return redirect(f"{reverse('account_login')}?next={request.path}")
    choice = await sync_to_async(_choice_with_ranks)(request, pk)
    if choice.only_rank is not None:
        stream = choice.streams[0]
        name = choice.names[choice.only_rank]
        response = StreamingHttpResponse(_stream_bytes(stream), content_type="text/plain")
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


async def _stream_bytes(stream: Stream) -> AsyncIterator[bytes]:
    lines = merge.merge_whole_lines([stream])
    while data := await sync_to_async(_join_lines)(lines):
        yield data


def _join_lines(lines: Iterator[Line]) -> bytes:
    return b"".join(line.data for line in islice(lines, LINES_AT_ONCE))


async def _stream_lines(choice: Choice) -> AsyncIterator[str]:
    lines = merge.merge_whole_lines(choice.streams)
    while text := await sync_to_async(_format_lines)(lines, choice.names):
        yield text


def _format_lines(lines: Iterator[Line], names: dict[int, str]) -> str:
    return "".join(
        f"{line.at:%Y-%m-%dT%H:%M:%S.%fZ} {names.get(line.rank, line.rank)} "
        f"{plain_text(line.data)}\n"
        for line in islice(lines, LINES_AT_ONCE)
    )
