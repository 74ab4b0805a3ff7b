"""What a gallery shows of an asset at one glance."""

from dataclasses import dataclass

from assets.models import ComputeResource, Environment, Template
from spec.compute import Compute, GpuRequestType
from spec.environment import TOOLS
from spec.quantities import readable, to_bytes
from spec.workload import Architecture, Framework

Fact = tuple[str, str, str]  # icon, name, value
Chip = tuple[str, str]  # label, tone


@dataclass(frozen=True)
class Card:
    """The parts of ``components/asset_card.html`` that depend on the kind."""

    facts: list[Fact]
    chips: list[Chip]


def environment(asset: Environment) -> Card:
    spec = asset.spec
    facts = [("box", "Image", spec.image)]
    if command := " ".join(part for part in (spec.command, spec.args) if part):
        facts.append(("terminal-2", "Command", command))
    tools = ", ".join(TOOLS[connection.tool_type] for connection in spec.connections)
    if tools:
        facts.append(("tool", "Tools", tools))
    if count := len(spec.environment_variables):
        facts.append(("variable", "Environment variables", f"{count} variable{'s' * (count > 1)}"))
    kind = Framework(asset.framework).label if asset.framework else "Any framework"
    return Card(facts, [(kind if asset.distributed else "Standard", "accent")])


def compute(asset: ComputeResource, *, virtual: bool = False) -> Card:
    """``virtual``: the cluster's GPUs are accounting units, and every card says so."""
    spec = asset.spec
    facts = [
        ("cpu-2", "GPU per pod", gpu_words(spec, virtual=virtual)),
        ("cpu", "CPU per pod", cpu_words(spec)),
        ("database", "CPU memory per pod", memory_words(spec)),
    ]
    facts += [
        ("plus", "Extended resource", f"{r.resource} × {r.quantity}")
        for r in spec.extended_resources
    ]
    return Card(facts, [("GPU", "accent") if spec.gpu_devices_request else ("CPU only", "neutral")])


def compute_at_home(asset: ComputeResource) -> Card:
    return compute(asset, virtual=asset.cluster.has_virtual_gpus)


def gpu_words(spec: Compute, *, virtual: bool = False) -> str:
    """``No GPU``, ``2 GPUs``, ``10 % of a GPU``, ``4 GB of a GPU``; a limit follows."""
    gpu = "virtual GPU" if virtual else "GPU"
    if spec.gpu_request_type is GpuRequestType.PORTION:
        most = f", at most {spec.gpu_portion_limit:.4g}" if spec.gpu_portion_limit else ""
        return f"{(spec.gpu_portion_request or 0) * 100:.4g} % of a {gpu}{most}"
    if spec.gpu_request_type is GpuRequestType.MEMORY:
        most = f", at most {_size(spec.gpu_memory_limit)}" if spec.gpu_memory_limit else ""
        return f"{_size(spec.gpu_memory_request)} of a {gpu}{most}"
    count = spec.gpu_devices_request
    return f"{count} {gpu}{'' if count == 1 else 's'}" if count else f"No {gpu}"


def cpu_words(spec: Compute) -> str:
    most = f", at most {spec.cpu_core_limit:g}" if spec.cpu_core_limit else ""
    return f"{spec.cpu_core_request:g} core{'' if spec.cpu_core_request == 1 else 's'}{most}"


def memory_words(spec: Compute) -> str:
    most = f", at most {_size(spec.cpu_memory_limit)}" if spec.cpu_memory_limit else ""
    return f"{_size(spec.cpu_memory_request)} memory{most}"


def _size(quantity: str | None) -> str:
    return readable(to_bytes(quantity)) if quantity else "–"


def template(asset: Template) -> Card:
    """Needs ``environments`` and ``compute_resources`` prefetched in a list of many."""
    draft = asset.draft
    workers = draft.values.get("numWorkers", 1)
    shape = " + master" if draft.architecture == Architecture.WORKERS_AND_MASTER else ""
    facts = [("stack-2", "Ranks", f"{workers} worker{'' if workers == 1 else 's'}{shape}")]
    facts += [("box", "Environment", str(e)) for e in asset.environments.all()]
    facts += [("cpu", "Compute resource", str(c)) for c in asset.compute_resources.all()]
    known = draft.framework in set(Framework)
    label = Framework(draft.framework).label if known else draft.framework
    return Card(facts, [(label, "accent")])
