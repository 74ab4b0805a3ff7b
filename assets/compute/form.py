"""The compute resource form: amounts with units here, Kubernetes quantities in the document."""

from collections.abc import Collection, Mapping
from typing import Any

from assets.compute.model import ComputeResource
from assets.forms.base import AssetForm
from core.forms import nested
from core.forms.field import Cell, Field, Input, Option, Values
from spec.formats.stored import as_mapping, drop_invalid_parts
from spec.parts.compute import DEFAULT_CPU, Compute, GpuRequestType
from spec.values.quantities import PATTERN, to_bytes

PERCENT = "%"
MEMORY_UNITS = {"M": "MB", "G": "GB", "Mi": "MiB", "Gi": "GiB"}
CORES = "cores"
MILLI = "millicores"


def number_field(key: str, label: str, *wire: str, placeholder: str = "") -> Field:
    """Return a number field. It shows problems of the fields ``wire``, which are built from it and
    its unit."""
    alias = key.replace(".", "_")
    return Field(key, label, Input.NUMBER, alias=alias, also=wire, placeholder=placeholder)


def limit_field(key: str, label: str, *wire: str) -> Field:
    """Return a field for a limit. It is shown as "Limit" next to its request, so only screen
    readers get its whole name."""
    return number_field(key, label, *wire, placeholder="Unlimited")


def unit_field(key: str, label: str, options: tuple[Option, ...]) -> Field:
    return Field(key, label, Input.SELECT, alias=key.replace(".", "_"), options=options)


class ComputeForm(AssetForm):
    MODEL = ComputeResource
    OUTSIDE_DOCUMENT = ("gpu", "cpu", "memory")
    FIELDS = (
        Field(
            "gpuDevicesRequest",
            "GPU devices per pod",
            Input.WHOLE,
            "0 for none. With exactly 1, a pod can request a fraction of it.",
            alias="gpu_devices",
        ),
        number_field(
            "gpu.request", "GPU memory per device", "gpuPortionRequest", "gpuMemoryRequest"
        ),
        unit_field(
            "gpu.unit",
            "GPU memory format",
            ((PERCENT, "% (of device)"), ("M", "MB"), ("G", "GB")),
        ),
        limit_field(
            "gpu.limit", "GPU memory limit per device", "gpuPortionLimit", "gpuMemoryLimit"
        ),
        number_field("cpu.request", "CPU compute per pod", "cpuCoreRequest"),
        unit_field("cpu.unit", "CPU compute unit", ((CORES, "Cores"), (MILLI, "Millicores"))),
        limit_field("cpu.limit", "CPU compute limit", "cpuCoreLimit"),
        number_field("memory.request", "CPU memory per pod", "cpuMemoryRequest"),
        unit_field("memory.unit", "CPU memory unit", tuple(MEMORY_UNITS.items())),
        limit_field("memory.limit", "CPU memory limit", "cpuMemoryLimit"),
        Field(
            "largeShmRequest",
            "Increase shared memory size",
            Input.FLAG,
            "From 64 MB to as much as the pod's memory, for data loaders with several workers.",
            alias="large_shm",
        ),
        Field(
            "extendedResources",
            "Extended resources",
            Input.ROWS,
            alias="extended",
            add="Extended resource",
            cells=(Cell("resource", "Resource"), Cell("quantity", "Quantity")),
        ),
    )

    @property
    def virtual_gpus(self) -> str:
        """The clusters to choose from that have virtual GPUs, in words."""
        names = [cluster.name for cluster in self.clusters if cluster.has_virtual_gpus]
        if len(names) == len(self.clusters):
            return "Virtual GPUs" if names else ""
        return f"Virtual GPUs on {', '.join(names)}" if names else ""

    def check(self) -> None:
        super().check()
        gpu = self.values.get("gpu", {})
        amount = gpu.get("unit") != PERCENT and self.values.get("gpuDevicesRequest")
        if amount and gpu.get("request") is None:
            self.add_error("gpu_request", "Enter an amount, or choose % (of device).")

    def document(self, *, without: Collection[str] = ()) -> Values:
        return super().document(without=without) | to_wire(self.values)


def to_wire(values: Values) -> Values:
    """Return the values of fields with units, in the form of the document."""
    cpu = values.get("cpu", {})
    memory = values.get("memory", {})
    cores = 0.001 if cpu.get("unit") == MILLI else 1
    document = {
        **_gpu_request(values),
        "cpuCoreRequest": scale_number(cpu.get("request"), cores),
        "cpuCoreLimit": scale_number(cpu.get("limit"), cores),
        "cpuMemoryRequest": format_quantity(memory.get("request"), memory.get("unit", "")),
        "cpuMemoryLimit": format_quantity(memory.get("limit"), memory.get("unit", "")),
    }
    return {wire: value for wire, value in document.items() if value is not None}


def _gpu_request(values: Values) -> Values:
    """Return the request for GPUs. All of a device means whole devices; less, or a limit, means a
    part of one."""
    gpu: Mapping[str, Any] = values.get("gpu", {})
    requested_amount = gpu.get("request")
    limit_amount = gpu.get("limit")
    unit = gpu.get("unit", "")
    devices = {"gpuDevicesRequest": values.get("gpuDevicesRequest", 0)}
    is_whole_device = unit == PERCENT and requested_amount in (None, 100) and limit_amount is None
    if is_whole_device or (
        not devices["gpuDevicesRequest"] and requested_amount is None and limit_amount is None
    ):
        return devices
    if unit == PERCENT:
        return devices | {
            "gpuRequestType": GpuRequestType.PORTION,
            "gpuPortionRequest": scale_number(
                100 if requested_amount is None else requested_amount, 0.01
            ),
            "gpuPortionLimit": scale_number(limit_amount, 0.01),
        }
    return devices | {
        "gpuRequestType": GpuRequestType.MEMORY,
        "gpuMemoryRequest": format_quantity(requested_amount, unit),
        "gpuMemoryLimit": format_quantity(limit_amount, unit),
    }


def scale_number(value: Any, factor: float) -> Any:
    """Multiply a number. Anything else stays as it was typed, for the spec to refuse."""
    return round(value * factor, 6) if isinstance(value, int | float) else value


def format_quantity(value: Any, unit: str) -> str | None:
    """Return a number and a unit as a quantity: ``1.5G``. It never has an exponent, which is not
    allowed here."""
    if value is None:
        return None
    if isinstance(value, int | float):
        value = f"{value:.6f}".rstrip("0").rstrip(".")
    return f"{value}{unit}"


def split_quantity(text: str | None) -> tuple[float | None, str]:
    """Split a quantity into a number and a unit of the form. Other units become megabytes."""
    if text is None:
        return None, "M"
    match = PATTERN.match(text)
    if match and match[2] in MEMORY_UNITS:
        return float(match[1]), match[2]
    return to_bytes(text) / 1_000_000, "M"


def blank_values() -> Values:
    """Return the initial fields of a new one: no GPU, and the CPU and memory that Run:ai
    proposes."""
    return {
        "gpuDevicesRequest": 0,
        "gpu": {"request": 100, "unit": PERCENT},
        "cpu": {"request": DEFAULT_CPU, "unit": CORES},
        "memory": {"request": 100, "unit": "M"},
    }


def initial_values(resource: ComputeResource) -> Values:
    """Return the fields of an existing compute resource. Both memory amounts share one unit."""
    spec = drop_invalid_parts(Compute, resource.spec_json)
    memory, unit = split_quantity(spec.cpu_memory_request)
    memory_limit, limit_unit = split_quantity(spec.cpu_memory_limit)
    if memory_limit is not None and limit_unit != unit:
        memory = to_bytes(spec.cpu_memory_request) / 1_000_000
        unit = "M"
        memory_limit = to_bytes(spec.cpu_memory_limit or "") / 1_000_000
    values = {
        "gpuDevicesRequest": spec.gpu_devices_request,
        "gpu.request": 100,
        "gpu.unit": PERCENT,
        "cpu.request": spec.cpu_core_request,
        "cpu.unit": CORES,
        "cpu.limit": spec.cpu_core_limit,
        "memory.request": without_decimals(memory),
        "memory.unit": unit,
        "memory.limit": without_decimals(memory_limit),
        "largeShmRequest": spec.large_shm_request,
        "extendedResources": as_mapping(resource.spec_json).get("extendedResources", []),
    }
    if spec.gpu_request_type is GpuRequestType.PORTION:
        values["gpu.request"] = without_decimals(scale_number(spec.gpu_portion_request, 100))
        values["gpu.limit"] = without_decimals(scale_number(spec.gpu_portion_limit, 100))
    elif spec.gpu_request_type is GpuRequestType.MEMORY:
        gpu_amount, unit = split_quantity(spec.gpu_memory_request)
        values |= {"gpu.request": without_decimals(gpu_amount), "gpu.unit": unit}
        values["gpu.limit"] = without_decimals(_amount_in_unit(spec.gpu_memory_limit, unit))
    document: Values = {}
    for path, value in values.items():
        nested.put(document, path, value)
    return document


def _amount_in_unit(text: str | None, unit: str) -> float | None:
    return None if text is None else to_bytes(text) / to_bytes(f"1{unit}")


def without_decimals(value: float | None) -> float | int | None:
    """Return a whole number as an int, so that its field shows ``100`` and not ``100.0``."""
    return int(value) if value is not None and value == int(value) else value
