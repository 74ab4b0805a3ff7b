"""Section: requests and limits that replace those of the compute resource."""

from core.forms import nested
from core.forms.field import Input
from spec.draft import WorkloadDraft
from spec.formats.merge import gpu_fraction_fields
from spec.parts.compute import GpuRequestType
from workloads.wizard.sections.base import FOLD, Question, Section

PART_OF_A_GPU = "compute.gpuRequestType"
PARTS = (
    (GpuRequestType.PORTION, "A fraction of the device"),
    (GpuRequestType.MEMORY, "An amount of its memory"),
)


class AmountQuestion(Question):
    def is_for(self, draft: WorkloadDraft) -> bool:
        """Return whether the amount belongs to the chosen part of a GPU, or still has a value."""
        values = self.values_in(draft) or {}
        chosen = nested.get(values, PART_OF_A_GPU)
        other_amounts = gpu_fraction_fields(except_kind=chosen) if chosen else ()
        if self.key.removeprefix("compute.") in other_amounts:
            return nested.get(values, self.key) is not None and super().is_for(draft)
        return super().is_for(draft)


def _amount_question(
    key: str, label: str, kind: Input, hint: str = "", example: str = ""
) -> Question:
    return AmountQuestion(f"compute.{key}", label, kind, hint, placeholder=example)


REQUESTS = Section(
    "requests",
    "Compute of this workload",
    "What you enter replaces the value of the compute resource, for this workload only.",
    template=FOLD,
    replica=(
        _amount_question(
            "gpuDevicesRequest", "GPU devices per pod", Input.WHOLE, "0 to 64 whole ones."
        ),
        Question(
            PART_OF_A_GPU,
            "Part of a GPU",
            Input.SELECT,
            "A part needs exactly 1 device.",
            options=(("", "As the compute resource"), *PARTS),
            redraws=True,
        ),
        _amount_question("gpuPortionRequest", "GPU fraction", Input.NUMBER, example="0.5"),
        _amount_question("gpuPortionLimit", "GPU fraction limit", Input.NUMBER),
        _amount_question("gpuMemoryRequest", "GPU memory per device", Input.TEXT, example="4G"),
        _amount_question("gpuMemoryLimit", "GPU memory limit", Input.TEXT),
        _amount_question("cpuCoreRequest", "CPU cores per pod", Input.NUMBER, example="0.1"),
        _amount_question("cpuCoreLimit", "CPU core limit", Input.NUMBER),
        _amount_question("cpuMemoryRequest", "CPU memory per pod", Input.TEXT, example="100M"),
        _amount_question("cpuMemoryLimit", "CPU memory limit", Input.TEXT),
    ),
)
