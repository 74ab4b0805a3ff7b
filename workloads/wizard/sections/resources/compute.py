"""Section: the number of workers, and the compute resource of each pod."""

from collections.abc import Iterator

from assets.base import Panel
from assets.compute import card
from core.forms.field import Input
from workloads.plan import Plan
from workloads.wizard.sections.base import Line, Question, Section, replica_of, spec_of


def review(plan: Plan, role: str) -> Iterator[Line]:
    if role == "worker" and spec_of(plan).kind.is_gang:
        yield "Number of workers", str(spec_of(plan).num_workers), "numWorkers"
    asked = replica_of(plan, role).compute
    words = (card.gpu_words(asked), card.cpu_words(asked), card.memory_words(asked))
    yield "Per pod", " · ".join(words), f"{role}.compute"


COMPUTE = Section(
    "compute",
    panel=Panel.SIZE,
    once=(Question("numWorkers", "Number of workers", Input.WHOLE, hint="1 to 512. Default: 1."),),
    review=review,
)
