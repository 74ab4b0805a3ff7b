"""Write the fields that a browser posted into the draft. Nothing is validated here: wrong answers
are stored too, so that the page can show them with their problems."""

import re
from typing import Any
from uuid import UUID

from django.http import QueryDict

from accounts.models import User
from assets.base import AssetKind
from assets.kinds import KINDS
from assets.models import Template
from core.forms import nested, read
from core.forms.field import Input
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats.merge import parts_of_a_gpu
from workloads.wizard.choices import rules
from workloads.wizard.places import replica_of
from workloads.wizard.sections.base import Question
from workloads.wizard.sections.resources.requests import PART_OF_A_GPU
from workloads.wizard.sections.table import questions

DIFFERENT = "master-different"
OWN = "own"  # the card that keeps the values of a copied workload
LONGEST = 200  # characters stored of a name or a card; still long enough to be refused as too long
WHOLE = re.compile(r"^[+-]?[0-9]{1,12}$")


def capture(draft: WorkloadDraft, posted: QueryDict, *, by: User) -> set[str]:
    """Write every posted field into the draft, and return the names of those that are questions."""
    if DIFFERENT in posted:
        _differ(draft, different=posted[DIFFERENT] == "on")
    if draft.is_template:
        rules.capture(draft, posted)
    asked = {name: question for name, question in questions().items() if name in posted}
    parts = {role: _part_of_a_gpu(replica) for role, replica in draft.replicas.items()}
    for question in asked.values():
        _write(draft, question, posted, by)
    for role, replica in draft.replicas.items():
        chosen = _part_of_a_gpu(replica)
        asks = bool(chosen) and f"{role}-{PART_OF_A_GPU.replace('.', '-')}" in asked
        if asks or (role in parts and chosen != parts[role]):
            _forget_other_parts(replica)
    return set(asked)


def _part_of_a_gpu(replica: ReplicaDraft) -> Any:
    return nested.get(replica.values, PART_OF_A_GPU)


def _forget_other_parts(replica: ReplicaDraft) -> None:
    """Clear the amounts that belong to another part of a GPU than the chosen one. The page does not
    show them, unless it was sent before the answer to that choice arrived."""
    for name in parts_of_a_gpu(but=_part_of_a_gpu(replica)):
        nested.put(replica.values, f"compute.{name}", None)


def _differ(draft: WorkloadDraft, *, different: bool) -> None:
    """Give the master a setup of its own, at first a copy of the workers', or take it away."""
    if not different:
        draft.master = None
    elif draft.master is None:
        draft.master = draft.worker.model_copy(deep=True)


def _write(draft: WorkloadDraft, question: Question, posted: QueryDict, by: User) -> None:
    if question.role:
        replica = replica_of(draft, question.role)
        if replica is not None:
            _write_replica(replica, question, posted)
    elif question.input is Input.CARDS or question.key == "name":
        _write_whole(draft, question.key, read.text(posted, question.name), by)
    else:
        read.put(draft.values, question, posted)


def _write_whole(draft: WorkloadDraft, key: str, value: str, by: User) -> None:
    if key == "cluster":
        chosen = _uuid(value)
        if chosen != draft.cluster:
            draft.cluster, draft.project = chosen, None
    elif key == "project":
        draft.project = int(value) if WHOLE.match(value) else None
    elif key == "template":
        start_from(draft, _uuid(value), by=by)
    else:
        setattr(draft, key, value[:LONGEST])


def start_from(draft: WorkloadDraft, template: UUID | None, *, by: User) -> None:
    """Replace the answers by a template's, or by none for ``None``. Name and project stay."""
    if template == draft.template:
        return
    chosen = Template.objects.visible_to(by).filter(pk=template).first() if template else None
    base = chosen.draft if chosen else WorkloadDraft(values={"numWorkers": 1})
    draft.template = chosen.pk if chosen else None
    draft.worker, draft.master, draft.values = base.worker, base.master, base.values
    draft.framework, draft.architecture = base.framework, base.architecture
    draft.kind = base.kind if chosen else draft.kind


def _write_replica(replica: ReplicaDraft, question: Question, posted: QueryDict) -> None:
    if question.input is not Input.CARDS:
        read.put(replica.values, question, posted)
        return
    value = read.text(posted, question.name)
    if value == OWN:
        return
    kind, chosen = KINDS[question.key], _uuid(value)
    if chosen and chosen == replica.assets.get(kind.slug):
        return
    choose_asset(replica, kind, chosen)


def choose_asset(replica: ReplicaDraft, kind: AssetKind[Any], chosen: UUID | None) -> None:
    """Choose an asset, or none, and drop the one chosen before and the entered values it
    replaces."""
    others = {slug: pk for slug, pk in replica.assets.items() if slug != kind.slug}
    replica.assets = others | ({kind.slug: chosen} if chosen else {})
    replica.values = {k: v for k, v in replica.values.items() if k not in kind.replaces}


def _uuid(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None
