"""Prints the logs of ranks, merged, each rank in its color."""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any

import typer

from trainyard_cli import lookup
from trainyard_cli.commands.describe import Name
from trainyard_cli.errors import wrong_use
from trainyard_cli.flags.values import DURATION_KIND, BadValue
from trainyard_cli.invocation import Invocation, ProjectName, current_invocation
from trainyard_cli.show import Item, is_colored

RANK_COLORS = (36, 33, 32, 35, 34, 31, 96, 93)
RANKS = re.compile(r"\d{1,4}(,\d{1,4})*")
ERASE = "\r\033[K"  # the row of the terminal
POD = re.compile(r".+-\d+$")


@dataclass(frozen=True)
class LineFilter:
    """Which lines to print: those that match ``pattern``, until ``limit`` bytes are printed."""

    pattern: re.Pattern[str] | None = None
    limit: int | None = None


class TerminalRow:
    """The row of the terminal where the cursor is, which may show an unfinished line."""

    def __init__(self) -> None:
        self.has_state = False
        self.is_terminal = sys.stdout.isatty()

    def show_state(self, text: str) -> None:
        """Show the state of an unfinished line, in place of an earlier one."""
        if self.is_terminal:
            columns = shutil.get_terminal_size().columns
            print(f"{ERASE}{text[: columns - 1]}", end="", flush=True)
        else:
            print(text, end="\r", flush=True)
        self.has_state = True

    def show_line(self, text: str) -> None:
        """Print a line, in place of the state of an unfinished one."""
        erase = ERASE if self.has_state and self.is_terminal else ""
        print(f"{erase}{text}", flush=True)
        self.has_state = False

    def leave(self) -> None:
        """Leave what an unfinished line shows on a row of its own."""
        if self.has_state:
            print(flush=True)
            self.has_state = False


def logs(
    context: typer.Context,
    name: Name,
    project: ProjectName = "",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Continue with what is printed, to the end.")
    ] = False,
    rank: Annotated[str, typer.Option(help="One rank, several as 0,2, or all.")] = "all",
    pod: Annotated[str, typer.Option(help="One pod, such as worker-0.")] = "",
    instance: Annotated[str, typer.Option("--instance", "-i", hidden=True)] = "",  # as --pod
    container: Annotated[str, typer.Option("--container", "-c", hidden=True)] = "",  # a pod has one
    tail: Annotated[
        int | None, typer.Option("--tail", "-t", min=-1, help="Only this many of the last lines.")
    ] = None,
    since: Annotated[str, typer.Option(help="Lines of the last 30s, 5m, 2h.")] = "",
    since_time: Annotated[str, typer.Option(help="Lines since a time in ISO 8601.")] = "",
    grep: Annotated[str, typer.Option(help="Only lines that match; a regular expression.")] = "",
    timestamps: Annotated[bool, typer.Option(help="The time of each line.")] = False,
    previous: Annotated[bool, typer.Option(help="Of the attempt before the latest.")] = False,
    deleted: Annotated[bool, typer.Option(help="Of a deleted workload, while kept.")] = False,
    limit_bytes: Annotated[
        int | None, typer.Option(min=1, help="No more bytes than this, in whole lines.")
    ] = None,
    wait_timeout: Annotated[str, typer.Option(hidden=True)] = "",  # nothing waits
) -> None:
    """Print what the ranks of a workload print, merged by time."""
    _check_rank(rank)
    query = {
        "tail": None if tail in {None, -1} else tail,
        "since": _moment_before(since) or since_time or None,
        "timestamps": "true" if timestamps else None,
        "previous": "true" if previous else None,
        "follow": "true" if follow else None,
        "deleted": "true" if deleted else None,
    }
    invocation = current_invocation(context)
    find = lookup.find_deleted if deleted else lookup.find_workload
    workload = find(invocation, name, project)
    if pod := pod or instance:
        rank = find_rank(invocation, workload, pod, deleted=deleted)
    line_filter = LineFilter(_pattern(grep), limit_bytes)
    with _explain_wrong_time(since_time):
        print_logs(invocation, workload, line_filter, rank=rank, **query)


def print_logs(
    invocation: Invocation, workload: Item, line_filter: LineFilter = LineFilter(), **query: Any
) -> None:
    """Print the logs of a workload as they arrive.

    ``query`` is that of the call, with a ``rank``: its number, several with commas between, or
    ``all``. Lines begin with the name of their rank, unless they are all of one.
    """
    several = workload["requestedPods"]["number"] > 1
    if not several and query.get("rank") == "all":
        query["rank"] = "0"
    if not query.get("follow") and query["rank"].isdigit() and query.get("tail") is None:
        # Without a time, the log of one rank is sent as its bytes are; with one, line by line.
        query["since"] = query.get("since") or "1970-01-01T00:00:00Z"
    if query.get("follow"):
        query["live"] = "true"
    with invocation.client.stream(f"/workloads/{workload['id']}/logs", **query) as lines:
        named = not query["rank"].isdigit()
        timed = bool(query.get("timestamps"))
        try:
            print_lines(lines, line_filter, named=named, timed=timed)
        except BrokenPipeError:
            sys.stderr.close()  # the reader closed the pipe, as head does


def print_lines(lines: Iterable[str], line_filter: LineFilter, *, named: bool, timed: bool) -> None:
    """Print lines of a log: ``named`` ones begin with a rank, and ``timed`` ones with a time in
    front of it.

    A state of a line that is not finished ends with a carriage return. The next line or state takes
    its place.
    """
    colors: dict[str, int] = {}
    printed = 0
    colored = is_colored(sys.stdout)
    row = TerminalRow()
    for line in lines:
        is_state = line.endswith("\r")
        moment, text = line.removesuffix("\r").split(" ", 1) if timed else ("", line)
        text = text.removesuffix("\r")
        rank, text = text.split(" ", 1) if named else ("", text)
        if line_filter.pattern and not line_filter.pattern.search(text):
            continue
        size = len(text.encode()) + 1
        if line_filter.limit is not None and printed + size > line_filter.limit:
            break
        plain_head = " ".join(filter(None, (moment, rank)))
        if is_state:
            row.show_state(f"{plain_head} {text}" if plain_head else text)
            continue
        printed += size
        if colored and rank:
            color = colors.setdefault(rank, RANK_COLORS[len(colors) % len(RANK_COLORS)])
            rank = f"\033[{color}m{rank}\033[0m"
        head = " ".join(filter(None, (moment, rank)))
        row.show_line(f"{head} {text}" if head else text)
    row.leave()


def _check_rank(text: str) -> None:
    if text != "all" and not RANKS.fullmatch(text):
        raise wrong_use(f"--rank: {text!r} is not a rank; write 0, or several as 0,2, or all.")


def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise wrong_use(f"--grep: {text!r} is not a regular expression: {error}.") from error


def _moment_before(text: str) -> str:
    """Return the moment so long ago, in ISO 8601; empty for an empty text. Raises ``CliError``."""
    if not text:
        return ""
    try:
        seconds = DURATION_KIND.read(text, {})
    except BadValue as error:
        raise wrong_use(f"--since: {error}.") from error
    return (datetime.now(timezone.utc) - timedelta(seconds=seconds)).isoformat()


@contextmanager
def _explain_wrong_time(text: str) -> Iterator[None]:
    """Report a time that the server cannot read as a fault of ``--since-time``.

    It is not checked here, because the server reads more formats than Python 3.10 does.
    """
    from trainyard_cli.rest.client import Refusal

    try:
        yield
    except Refusal as refusal:
        if not text or "since" not in dict(refusal.issues):
            raise
        example = "2026-01-31T00:00:00Z"
        raise wrong_use(f"--since-time: {text!r} is not a time such as {example}.") from refusal


def find_rank(invocation: Invocation, workload: Item, pod: str, *, deleted: bool = False) -> str:
    """Return the rank of a pod, by its name or the end of it, such as ``worker-0``. Raises
    ``CliError``."""
    if not POD.match(pod):
        raise wrong_use(f"--pod: {pod!r} is not a pod; write its name, such as worker-0.")
    path = f"/workloads/{workload['id']}/pods"
    query = {"limit": 500} | ({"deleted": "true"} if deleted else {})
    pods = invocation.client.get(path, **query)["pods"]
    for pod_row in pods:
        if pod in {pod_row["name"], f"{pod_row['role']}-{pod_row['index']}"}:
            return str(pod_row["rank"])
    raise wrong_use(f"--pod: {workload['name']} has no pod {pod}.")
