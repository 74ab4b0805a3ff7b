"""What will be done as it is asked, and may still surprise."""

from spec.workload import Framework, WorkloadSpec

NCCL = (
    "Ranks may share a GPU, and NCCL does not start where two ranks use one device: choose the "
    "gloo backend, or whole GPUs."
)


def cautions(spec: WorkloadSpec) -> tuple[str, ...]:
    """Sentences for people; nothing here stops a submission."""
    collective = spec.distributed_framework in {Framework.PYTORCH, Framework.MPI, Framework.JAX}
    sharing = sum(pod.replica.compute.shares_gpu for pod in spec.pods)
    return (NCCL,) if collective and sharing > 1 else ()
