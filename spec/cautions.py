"""Cautions about valid specs that may still surprise."""

from collections.abc import Iterator

from spec.workload import WorkloadSpec


def cautions(spec: WorkloadSpec) -> tuple[str, ...]:
    """Sentences for people; nothing here stops a submission."""
    return tuple(_gpu_sharing_cautions(spec))


def _gpu_sharing_cautions(spec: WorkloadSpec) -> Iterator[str]:
    """Cautions about ranks that share a device."""
    caution = spec.framework_traits.sharing
    processes = spec.processes_per_pod or 1
    sharing = sum(pod.replica.compute.shares_gpu for pod in spec.pods)
    devices = [pod.replica.compute.gpu_devices_request for pod in spec.pods]
    if any(0 < each < processes for each in devices):
        yield (
            f"{processes} processes per pod are more than its GPUs. NCCL does not start when two "
            "ranks use one device: start one for each GPU, or choose the gloo backend."
        )
    elif caution and sharing > 1:
        yield caution
