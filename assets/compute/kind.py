"""The row of compute resources in the table of kinds."""

from assets.base import AssetKind, Panel
from assets.compute import card
from assets.compute.form import ComputeForm, blank, initial
from assets.compute.model import ComputeResource
from assets.compute.wire import WIRE
from assets.refusals import refusals
from spec.draft import Values
from spec.parts.compute import Compute


def layer(asset: ComputeResource) -> Values:
    return {"compute": asset.spec_json}


COMPUTE = AssetKind(
    slug="compute",
    path="compute-resources",
    model=ComputeResource,
    noun="compute resource",
    title="Compute resources",
    lead="What each pod requests: GPUs or a fraction of one, CPU and memory.",
    icon="cpu",
    copy_verb="Copy & edit",
    form=ComputeForm,
    initial=initial,
    blank=blank,
    card=card.draw,
    columns=card.COLUMNS,
    part=Compute,
    fields="assets/compute_fields.html",
    stays_while_used=True,
    counts_gpus=True,
    wire=WIRE,
    panel=Panel.SIZE,
    choice_lead="What each pod requests.",
    layer=layer,
    replaces=frozenset({"compute"}),
    copied=card.copied,
    issues=refusals(layer, {"compute"}),
    required="compute",
)
