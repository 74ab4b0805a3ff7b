"""Sections: sizes that only some frameworks have, and the number of processes per pod."""

from collections.abc import Iterator

from core.forms.field import Input
from spec.workload import LauncherPolicy
from workloads.plan import Plan
from workloads.wizard.sections.base import Question, ReviewLine, Section, reviewed_spec


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    spec = reviewed_spec(plan)
    if role == "master":
        return
    if spec.is_elastic:
        least = spec.min_replicas or spec.num_workers
        most = spec.max_replicas or spec.num_workers
        yield "Elastic workers", f"{least} to {most}", ""
    if spec.slots_per_worker > 1:
        yield "Slots per worker", str(spec.slots_per_worker), "slotsPerWorker"
    if spec.mpi_launcher_creation_policy is LauncherPolicy.WAIT_FOR_WORKERS_READY:
        yield "Start of the launcher", "After its workers", "mpiLauncherCreationPolicy"


SIZE = Section(
    "size",
    once=(
        Question(
            "minReplicas",
            "Minimum workers",
            Input.WHOLE,
            hint="Elastic training continues with at least this many. Empty: all are needed.",
        ),
        Question(
            "maxReplicas",
            "Maximum workers",
            Input.WHOLE,
            hint="Elastic training grows up to this many. Empty: no growth.",
        ),
        Question(
            "slotsPerWorker",
            "Slots per worker",
            Input.WHOLE,
            placeholder="1",
            hint="Processes the launcher starts on each worker. Default: 1.",
        ),
        Question(
            "mpiLauncherCreationPolicy",
            "Start of the launcher",
            Input.SELECT,
            options=(
                ("", "Immediately"),
                (LauncherPolicy.WAIT_FOR_WORKERS_READY, "After its workers"),
            ),
            hint="mpirun needs workers that are ready and reachable by ssh.",
        ),
    ),
    review=review,
)


def review_processes(plan: Plan, role: str) -> Iterator[ReviewLine]:
    count = reviewed_spec(plan).processes_per_pod
    if count and role == "worker":
        yield "Processes per pod", str(count), "processesPerPod"


#: A section of its own, since it is asked on every kind of cluster.
PROCESSES = Section(
    "processes",
    once=(
        Question(
            "processesPerPod",
            "Processes per pod",
            Input.WHOLE,
            hint="How many torchrun or the trainer starts in each pod. "
            "Empty: one for each GPU on Kubernetes, one on this machine.",
        ),
    ),
    review=review_processes,
)
