"""What will be done as it is asked, and may still surprise."""

from spec.workload import WorkloadSpec


def cautions(spec: WorkloadSpec) -> tuple[str, ...]:
    """Sentences for people; nothing here stops a submission."""
    caution = spec.framework_traits.sharing
    sharing = sum(pod.replica.compute.shares_gpu for pod in spec.pods)
    return (caution,) if caution and sharing > 1 else ()
