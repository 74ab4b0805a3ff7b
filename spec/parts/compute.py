"""What one pod asks of its node. Fields and limits are those of Run:ai's REST API (``compute``)."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from spec.part import Flag, Number, Part, Whole
from spec.values.quantities import Quantity, to_bytes

DEFAULT_CPU = 0.1
DEFAULT_MEMORY = "100M"


class GpuRequestType(StrEnum):
    PORTION = "portion"
    MEMORY = "memory"


class ExtendedResource(Part):
    resource: str = Field(min_length=1, max_length=253, description="The name of the resource")
    quantity: Quantity = Field(description="The amount, such as 1")


class Compute(Part):
    """Resources of one pod. CPU in cores; memory as quantities; GPU memory is per device."""

    gpu_devices_request: Whole = Field(0, ge=0, le=64, description="How many GPUs each pod has")
    gpu_request_type: GpuRequestType | None = Field(
        None, description="How a part of a GPU is requested; entire GPUs if it is null"
    )
    gpu_portion_request: Number | None = Field(
        None,
        gt=0,
        le=1,
        description="The part of a GPU that a pod is guaranteed, if gpuRequestType is portion",
    )
    gpu_portion_limit: Number | None = Field(
        None, gt=0, le=1, description="The largest part of a GPU that a pod may use"
    )
    gpu_memory_request: Quantity | None = Field(
        None, description="The GPU memory that a pod is guaranteed, if gpuRequestType is memory"
    )
    gpu_memory_limit: Quantity | None = Field(
        None, description="The most GPU memory that a pod may use, such as 8G"
    )
    cpu_core_request: Number = Field(
        DEFAULT_CPU, ge=0, le=1024, description="The CPU cores that a pod is guaranteed"
    )
    cpu_core_limit: Number | None = Field(
        None,
        gt=0,
        le=1024,
        description="The most CPU cores that a pod may use; no limit if it is null",
    )
    cpu_memory_request: Quantity = Field(
        DEFAULT_MEMORY, description="The memory that a pod is guaranteed, such as 100M"
    )
    cpu_memory_limit: Quantity | None = Field(
        None, description="The most memory that a pod may use, such as 2G; no limit if it is null"
    )
    large_shm_request: Flag = Field(
        False, description="Whether /dev/shm is as large as the memory of the pod"
    )
    extended_resources: tuple[ExtendedResource, ...] = Field(
        (), description="Other resources of each pod, such as rdma/hca"
    )

    @model_validator(mode="after")
    def _gpu_fields_agree(self) -> Self:
        kind = self.gpu_request_type
        devices = self.gpu_devices_request
        if kind and devices != 1:
            raise ValueError(
                "gpuDevicesRequest: a fraction of a GPU needs exactly 1 GPU device per pod"
            )
        for part, name, amount in (
            (GpuRequestType.PORTION, "gpuPortionRequest", self.gpu_portion_request),
            (GpuRequestType.MEMORY, "gpuMemoryRequest", self.gpu_memory_request),
        ):
            if (amount is not None) != (kind is part):
                needed = "only allowed" if kind is not part else "required"
                raise ValueError(f"{name}: is {needed} with gpuRequestType {part}")
        return self

    @model_validator(mode="after")
    def _limits_cover_requests(self) -> Self:
        pairs = (
            ("gpuPortionLimit", self.gpu_portion_limit, self.gpu_portion_request),
            (
                "gpuMemoryLimit",
                _bytes_or_none(self.gpu_memory_limit),
                _bytes_or_none(self.gpu_memory_request),
            ),
            ("cpuCoreLimit", self.cpu_core_limit, self.cpu_core_request),
            (
                "cpuMemoryLimit",
                _bytes_or_none(self.cpu_memory_limit),
                _bytes_or_none(self.cpu_memory_request),
            ),
        )
        for name, limit, request in pairs:
            if limit is not None and limit < (request or 0):
                raise ValueError(f"{name}: must not be less than the request")
        return self

    @property
    def shares_gpu(self) -> bool:
        """Whether a pod takes less than its device; a portion of 1 is all of it."""
        return bool(self.gpu_request_type) and self.gpu_portion_request != 1

    def gpus(self, device_memory: int = 0) -> float:
        """GPUs of one pod as a number; ``device_memory`` in bytes turns memory into a portion."""
        if self.gpu_request_type is GpuRequestType.PORTION:
            return self.gpu_portion_request or 0.0
        if self.gpu_request_type is GpuRequestType.MEMORY and device_memory:
            return to_bytes(self.gpu_memory_request or "0") / device_memory
        return float(self.gpu_devices_request)

    @property
    def without_devices(self) -> Self:
        """The same CPU and memory, but neither GPUs nor other devices."""
        gpus = [name for name in type(self).model_fields if name.startswith("gpu_")]
        none = dict.fromkeys(gpus) | {"gpu_devices_request": 0, "extended_resources": ()}
        return self.model_copy(update=none)

    @property
    def memory_bytes(self) -> int:
        return to_bytes(self.cpu_memory_request)

    @property
    def memory_limit_bytes(self) -> int | None:
        return _bytes_or_none(self.cpu_memory_limit)


def _bytes_or_none(quantity: str | None) -> int | None:
    return None if quantity is None else to_bytes(quantity)
