"""Section: the environment, which has the image and how it starts."""

from collections.abc import Iterator

from assets.base import Panel
from workloads.plan import Plan
from workloads.wizard.sections.base import ReviewLine, Section, reviewed_replica


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    """Yield the image, with a remark if the cluster does not use it."""
    image = reviewed_replica(plan, role).image or "none"
    if plan.cluster and any(warning.path == (role, "image") for warning in plan.warnings):
        image = f"{image}, not used on {plan.cluster.name}"
    yield "Image", image, f"{role}.image"


ENVIRONMENT = Section(
    "environment",
    panel=Panel.START,
    review=review,
)
