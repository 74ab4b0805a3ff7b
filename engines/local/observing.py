"""Watch the records on disk, and report them as observations."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from watchfiles import watch

from engines.base import Observation, RankState
from engines.local.records.layout import Folder, states
from engines.local.records.state import RankRecord, Record
from spec.phases import Phase
from spec.problems.causes import Cause, CauseKind
from spec.workload import Role

TICK = 500  # milliseconds between two ticks; a dead supervisor is noticed at the next
RELIST = 30.0  # seconds; the system may drop notifications if there are too many


def observation(record: Record) -> Observation:
    return Observation(
        workload_id=UUID(record.workload_id),
        run=record.run,
        sequence=record.sequence,
        phase=record.phase,
        at=datetime.fromisoformat(record.at),
        attempt=record.attempt,
        reason=record.reason,
        message=record.message,
        ranks=tuple(_rank(rank, record.node) for rank in record.ranks),
        cause=_cause(record),
    )


def _cause(record: Record) -> Cause | None:
    """The cause of waiting between two tries to fetch data."""
    if record.phase is not Phase.INITIALIZING or not record.unfetched:
        return None
    title = "The data could not be fetched"
    todo = "It is tried again until the backoff limit is reached. Check the data source."
    return Cause(CauseKind.DATA, title, todo, said=record.unfetched)


def _rank(record: RankRecord, node: str) -> RankState:
    return RankState(
        rank=record.rank,
        role=Role(record.role),
        index=record.index,
        phase=record.phase,
        node=node,
        restarts=record.restarts,
        exit_code=record.exit_code,
        reason=record.reason,
        message=record.message,
        started_at=_time(record.started_at),
        finished_at=_time(record.finished_at),
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


class StateWatcher:
    """Yields changed states below a home; see ``Engine.watch``.

    ``tend`` is called at each tick with every workload that has not ended, to replace supervisors
    that died.
    """

    def __init__(self, home: Path, tend: Callable[[Folder, Record], None]) -> None:
        self.home = home
        self.tend = tend
        self.records: dict[str, Record] = {}
        self.touched: dict[str, int] = {}  # modification times by file name, in nanoseconds

    def __iter__(self) -> Iterator[Observation | None]:
        while True:
            states(self.home).mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # the folder was just removed
                yield from self._list()
                yield None
                yield from self._follow()

    def _follow(self) -> Iterator[Observation | None]:
        """Yield changes until the watched folder is replaced."""
        folder = states(self.home)
        seen_at = 0.0
        identity = _identity(folder)
        notices = watch(
            folder,
            watch_filter=None,
            debounce=100,
            step=10,
            rust_timeout=TICK,
            yield_on_timeout=True,
            recursive=False,
        )
        for notice in notices:
            if time.monotonic() - seen_at > RELIST:  # also what changed before the watch began
                seen_at = time.monotonic()
                yield from self._list()
            else:
                yield from self._changed({Path(path).name for _, path in notice})
            if _identity(folder) != identity:
                return
            for record in list(self.records.values()):
                if not record.is_final:
                    self.tend(Folder(self.home, record.workload_id), record)
            yield None

    def _list(self) -> Iterator[Observation]:
        """Yield what changed since the last call; unchanged files are not opened again."""
        changed_at = {
            entry.name: entry.stat().st_mtime_ns for entry in os.scandir(states(self.home))
        }
        touched = {name for name, at in changed_at.items() if self.touched.get(name) != at}
        gone = {f"{workload_id}.json" for workload_id in self.records} - set(changed_at)
        self.touched = changed_at
        yield from self._changed(touched | gone)

    def _changed(self, names: set[str]) -> Iterator[Observation]:
        for name in sorted(names):
            workload_id = name.removesuffix(".json")
            before = self.records.get(workload_id)
            folder = Folder(self.home, workload_id)
            record = Record.read(folder)
            if record is None and before is not None and not folder.state.exists():
                del self.records[workload_id]
                yield _gone(before)
            elif record and (before is None or _place(record) != _place(before)):
                self.records[workload_id] = record
                yield observation(record)


def _place(record: Record) -> tuple[int, int]:
    return record.run, record.sequence


def _gone(record: Record) -> Observation:
    return Observation(
        UUID(record.workload_id), record.run, record.sequence + 1, None, datetime.now(UTC)
    )


def _identity(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return 0
