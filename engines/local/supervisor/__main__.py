"""``python -m engines.local.supervisor FOLDER``: a small process that runs one workload.

It starts the gang, restarts it when a rank fails, and ends it on request. While it lives, it alone
writes the workload's state, and it needs no other process of Trainyard. If it is started again
after its own death, it kills what was left over and continues with the next attempt.
"""

import signal
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

from engines.local.apps.installing import Installing
from engines.local.records.journal import RETRY, Journal, is_full
from engines.local.records.layout import Folder, read_json
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.records.state import Record, monotonic_now
from engines.local.supervisor import lock
from engines.local.supervisor.gang import Gang, Member, SpawnError
from engines.local.supervisor.tending import Tending, ran_until_lost
from engines.local.supervisor.wakeup import Bell
from engines.local.system import cgroups, processes
from engines.local.system.errand import Errands
from engines.local.volumes import view
from engines.local.volumes.fetching import Fetching
from spec.phases import Phase, RankPhase, Reason
from spec.problems import time_limit

LONGEST_DELAY = 60.0
#: Seconds that workers have to exit once the master has succeeded.
LINGER = 30.0
FULL = "The disk is full, so no rank was started. They start when there is space."
NO_SECRETS = "The values of its credentials were lost on this machine. Run it again to get them."
LOST = (
    "The supervisor of this workload was killed (by a reboot, a signal, or the kernel when "
    "memory ran out), and its ranks with it."
)


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended. With ``retry``, the backoff limit decides whether another one
    follows."""

    phase: Phase
    reason: Reason = Reason.NONE
    message: str = ""
    retry: bool = False


class Supervisor:
    """Runs one workload. It is the only writer of ``record``, which others read from the disk."""

    def __init__(self, folder: Folder, plan: GangPlan, record: Record, bell: Bell) -> None:
        self.folder = folder
        self.plan = plan
        self.record = record
        self.bell = bell
        self.journal = Journal(folder, record)
        tell = partial(self.journal.move, Phase.INITIALIZING, Reason.NONE)
        self.errands = Errands(folder, tell, bell.wait, self._must_stop)

    def run(self) -> None:
        """Continue from the recorded state until the end is recorded."""
        outcome = self._recover()
        while True:
            if outcome is None:
                outcome = self._attempt()
            if outcome and outcome.retry:
                outcome = self._back_off(outcome)
            if outcome is not None:
                view.discard(self.folder, self.plan.run)
                self.folder.secrets(self.plan.run).unlink(missing_ok=True)
                self.journal.move(outcome.phase, outcome.reason, outcome.message)
                self._settle()
                return

    def _settle(self) -> None:
        """Wait until the end is on the disk, unless the workload is deleted meanwhile."""
        while self.journal.is_behind and self.folder.launch.exists():
            self.bell.wait(RETRY)
            self.journal.catch_up()

    def _recover(self) -> Outcome | None:
        """After the death of an earlier supervisor, kill what it left. Its attempt is lost."""
        record = self.record
        if record.sequence == 0:
            return None
        for rank in record.ranks:
            if rank.pid:
                processes.kill(rank.pid, rank.started)
        processes.sweep(self.folder.path)
        cgroups.discard(self.plan.workload_id)
        stopped = self._must_stop()
        record.ran += ran_until_lost(self.folder, record)
        for rank in record.ranks:
            if rank.phase is RankPhase.RUNNING:
                rank.phase = RankPhase.STOPPED if stopped else RankPhase.FAILED
                rank.reason = Reason.LOST
                rank.message = LOST
                rank.finished_at = monotonic_now()
        if stopped:
            return self._stopped([])
        if record.reason is Reason.RESTARTING:  # it died between two attempts
            return Outcome(Phase.FAILED, Reason.RANK_FAILED, record.message, retry=True)
        return Outcome(Phase.FAILED, Reason.LOST, LOST, retry=True)

    def _attempt(self) -> Outcome | None:
        """Start all ranks, and stay with them to the end. ``None`` if the disk had no room to start
        any: it is then to be tried again."""
        if self._must_stop():
            return self._stopped([])
        if not self._is_written_down():
            return self._stopped([])
        if self.plan.lacks_secrets:
            return Outcome(Phase.FAILED, Reason.LOST, NO_SECRETS)
        gang = Gang(self.folder, self.plan, self.record)
        try:
            if trouble := self._fetch() or self._install():
                return trouble
            view.write_files(self.folder, self.plan)
            gang.start()
            self.journal.move(Phase.RUNNING, Reason.NONE, "")
            return self._tend(gang)
        except SpawnError as error:
            if not error.lacks_room:
                return self._not_started(error)
            self._wait_for_room()
            return None
        except OSError as error:
            if is_full(error) and not gang.members:
                self._wait_for_room()
                return None
            message = f"The gang could not be run: {error}."
            return Outcome(Phase.FAILED, Reason.RANK_FAILED, message, retry=True)
        except SystemExit:
            gang.end(self.plan.grace)
            raise
        finally:
            gang.kill()
            gang.close()

    def _fetch(self) -> Outcome | None:
        """Fetch the content of volumes. ``None`` if it is there."""
        self.record.unfetched = said = Fetching(self.errands, self.plan, self._print).run()
        if self._must_stop():
            return self._stopped([])
        return Outcome(Phase.FAILED, Reason.REFUSED, said, retry=True) if said else None

    def _install(self) -> Outcome | None:
        """Install programs that are installed on first use; ``None`` if they are there. pip itself
        retries."""
        said = Installing(self.errands, self.plan).run(self.record.attempt)
        if self._must_stop():
            return self._stopped([])
        return Outcome(Phase.FAILED, Reason.REFUSED, said) if said else None

    def _print(self, rank: RankPlan, line: str) -> None:
        """Add a line to the log of a rank, before its program writes to it."""
        log = self.folder.log(self.plan.run, rank.rank, self.record.attempt)
        with log.open("a") as output:
            output.write(f"{line}\n")

    def _is_written_down(self) -> bool:
        """Record the attempt before its first process, because a successor will look for its
        processes. This takes as long as the disk is full, or until a request to stop."""
        self.journal.changed()
        while self.journal.is_behind and not self._must_stop():
            self.bell.wait(RETRY)
            self.journal.catch_up()
        return not self.journal.is_behind

    def _wait_for_room(self) -> None:
        self.record.begin(self.record.attempt)
        self.journal.move(Phase.INITIALIZING, Reason.NONE, FULL)
        self.bell.wait(RETRY)

    def _not_started(self, error: SpawnError) -> Outcome:
        rank = error.record
        rank.phase = RankPhase.FAILED
        rank.message = str(error)
        rank.reason = Reason.COMMAND_NOT_FOUND if error.hopeless else Reason.RANK_FAILED
        for other in self.record.ranks:
            if other is not rank and other.phase is not RankPhase.PENDING:
                other.phase = RankPhase.STOPPED
                other.reason = Reason.NONE
                other.message = "ended because the ranks of a gang start together or not at all"
        message = f"{rank.role}-{rank.index} (rank {rank.rank}) {error}."
        return Outcome(Phase.FAILED, rank.reason, message, retry=not error.hopeless)

    def _tend(self, gang: Gang) -> Outcome:
        """Wait for the end of the attempt: all done, the first failure, a limit, or a request to
        stop."""
        tending = Tending(self.folder, self.plan, gang)
        deadline = float("inf")
        master = gang.members[0] if self.plan.has_master else None
        while gang.running:
            self.bell.wait(min(tending.tick(), deadline - time.monotonic()))
            gone = gang.reap()
            self.journal.catch_up()
            failed = [member for member in gone if member.record.phase is RankPhase.FAILED]
            succeeded = master is not None and master.record.phase is RankPhase.SUCCEEDED
            if failed and not (succeeded and failed[0] is not master):
                return self._failed(gang, failed[0])
            if gone or tending.has_news:
                tending.has_news = False
                self.journal.changed()
            if gang.running and tending.overfull:
                self._end_rest(gang)
                return Outcome(Phase.STOPPED, Reason.REFUSED, tending.overfull)
            if gang.running and tending.left <= 0 and not succeeded:
                return self._out_of_time(gang)
            if succeeded:
                deadline = min(deadline, time.monotonic() + LINGER)
            if gang.running and (self._must_stop() or time.monotonic() >= deadline):
                if not succeeded:
                    return self._stop(gang)
                self._end_rest(gang)
        late = [member for member in gang.members if member.record.phase is RankPhase.FAILED]
        failures = [f"{member.plan.name} {member.record.message}" for member in late]
        after = f"After the master had succeeded, {'; '.join(failures)}." if failures else ""
        return Outcome(Phase.COMPLETED, message=after)

    def _failed(self, gang: Gang, first: Member) -> Outcome:
        """End the other ranks: they wait for a peer that will not return."""
        self.journal.changed()
        self._end_rest(gang)
        record = first.record
        message = f"{first.plan.name} (rank {first.plan.rank}) {record.message}."
        return Outcome(Phase.FAILED, record.reason, message, retry=True)

    def _end_rest(self, gang: Gang) -> list[Member]:
        rest = gang.running
        late = gang.end(self.plan.grace)
        for member in rest:
            member.record.phase = RankPhase.STOPPED
            member.record.reason = Reason.NONE
        return late

    def _out_of_time(self, gang: Gang) -> Outcome:
        said = time_limit.time_limit_sentence(self.plan.time_limit or 0)
        self.journal.move(Phase.STOPPING, Reason.DEADLINE_EXCEEDED, said)
        self._end_rest(gang)
        return Outcome(Phase.FAILED, Reason.DEADLINE_EXCEEDED, said)

    def _stop(self, gang: Gang) -> Outcome:
        self.journal.move(Phase.STOPPING, Reason.STOPPED_BY_USER, "")
        return self._stopped(self._end_rest(gang))

    def _stopped(self, late: list[Member]) -> Outcome:
        if not late:
            return Outcome(Phase.STOPPED, Reason.STOPPED_BY_USER)
        names = ", ".join(member.plan.name for member in late)
        message = f"{names} did not end within the grace period of {self.plan.grace} s: killed."
        return Outcome(Phase.STOPPED, Reason.GRACE_PERIOD_EXCEEDED, message)

    def _back_off(self, outcome: Outcome) -> Outcome | None:
        """Wait until the next attempt is due and return ``None``, or return why there is none."""
        attempt = self.record.attempt
        limit = self.plan.backoff_limit
        if self._must_stop():
            return self._stopped([])
        if attempt >= limit:
            tries = f" No attempts left (backoff limit {limit})." if limit else ""
            return Outcome(Phase.FAILED, outcome.reason, outcome.message + tries)
        delay = min(self.plan.restart_delay * 2**attempt, LONGEST_DELAY)
        if self.record.reason is not Reason.RESTARTING:
            message = f"{outcome.message} Attempt {attempt + 2} of {limit + 1} follows."
            self.journal.move(Phase.INITIALIZING, Reason.RESTARTING, message)
        deadline = time.monotonic() + delay
        while (left := deadline - time.monotonic()) > 0:
            self.bell.wait(min(left, RETRY) if self.journal.is_behind else left)
            self.journal.catch_up()
            if self._must_stop():
                return self._stopped([])
        self.record.begin(attempt + 1)
        self.record.reason = Reason.NONE
        self.record.message = ""
        return None

    def _must_stop(self) -> bool:
        return self.folder.stop_request(self.plan.run).exists()


def main(path: str) -> None:
    """Supervise the workload in this folder, unless it has a supervisor, is deleted, or has
    ended."""
    folder = Folder.of(Path(path))
    own = lock.acquire(folder)
    document = read_json(folder.launch)
    if own is None or document is None:  # supervised already, or deleted
        return
    plan = GangPlan.from_json(document, read_json(folder.secrets(document["run"])))
    record = Record.read(folder)
    if record is None or record.run != plan.run:
        record = Record.of(plan)
    if record.is_final:
        return
    for number in (
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGHUP,
    ):  # a handler, not SIG_IGN, which ranks would inherit
        signal.signal(number, _ignore)
    signal.signal(signal.SIGTERM, _leave)
    Supervisor(folder, plan, record, Bell(folder.bell)).run()


def _ignore(number: int, frame: FrameType | None) -> None:
    """Ignore the signal: what happens in Trainyard's terminal does not concern a training."""


def _leave(number: int, frame: FrameType | None) -> None:
    """End the ranks: the machine shuts down. The attempt counts as lost, and another follows."""
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
