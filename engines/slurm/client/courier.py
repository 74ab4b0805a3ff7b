"""Copies the files of runs to the cluster, and submits their scripts to Slurm.

All runs that wait are submitted in one session, because a session costs more than a job.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock

from engines.base import EngineUnavailable
from engines.slurm.client import files, programs
from engines.slurm.client.transport import CommandResult, Transport

# as the program calls them
NEW = "new"
AGAIN = "again"
LATE = "late"
REFUSED = "refused"
GATHER_SECONDS = 0.01  # wait for others for so long, and again as long as more come
# that a session may take; Slurm gives up after ten
FIRST_SECONDS = 50.0
EACH_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class RunParcel:
    """A run to submit: its workload's folder below the directory, and its files by name. ``mode``
    is ``AGAIN`` if an earlier try is known to have had no effect. The group of the directory may
    read the files in ``group_readable``."""

    folder: str
    run: int
    mode: str
    contents: Mapping[str, str]
    group_readable: Collection[str] = ()
    outcome: Future[str] = field(default_factory=Future)


class Courier:
    """Submits runs. There is one for each cluster and process."""

    def __init__(self, transport: Transport, directory: str, umask: str = "077") -> None:
        self.transport = transport
        self.directory = directory
        self.umask = umask
        self._waiting: list[RunParcel] = []
        self._list_lock = Lock()
        self._session_lock = Lock()

    def hand_over(self, parcel: RunParcel) -> str:
        """Submit a run, and return its outcome: one word, and Slurm's message. Raises
        ``EngineUnavailable`` if the outcome is unknown."""
        with self._list_lock:
            self._waiting.append(parcel)
        with self._session_lock:
            while not parcel.outcome.done():
                self._submit(self._take_waiting())
        return parcel.outcome.result()

    def _take_waiting(self) -> Sequence[RunParcel]:
        """Take all waiting runs. If a run waits twice, the second stays for the next session."""
        count = 0
        while len(self._waiting) > count:
            count = len(self._waiting)
            time.sleep(GATHER_SECONDS)
        with self._list_lock:
            parcels = {(it.folder, it.run): it for it in reversed(self._waiting)}
            self._waiting = [it for it in self._waiting if it not in parcels.values()]
        return list(parcels.values())[::-1]

    def _submit(self, parcels: Sequence[RunParcel]) -> None:
        try:
            answer = self._run_session(parcels)
        except Exception as error:
            for parcel in parcels:
                parcel.outcome.set_exception(error)
            return
        lines = (line.partition(" ") for line in answer.out.splitlines())
        outcomes = {number: outcome for number, _, outcome in lines}
        message = (
            f"{self.directory} cannot be written: {answer.message or f'exit code {answer.code}'}"
        )
        for number, parcel in enumerate(parcels):
            if outcome := outcomes.get(str(number)):
                parcel.outcome.set_result(outcome)
            else:
                parcel.outcome.set_exception(EngineUnavailable(message))

    def _run_session(self, parcels: Sequence[RunParcel]) -> CommandResult:
        contents = dict[str, str]()
        group_readable = set[str]()
        for parcel in parcels:
            run = f"{parcel.folder}/runs/{parcel.run}"
            contents |= {f"{run}/{name}": text for name, text in parcel.contents.items()}
            group_readable |= {f"{run}/{name}" for name in parcel.group_readable}
        plan = [word for it in parcels for word in (it.folder, str(it.run), it.mode)]
        return files.run_program(
            self.transport,
            programs.CLEAN_ENVIRONMENT,
            *(programs.SUBMIT, self.directory, self.umask, *plan),
            stdin=files.pack_files(contents, group_readable=group_readable),
            timeout=FIRST_SECONDS + EACH_SECONDS * len(parcels),
        )
