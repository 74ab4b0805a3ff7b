"""What is worth a line in the event history although no rank failed. Pure."""

from collections.abc import Iterator

from engines.base import ClusterEvent
from engines.kubernetes.status.conditions import parse_time
from engines.kubernetes.status.exit import OUT_OF_MEMORY
from engines.kubernetes.status.job import JobView

SURVIVED = (
    "A process of the program was killed because the container reached its memory limit. The "
    "program itself continued, and ended with exit code 0."
)


def memory_notes(view: JobView) -> Iterator[ClusterEvent]:
    """Yield an event for each rank that succeeded although the kernel killed a process of it."""
    for pod in view.pods_by_slot.values():
        end = pod.final_end or {}
        is_survivor = end.get("reason") == OUT_OF_MEMORY and not end.get("exitCode")
        if is_survivor and end.get("finishedAt"):
            yield ClusterEvent(
                view.workload_id,
                key=f"survived {pod.uid} {pod.restarts}",
                at=parse_time(end["finishedAt"]),
                reason=OUT_OF_MEMORY,
                message=SURVIVED,
                about=f"Pod {pod.name}",
            )
