"""A workload as the watch saw it while its ranks run."""

from datetime import UTC, datetime
from uuid import UUID

from engines.slurm.queue.jobs import BatchJob
from engines.slurm.status.facts import RunFacts
from engines.slurm.watch.poll import Glance
from spec.workload import Role
from tests.engines.slurm.cases import UID

AT = datetime(2026, 11, 24, tzinfo=UTC)
ROLES = ((Role.MASTER, 0), (Role.WORKER, 0), (Role.WORKER, 1))


def glance(uid: UUID = UID, job: str = "52", *, parts: int = 2, state: str = "RUNNING") -> Glance:
    tasks = (1, 2) if parts == 2 else (3,)
    facts = RunFacts(ROLES, 1, AT, job=job, attempt=0, parts=tasks)
    return Glance(uid, facts, BatchJob(job, "ty", state), AT)
