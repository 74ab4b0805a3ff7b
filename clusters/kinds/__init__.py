"""The table of kinds of cluster. No other code asks which kind a cluster is."""

from clusters.kinds.base import ClusterKind
from clusters.kinds.kubernetes.kind import KUBERNETES
from clusters.kinds.local import LOCAL
from clusters.kinds.slurm.kind import SLURM

KINDS: dict[str, ClusterKind] = {kind.slug: kind for kind in (LOCAL, KUBERNETES, SLURM)}


def addable() -> list[ClusterKind]:
    """The kinds that administrators can add, the usual one first."""
    return [kind for kind in KINDS.values() if kind.form]


def addable_kind(slug: str) -> ClusterKind | None:
    """A kind that can be added, by its slug; the usual one if ``slug`` is empty."""
    return next((kind for kind in addable() if slug in {"", kind.slug}), None)
