"""The image and how it starts: an environment from the gallery."""

from collections.abc import Iterator

from assets.base import Panel
from workloads.plan import Plan
from workloads.wizard.sections.base import Line, Section, replica_of


def review(plan: Plan, role: str) -> Iterator[Line]:
    """An image that nobody pulls is said to be none of what runs."""
    image, cluster = replica_of(plan, role).image, plan.cluster
    said = image or "none"
    if image and cluster and not cluster.definition.pulls_images:
        said = f"{image}, not pulled on {cluster.name}"
    yield "Image", said, f"{role}.image"


ENVIRONMENT = Section(
    "environment",
    panel=Panel.START,
    review=review,
)
