"""The card of a compute resource in a gallery."""

from collections.abc import Sequence

from pydantic import ValidationError

from assets.base import AssetCard, Columns, Fact
from assets.compute.model import ComputeResource
from clusters.models import Cluster
from spec.draft import Values
from spec.parts.compute import Compute, GpuRequestType
from spec.values.quantities import format_bytes, to_bytes

GPU = "GPU per pod"
CPU = "CPU per pod"
MEMORY = "CPU memory per pod"
EXTENDED = "Extended resource"
COLUMNS: Columns = tuple((name, (name,)) for name in (GPU, CPU, MEMORY, EXTENDED))


def draw(resource: ComputeResource, cluster: Cluster | None) -> AssetCard:
    spec = resource.spec
    tone = ("GPU", "accent") if spec.gpu_devices_request else ("CPU only", "neutral")
    return AssetCard(_facts(spec, virtual=bool(cluster and cluster.has_virtual_gpus)), [tone])


def copied_facts(values: Values) -> list[Fact]:
    """Return the facts of a copied pod's own resources, if it has any."""
    own = values.get("compute")
    if not own:
        return []
    try:
        return _facts(Compute.model_validate(own), virtual=False)
    except ValidationError:
        return [("alert-triangle", "Compute", "not complete")]


def _facts(spec: Compute, *, virtual: bool) -> list[Fact]:
    """Return the facts of a card. ``virtual`` means that the cluster's GPUs are accounting units,
    which every card says."""
    return [
        ("cpu-2", GPU, gpu_words(spec, virtual=virtual)),
        ("cpu", CPU, cpu_words(spec)),
        ("database", MEMORY, memory_words(spec)),
        *(("plus", EXTENDED, f"{it.resource} × {it.quantity}") for it in spec.extended_resources),
    ]


def gpu_words(spec: Compute, *, virtual: bool = False) -> str:
    """Return a request for GPUs in words: ``No GPU``, ``2 GPUs``, ``10 % of a GPU`` or ``4 GB of a
    GPU``, followed by its limit."""
    gpu = "virtual GPU" if virtual else "GPU"
    if spec.gpu_request_type is GpuRequestType.PORTION:
        most = f", at most {spec.gpu_portion_limit:.4g}" if spec.gpu_portion_limit else ""
        return f"{(spec.gpu_portion_request or 0) * 100:.4g} % of a {gpu}{most}"
    if spec.gpu_request_type is GpuRequestType.MEMORY:
        most = f", at most {_size(spec.gpu_memory_limit)}" if spec.gpu_memory_limit else ""
        return f"{_size(spec.gpu_memory_request)} of a {gpu}{most}"
    count = spec.gpu_devices_request
    return f"{count} {gpu}{'' if count == 1 else 's'}" if count else f"No {gpu}"


def devices_words(devices: Sequence[int], spec: Compute) -> str:
    """Return devices in words, with the part of them that is requested: ``GPU 0 (10 %)``, ``GPU 1
    (4 GB)``, ``GPUs 2, 3``."""
    each = " of each" if len(devices) > 1 else ""
    share = ""
    if spec.gpu_request_type is GpuRequestType.PORTION:
        share = f" ({(spec.gpu_portion_request or 0) * 100:.4g} %{each})"
    elif spec.gpu_request_type is GpuRequestType.MEMORY:
        share = f" ({_size(spec.gpu_memory_request)}{each})"
    numbers = ", ".join(map(str, devices))
    return f"GPU{'s' if each else ''} {numbers}{share}"


def cpu_words(spec: Compute) -> str:
    most = f", at most {spec.cpu_core_limit:g}" if spec.cpu_core_limit else ""
    return f"{spec.cpu_core_request:g} core{'' if spec.cpu_core_request == 1 else 's'}{most}"


def memory_words(spec: Compute) -> str:
    most = f", at most {_size(spec.cpu_memory_limit)}" if spec.cpu_memory_limit else ""
    return f"{_size(spec.cpu_memory_request)} memory{most}"


def _size(quantity: str | None) -> str:
    return format_bytes(to_bytes(quantity)) if quantity else "–"
