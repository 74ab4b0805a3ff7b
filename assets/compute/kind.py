"""Compute resources as a kind of asset."""

from collections.abc import Iterable
from uuid import UUID

from assets.base import AssetCard, AssetKind, Fact, Panel
from assets.compute import card
from assets.compute.form import ComputeForm, blank_values, initial_values
from assets.compute.model import ComputeResource
from assets.compute.wire import WIRE
from assets.refusals import find_refused
from clusters.models import Cluster
from spec.draft import Values
from spec.parts.compute import Compute


class ComputeAssetKind(AssetKind[ComputeResource]):
    slug = "compute"
    path = "compute-resources"
    model = ComputeResource
    part = Compute
    stays_while_used = True
    wire = WIRE

    noun = "compute resource"
    title = "Compute resources"
    lead = "What each pod requests: GPUs or a fraction of one, CPU and memory."
    icon = "cpu"
    copy_verb = "Copy & edit"
    columns = card.COLUMNS
    counts_gpus = True

    form = ComputeForm
    fields = "assets/compute_fields.html"

    panel = Panel.SIZE
    choice_lead = "What each pod requests."
    replaced_keys = frozenset({"compute"})
    required_key = "compute"

    def draw_card(self, asset: ComputeResource, cluster: Cluster | None) -> AssetCard:
        return card.draw(asset, cluster)

    def blank_values(self) -> Values:
        return blank_values()

    def initial_values(self, asset: ComputeResource) -> Values:
        return initial_values(asset)

    def issues(self, assets: Iterable[ComputeResource], cluster: Cluster | None) -> dict[UUID, str]:
        layers = ((asset, self.layer(asset)) for asset in assets)
        return find_refused(layers, {"compute"}, cluster)

    def layer(self, asset: ComputeResource) -> Values:
        return {"compute": asset.spec_json}

    def copied_facts(self, values: Values) -> list[Fact]:
        return card.copied_facts(values)


COMPUTE = ComputeAssetKind()
