"""Bringing the files of runs to the cluster, and their scripts to Slurm.

All that wait at a moment go in one session, for a session costs more than a job.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock

from engines.base import EngineUnavailable
from engines.slurm.client import files, programs
from engines.slurm.client.transport import CommandResult, Transport

NEW, AGAIN, LATE, REFUSED = "new", "again", "late", "refused"  # as the program calls them
GATHER_SECONDS = 0.01  # in which others come; as long as they do, they are waited for
FIRST_SECONDS, EACH_SECONDS = 50.0, 10.0  # that a session may take; Slurm gives up after ten


@dataclass(frozen=True, eq=False)
class Parcel:
    """A run: its workload's folder below the directory, and its files by name. ``how`` is ``AGAIN``
    once it is known that nothing became of an earlier try. Files that are ``shown`` are open to the
    group of the directory."""

    folder: str
    run: int
    how: str
    contents: Mapping[str, str]
    shown: Collection[str] = ()
    outcome: Future[str] = field(default_factory=Future)


class Courier:
    """One a cluster and process."""

    def __init__(self, transport: Transport, directory: str, umask: str = "077") -> None:
        self.transport, self.directory, self.umask = transport, directory, umask
        self._waiting: list[Parcel] = []
        self._list, self._way = Lock(), Lock()

    def hand_over(self, parcel: Parcel) -> str:
        """What became of it: one word, and what Slurm said to it. ``EngineUnavailable`` where
        nobody knows."""
        with self._list:
            self._waiting.append(parcel)
        with self._way:
            while not parcel.outcome.done():
                self._bring(self._together())
        return parcel.outcome.result()

    def _together(self) -> Sequence[Parcel]:
        """All that wait, but for a second one of the same run, which comes after the first."""
        before = 0
        while len(self._waiting) > before:
            before = len(self._waiting)
            time.sleep(GATHER_SECONDS)
        with self._list:
            parcels = {(it.folder, it.run): it for it in reversed(self._waiting)}
            self._waiting = [it for it in self._waiting if it not in parcels.values()]
        return list(parcels.values())[::-1]

    def _bring(self, parcels: Sequence[Parcel]) -> None:
        try:
            answer = self._session(parcels)
        except Exception as error:
            for parcel in parcels:
                parcel.outcome.set_exception(error)
            return
        lines = (line.partition(" ") for line in answer.out.splitlines())
        outcomes = {number: outcome for number, _, outcome in lines}
        said = f"{self.directory} cannot be written: {answer.said or f'exit code {answer.code}'}"
        for number, parcel in enumerate(parcels):
            if outcome := outcomes.get(str(number)):
                parcel.outcome.set_result(outcome)
            else:
                parcel.outcome.set_exception(EngineUnavailable(said))

    def _session(self, parcels: Sequence[Parcel]) -> CommandResult:
        contents, shown = dict[str, str](), set[str]()
        for parcel in parcels:
            run = f"{parcel.folder}/runs/{parcel.run}"
            contents |= {f"{run}/{name}": text for name, text in parcel.contents.items()}
            shown |= {f"{run}/{name}" for name in parcel.shown}
        plan = [word for it in parcels for word in (it.folder, str(it.run), it.how)]
        return files.sh(
            self.transport,
            programs.ALONE,
            *(programs.SUBMIT, self.directory, self.umask, *plan),
            stdin=files.packed(contents, shown=shown),
            timeout=FIRST_SECONDS + EACH_SECONDS * len(parcels),
        )
