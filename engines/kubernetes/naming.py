"""What the objects of a workload are called, and the marks by which they are found again."""

from engines.base import Launch, Manifest
from engines.kubernetes.kinds import NAME, PROJECT, RUN, SUBMITTED_BY, WORKLOAD, job_name
from spec.workload import Role

EPHEMERAL = "trainyard.io/ephemeral"  # label of claims that go when the workload stops


def namespace_of(project: str, prefix: str) -> str:
    return f"{prefix}{project}"


def labels(launch: Launch) -> dict[str, str]:
    return {WORKLOAD: str(launch.handle.workload_id), PROJECT: launch.handle.project}


def annotations(launch: Launch) -> dict[str, str]:
    made = {RUN: str(launch.run), NAME: launch.handle.name}
    return made | ({SUBMITTED_BY: launch.submitted_by} if launch.submitted_by else {})


def secret_name(launch: Launch) -> str:
    return f"{job_name(launch.handle)}-env"


def claim_name(launch: Launch, source: Role, number: int) -> str:
    return f"{job_name(launch.handle)}-{source}-volume-{number}"


def source_of(launch: Launch, role: Role) -> Role:
    """Whose part of the spec a replica is made from: a master may inherit the workers'."""
    return role if launch.spec.master else Role.WORKER


def without_empty(document: Manifest) -> Manifest:
    """Without what says nothing. A false and a zero are statements, and stay."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
