"""Names of jobs, and of files on the shared directory of the cluster. Pure.

<directory>/changed/<workload>              touched when something of it changes
<directory>/workloads/<workload>/run        the number of its latest run
<directory>/claims/<project>/<claim>/       outlives the workloads that mount it
<directory>/workloads/<workload>/checkpoints, ranks/<rank>/, claims/<role>-<number>/
<directory>/workloads/<workload>/runs/<run>/
    batch.sh  rank.sh  environment.sh       scripts for Slurm; the last one contains secrets
    script.sh  start.sh  bin/srun           those of a batch script
    files/  keys/  volumes/                 what ranks mount or fetch; removed at the end
    launch  job  claim  attempt  stop  limit  finished  ended     facts, a line each
    batch.log
    attempt-<n>/rank-<r>.{started,ended,log}  led
"""

import re
from dataclasses import dataclass
from uuid import UUID

NAME = re.compile(r"^ty-([0-9a-f]{32})-([1-9][0-9]*)$")


def job_name(workload_id: UUID, run: int) -> str:
    """Return the name of a run's job. Accounting always keeps the name, but often not the
    comment."""
    return f"ty-{workload_id.hex}-{run}"


def run_of(name: str) -> tuple[UUID, int] | None:
    """Return the workload and run of a job's name, or ``None`` if Trainyard did not choose it."""
    match = NAME.match(name)
    return (UUID(match[1]), int(match[2])) if match else None


@dataclass(frozen=True)
class SharedFolder:
    """The folder of one workload on the shared directory."""

    directory: str
    workload_id: UUID

    @property
    def path(self) -> str:
        return f"{self.directory}/{self.relative}"

    @property
    def relative(self) -> str:
        return f"workloads/{self.workload_id.hex}"

    @property
    def bell(self) -> str:
        return f"{self.directory}/changed/{self.workload_id.hex}"

    @property
    def checkpoints(self) -> str:
        return f"{self.path}/checkpoints"

    def run(self, run: int) -> str:
        return f"{self.path}/runs/{run}"

    def log(self, run: int, rank: int, attempt: int) -> str:
        return f"{self.run(run)}/attempt-{attempt}/rank-{rank}.log"
