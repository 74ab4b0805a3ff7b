"""Define a section of the wizard: its questions, its page, and its lines in the review."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import QueryDict

from accounts.models import User
from assets.base import AssetKind, Panel
from assets.kinds import KINDS, pod_kinds
from clusters.models import Cluster
from core.forms import read
from core.forms.field import Field, Input, Values
from core.forms.shown import ShownField
from core.web.query import parse_uuid
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats.documents import USUAL_FIELDS
from spec.workload import Replica, WorkloadSpec
from workloads.plan import Plan

if TYPE_CHECKING:
    from workloads.wizard.choices.offers import Offer

# the pages
SETUP = 1
WORKERS = 2
MASTER = 3
PAGES = (SETUP, WORKERS, MASTER)
ROLES = {WORKERS: "worker", MASTER: "master"}
NOT_ON_CLUSTER = "not on this cluster"
OWN_VALUES = "own"  # the card that keeps the values of a copied workload
FOLD = "workloads/wizard/_fold.html"
ReviewLine = tuple[str, str, str]  # name, value, key in the plan's origins


@dataclass(frozen=True)
class Question(Field):
    """A field in a section of the wizard.

    ``page`` and ``section`` (the key of a section) say where the question is.

    ``new_item`` builds a new item of a list for a cluster. ``describe_item`` describes an item of
    an asset in words. ``creates`` is the kind of asset that the items choose, and that can be
    created from here. ``project_default`` is the project's column with the default of a list.

    If ``may_be_typed``, a choice becomes a text input on a cluster that does not list its names.
    ``switch`` is the general setting that must be on for the question to be asked, and one that is
    ``only_if_supported`` is left out on a cluster that refuses it; but a question with an answer is
    always asked. If a question with ``redraws`` changes, its section is rendered again, because
    other questions depend on it.
    """

    page: int = SETUP
    section: str = ""
    new_item: Callable[[Cluster | None], Values] | None = None
    describe_item: Callable[[Values], str] | None = None
    may_be_typed: bool = False
    switch: str = ""
    only_if_supported: bool = False
    project_default: str = ""
    creates: str = ""
    redraws: bool = False

    @property
    def role(self) -> str:
        """``worker``, ``master``, or empty for a question about the workload as a whole."""
        return self.within

    def values_in(self, draft: WorkloadDraft) -> Values | None:
        """Return the values of a draft that contain the answer; ``None`` for a master that has the
        setup of the workers."""
        if not self.role:
            return draft.values
        replica = draft.replicas.get(self.role)
        return replica.values if replica else None

    def is_for(self, draft: WorkloadDraft) -> bool:
        """Return whether the question makes sense for what the draft creates. Named roles describe
        their pods themselves."""
        if draft.has_roles and (self.role or self.key in USUAL_FIELDS):
            return False
        return draft.traits.may_have(self.key)

    def write_answer(self, draft: WorkloadDraft, posted: QueryDict, by: User) -> None:
        """Write the posted answer into the draft. A wrong answer is stored, too."""
        values = self.values_in(draft)
        if values is not None:
            read.read_field(values, self, posted)

    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        """Add details to the input that only this question has."""


class AssetQuestion(Question):
    """The choice of an asset for a role. ``key`` is the slug of the asset's kind."""

    def write_answer(self, draft: WorkloadDraft, posted: QueryDict, by: User) -> None:
        replica = draft.replicas.get(self.role)
        value = read.posted_text(posted, self.name)
        if replica is None or value == OWN_VALUES:
            return
        kind = KINDS[self.key]
        chosen = parse_uuid(value)
        if chosen is None or chosen != replica.assets.get(kind.slug):
            choose_asset(replica, kind, chosen)

    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        replica = plan.draft.replicas.get(self.role)
        shown.value = replica.assets.get(self.key, "") if replica else ""


def choose_asset(replica: ReplicaDraft, kind: AssetKind[Any], chosen: UUID | None) -> None:
    """Choose an asset, or none. Drop the asset chosen before, and the entered values that the asset
    replaces."""
    others = {slug: pk for slug, pk in replica.assets.items() if slug != kind.slug}
    replica.assets = others | ({kind.slug: chosen} if chosen else {})
    replica.values = {k: v for k, v in replica.values.items() if k not in kind.replaced_keys}


def no_lines(plan: Plan, role: str) -> Iterator[ReviewLine]:
    """Yield nothing: the review of a section without lines."""
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
    review: Callable[[Plan, str], Iterator[ReviewLine]] = field(default=no_lines)

    def questions_on(self, page: int) -> Iterator[Question]:
        """Yield the section's questions on a page."""
        for question in (*asset_questions(self.panel), *self.replica) if page in ROLES else ():
            yield replace(question, page=page, section=self.key, within=ROLES[page])
        for question in self.once if page == self.page else ():
            yield replace(question, page=page, section=self.key)


def asset_questions(panel: Panel | None) -> Iterator[Question]:
    """Yield one question for each kind of asset in a panel."""
    for kind in pod_kinds():
        if kind.panel is panel:
            yield AssetQuestion(kind.slug, kind.label, Input.CARDS)


def reviewed_spec(plan: Plan) -> WorkloadSpec:
    """Return the spec of a plan under review, which always has one."""
    assert plan.spec is not None  # noqa: S101 -- see review.review_pages
    return plan.spec


def reviewed_replica(plan: Plan, role: str) -> Replica:
    """Return the setup of a role. A master without its own setup has that of the workers."""
    spec = reviewed_spec(plan)
    return spec.master if role == "master" and spec.master else spec.worker
