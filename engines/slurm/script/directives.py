"""What a job asks of Slurm, as the options of ``sbatch``. Pure."""

import math
from collections.abc import Iterator

from engines.base import DEFAULT_POOL, Launch
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.script.site import FEATURE, PARTITION, SlurmSite
from spec.compute import DEFAULT_MEMORY, Compute
from spec.quantities import to_bytes

MIB = 1024 * 1024
LONGEST_COMMENT = 200
Option = tuple[str, str]


def options(launch: Launch, site: SlurmSite) -> Iterator[Option]:
    """In the order in which people write them. A task is a rank."""
    handle, spec = launch.handle, launch.spec
    run = SharedFolder(site.directory, handle.workload_id).run(launch.run)
    yield "job-name", job_name(handle.workload_id, launch.run)
    yield "comment", _comment(launch)
    yield from _where(launch, site)
    yield "ntasks", str(spec.num_pods)
    yield from per_task(spec.worker.compute)
    if spec.time_limit_seconds:
        yield "time", str(minutes(launch))
    yield "chdir", run
    yield "output", f"{run}/batch.log"
    yield "open-mode", "append"
    yield "requeue", ""


def per_task(compute: Compute) -> Iterator[Option]:
    """Slurm holds a job to its memory, so a limit counts. Nobody who asks for the default means
    that: then the cluster's own default holds."""
    cpus = math.ceil(compute.cpu_core_limit or compute.cpu_core_request) or 1
    yield "cpus-per-task", str(cpus)
    asked = compute.cpu_memory_limit or compute.cpu_memory_request
    if asked != DEFAULT_MEMORY:
        yield "mem-per-cpu", f"{math.ceil(to_bytes(asked) / cpus / MIB)}M"
    if compute.gpu_devices_request:
        yield "gpus-per-task", str(compute.gpu_devices_request)


def of_step(compute: Compute) -> list[str]:
    """The same for ``srun``, which does not take all of them from the job."""
    kept = {"cpus-per-task", "gpus-per-task"}
    asked = [f"--{name}={value}" for name, value in per_task(compute) if name in kept]
    return ["--kill-on-bad-exit=1", "--wait=0", "--export=ALL", "--distribution=block", *asked]


def left(launch: Launch) -> int | None:
    """Seconds that remain of the time limit in this run."""
    limit = launch.spec.time_limit_seconds
    return None if limit is None else max(1, int(limit - launch.ran))


def minutes(launch: Launch) -> int:
    """Slurm's own limit, which comes after ours and its grace period, and counts whole minutes."""
    grace = launch.spec.termination_grace_period_seconds
    return math.ceil(((left(launch) or 0) + grace) / 60) + 1


def partitions(launch: Launch, site: SlurmSite) -> list[str]:
    labels = [_label(launch, name) for name in launch.spec.node_pools]
    named = [key.removeprefix(PARTITION) for key, _ in labels if key.startswith(PARTITION)]
    return named or ([site.partition] if site.partition else [])


def _where(launch: Launch, site: SlurmSite) -> Iterator[Option]:
    if named := partitions(launch, site):
        yield "partition", ",".join(named)
    if site.account:
        yield "account", site.account
    if launch.spec.priority_class:
        yield "qos", str(launch.spec.priority_class)
    labels = [_label(launch, name) for name in launch.spec.node_pools]
    features = [key.removeprefix(FEATURE) for key, _ in labels if key.startswith(FEATURE)]
    either = "|".join(features)
    own = launch.spec.worker.node_type
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
