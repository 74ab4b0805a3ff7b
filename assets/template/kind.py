"""Templates as a kind of asset."""

from collections.abc import Iterator
from contextlib import suppress
from uuid import UUID

from assets.base import AssetCard, AssetKind, Panel
from assets.links import Reference
from assets.template import card
from assets.template.form import TemplateForm
from assets.template.model import Template, TemplateAsset
from assets.template.wire import WIRE
from clusters.models import Cluster
from spec.draft import ASSET_LISTS, ReplicaDraft, WorkloadDraft
from spec.formats.documents import Document


class TemplateAssetKind(AssetKind[Template]):
    slug = "template"
    path = "templates"
    model = Template
    part = WorkloadDraft
    column = "draft_json"
    links = TemplateAsset
    wire = WIRE

    noun = "template"
    title = "Templates"
    lead = "Saved settings to start new workloads from."
    icon = "template"
    edit_verb = "Rename"
    columns = card.COLUMNS

    form = TemplateForm
    has_form = False
    hint = "To create one, choose Save as template while creating a workload."
    start_route = "workload-new"
    start_query = "rules"

    panel = Panel.SETUP
    choice_lead = "Select a preconfigured template, or start from scratch."

    def draw_card(self, asset: Template, cluster: Cluster | None) -> AssetCard:
        return card.draw(asset, cluster)

    def dump_part(self, part: WorkloadDraft) -> Document:
        """Return what a template keeps of a draft: all but its name, its project and its own
        beginning."""
        bare = part.model_copy(update={"name": "", "project": None, "template": None})
        return bare.model_dump(mode="json", by_alias=True)

    def references(self, asset: Template) -> Iterator[Reference]:
        for role, replica in asset.draft.parts.items():
            yield from ((role, kind, pk) for kind, pk in replica.assets.items())
            for key in sorted(ASSET_LISTS):
                yield from ((role, key, pk) for pk in _listed_ids(replica, key))


def _listed_ids(replica: ReplicaDraft, key: str) -> Iterator[UUID]:
    for item in replica.listed_assets(key):
        with suppress(ValueError):  # whatever was typed is kept
            yield UUID(str(item.get("id")))


TEMPLATE = TemplateAssetKind()
