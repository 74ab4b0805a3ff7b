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
from engines.local.records.layout import Folder, states_folder
from engines.local.records.state import RankRecord, Record
from spec.phases import Phase
from spec.problems.causes import Cause, CauseKind

TICK = 500  # milliseconds between two ticks; each looks for dead supervisors
RELIST = 30.0  # seconds between two scans, because the system may drop notifications


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
        ranks=tuple(_rank_state(rank, record.node) for rank in record.ranks),
        cause=_cause(record),
        has_own_ranks=len(record.ranks) > record.requested_ranks,
    )


def _cause(record: Record) -> Cause | None:
    """Return why a workload waits between two tries to fetch data; ``None`` if it does not."""
    if record.phase is not Phase.INITIALIZING or not record.unfetched:
        return None
    title = "The data could not be fetched"
    advice = "It is tried again until the backoff limit is reached. Check the data source."
    return Cause(CauseKind.DATA, title, advice, said=record.unfetched)


def _rank_state(record: RankRecord, node: str) -> RankState:
    return RankState(
        rank=record.rank,
        role=record.role,
        index=record.index,
        phase=record.phase,
        node=node,
        restarts=record.restarts,
        exit_code=record.exit_code,
        reason=record.reason,
        message=record.message,
        started_at=_parse_time(record.started_at),
        finished_at=_parse_time(record.finished_at),
    )


def _parse_time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


class StateWatcher:
    """Yields the changed states below ``home``, and ``None`` at each tick; see ``Engine.watch``.

    ``tend`` is called at each tick with every workload that has not ended, to replace supervisors
    that died.
    """

    def __init__(self, home: Path, ensure_supervisor: Callable[[Folder, Record], None]) -> None:
        self.home = home
        self.ensure_supervisor = ensure_supervisor
        self.records: dict[str, Record] = {}
        self.modified_at: dict[str, int] = {}  # modification times by file name, in nanoseconds

    def __iter__(self) -> Iterator[Observation | None]:
        while True:
            states_folder(self.home).mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # the folder was just removed
                yield from self._scan()
                yield None
                yield from self._follow_changes()

    def _follow_changes(self) -> Iterator[Observation | None]:
        """Yield changes until the watched folder is replaced."""
        folder = states_folder(self.home)
        scanned_at = 0.0
        inode = _inode(folder)
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
            if time.monotonic() - scanned_at > RELIST:
                # At the first notice, this also finds what changed before the watch began.
                scanned_at = time.monotonic()
                yield from self._scan()
            else:
                yield from self._read_changes({Path(path).name for _, path in notice})
            if _inode(folder) != inode:
                return
            for record in list(self.records.values()):
                if not record.is_final:
                    self.ensure_supervisor(Folder(self.home, record.workload_id), record)
            yield None

    def _scan(self) -> Iterator[Observation]:
        """Yield what changed since the last scan. Unchanged files are not opened again."""
        modified_at = {
            entry.name: entry.stat().st_mtime_ns for entry in os.scandir(states_folder(self.home))
        }
        modified = {name for name, at in modified_at.items() if self.modified_at.get(name) != at}
        removed = {f"{workload_id}.json" for workload_id in self.records} - set(modified_at)
        self.modified_at = modified_at
        yield from self._read_changes(modified | removed)

    def _read_changes(self, names: set[str]) -> Iterator[Observation]:
        """Read the named files, and yield each state that was not yielded before."""
        for name in sorted(names):
            workload_id = name.removesuffix(".json")
            before = self.records.get(workload_id)
            folder = Folder(self.home, workload_id)
            record = Record.read(folder)
            if record is None and before is not None and not folder.state.exists():
                del self.records[workload_id]
                yield _removal_observation(before)
            elif record and (before is None or _version(record) != _version(before)):
                self.records[workload_id] = record
                yield observation(record)


def _version(record: Record) -> tuple[int, int]:
    return record.run, record.sequence


def _removal_observation(record: Record) -> Observation:
    """Return the observation that a workload no longer exists: the next one, without a phase."""
    return Observation(
        UUID(record.workload_id), record.run, record.sequence + 1, None, datetime.now(UTC)
    )


def _inode(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return 0
