"""What makes up a section of the wizard: its questions, its place, and its lines in the review."""

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
Line = tuple[str, str, str]  # name, value, key in the plan's origins


@dataclass(frozen=True)
class Question(Field):
    """A field in a section of the wizard.

    ``page`` and ``section`` (its key) say where it is. ``begins`` builds a new item of a list for a
    cluster, ``words`` describes an item that an asset brings. A ``typed`` choice is a text input
    where the cluster does not list what it has. ``switch`` names the general setting that must be
    on for the question to be asked; one with an answer is always asked. ``of_project`` is the
    column of the project with the list's default. ``makes`` is the kind of asset that the items
    choose, and that can be created from here. If a question that ``redraws`` changes, its section
    is drawn again, because others depend on it.
    """

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
        """``worker``, ``master``, or empty for a question about the workload as a whole."""
        return self.within


def nothing(plan: Plan, role: str) -> Iterator[Line]:
    """The review of a section that has no lines there."""
    yield from ()


@dataclass(frozen=True)
class Section:
    """A section of the wizard.

    The ``replica`` questions are asked for the workers, and again for a master that differs; the
    ``once`` questions on ``page`` only. With a ``panel`` the section also asks for an asset of each
    kind in that panel. ``review`` yields the lines of one role; those of the ``once`` questions
    belong to the workers. Without a ``template`` the page itself draws the section. Which clusters
    do not support a section is stated by their kinds.
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
        """The section's questions on a page."""
        for question in (*choices(self.panel), *self.replica) if page in ROLES else ():
            yield replace(question, page=page, section=self.key, within=ROLES[page])
        for question in self.once if page == self.page else ():
            yield replace(question, page=page, section=self.key)


def choices(panel: Panel | None) -> Iterator[Question]:
    """One question for each kind of asset in a panel."""
    for kind in for_each_pod():
        if kind.panel is panel:
            yield Question(kind.slug, kind.label, Input.CARDS)


def spec_of(plan: Plan) -> WorkloadSpec:
    """The spec of a plan under review, which always has one."""
    assert plan.spec is not None  # noqa: S101 -- see review.of
    return plan.spec


def replica_of(plan: Plan, role: str) -> Replica:
    """The setup that applies to a role. A master without one of its own has that of the workers."""
    spec = spec_of(plan)
    return spec.master if role == "master" and spec.master else spec.worker
