"""Turns the requests of a job into options of ``sbatch``. Pure."""

import math
from collections.abc import Iterator

from engines.base import Launch
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.script.shape import Tasks, group_tasks
from engines.slurm.script.site import FEATURE, PARTITION, SlurmSite
from spec.parts.scheduling import DEFAULT_POOL

LONGEST_COMMENT = 200
HETJOB = "hetjob"
STEP = ("--kill-on-bad-exit=1", "--wait=0", "--export=ALL", "--distribution=block")
Option = tuple[str, str]


def options(launch: Launch, site: SlurmSite) -> Iterator[Option]:
    """Yield all options, in the order in which people write them. Tasks with other requests are a
    separate part, after ``HETJOB``."""
    handle = launch.handle
    (first, *others) = group_tasks(launch.spec)
    run = SharedFolder(site.directory, handle.workload_id).run(launch.run)
    yield "job-name", job_name(handle.workload_id, launch.run)
    yield "comment", _comment(launch)
    yield from _part_options(launch, site, first)
    yield "chdir", run
    yield "output", f"{run}/batch.log"
    yield "open-mode", "append"
    yield "requeue", ""
    yield "export", "ALL"
    for tasks in others:
        yield HETJOB, ""
        yield from _part_options(launch, site, tasks)


def directive_line(name: str, value: str) -> str:
    """Write an option as a line of a batch script."""
    if name == HETJOB:
        return f"#SBATCH {name}"
    return f"#SBATCH --{name}={_quote(value)}" if value else f"#SBATCH --{name}"


def _quote(value: str) -> str:
    """Return the value as one word for Slurm, in double quotes if it has special characters."""
    if value and all(c.isalnum() or c in "-_./:,=&|%+@" for c in value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _part_options(launch: Launch, site: SlurmSite, tasks: Tasks) -> Iterator[Option]:
    yield from _placement_options(launch, site, tasks)
    yield "ntasks", str(tasks.count)
    yield from task_options(tasks)
    if launch.spec.time_limit_seconds:
        yield "time", str(limit_minutes(launch, site))


def task_options(tasks: Tasks) -> Iterator[Option]:
    """Yield the requests of each task."""
    yield "cpus-per-task", str(tasks.cpus)
    if tasks.memory_per_cpu is not None:
        yield "mem-per-cpu", f"{tasks.memory_per_cpu}M"
    if tasks.gpus:
        yield "gpus-per-task", str(tasks.gpus)


def step_options(tasks: Tasks) -> list[str]:
    """Return the options of ``srun``, which does not inherit all of them from the job."""
    names = {"cpus-per-task", "gpus-per-task"}
    requests = [f"--{name}={value}" for name, value in task_options(tasks) if name in names]
    return [*STEP, *requests]


def seconds_left(launch: Launch) -> int | None:
    """Return the seconds of the time limit that this run may still use; ``None`` without a
    limit."""
    limit = launch.spec.time_limit_seconds
    return None if limit is None else max(1, int(limit - launch.ran))


def limit_minutes(launch: Launch, site: SlurmSite) -> int:
    """Return Slurm's time limit of the job, in minutes. It is longer than the workload's time limit
    and grace period, but no longer than the partitions allow."""
    grace = launch.spec.termination_grace_period_seconds
    seconds = seconds_left(launch) or 0
    named = job_partitions(launch, site)
    partitions = launch.site.partitions
    chosen = [it for it in partitions if it.name in named or (it.is_default and not named)]
    shortest = max(1, math.ceil(seconds / 60))
    longest = [it.max_seconds // 60 for it in chosen if it.max_seconds is not None]
    return min([math.ceil((seconds + grace) / 60) + 1, *(max(it, shortest) for it in longest)])


def job_account(launch: Launch, site: SlurmSite) -> str:
    """Return the account of the job; empty for the default account of Trainyard's user."""
    return site.account_of(launch.handle.project)


def job_partitions(launch: Launch, site: SlurmSite) -> list[str]:
    """Return the partitions that the job may use: those among its node pools, else that of the
    site. None stands for Slurm's default."""
    labels = [_label(launch, name) for name in launch.spec.node_pools]
    named = [key.removeprefix(PARTITION) for key, _ in labels if key.startswith(PARTITION)]
    return named or ([site.partition] if site.partition else [])


def _placement_options(launch: Launch, site: SlurmSite, tasks: Tasks) -> Iterator[Option]:
    if named := job_partitions(launch, site):
        yield "partition", ",".join(named)
    if account := job_account(launch, site):
        yield "account", account
    if launch.spec.priority_class:
        yield "qos", str(launch.spec.priority_class)
    labels = [_label(launch, name) for name in launch.spec.node_pools]
    features = [key.removeprefix(FEATURE) for key, _ in labels if key.startswith(FEATURE)]
    any_feature = "|".join(features)
    node_type = tasks.replica.node_type
    if node_type and any_feature:
        yield (
            "constraint",
            f"{node_type}&({any_feature})" if len(features) > 1 else f"{node_type}&{any_feature}",
        )
    elif node_type or any_feature:
        yield "constraint", node_type or any_feature


def _label(launch: Launch, pool: str) -> tuple[str, str]:
    return launch.site.pools.get(pool, ("", "")) if pool != DEFAULT_POOL else ("", "")


def _comment(launch: Launch) -> str:
    handle = launch.handle
    author = f" by {launch.submitted_by}" if launch.submitted_by else ""
    text = f"{handle.project}/{handle.name}{author}"
    return "".join(c if c.isprintable() else " " for c in text)[:LONGEST_COMMENT]
