"""Find the part of the spec that a replica takes its values from, and drop empty values."""

from engines.base import Launch, Manifest
from spec.workload import Role


def source_role(launch: Launch, role: Role) -> Role:
    """The role whose part of the spec a replica uses: a master may inherit the workers'."""
    return role if launch.spec.master else Role.WORKER


def without_empty(document: Manifest) -> Manifest:
    """Drop empty values. ``False`` and ``0`` are statements, and stay."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
