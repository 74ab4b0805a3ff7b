"""Section: requests and limits that replace those of the compute resource."""

from core.forms.field import Input
from spec.parts.compute import GpuRequestType
from workloads.wizard.sections.base import FOLD, Question, Section

PART_OF_A_GPU = "compute.gpuRequestType"
PARTS = (
    (GpuRequestType.PORTION, "A fraction of the device"),
    (GpuRequestType.MEMORY, "An amount of its memory"),
)


def _question(key: str, label: str, kind: Input, hint: str = "", example: str = "") -> Question:
    return Question(f"compute.{key}", label, kind, hint, placeholder=example)


REQUESTS = Section(
    "requests",
    "Compute of this workload",
    "What you enter replaces the value of the compute resource, for this workload only.",
    template=FOLD,
    replica=(
        _question("gpuDevicesRequest", "GPU devices per pod", Input.WHOLE, "0 to 64 whole ones."),
        Question(
            PART_OF_A_GPU,
            "Part of a GPU",
            Input.SELECT,
            "A part needs exactly 1 device.",
            options=(("", "As the compute resource"), *PARTS),
            redraws=True,
        ),
        _question("gpuPortionRequest", "GPU fraction", Input.NUMBER, example="0.5"),
        _question("gpuPortionLimit", "GPU fraction limit", Input.NUMBER),
        _question("gpuMemoryRequest", "GPU memory per device", Input.TEXT, example="4G"),
        _question("gpuMemoryLimit", "GPU memory limit", Input.TEXT),
        _question("cpuCoreRequest", "CPU cores per pod", Input.NUMBER, example="0.1"),
        _question("cpuCoreLimit", "CPU core limit", Input.NUMBER),
        _question("cpuMemoryRequest", "CPU memory per pod", Input.TEXT, example="100M"),
        _question("cpuMemoryLimit", "CPU memory limit", Input.TEXT),
    ),
)
