"""The Slurm engine: gangs are batch jobs, and their ranks the tasks of one step."""

import socket
import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Sequence, Set
from datetime import UTC, datetime
from threading import Thread
from uuid import UUID

from engines.base import (
    Capabilities,
    ClusterEvent,
    EngineRefused,
    EngineUnavailable,
    Handle,
    Launch,
    Manifest,
    Observation,
    UsageSample,
    raise_complaints,
)
from engines.findings import Finding
from engines.logs import Log, LogChunk
from engines.nodes import NodeInfo
from engines.partitions import Partition
from engines.queues import Wanted
from engines.session import Session
from engines.slurm import charging, limits, unsupported
from engines.slurm.client import files, programs, terminal
from engines.slurm.client.courier import Courier
from engines.slurm.client.transport import Transport, clean_environment
from engines.slurm.cluster import checks, discovery
from engines.slurm.cluster.nodes import parse_nodes
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.logs import LogReader
from engines.slurm.queue.commands import answered
from engines.slurm.queue.reader import QueueReader
from engines.slurm.script.render import manifests
from engines.slurm.script.site import SlurmSite
from engines.slurm.status.facts import RunFacts
from engines.slurm.submission import Submission
from engines.slurm.usage import StepSampler
from engines.slurm.watch.history import JobHistory
from engines.slurm.watch.poll import Glance, Looker
from engines.slurm.watch.watcher import INTERVAL, QueueWatcher
from spec.problems.errors import Problem
from spec.tools import Tool

DIAL_SECONDS = 5.0
NO_KEY = "Jobs of this cluster run under people's own names, and no key is available."
OWNER_KEY_NEEDED = (
    "Its owner's SSH key for this cluster is needed to end it; or end it there, with scancel."
)
NODES_SECONDS = 25.0  # Slurm itself takes minutes to notice that a node is down
KILL_SECONDS = 20.0  # time for killed jobs to leave their nodes, before the deletion is tried again


class SlurmEngine:
    """An engine whose entire state is on the shared directory, so that any number of processes can
    use it.

    ``interval`` is the minimum time between two looks at the queue, in seconds. ``person`` runs
    commands as a user, under the user's own name. Without it, workloads that run under people's
    own names can only be watched.
    """

    def __init__(
        self,
        transport: Transport,
        site: SlurmSite,
        *,
        interval: float = INTERVAL,
        person: Transport | None = None,
    ) -> None:
        self._transport = transport
        self._site = site
        self._interval = interval
        self._person = person or transport
        self._is_onlooker = site.own_names and person is None
        self._queue = QueueReader(transport, interval, site.directory if site.own_names else "")
        self._courier = Courier(self._person, site.directory, site.umask)
        self._looker = Looker(transport, site.directory, self._queue)
        self._logs = LogReader(transport, site.directory, site.own_names)
        self._usage = StepSampler(transport, site.directory if site.own_names else "")
        self._history = JobHistory(transport, site.own_names)
        self._watching: Looker | None = None
        self._checks = checks.ClusterChecks(transport, site)
        self._nodes: tuple[float, tuple[NodeInfo, ...]] = float("-inf"), ()
        self._partitions: tuple[Partition, ...] = ()

    def acting(self, person: Transport) -> "SlurmEngine":
        """Return the same engine for a person who submits, stops and enters jobs under their own
        name."""
        return SlurmEngine(self._transport, self._site, interval=self._interval, person=person)

    def capabilities(self) -> Capabilities:
        self._partitions = discovery.read_partitions(self._transport, self.nodes())
        return discovery.discover(self._transport, self._partitions)

    def nodes(self) -> tuple[NodeInfo, ...]:
        """Return the nodes, as they were at most ``NODES_SECONDS`` ago."""
        now = time.monotonic()
        if now - self._nodes[0] > NODES_SECONDS:
            at = datetime.now(UTC)
            answer = self._transport.run([*discovery.SHOW, "node"])
            self._nodes = now, parse_nodes(answered(answer, "scontrol show node"), at)
        return self._nodes[1]

    def check(self) -> tuple[Finding, ...]:
        """Return the findings of all checks. Partitions are those that ``capabilities`` read last,
        if it did."""
        return self._checks.run(
            lambda: self._partitions or discovery.read_partitions(self._transport, self.nodes())
        )

    def keep_queues(self, wanted: Wanted) -> None:
        """Do nothing: accounts and their limits belong to the site."""

    def render(self, launch: Launch) -> list[Manifest]:
        return [dict(document) for document in manifests(launch, self._site)]

    def complaints(self, launch: Launch) -> Iterator[Problem]:
        yield from unsupported.complaints(launch, self._site)
        yield from charging.complaints(launch, self._site)
        yield from limits.complaints(launch, self._site)

    def submit(self, launch: Launch) -> None:
        raise_complaints(self.complaints(launch))
        if self._is_onlooker:
            raise EngineRefused(NO_KEY)
        if self._site.own_names:
            answer = files.run_program(
                self._transport, programs.OPEN_DIRECTORY, self._site.directory
            )
            files.output_of(answer, f"{self._site.directory} cannot be opened to people")
        Submission(self._courier, self._queue, self._site, launch).submit()

    def watch(self) -> Generator[Observation | None]:
        self._watching = Looker(self._transport, self._site.directory, self._queue)
        self._history.restore()
        yield from QueueWatcher(self._watching, self._history).watch()

    def events(self) -> list[ClusterEvent]:
        return self._history.take()

    def observe(self, handle: Handle) -> Observation | None:
        glance = self._glance(handle)
        return glance.observation if glance else None

    def _glance(self, handle: Handle) -> Glance | None:
        return next(iter(self._looker.some([handle.workload_id])), None)

    def stop(self, handle: Handle, *, run: int) -> None:
        name = job_name(handle.workload_id, run)
        folder = self._folder(handle).run(run)
        self._check_ownership([name])
        answer = files.run_program(self._person, programs.STOP, folder, name)
        files.output_of(answer, "It cannot be stopped now")

    def delete(self, handle: Handle, *, at_rest: Callable[[], None] | None = None) -> None:
        folder = self._folder(handle)
        folders = files.latest_runs(
            self._transport,
            self._site.directory,
            folder.relative,
            of_people=self._site.own_names,
        )
        runs = int(folders[0].rpartition("/")[2]) if folders else 1
        names = [job_name(handle.workload_id, run + 1) for run in range(runs)]
        self._kill_jobs(folder, names)
        if at_rest:
            at_rest()
        words = self._site.directory, folder.relative, folder.bell
        files.output_of(
            files.run_program(self._person, programs.REMOVE, *words), "It cannot be removed"
        )

    def _check_ownership(self, names: Sequence[str]) -> None:
        """Raise ``EngineUnavailable`` if jobs with these names run and only their owner may end
        them."""
        if not self._is_onlooker:
            return
        for job in self._queue.named(*names):
            if not job.is_over:
                raise EngineUnavailable(f"The job {job.id} is someone's own. {OWNER_KEY_NEEDED}")

    def _kill_jobs(self, folder: SharedFolder, names: Sequence[str]) -> None:
        self._check_ownership(names)
        deadline = time.monotonic() + KILL_SECONDS
        while True:
            answer = files.run_program(self._person, programs.KILL, folder.path, *names)
            left = files.output_of(answer, "Its job cannot be ended").split()
            if not left:
                return
            if time.monotonic() > deadline:
                raise EngineUnavailable(f"its job {left[0]} does not end yet; trying again")
            time.sleep(0.3)

    def news(self) -> Set[UUID]:
        """Return the workloads with new output or usage. Usage is sampled for the jobs that the
        watch of this process sees."""
        glances = tuple(self._watching.last.values()) if self._watching else ()
        return self._logs.news() | self._usage.refresh(glances)

    def logs(self, handle: Handle, *, run: int) -> Sequence[Log]:
        return self._logs.logs(self._folder(handle), run)

    def read_log(
        self, handle: Handle, log: Log, *, offset: int, cursor: str, limit: int
    ) -> LogChunk:
        return self._logs.read(self._folder(handle), log, offset, limit)

    def exec(self, handle: Handle, *, rank: int, argv: Sequence[str]) -> Session:
        if self._is_onlooker:
            raise EngineRefused(NO_KEY)
        job, node, facts = self._find_running(handle, rank)
        script = f"{self._folder(handle).run(facts.run)}/rank.sh"
        words = ["srun", f"--jobid={job}", "--overlap", "--nodes=1", "--ntasks=1"]
        group = facts.part_of(rank)
        words += [f"--het-group={group}"] if group else []
        words += facts.inside[group] if facts.inside else ()
        words += [f"--nodelist={node}", "--export=ALL", "--pty", "bash", script, str(rank), *argv]
        try:
            return terminal.open_session(self._person.terminal(words))
        except OSError as error:
            raise EngineRefused(f"The terminal cannot be opened: {error}.") from error

    def _find_running(self, handle: Handle, rank: int) -> tuple[str, str, RunFacts]:
        """Return the job and the node of a running rank, and the facts of its run. Raises
        ``EngineRefused`` if the rank does not run."""
        glance = self._glance(handle)
        fact = glance.facts.ranks.get(rank) if glance else None
        job = glance.job if glance else None
        if not (glance and job and fact and job.state == "RUNNING" and fact.code is None):
            raise EngineRefused("The rank is not running.")
        return job.id, fact.node, glance.facts

    def address(self, handle: Handle, tool: Tool) -> str:
        return ""

    def dial(self, handle: Handle, *, rank: int, port: int) -> socket.socket:
        try:
            _, node, _ = self._find_running(handle, rank)
        except EngineRefused as error:
            raise EngineUnavailable(str(error)) from error
        tunnel = self._transport.tunnel(node, port)
        if tunnel is None:
            try:
                return socket.create_connection((node, port), timeout=DIAL_SECONDS)
            except OSError as error:
                raise EngineUnavailable(f"{node}:{port} does not answer: {error}.") from error
        ours, theirs = socket.socketpair()
        with theirs:
            end = theirs.fileno()
            quiet = subprocess.DEVNULL
            client = subprocess.Popen(
                tunnel, stdin=end, stdout=end, stderr=quiet, env=clean_environment()
            )
        Thread(target=client.wait, daemon=True, name="tunnel").start()
        return ours

    def usage(self, handle: Handle, *, run: int, after: datetime | None) -> list[UsageSample]:
        return self._usage.read(handle.workload_id, run, after)

    def _folder(self, handle: Handle) -> SharedFolder:
        return SharedFolder(self._site.directory, handle.workload_id)
