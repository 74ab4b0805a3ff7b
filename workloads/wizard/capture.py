"""Write the fields that a browser posted into the draft. Nothing is validated here: wrong answers
are stored too, so that the page can show them with their problems."""

from typing import Any

from django.http import QueryDict

from accounts.models import User
from core.forms import nested
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats.merge import parts_of_a_gpu
from workloads.wizard.choices import rules
from workloads.wizard.sections.resources.requests import PART_OF_A_GPU
from workloads.wizard.sections.table import questions

DIFFERENT = "master-different"


def capture(draft: WorkloadDraft, posted: QueryDict, *, by: User) -> set[str]:
    """Write every posted field into the draft, and return the names of those that are questions."""
    if DIFFERENT in posted:
        _set_master(draft, different=posted[DIFFERENT] == "on")
    if draft.is_template:
        rules.capture_rules(draft, posted)
    asked = {name: question for name, question in questions().items() if name in posted}
    parts = {role: _gpu_part(replica) for role, replica in draft.replicas.items()}
    for question in asked.values():
        question.write_answer(draft, posted, by)
    for role, replica in draft.replicas.items():
        chosen = _gpu_part(replica)
        asks = bool(chosen) and f"{role}-{PART_OF_A_GPU.replace('.', '-')}" in asked
        if asks or (role in parts and chosen != parts[role]):
            _forget_other_parts(replica)
    return set(asked)


def _gpu_part(replica: ReplicaDraft) -> Any:
    return nested.get(replica.values, PART_OF_A_GPU)


def _forget_other_parts(replica: ReplicaDraft) -> None:
    """Clear the amounts that belong to another part of a GPU than the chosen one. The page does not
    show them, unless it was sent before the answer to that choice arrived."""
    for name in parts_of_a_gpu(but=_gpu_part(replica)):
        nested.put(replica.values, f"compute.{name}", None)


def _set_master(draft: WorkloadDraft, *, different: bool) -> None:
    """Give the master a setup of its own, at first a copy of the workers', or take it away."""
    if not different:
        draft.master = None
    elif draft.master is None:
        draft.master = draft.worker.model_copy(deep=True)
