"""The image and how it starts: an environment from the gallery."""

from collections.abc import Iterator

from assets.base import Panel
from workloads.plan import Plan
from workloads.wizard.sections.base import Line, Section, replica_of


def review(plan: Plan, role: str) -> Iterator[Line]:
    yield "Image", replica_of(plan, role).image or "none", f"{role}.image"


ENVIRONMENT = Section(
    "environment",
    panel=Panel.START,
    review=review,
)
