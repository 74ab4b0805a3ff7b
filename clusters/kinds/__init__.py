"""The kinds of cluster: one row each. Nobody else asks which kind a cluster is."""

from clusters.kinds.base import ClusterKind
from clusters.kinds.kubernetes.kind import KUBERNETES
from clusters.kinds.local import LOCAL
from clusters.kinds.slurm.kind import SLURM

KINDS: dict[str, ClusterKind] = {kind.slug: kind for kind in (LOCAL, KUBERNETES, SLURM)}


def addable() -> list[ClusterKind]:
    """Those that an administrator can add clusters of, the usual one first."""
    return [kind for kind in KINDS.values() if kind.form]


def addable_kind(slug: str) -> ClusterKind | None:
    """By its slug; the usual one for none."""
    return next((kind for kind in addable() if slug in {"", kind.slug}), None)
