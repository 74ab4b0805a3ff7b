"""REST: the output of ranks, byte by byte for one rank, or merged by line for several, with new
output as it is printed."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Field, Query, Router

from accounts import tokens
from accounts.api.tokens import ApiRequest, AsyncBearer
from core.broker import stream as live
from core.database.connections import release_connection
from core.rest.api import ApiError, Issue, unreadable_request
from core.web.query import parse_number
from spec.values.patterns import pattern_with_message
from workloads import logs
from workloads.api.lookup import WithDeleted, find_with_deleted
from workloads.history import events
from workloads.logs.follow import MergedOutput
from workloads.logs.reading.lines import Line
from workloads.models import Workload

router = Router(tags=["Workloads"])

LOG_LIMIT = 1024 * 1024
MOST_ATTEMPTS = 10**6
MOST_LINES = 1_000_000
CHECK_SECONDS = 10.0  # how often a stream checks its caller's permissions
RANKS = pattern_with_message(
    r"^(all|\d{1,4}(,\d{1,4})*)$",
    "must be the number of a rank, several with commas between, such as 0,2, or all",
)


class LogQuery(WithDeleted):
    """Whose output to read: the rank, run and attempt (by default the latest), and where to begin.

    ``rank`` is one number, several (``0,2``) or ``all``. With several, or with ``tail``, ``since``,
    ``timestamps``, ``previous`` or ``follow``, the answer consists of lines merged by time. Those
    of several ranks begin with the rank's name.
    """

    rank: str = Field(
        default="0",
        pattern=RANKS,
        description="The number of a rank, several with commas between, or all",
    )
    run: int | None = Field(
        default=None, ge=1, description="Which run, counted from 1; the latest unless given"
    )
    attempt: int | None = Field(
        default=None,
        ge=1,
        le=MOST_ATTEMPTS,
        description="Which start within the run, counted from 1; the latest unless given",
    )
    offset: int = Field(
        default=0, ge=0, description="Where to begin, in bytes of one rank's output"
    )
    limit: int = Field(
        default=LOG_LIMIT, ge=1, description=f"The most bytes in the answer, {LOG_LIMIT:,} at most"
    )
    tail: int | None = Field(
        default=None, ge=0, le=MOST_LINES, description="Only this many of the last lines"
    )
    since: datetime | None = Field(
        default=None, description="Only lines that were collected at this time or later"
    )
    timestamps: bool = Field(default=False, description="true: each line begins with its time")
    previous: bool = Field(
        default=False, description="true: the attempt before the latest one that has output"
    )
    follow: bool = Field(
        default=False, description="true: new lines are added until the workload ends"
    )

    live: bool = Field(
        default=False,
        description="true, with follow: a rank's last line is also sent before it is finished, "
        "each time it changes, with a carriage return for a line break",
    )

    @property
    def is_merged(self) -> bool:
        """Whether the answer consists of lines merged by time, not of bytes of one rank."""
        flags = self.timestamps or self.previous or self.follow
        return flags or not self.rank.isdigit() or (self.tail, self.since) != (None, None)


@router.get("/{uuid:workload_id}/logs", auth=AsyncBearer())
async def read_log(
    request: ApiRequest, workload_id: UUID, query: Query[LogQuery]
) -> HttpResponseBase:
    """Bytes of one rank's output from ``offset``; the header ``X-Next-Offset`` says where to
    continue. Or lines of several ranks, merged by time. With ``follow=true`` new lines are added
    until the workload ends, or the token does.

    Not part of Run:ai's API. Logs remain available after the workload has ended.
    """
    if not query.is_merged:
        return await sync_to_async(_bytes_response)(request, workload_id, query)
    reading = await sync_to_async(_log_reading)(request, workload_id, query)
    response = StreamingHttpResponse(
        reading.followed_text() if query.follow else reading.available_text(),
        content_type="text/plain; charset=utf-8",
    )
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


def _bytes_response(request: ApiRequest, workload_id: UUID, query: LogQuery) -> HttpResponse:
    workload = find_with_deleted(request, workload_id, deleted=query.deleted)
    _require_output(workload, query)
    rank = int(query.rank)
    stream = logs.Stream(
        workload.pk,
        workload.run if query.run is None else query.run,
        workload.attempt if query.attempt is None else query.attempt - 1,
        rank,
    )
    if query.attempt is None:
        streams = logs.latest_streams(workload.pk, stream.run, stream.attempt)
        stream = streams.get(rank, stream)
    offset = max(query.offset, logs.first_offset(stream))
    data = logs.read_output(stream, offset, min(query.limit, LOG_LIMIT))
    response = HttpResponse(data, content_type="text/plain; charset=utf-8")
    response["X-Next-Offset"] = str(offset + len(data))
    return response


@dataclass
class LogReading:
    """Output to stream to a caller, who is identified by ``token`` so that a stream ends when their
    access does."""

    workload: Workload
    follower: MergedOutput
    query: LogQuery
    token: str
    sent_states: dict[logs.Stream, str] = field(default_factory=dict)

    async def available_text(self) -> AsyncIterator[str]:
        """Yield the text that is available now."""
        while text := await sync_to_async(self._next)(last=True):
            yield text

    async def followed_text(self) -> AsyncIterator[str]:
        """Yield the text that is available now and all that follows, until the workload has
        ended."""
        checked = monotonic()
        channel = events.channel(self.workload.project_id)
        async with aclosing(live.listen([channel])) as batches:
            async for names in batches:
                if names and not any(str(self.workload.pk) in name for name in names):
                    continue
                if monotonic() - checked > CHECK_SECONDS:
                    checked = monotonic()
                    if not await sync_to_async(self._is_allowed)():
                        return
                over = await sync_to_async(self._is_over)()
                while text := await sync_to_async(self._next)(last=over):
                    yield text
                if over:
                    return
                if text := self._changed_states():
                    yield text

    def _next(self, *, last: bool) -> str:
        lines = self.follower.lines(self.workload, last=last)
        if lines:
            self.sent_states.clear()  # the lines take the place of the states on a terminal
        return "".join(f"{self._text(line)}\n" for line in lines)

    def _changed_states(self) -> str:
        """Return the last lines that are not finished and have changed, each with a carriage
        return, so that the next one takes its place on a terminal."""
        if not self.query.live:
            return ""
        states = {stream: self._text(it) for stream, it in self.follower.unfinished.items()}
        changed = [text for stream, text in states.items() if self.sent_states.get(stream) != text]
        self.sent_states = states
        return "".join(f"{text}\r" for text in changed)

    def _text(self, line: Line) -> str:
        named = not self.query.rank.isdigit()
        return self.follower.text(line, named=named, timed=self.query.timestamps)

    def _is_over(self) -> bool:
        """Whether the output is complete. Checked before the last lines are read, so that none is
        missed."""
        row = Workload.objects.filter(pk=self.workload.pk).first()
        if row is None:
            return True
        self.workload = row
        release_connection()
        return row.logs_complete or self.follower.is_fixed or row.deleted_at is not None

    def _is_allowed(self) -> bool:
        user = tokens.token_owner(self.token)
        rows = Workload.objects.within_reach(user) if user else Workload.objects.none()
        allowed = rows.filter(pk=self.workload.pk).exists()
        release_connection()
        return allowed


def _log_reading(request: ApiRequest, workload_id: UUID, query: LogQuery) -> LogReading:
    workload = find_with_deleted(request, workload_id, deleted=query.deleted)
    _require_output(workload, query)
    run = query.run
    attempt = None if query.attempt is None else query.attempt - 1
    if query.previous:
        run, attempt = _previous_attempt(workload)
    names = {rank.rank: rank.name for rank in workload.ranks.all()}
    if query.rank != "all":
        wanted = [int(number) for number in query.rank.split(",")]
        names = {number: names.get(number, str(number)) for number in wanted}
    since = query.since
    if since and since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    follower = MergedOutput.of(
        workload, names, run=run, attempt=attempt, tail=query.tail, since=since
    )
    return LogReading(workload, follower, query, _token(request))


def _previous_attempt(workload: Workload) -> tuple[int, int]:
    pairs = sorted({(stream.run, stream.attempt) for stream in logs.streams(workload.pk)})
    if len(pairs) < 2:
        details = "Leave previous out for the output of its only attempt."
        raise ApiError(404, "There is no earlier attempt with output.", details=details)
    return pairs[-2]


def _token(request: HttpRequest) -> str:
    return request.headers.get("Authorization", "").partition(" ")[2].strip()


def _last_attempt(workload: Workload, run: int) -> int:
    """Return the last attempt of a run. For runs before the latest, it is the last one with any
    output."""
    if run >= workload.run:
        return workload.attempt
    attempts = (stream.attempt for stream in logs.streams(workload.pk) if stream.run == run)
    return max(attempts, default=0)


def _require_output(workload: Workload, query: LogQuery) -> None:
    """Raise ``ApiError`` 404 for a rank, run or attempt that does not exist: an empty answer would
    look as if it had printed nothing."""
    numbers = [parse_number(it) for it in query.rank.split(",") if it != "all"]
    last = workload.num_pods - 1
    run = query.run or workload.run
    last_attempt = 1 + (_last_attempt(workload, run) if query.attempt else 0)
    absent = {
        "rank": any(it is None or it > last for it in numbers) and f"the ranks are 0 to {last}",
        "run": run > workload.run and f"the latest run is {workload.run}",
        "attempt": (query.attempt or 1) > last_attempt and f"the latest attempt is {last_attempt}",
    }
    if issues := [Issue(field=name, details=text) for name, text in absent.items() if text]:
        details = f"{issues[0].field}: {issues[0].details}"
        raise ApiError(404, "There is no such output.", details=details, issues=issues)
    if query.offset and query.is_merged:
        raise unreadable_request(
            [Issue(field="offset", details="is for the bytes of one rank alone")]
        )
