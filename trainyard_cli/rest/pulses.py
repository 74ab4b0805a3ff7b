"""Waits for changes: the server sends a pulse when something changes, so nobody has to poll."""

from collections.abc import Iterable, Iterator
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from trainyard_cli.errors import CliError, ExitCode
from trainyard_cli.notes import LogLevel, print_note

if TYPE_CHECKING:
    from trainyard_cli.rest.client import RestClient

PATH = "/workloads/watch"
RETRY_SECONDS = 1.0
PATIENCE_SECONDS = 300.0  # longest outage
SILENCE_SECONDS = 45.0  # three missed heartbeats: the connection is gone


def pulses(client: "RestClient", **query: Any) -> Iterator[None]:
    """Yield once at the start, and again whenever a workload has changed. ``query`` selects
    workloads.

    It reconnects through outages of the server, during which workloads continue; changes made
    meanwhile cause a pulse afterwards. Raises ``CliError`` after ``PATIENCE_SECONDS`` without the
    server.
    """
    last = ""
    heard = monotonic()
    is_away = False
    while True:
        headers = {"Last-Event-ID": last} if last else {}
        try:
            with client.stream(PATH, headers=headers, silence=SILENCE_SECONDS, **query) as lines:
                for event_id in event_ids(lines):
                    last = event_id
                    heard = monotonic()
                    is_away = False
                    yield
        except CliError as error:
            if error.code != ExitCode.UNREACHABLE or monotonic() - heard > PATIENCE_SECONDS:
                raise
            if not is_away:
                minutes = f"{PATIENCE_SECONDS / 60:g} minutes"
                print_note(
                    f"{error.message.rstrip('.')}. Trying again for {minutes}.", LogLevel.WARN
                )
            is_away = True
        sleep(RETRY_SECONDS)


def event_ids(lines: Iterable[str]) -> Iterator[str]:
    """Yield the ids in a stream of server-sent events. If several changes come at once, only the
    last has an id."""
    for line in lines:
        field, _, value = line.partition(":")
        if field == "id":
            yield value.strip()
