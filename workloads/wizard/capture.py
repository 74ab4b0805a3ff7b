"""Write the fields that a browser posted into the draft. Wrong answers are stored, too, so that the
page can show them with their problems."""

from typing import Any

from django.http import QueryDict

from accounts.models import User
from core.forms import nested
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats.merge import gpu_fraction_fields
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
    answered = {name: question for name, question in questions().items() if name in posted}
    parts_before = {role: _gpu_part(replica) for role, replica in draft.replicas.items()}
    for question in answered.values():
        question.write_answer(draft, posted, by)
    for role, replica in draft.replicas.items():
        part = _gpu_part(replica)
        is_chosen = bool(part) and f"{role}-{PART_OF_A_GPU.replace('.', '-')}" in answered
        has_changed = role in parts_before and part != parts_before[role]
        if is_chosen or has_changed:
            _forget_other_parts(replica)
    return set(answered)


def _gpu_part(replica: ReplicaDraft) -> Any:
    return nested.get(replica.values, PART_OF_A_GPU)


def _forget_other_parts(replica: ReplicaDraft) -> None:
    """Clear the amounts that belong to another part of a GPU than the chosen one. A page may still
    send them: it was loaded before the answer to that choice arrived."""
    for name in gpu_fraction_fields(except_kind=_gpu_part(replica)):
        nested.put(replica.values, f"compute.{name}", None)


def _set_master(draft: WorkloadDraft, *, different: bool) -> None:
    """Give the master a setup of its own, which begins as a copy of the workers', or remove it."""
    if not different:
        draft.master = None
    elif draft.master is None:
        draft.master = draft.worker.model_copy(deep=True)
