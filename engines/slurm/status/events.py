"""Turns records of Slurm's accounting about a job into events of its workload. Pure."""

from collections.abc import Iterator
from uuid import UUID

from engines.base import ClusterEvent
from engines.slurm.queue.records import JobRecord
from engines.slurm.status import exit
from spec.values.quantities import format_bytes

#: The reason of an event, by the final state of the job.
ENDS = {
    "COMPLETED": "Completed",
    "FAILED": "Failed",
    "CANCELLED": "Canceled",
    "TIMEOUT": "TimeLimit",
    "NODE_FAIL": "NodeFailed",
    "OUT_OF_MEMORY": "OutOfMemory",
    "PREEMPTED": "Preempted",
    "REQUEUED": "Requeued",
    "BOOT_FAIL": "BootFailed",
    "RECONFIG_FAIL": "ReconfigFailed",
}
BATCH = "batch"  # the step of the script itself
MOST_STEPS = 5  # listed in one event


def events_of(uid: UUID, record: JobRecord) -> Iterator[ClusterEvent]:
    """Yield the events of a start and its end. The same event always has the same key."""
    if record.start is None:
        return
    about = f"job {record.id}" + ("" if record.part is None else f"+{record.part}")
    key = f"slurm-{record.id}-{record.part or 0}-{record.start.timestamp():.0f}"
    yield ClusterEvent(uid, f"{key}-start", record.start, "Started", _describe_start(record), about)
    if record.is_over and record.end:
        other = "".join(word.capitalize() for word in record.state.split("_"))
        reason = ENDS.get(record.state, other)
        yield ClusterEvent(uid, f"{key}-end", record.end, reason, _describe_end(record), about)


def _describe_start(record: JobRecord) -> str:
    count = record.allocated
    resources = [_count(count.get("gres/gpu", 0), "GPU"), _count(count.get("cpu", 0), "CPU")]
    resources += [f"{format_bytes(count['mem'])} of memory"] if "mem" in count else []
    named = {"partition": record.partition, "account": record.account, "QOS": record.qos}
    parts = [f"on {record.nodes}" if record.nodes else "", ", ".join(filter(None, resources))]
    return "; ".join(
        filter(None, [*parts, *(f"{it} {name}" for it, name in named.items() if name)])
    )


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count > 1)}" if count else ""


def _describe_end(record: JobRecord) -> str:
    start = record.start
    end = record.end
    parts = [f"after {str(end - start).partition('.')[0]}" if start and end else ""]
    parts += [f"by {record.ended_by}" if record.ended_by else ""]
    parts += [f"node {record.failed_node} failed" if record.failed_node else ""]
    parts += [exit.describe_job_end(record.exit), *_failed_steps(record)]
    ranks = [it for it in record.steps if it.name != BATCH] or record.steps
    memory, node = max(((it.memory, it.memory_node) for it in ranks), default=(0, ""))
    if memory:
        where = f" on {node}" if node else ""
        parts += [f"a task used up to {format_bytes(memory)} of memory{where}"]
    return "; ".join(filter(None, parts))


def _failed_steps(record: JobRecord) -> Iterator[str]:
    """Yield the steps that failed, without that of the batch script, which ends as the job does."""
    steps = [it for it in record.steps if it.name != BATCH and exit.describe_job_end(it.exit)]
    for step in steps[:MOST_STEPS]:
        yield f"step {step.name} {exit.describe_job_end(step.exit)}"
    if len(steps) > MOST_STEPS:
        yield f"{len(steps) - MOST_STEPS} more steps failed"
