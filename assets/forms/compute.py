"""The compute resource form: amounts with units here, Kubernetes quantities in the document."""

from typing import Any

from django import forms

from accounts.models import User
from assets.forms.base import AssetForm
from assets.forms.rows import ExtendedRows, items
from assets.models import ComputeResource
from spec.compute import DEFAULT_CPU, GpuRequestType
from spec.quantities import PATTERN, to_bytes

PERCENT = "%"
MEMORY_UNITS = {"M": "MB", "G": "GB", "Mi": "MiB", "Gi": "GiB"}
MILLI = "millicores"


def number(label: str, **kwargs: Any) -> forms.FloatField:
    widget = forms.NumberInput({"step": "any", "min": 0, **kwargs.pop("attrs", {})})
    return forms.FloatField(label=label, required=False, widget=widget, **kwargs)


def limit(label: str) -> forms.FloatField:
    """Shown as "Limit" beside its request, so its whole name is said to screen readers alone."""
    return number(label, attrs={"placeholder": "Unlimited", "aria-label": label})


def unit(label: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label, choices=choices, widget=forms.Select({"aria-label": label})
    )


class ComputeForm(AssetForm):
    FIELDS = {
        "gpuDevicesRequest": "gpu_devices",
        "gpuPortionRequest": "gpu_request",
        "gpuMemoryRequest": "gpu_request",
        "gpuPortionLimit": "gpu_limit",
        "gpuMemoryLimit": "gpu_limit",
        "cpuCoreRequest": "cpu_request",
        "cpuCoreLimit": "cpu_limit",
        "cpuMemoryRequest": "memory_request",
        "cpuMemoryLimit": "memory_limit",
    }
    gpu_devices = forms.IntegerField(
        label="GPU devices per pod",
        required=False,
        help_text="0 for none. Exactly 1 can be a part of a device.",
    )
    gpu_request = number("GPU memory per device")
    gpu_unit = unit("GPU memory format", [(PERCENT, "% (of device)"), ("M", "MB"), ("G", "GB")])
    gpu_limit = limit("GPU memory limit per device")
    cpu_request = number("CPU compute per pod")
    cpu_unit = unit("CPU compute unit", [("cores", "Cores"), (MILLI, "Millicores")])
    cpu_limit = limit("CPU compute limit")
    memory_request = number("CPU memory per pod")
    memory_unit = unit("CPU memory unit", list(MEMORY_UNITS.items()))
    memory_limit = limit("CPU memory limit")
    large_shm = forms.BooleanField(
        label="Increase shared memory size",
        required=False,
        help_text="From 64 MB to as much as the pod's memory, for data loaders with workers.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        spec = self.initial.get("document", {})
        self.rows = {
            "extendedResources": ExtendedRows(
                self.data if self.is_bound else None,
                prefix="extended",
                initial=spec.get("extendedResources", []),
            )
        }

    @property
    def virtual_gpus(self) -> str:
        """Which of the clusters that can be chosen count GPUs that they do not have."""
        clusters = {place.cluster.pk: place.cluster for place in self.places.values()}.values()
        names = [cluster.name for cluster in clusters if cluster.has_virtual_gpus]
        if len(names) == len(clusters):
            return "Virtual GPUs" if names else ""
        return f"Virtual GPUs on {', '.join(names)}" if names else ""

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        amount = data.get("gpu_unit") != PERCENT and data.get("gpu_devices")
        if amount and data.get("gpu_request") is None and "gpu_request" not in self.errors:
            self.add_error("gpu_request", "Enter an amount, or choose % (of device).")
        return data

    def document(self) -> dict[str, Any]:
        data = self.cleaned_data
        cores = 0.001 if data["cpu_unit"] == MILLI else 1
        document = {
            **self._gpu(),
            "cpuCoreRequest": scaled(data["cpu_request"], cores),
            "cpuCoreLimit": scaled(data["cpu_limit"], cores),
            "cpuMemoryRequest": quantity(data["memory_request"], data["memory_unit"]),
            "cpuMemoryLimit": quantity(data["memory_limit"], data["memory_unit"]),
            "largeShmRequest": data["large_shm"],
            "extendedResources": items(self.rows["extendedResources"]),
        }
        return {wire: value for wire, value in document.items() if value is not None}

    def _gpu(self) -> dict[str, Any]:
        """All of a device asks for the device alone; anything less, or a limit, asks for a part."""
        data = self.cleaned_data
        asked, most, unit = data["gpu_request"], data["gpu_limit"], data["gpu_unit"]
        devices = {"gpuDevicesRequest": data["gpu_devices"] or 0}
        whole = unit == PERCENT and asked in (None, 100) and most is None
        if whole or (not devices["gpuDevicesRequest"] and asked is None and most is None):
            return devices
        if unit == PERCENT:
            return devices | {
                "gpuRequestType": GpuRequestType.PORTION,
                "gpuPortionRequest": scaled(100 if asked is None else asked, 0.01),
                "gpuPortionLimit": scaled(most, 0.01),
            }
        return devices | {
            "gpuRequestType": GpuRequestType.MEMORY,
            "gpuMemoryRequest": quantity(asked, unit),
            "gpuMemoryLimit": quantity(most, unit),
        }


def scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else round(value * factor, 6)


def quantity(value: float | None, unit: str) -> str | None:
    """``1.5`` and ``G`` as ``1.5G``. Never an exponent, which is no quantity here."""
    if value is None:
        return None
    return f"{value:.6f}".rstrip("0").rstrip(".") + unit


def parted(text: str | None) -> tuple[float | None, str]:
    """A quantity as a number and one of our units; other units become megabytes."""
    if text is None:
        return None, "M"
    found = PATTERN.match(text)
    if found and found[2] in MEMORY_UNITS:
        return float(found[1]), found[2]
    return to_bytes(text) / 1_000_000, "M"


def blank() -> dict[str, Any]:
    """A new one: no GPU, and the CPU and memory that Run:ai proposes."""
    return {
        "gpu_devices": 0,
        "gpu_request": 100,
        "gpu_unit": PERCENT,
        "cpu_request": DEFAULT_CPU,
        "memory_request": 100,
        "memory_unit": "M",
    }


def initial(resource: ComputeResource) -> dict[str, Any]:
    """The fields of a compute resource that exists. Both memory amounts share one unit."""
    spec = resource.spec
    memory, unit = parted(spec.cpu_memory_request)
    most, most_unit = parted(spec.cpu_memory_limit)
    if most is not None and most_unit != unit:
        memory, unit = to_bytes(spec.cpu_memory_request) / 1_000_000, "M"
        most = to_bytes(spec.cpu_memory_limit or "") / 1_000_000
    values = {
        "document": resource.spec_json,
        "gpu_devices": spec.gpu_devices_request,
        "gpu_request": 100,
        "gpu_unit": PERCENT,
        "cpu_request": spec.cpu_core_request,
        "cpu_unit": "cores",
        "cpu_limit": spec.cpu_core_limit,
        "memory_request": plain(memory),
        "memory_unit": unit,
        "memory_limit": plain(most),
        "large_shm": spec.large_shm_request,
    }
    if spec.gpu_request_type is GpuRequestType.PORTION:
        values["gpu_request"] = plain(scaled(spec.gpu_portion_request, 100))
        values["gpu_limit"] = plain(scaled(spec.gpu_portion_limit, 100))
    elif spec.gpu_request_type is GpuRequestType.MEMORY:
        asked, unit = parted(spec.gpu_memory_request)
        values |= {"gpu_request": plain(asked), "gpu_unit": unit}
        values["gpu_limit"] = plain(_in(spec.gpu_memory_limit, unit))
    return values


def _in(text: str | None, unit: str) -> float | None:
    return None if text is None else to_bytes(text) / to_bytes(f"1{unit}")


def plain(value: float | None) -> float | int | None:
    """``100`` rather than ``100.0`` in a number field."""
    return int(value) if value is not None and value == int(value) else value
