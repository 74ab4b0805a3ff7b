"""Copy the files of runs to the cluster, and submit their scripts to Slurm.

All runs that are waiting go in one session, because a session costs more than a job.
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
class Parcel:
    """A run to submit: its workload's folder below the directory, and its files by name. ``how`` is
    ``AGAIN`` if an earlier try is known to have had no effect. The group of the directory may read
    the files that are ``shown``."""

    folder: str
    run: int
    how: str
    contents: Mapping[str, str]
    shown: Collection[str] = ()
    outcome: Future[str] = field(default_factory=Future)


class Courier:
    """Submits runs. There is one for each cluster and process."""

    def __init__(self, transport: Transport, directory: str, umask: str = "077") -> None:
        self.transport = transport
        self.directory = directory
        self.umask = umask
        self._waiting: list[Parcel] = []
        self._list = Lock()
        self._way = Lock()

    def hand_over(self, parcel: Parcel) -> str:
        """Submit a run. Returns its outcome: one word, and Slurm's message. ``EngineUnavailable``
        if the outcome is unknown."""
        with self._list:
            self._waiting.append(parcel)
        with self._way:
            while not parcel.outcome.done():
                self._bring(self._together())
        return parcel.outcome.result()

    def _together(self) -> Sequence[Parcel]:
        """All waiting runs. If one is waiting twice, the second comes next time."""
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
        contents = dict[str, str]()
        shown = set[str]()
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
