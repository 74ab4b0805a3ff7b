"""Demand against allowance. Pure sums here; one query for many projects at once."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Count, Sum

from projects.models import Project
from spec.phases import HOLDING, Phase
from spec.quantities import readable
from spec.workload import WorkloadSpec


@dataclass(frozen=True)
class Demand:
    """What is asked for or in use: GPUs, CPU cores, bytes of memory."""

    gpus: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    @classmethod
    def of(cls, spec: WorkloadSpec, *, gpu_memory: int) -> "Demand":
        return cls(spec.gpus(gpu_memory), spec.cpu_cores, spec.memory_bytes)

    def __add__(self, other: "Demand") -> "Demand":
        return Demand(
            round(self.gpus + other.gpus, 4),
            round(self.cpu + other.cpu, 4),
            self.memory + other.memory,
        )

    def __sub__(self, other: "Demand") -> "Demand":
        return self + Demand(-other.gpus, -other.cpu, -other.memory)


@dataclass(frozen=True)
class Usage:
    """What a project holds now, and how many of its workloads hold it."""

    held: Demand
    workloads: int


def usage_of(projects: Iterable[Project], phases: Collection[Phase] = HOLDING) -> dict[int, Usage]:
    """What workloads in these phases hold of each project, by its id, in one query."""
    asked = [project.pk for project in projects]
    rows = (
        Project.objects.filter(
            pk__in=asked, workloads__phase__in=phases, workloads__deleted_at=None
        )
        .values_list("pk")
        .annotate(
            Sum("workloads__gpus"),
            Sum("workloads__cpu_cores"),
            Sum("workloads__memory_bytes"),
            Count("workloads"),
        )
        .order_by()
    )
    found = {
        pk: Usage(Demand(round(gpus, 4), round(cpu, 4), memory), count)
        for pk, gpus, cpu, memory, count in rows
    }
    return {pk: found.get(pk, Usage(Demand(), 0)) for pk in asked}


def excess(project: Project, demand: Demand) -> list[str]:
    """Where ``demand`` is more than the project's quota, in words; empty when it fits."""
    found = []
    if demand.gpus > project.gpu_quota + 1e-6:
        found.append(f"{demand.gpus:g} GPUs, the quota is {project.gpu_quota:g}")
    if project.cpu_quota is not None and demand.cpu > project.cpu_quota + 1e-6:
        found.append(f"{demand.cpu:g} CPU cores, the quota is {project.cpu_quota:g}")
    if project.memory_quota is not None and demand.memory > project.memory_quota:
        found.append(
            f"{readable(demand.memory)} of memory, the quota is {readable(project.memory_quota)}"
        )
    return found
