"""The image and how it starts: an environment from the gallery."""

from collections.abc import Iterator

from assets.base import Panel
from workloads.plan import Plan
from workloads.wizard.sections.base import Line, Section, replica_of


def review(plan: Plan, role: str) -> Iterator[Line]:
    """An image that makes no difference is said to be none of what runs."""
    said = replica_of(plan, role).image or "none"
    if plan.cluster and any(it.path == (role, "image") for it in plan.warnings):
        said = f"{said}, not used on {plan.cluster.name}"
    yield "Image", said, f"{role}.image"


ENVIRONMENT = Section(
    "environment",
    panel=Panel.START,
    review=review,
)
