"""What a section of the wizard is: what it asks, where it is not to be had, what a review says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from assets.base import Panel
from assets.kinds import for_each_pod
from clusters.models import Cluster
from core.forms.field import Field, Input, Values
from spec.workload import Replica, WorkloadSpec
from workloads.plan import Plan

SETUP, WORKERS, MASTER = 1, 2, 3  # the pages
PAGES = (SETUP, WORKERS, MASTER)
ROLES = {WORKERS: "worker", MASTER: "master"}
ELSEWHERE = "not on this cluster"
FOLD = "workloads/wizard/_fold.html"
Line = tuple[str, str, str]  # name, value, where a plan's origins have it


@dataclass(frozen=True)
class Question(Field):
    """A field of a ``page``, in the ``section`` of that key. ``begins`` is what a new item of a
    list holds on a cluster, ``words`` shows an item that an asset brings. A ``typed`` choice is
    entered as text where the cluster does not tell what it has. One with a ``switch`` is asked
    where that general setting is on, or something was answered already. A list begins as the
    project has it in its column ``of_project``; its items choose assets of the kind that it
    ``makes``, where a new one can be made as well. One that ``redraws`` has its section
    drawn again when it changes, for other questions depend on it."""

    page: int = SETUP
    section: str = ""
    begins: Callable[[Cluster | None], Values] | None = None
    words: Callable[[Values], str] | None = None
    typed: bool = False
    switch: str = ""
    of_project: str = ""
    makes: str = ""
    redraws: bool = False

    @property
    def role(self) -> str:
        """``worker``, ``master``, or empty for what is asked of the workload as a whole."""
        return self.within


def nothing(plan: Plan, role: str) -> Iterator[Line]:
    yield from ()


@dataclass(frozen=True)
class Section:
    """``replica`` is asked of the workers and of a master that differs, ``once`` on ``page`` alone.

    One with a ``panel`` also asks for an asset of each kind that has its place there. ``review``
    yields the lines of one role; those of ``once`` with the workers. A section without a
    ``template`` is drawn by its page. Which clusters have nothing of it their kinds say.
    """

    key: str
    title: str = ""
    lead: str = ""
    panel: Panel | None = None
    replica: tuple[Question, ...] = ()
    once: tuple[Question, ...] = ()
    page: int = WORKERS
    template: str = ""
    review: Callable[[Plan, str], Iterator[Line]] = field(default=nothing)

    def on(self, page: int) -> Iterator[Question]:
        """The questions of a page."""
        for question in (*choices(self.panel), *self.replica) if page in ROLES else ():
            yield replace(question, page=page, section=self.key, within=ROLES[page])
        for question in self.once if page == self.page else ():
            yield replace(question, page=page, section=self.key)


def choices(panel: Panel | None) -> Iterator[Question]:
    """Of the assets that have their place in a panel."""
    for kind in for_each_pod():
        if kind.panel is panel:
            yield Question(kind.slug, kind.label, Input.CARDS)


def spec_of(plan: Plan) -> WorkloadSpec:
    """Of a plan under review, which is one that has a spec."""
    assert plan.spec is not None  # noqa: S101 -- see review.of
    return plan.spec


def replica_of(plan: Plan, role: str) -> Replica:
    spec = spec_of(plan)
    return spec.master if role == "master" and spec.master else spec.worker
