"""What a kind of asset is: one frozen row of the table in :mod:`assets.kinds`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from django.urls import reverse
from pydantic import BaseModel

from accounts.models import User
from assets.asset import Asset
from assets.forms.base import AssetForm
from assets.links import AssetLink, Reference, with_counts
from assets.wire import AssetWire
from clusters.models import Cluster
from core.forms.field import Option
from projects.scopes import ScopedQuerySet
from spec.draft import Values
from spec.formats import documents
from spec.formats.documents import Document
from spec.formats.stored import fault_of
from spec.kind import KindTraits
from spec.problems.errors import Problem

A = TypeVar("A", bound=Asset)
Fact = tuple[str, str, str]  # icon, name, value
Chip = tuple[str, str]  # label, tone
Columns = tuple[tuple[str, tuple[str, ...]], ...]  # label, the facts any of which fills it


@dataclass(frozen=True)
class AssetCard:
    """The parts of ``components/asset_card.html`` that depend on the kind. ``why_not``: the
    reason why it cannot be used, which is then the value of a fact as well."""

    facts: list[Fact]
    chips: list[Chip]
    why_not: str = ""


class Panel(StrEnum):
    """Where the wizard asks for an asset."""

    SETUP = "setup"  # once for the workload, on the first page
    START = "start"  # once for each kind of pod: before its command
    SIZE = "size"  # the same: with the number of workers


def nothing_against(asset: Any, framework: str) -> str:
    return ""


def all_alike(asset: Any, kind: KindTraits, framework: str) -> int:
    return 0


def no_complaints(asset: Any, given: Values) -> Iterator[Problem]:
    yield from ()


def lacks_nothing(asset: Any) -> Iterator[Problem]:
    yield from ()


def names_nothing(asset: Any) -> Iterable[Reference]:
    return ()


def no_issues(assets: Iterable[Any], cluster: Cluster | None) -> Mapping[UUID, str]:
    return {}


def nothing_copied(values: Values) -> list[Fact]:
    return []


@dataclass(frozen=True)
class AssetKind(Generic[A]):
    """``slug`` starts the names of the routes and names the kind in drafts and links; ``path``
    starts the addresses. The verbs are Run:ai's words.

    A kind with a ``panel`` fills a slot of the wizard. One for each kind of pod gives the pod's
    document a ``layer``.
    """

    slug: str
    path: str
    model: type[A]
    noun: str
    title: str
    lead: str
    icon: str
    copy_verb: str
    form: type[AssetForm]
    initial: Callable[[A], dict[str, Any]]
    card: Callable[[A, Cluster | None], AssetCard]
    #: What ``column`` of the model holds, and how it is stored.
    part: type[BaseModel]
    edit_verb: str = "Edit"
    column: str = "spec_json"
    dump: Callable[[Any], Document] = documents.dump
    #: The template of the form's own fields, and the values of a new one.
    fields: str = ""
    blank: Callable[[], dict[str, Any]] = dict
    #: Made by a form of its own; otherwise from what a person did elsewhere, which ``hint`` names.
    has_form: bool = True
    hint: str = ""
    begins_at: str = ""  # the route of the page where that is done
    begins_with: str = ""  # what its address asks for to make one
    #: What its first chip tells, and what a change of it means for workloads that there are.
    chip: str = "For"
    #: What of its card the table has in columns, beside those of every kind.
    columns: Columns = ()
    after_a_change: str = "Existing workloads keep the values they were submitted with."
    #: What it may be of, where its document says so: value and label.
    types: tuple[Option, ...] = ()
    #: Whether it stays as long as something uses it.
    stays_while_used: bool = False
    #: What is missing beside its document, when it is saved.
    lacks: Callable[[A], Iterator[Problem]] = lacks_nothing
    #: Why which of some cannot be used in a cluster, or each where it belongs.
    issues: Callable[[Iterable[A], Cluster | None], Mapping[UUID, str]] = no_issues
    #: What it names of other assets, and the table that remembers which of them.
    names: Callable[[A], Iterable[Reference]] = names_nothing
    links: type[AssetLink] | None = None
    #: Whether its card counts GPUs, which are virtual on some clusters.
    counts_gpus: bool = False
    #: Whether people have some of their own, which nobody else sees.
    personal: bool = False
    #: How REST speaks of it. Without one it has no calls there.
    wire: AssetWire | None = None

    panel: Panel | None = None
    #: What the wizard says above the gallery.
    choice_lead: str = ""
    #: What it brings to the document of a pod, by wire name.
    layer: Callable[[A], Values] = lambda asset: {}
    #: Keys that a copied workload's own values lose when an asset is chosen in their place, and
    #: the facts of those values, for the card "As copied".
    replaces: frozenset[str] = frozenset()
    copied: Callable[[Values], list[Fact]] = nothing_copied
    #: The key that a pod must have, from an asset of this kind or by value.
    required: str = ""
    #: Why a workload of a framework cannot use it, and what of the pod's own values it rules out.
    unfit: Callable[[A, str], str] = nothing_against
    complaints: Callable[[A, Values], Iterator[Problem]] = no_complaints
    #: How near it is to what workloads of a kind and a framework want; the least is offered first.
    distance: Callable[[A, KindTraits, str], int] = all_alike

    def address(self, page: str, *args: Any) -> str:
        return reverse(f"{self.slug}-{page}", args=args)

    @property
    def rows(self) -> ScopedQuerySet[A]:
        return cast(ScopedQuerySet[A], self.model._default_manager.all())

    @property
    def label(self) -> str:
        return f"{self.noun[:1].upper()}{self.noun[1:]}"

    @property
    def none_yet(self) -> str:
        return f"No {self.title.lower()} yet"

    @property
    def one(self) -> str:
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @property
    def for_each_pod(self) -> bool:
        """Whether the wizard asks for one for each kind of pod."""
        return self.panel not in {None, Panel.SETUP}

    def visible_to(self, user: User) -> ScopedQuerySet[A]:
        """With where each belongs and how much uses it, in a fixed number of queries."""
        rows = self.rows.visible_to(user).select_related(
            "cluster", "department", "project", "created_by"
        )
        return cast(ScopedQuerySet[A], with_counts(rows, self.slug))

    def fault_of(self, asset: A) -> str:
        """Why it can no longer be used, where it was written under other rules."""
        return fault_of(self.part, getattr(asset, self.column))

    def as_yaml(self, asset: A) -> str:
        """What an asset holds, without what is as it is by default and without secrets."""
        document = getattr(asset, self.column)
        if not self.fault_of(asset):
            document = documents.brief(documents.ordered(document, self.part), self.part)
        return documents.to_yaml(documents.masked(document))
