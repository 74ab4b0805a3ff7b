"""The table of kinds of cluster. No other code asks which kind a cluster is."""

from clusters.kinds.base import ClusterKind
from clusters.kinds.kubernetes.kind import KUBERNETES
from clusters.kinds.local import LOCAL
from clusters.kinds.slurm.kind import SLURM

KINDS: dict[str, ClusterKind] = {kind.slug: kind for kind in (LOCAL, KUBERNETES, SLURM)}


def addable() -> list[ClusterKind]:
    """Return the kinds of cluster that administrators can add, the most common one first."""
    return [kind for kind in KINDS.values() if kind.form]


def addable_kind(slug: str) -> ClusterKind | None:
    """Return the kind with this slug; the most common one if ``slug`` is empty; ``None`` if there
    is no such kind, or clusters of this kind cannot be added."""
    return next((kind for kind in addable() if slug in {"", kind.slug}), None)
