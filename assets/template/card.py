"""The card of a template in a gallery."""

from assets.base import AssetCard, Columns
from assets.template.model import Template
from clusters.models import Cluster
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.workload import Architecture

RANKS = "Ranks"
#: Facts of the assets that it names, as their kinds describe them.
NAMED = ("Environment", "Compute resource", "Data source")
COLUMNS: Columns = tuple((name, (name,)) for name in (RANKS, *NAMED))


def draw(template: Template, cluster: Cluster | None) -> AssetCard:
    draft = template.draft
    if not draft.is_gang:
        return AssetCard(
            [("stack-2", RANKS, "1 pod")], [(WorkloadKind(draft.kind).label, "accent")]
        )
    workers = draft.values.get("numWorkers", 1)
    shape = " + master" if draft.architecture == Architecture.WORKERS_AND_MASTER else ""
    facts = [("stack-2", RANKS, f"{workers} worker{'' if workers == 1 else 's'}{shape}")]
    is_framework = draft.framework in set(Framework)
    label = Framework(draft.framework).label if is_framework else draft.framework
    return AssetCard(facts, [(label, "accent")])
