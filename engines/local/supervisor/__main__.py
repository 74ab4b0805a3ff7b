"""``python -m engines.local.supervisor FOLDER``: a small process that runs one workload.

It starts the gang, restarts it when a rank fails, and ends it on request. While it lives, only it
writes the workload's state, and it needs no other process of Trainyard. A supervisor that replaces
a dead one kills the processes that were left over, and continues with the next attempt.
"""

import math
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

from engines.local.apps.installing import AppInstallation
from engines.local.records.journal import RETRY, Journal, is_full
from engines.local.records.layout import Folder, read_json
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.records.state import Record, monotonic_now
from engines.local.supervisor import lock
from engines.local.supervisor.gang import Gang, Member, SpawnError
from engines.local.supervisor.monitor import GangMonitor, seconds_until_lost
from engines.local.supervisor.wakeup import Bell
from engines.local.system import cgroups, processes
from engines.local.system.errand import Errands
from engines.local.volumes import view
from engines.local.volumes.fetching import Fetching
from engines.shared import leads
from spec.phases import Phase, RankPhase, Reason
from spec.problems import time_limit

LONGEST_DELAY = 60.0
#: Seconds that other ranks have to exit once the lead, such as a master, has succeeded.
LINGER = 30.0
FULL = "The disk is full, so no rank was started. They start when there is space."
NO_SECRETS = "The values of its credentials were lost on this machine. Run it again to get them."
LOST = (
    "The supervisor of this workload was killed (by a reboot, a signal, or the kernel when "
    "memory ran out), and its ranks with it."
)


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended. With ``retry``, another attempt follows within the backoff limit."""

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
        show_progress = partial(self.journal.move, Phase.INITIALIZING, Reason.NONE)
        self.errands = Errands(folder, show_progress, bell.wait, self._must_stop)

    def run(self) -> None:
        """Continue from the recorded state until the end is recorded."""
        outcome = self._recover()
        while True:
            if outcome is None:
                outcome = self._run_attempt()
            if outcome and outcome.retry:
                outcome = self._wait_for_retry(outcome)
            if outcome is not None:
                self._finish(outcome)
                return

    def _finish(self, outcome: Outcome) -> None:
        """Delete what only the run needed, and record how it ended."""
        view.discard_run_volumes(self.folder, self.plan.run)
        self.folder.secrets(self.plan.run).unlink(missing_ok=True)
        self.journal.move(outcome.phase, outcome.reason, outcome.message)
        self._wait_until_written()

    def _wait_until_written(self) -> None:
        """Wait until the end is on the disk, or the workload is deleted."""
        while self.journal.is_behind and self.folder.launch.exists():
            self.bell.wait(RETRY)
            self.journal.catch_up()

    def _recover(self) -> Outcome | None:
        """Kill what an earlier supervisor left when it died, and return how its attempt ended.

        Returns ``None`` if there was no earlier supervisor.
        """
        record = self.record
        if record.sequence == 0:
            return None
        for rank in record.ranks:
            if rank.pid:
                processes.kill(rank.pid, rank.started)
        processes.kill_leftovers(self.folder.path)
        cgroups.discard_leftovers(self.plan.workload_id)
        must_stop = self._must_stop()
        record.ran += seconds_until_lost(self.folder, record)
        for rank in record.ranks:
            if rank.phase is RankPhase.RUNNING:
                rank.phase = RankPhase.STOPPED if must_stop else RankPhase.FAILED
                rank.reason = Reason.LOST
                rank.message = LOST
                rank.finished_at = monotonic_now()
        if must_stop:
            return self._stopped_outcome([])
        if record.reason is Reason.RESTARTING:  # it died between two attempts
            return Outcome(Phase.FAILED, Reason.RANK_FAILED, record.message, retry=True)
        return Outcome(Phase.FAILED, Reason.LOST, LOST, retry=True)

    def _run_attempt(self) -> Outcome | None:
        """Start all ranks, wait for their end, and return it.

        Returns ``None`` if the disk had no room to start any: the same attempt is then tried again.
        """
        if self._must_stop() or not self._record_attempt():
            return self._stopped_outcome([])
        if self.plan.lacks_secrets:
            return Outcome(Phase.FAILED, Reason.LOST, NO_SECRETS)
        gang = Gang(self.folder, self.plan, self.record)
        try:
            early_end = self._fetch_volumes() or self._install_apps()
            if early_end is not None:
                return early_end
            view.write_files(self.folder, self.plan)
            gang.start()
            self.journal.move(Phase.RUNNING, Reason.NONE, "")
            return self._watch_gang(gang)
        except SpawnError as error:
            if not error.lacks_room:
                return self._start_failure(error)
            self._wait_for_room()
            return None
        except OSError as error:
            if is_full(error) and not gang.members:
                self._wait_for_room()
                return None
            message = f"The gang could not be run: {error}."
            return Outcome(Phase.FAILED, Reason.RANK_FAILED, message, retry=True)
        except SystemExit:  # SIGTERM: the machine shuts down
            gang.end(self.plan.grace)
            raise
        finally:
            gang.kill()
            gang.close()

    def _fetch_volumes(self) -> Outcome | None:
        """Fetch the content of volumes. Returns ``None`` if all of it is there."""
        error = Fetching(self.errands, self.plan, self._write_log_line).run()
        self.record.unfetched = error
        if self._must_stop():
            return self._stopped_outcome([])
        if error:
            return Outcome(Phase.FAILED, Reason.REFUSED, error, retry=True)
        return None

    def _install_apps(self) -> Outcome | None:
        """Install programs that are installed on first use. Returns ``None`` if all are there.

        A failure is final, because pip has already tried several times.
        """
        error = AppInstallation(self.errands, self.plan).run(self.record.attempt)
        if self._must_stop():
            return self._stopped_outcome([])
        if error:
            return Outcome(Phase.FAILED, Reason.REFUSED, error)
        return None

    def _write_log_line(self, rank: RankPlan, line: str) -> None:
        """Add a line to the log of a rank, before its program writes to it."""
        log = self.folder.log(self.plan.run, rank.rank, self.record.attempt)
        with log.open("a") as output:
            output.write(f"{line}\n")

    def _record_attempt(self) -> bool:
        """Write the attempt to the disk, and return whether that succeeded.

        While the disk is full, it tries again until there is a request to stop.
        """
        # Before the first process starts: a later supervisor kills the processes of this record.
        self.journal.save()
        while self.journal.is_behind and not self._must_stop():
            self.bell.wait(RETRY)
            self.journal.catch_up()
        return not self.journal.is_behind

    def _wait_for_room(self) -> None:
        """Reset the attempt, say that the disk is full, and wait until the next try is due."""
        self.record.begin_attempt(self.record.attempt)
        self.journal.move(Phase.INITIALIZING, Reason.NONE, FULL)
        self.bell.wait(RETRY)

    def _start_failure(self, error: SpawnError) -> Outcome:
        """Record which rank could not be started, and return the outcome."""
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

    def _watch_gang(self, gang: Gang) -> Outcome:
        """Wait for the end of the attempt, and return it.

        It ends when all ranks have ended, a rank fails, a limit is reached, or a stop is requested.
        Once the lead has succeeded the attempt is complete, and the other ranks may still finish.
        """
        monitor = GangMonitor(self.folder, self.plan, gang)
        linger_until = math.inf
        while gang.running:
            self.bell.wait(min(monitor.tick(), linger_until - time.monotonic()))
            ended = gang.reap()
            self.journal.catch_up()
            if self.plan.batch and gang.has_first_rank_ended:
                return self._end_with_script(gang)
            lead_succeeded = gang.has_lead_succeeded
            failed = [member for member in ended if self._ends_gang(member)]
            if failed and not lead_succeeded:
                return self._end_after_failure(gang, failed[0])
            if ended or monitor.has_changes or gang.find_further_ranks():
                monitor.has_changes = False
                self.journal.save()
            if not gang.running:
                break
            if monitor.volume_excess:
                self._end_remaining(gang)
                return Outcome(Phase.STOPPED, Reason.REFUSED, monitor.volume_excess)
            if lead_succeeded:
                linger_until = min(linger_until, time.monotonic() + LINGER)
                if self._must_stop() or time.monotonic() >= linger_until:
                    self._end_remaining(gang)
            elif monitor.seconds_left <= 0:
                return self._end_at_time_limit(gang)
            elif self._must_stop():
                return self._end_on_request(gang)
        return self._completed_outcome(gang)

    def _ends_gang(self, member: Member) -> bool:
        """Whether a rank that ended is a failure of the gang. The exit codes of a batch script's
        tasks are for the script, but not the kill of one that used too much memory."""
        if self.plan.batch and not member.ran_out_of_memory:
            return False
        if self.plan.ignores_others and not member.plan.leads:
            return False
        return member.record.phase is RankPhase.FAILED

    def _end_with_script(self, gang: Gang) -> Outcome:
        """Wait for the hosts of the other ranks, which follow the end of the batch script with the
        exit codes of their last tasks. The script's own exit code decides."""
        deadline = time.monotonic() + LINGER
        while gang.running and time.monotonic() < deadline:
            self.bell.wait(0.02)
            gang.reap()
        gang.end_further_ranks(RankPhase.SUCCEEDED)
        self._end_remaining(gang)
        script = gang.members[0].record
        if script.phase is not RankPhase.FAILED:
            return Outcome(Phase.COMPLETED)
        message = f"The batch script {script.message}."
        return Outcome(Phase.FAILED, script.reason, message, retry=True)

    def _completed_outcome(self, gang: Gang) -> Outcome:
        """Return the success of the attempt. Ranks that failed beside their lead are named."""
        failures = [
            f"{member.plan.name} {member.record.message}"
            for member in gang.members
            if member.record.phase is RankPhase.FAILED
        ]
        lead = next((rank.role for rank in self.plan.ranks if rank.leads), "")
        message = leads.describe_failures(lead, failures, only_lead=self.plan.ignores_others)
        return Outcome(Phase.COMPLETED, message=message)

    def _end_after_failure(self, gang: Gang, first: Member) -> Outcome:
        """End the other ranks, which would wait for the failed one, and name it in the outcome."""
        self.journal.save()
        self._end_remaining(gang)
        record = first.record
        message = f"{first.plan.name} (rank {first.plan.rank}) {record.message}."
        return Outcome(Phase.FAILED, record.reason, message, retry=True)

    def _end_remaining(self, gang: Gang) -> list[Member]:
        """End the ranks that still run. Returns those that did not end within the grace period."""
        remaining = gang.running
        late = gang.end(self.plan.grace)
        gang.end_further_ranks(RankPhase.STOPPED)
        for member in remaining:
            member.record.phase = RankPhase.STOPPED
            member.record.reason = Reason.NONE
        return late

    def _end_at_time_limit(self, gang: Gang) -> Outcome:
        message = time_limit.time_limit_sentence(self.plan.time_limit or 0)
        self.journal.move(Phase.STOPPING, Reason.DEADLINE_EXCEEDED, message)
        self._end_remaining(gang)
        return Outcome(Phase.FAILED, Reason.DEADLINE_EXCEEDED, message)

    def _end_on_request(self, gang: Gang) -> Outcome:
        self.journal.move(Phase.STOPPING, Reason.STOPPED_BY_USER, "")
        return self._stopped_outcome(self._end_remaining(gang))

    def _stopped_outcome(self, late: list[Member]) -> Outcome:
        """Return the end of a workload that a user stopped. ``late`` members had to be killed."""
        if not late:
            return Outcome(Phase.STOPPED, Reason.STOPPED_BY_USER)
        names = ", ".join(member.plan.name for member in late)
        message = f"{names} did not end within the grace period of {self.plan.grace} s: killed."
        return Outcome(Phase.STOPPED, Reason.GRACE_PERIOD_EXCEEDED, message)

    def _wait_for_retry(self, outcome: Outcome) -> Outcome | None:
        """Wait until the next attempt is due and return ``None``, or return why there is none."""
        attempt = self.record.attempt
        limit = self.plan.backoff_limit
        if self._must_stop():
            return self._stopped_outcome([])
        if attempt >= limit:
            tries = f" No attempts left (backoff limit {limit})." if limit else ""
            return Outcome(Phase.FAILED, outcome.reason, outcome.message + tries)
        delay = min(self.plan.restart_delay * 2**attempt, LONGEST_DELAY)
        if self.record.reason is not Reason.RESTARTING:
            message = f"{outcome.message} Attempt {attempt + 2} of {limit + 1} follows."
            self.journal.move(Phase.INITIALIZING, Reason.RESTARTING, message)
        deadline = time.monotonic() + delay
        while (seconds_left := deadline - time.monotonic()) > 0:
            # While a state is unwritten, wake up more often to try again.
            self.bell.wait(min(seconds_left, RETRY) if self.journal.is_behind else seconds_left)
            self.journal.catch_up()
            if self._must_stop():
                return self._stopped_outcome([])
        self.record.begin_attempt(attempt + 1)
        self.record.reason = Reason.NONE
        self.record.message = ""
        return None

    def _must_stop(self) -> bool:
        return self.folder.stop_request(self.plan.run).exists()


def main(path: str) -> None:
    """Supervise the workload in this folder, unless it has a supervisor, is deleted, or has
    ended."""
    folder = Folder.from_path(Path(path))
    supervisor_lock = lock.acquire(folder)  # held as long as the file is open
    document = read_json(folder.launch)
    if supervisor_lock is None or document is None:  # supervised already, or deleted
        return
    plan = GangPlan.from_json(document, read_json(folder.secrets(document["run"])))
    record = Record.read(folder)
    if record is None or record.run != plan.run:
        record = Record.from_plan(plan)
    if record.is_final:
        return
    # Ignored by a handler, not by SIG_IGN, which the ranks would inherit.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, _ignore)
    signal.signal(signal.SIGTERM, _exit)
    Supervisor(folder, plan, record, Bell(folder.bell)).run()


def _ignore(number: int, frame: FrameType | None) -> None:
    """Ignore the signal: what happens in Trainyard's terminal does not concern a training."""


def _exit(number: int, frame: FrameType | None) -> None:
    """End the ranks: the machine shuts down. The attempt counts as lost, and another follows."""
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
