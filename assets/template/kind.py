"""The row of templates in the table of kinds."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

from assets.base import AssetKind, Panel
from assets.data_source.kind import DATA_SOURCE
from assets.links import Reference
from assets.template import card
from assets.template.form import TemplateForm, initial
from assets.template.model import Template, TemplateAsset
from assets.template.wire import WIRE
from spec.draft import ReplicaDraft, WorkloadDraft


def kept(draft: WorkloadDraft) -> dict[str, Any]:
    """Return what a template keeps of a draft: all but its name, its project and its own
    beginning."""
    bare = draft.model_copy(update={"name": "", "project": None, "template": None})
    return bare.model_dump(mode="json", by_alias=True)


def names(template: Template) -> Iterator[Reference]:
    for role, replica in template.draft.replicas.items():
        yield from ((role, kind, pk) for kind, pk in replica.assets.items())
        yield from ((role, DATA_SOURCE.slug, pk) for pk in _data_sources(replica))


def _data_sources(replica: ReplicaDraft) -> Iterator[UUID]:
    for item in replica.data_sources:
        with suppress(ValueError):  # whatever was typed is kept
            yield UUID(str(item.get("id")))


TEMPLATE = AssetKind(
    slug="template",
    path="templates",
    model=Template,
    noun="template",
    title="Templates",
    lead="Saved settings to start new workloads from.",
    icon="template",
    edit_verb="Rename",
    copy_verb="Make a copy",
    form=TemplateForm,
    initial=initial,
    card=card.draw,
    columns=card.COLUMNS,
    part=WorkloadDraft,
    column="draft_json",
    dump=kept,
    names=names,
    links=TemplateAsset,
    has_form=False,
    hint="To create one, choose Save as template while creating a workload.",
    begins_at="workload-new",
    begins_with="rules",
    panel=Panel.SETUP,
    wire=WIRE,
    choice_lead="Select a preconfigured template, or start from scratch.",
)
