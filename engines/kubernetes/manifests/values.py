"""Find the part of the spec that a replica takes its values from, and drop empty values."""

from engines.base import Launch, Manifest
from spec.workload import GangRole, Role, WorkloadSpec


def source_role(launch: Launch, role: str) -> str:
    """The role whose part of the spec a replica uses: a master may inherit the workers'."""
    return role if launch.spec.master or launch.spec.roles else Role.WORKER


def own_roles(spec: WorkloadSpec) -> list[GangRole]:
    """The roles that have a part of the spec, in the order of their ranks."""
    return [role for role in spec.gang_roles if role.name == role.described_by]


def without_empty(document: Manifest) -> Manifest:
    """Drop empty values. ``False`` and ``0`` are statements, and stay."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
