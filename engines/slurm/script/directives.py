"""What a job requests from Slurm, as options of ``sbatch``. Pure."""

import math
from collections.abc import Iterator

from engines.base import DEFAULT_POOL, Launch
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.script.shape import Tasks, tasks_of
from engines.slurm.script.site import FEATURE, PARTITION, SlurmSite

LONGEST_COMMENT = 200
HETJOB = "hetjob"
STEP = ("--kill-on-bad-exit=1", "--wait=0", "--export=ALL", "--distribution=block")
Option = tuple[str, str]


def options(launch: Launch, site: SlurmSite) -> Iterator[Option]:
    """All options, in the order in which people write them. Tasks that request something else are a
    part of their own, after ``HETJOB``."""
    handle = launch.handle
    (first, *others) = tasks_of(launch.spec)
    run = SharedFolder(site.directory, handle.workload_id).run(launch.run)
    yield "job-name", job_name(handle.workload_id, launch.run)
    yield "comment", _comment(launch)
    yield from _of_part(launch, site, first)
    yield "chdir", run
    yield "output", f"{run}/batch.log"
    yield "open-mode", "append"
    yield "requeue", ""
    yield "export", "ALL"
    for tasks in others:
        yield HETJOB, ""
        yield from _of_part(launch, site, tasks)


def _of_part(launch: Launch, site: SlurmSite, tasks: Tasks) -> Iterator[Option]:
    yield from _where(launch, site, tasks)
    yield "ntasks", str(tasks.count)
    yield from per_task(tasks)
    if launch.spec.time_limit_seconds:
        yield "time", str(minutes(launch, site))


def per_task(tasks: Tasks) -> Iterator[Option]:
    """What each task requests."""
    yield "cpus-per-task", str(tasks.cpus)
    if tasks.memory_per_cpu is not None:
        yield "mem-per-cpu", f"{tasks.memory_per_cpu}M"
    if tasks.gpus:
        yield "gpus-per-task", str(tasks.gpus)


def of_step(tasks: Tasks) -> list[str]:
    """Options of ``srun``, which does not inherit all of them from the job."""
    kept = {"cpus-per-task", "gpus-per-task"}
    asked = [f"--{name}={value}" for name, value in per_task(tasks) if name in kept]
    return [*STEP, *asked]


def left(launch: Launch) -> int | None:
    """Seconds that are left of the time limit in this run; ``None`` without a limit."""
    limit = launch.spec.time_limit_seconds
    return None if limit is None else max(1, int(limit - launch.ran))


def minutes(launch: Launch, site: SlurmSite) -> int:
    """Slurm's time limit of the job, in minutes. It is later than ours plus the grace period, but
    no more than the partitions allow."""
    grace = launch.spec.termination_grace_period_seconds
    own = left(launch) or 0
    named = partitions(launch, site)
    there = launch.site.partitions
    chosen = [it for it in there if it.name in named or (it.is_default and not named)]
    least = max(1, math.ceil(own / 60))
    longest = [it.max_seconds // 60 for it in chosen if it.max_seconds is not None]
    return min([math.ceil((own + grace) / 60) + 1, *(max(it, least) for it in longest)])


def account(launch: Launch, site: SlurmSite) -> str:
    """The account of the job; empty for our user's default one."""
    return site.account_of(launch.handle.project)


def partitions(launch: Launch, site: SlurmSite) -> list[str]:
    """Partitions that the job may use: those among its node pools, else the site's; none for
    Slurm's default."""
    labels = [_label(launch, name) for name in launch.spec.node_pools]
    named = [key.removeprefix(PARTITION) for key, _ in labels if key.startswith(PARTITION)]
    return named or ([site.partition] if site.partition else [])


def _where(launch: Launch, site: SlurmSite, tasks: Tasks) -> Iterator[Option]:
    if named := partitions(launch, site):
        yield "partition", ",".join(named)
    if charged := account(launch, site):
        yield "account", charged
    if launch.spec.priority_class:
        yield "qos", str(launch.spec.priority_class)
    labels = [_label(launch, name) for name in launch.spec.node_pools]
    features = [key.removeprefix(FEATURE) for key, _ in labels if key.startswith(FEATURE)]
    either = "|".join(features)
    own = tasks.replica.node_type
    if own and either:
        yield "constraint", f"{own}&({either})" if len(features) > 1 else f"{own}&{either}"
    elif own or either:
        yield "constraint", own or either


def _label(launch: Launch, pool: str) -> tuple[str, str]:
    return launch.site.pools.get(pool, ("", "")) if pool != DEFAULT_POOL else ("", "")


def _comment(launch: Launch) -> str:
    handle = launch.handle
    by = f" by {launch.submitted_by}" if launch.submitted_by else ""
    text = f"{handle.project}/{handle.name}{by}"
    return "".join(c if c.isprintable() else " " for c in text)[:LONGEST_COMMENT]
