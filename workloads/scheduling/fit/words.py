"""Verdicts in words."""

from spec.workload import WorkloadSpec
from workloads.scheduling.fit.judge import Fit


def largest_in_words(fit: Fit, spec: WorkloadSpec) -> str:
    """The largest gang of such pods that would start; empty if unknown."""
    if fit.largest is None:
        return ""
    if fit.largest == 0:
        return "Not even one such worker fits now."
    workers = f"{fit.largest} worker{'s' if fit.largest > 1 else ''}"
    master = "1 master and " if spec.has_master else ""
    return f"Largest gang that fits now: {master}{workers}."
