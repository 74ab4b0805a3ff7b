"""Section: the number of workers, and the compute resource of each pod."""

from collections.abc import Iterator

from assets.base import Panel
from assets.compute import card
from core.forms.field import Input
from workloads.plan import Plan
from workloads.wizard.sections.base import (
    Question,
    ReviewLine,
    Section,
    reviewed_replica,
    reviewed_spec,
)


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    if role == "worker" and reviewed_spec(plan).kind.is_gang:
        yield "Number of workers", str(reviewed_spec(plan).num_workers), "numWorkers"
    asked = reviewed_replica(plan, role).compute
    words = (card.gpu_words(asked), card.cpu_words(asked), card.memory_words(asked))
    yield "Per pod", " · ".join(words), f"{role}.compute"


COMPUTE = Section(
    "compute",
    panel=Panel.SIZE,
    once=(
        Question(
            "numWorkers",
            "Number of workers",
            Input.WHOLE,
            hint="1 to 512. Default: 1.",
            placeholder="1",
        ),
    ),
    review=review,
)
