"""The definition of a kind of asset: a frozen row of the table in :mod:`assets.kinds`."""

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
Columns = tuple[tuple[str, tuple[str, ...]], ...]  # label, and the facts of which one fills it


@dataclass(frozen=True)
class AssetCard:
    """The parts of ``components/asset_card.html`` that differ between kinds. ``why_not`` is the
    reason why an asset cannot be used, which is also shown as a fact."""

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
    """A kind of asset. ``slug`` names the kind in drafts and links, and starts the names of its
    routes; ``path`` starts its URLs. The verbs are Run:ai's words.

    The wizard asks for a kind with a ``panel``. A kind that is chosen for each kind of pod adds a
    ``layer`` to the pod's document.
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
    #: The type of the model's ``column``, and how it is stored.
    part: type[BaseModel]
    edit_verb: str = "Edit"
    column: str = "spec_json"
    dump: Callable[[Any], Document] = documents.dump
    #: The template of the form's own fields, and the initial values of a new asset.
    fields: str = ""
    blank: Callable[[], dict[str, Any]] = dict
    #: Whether there is a form to create one; otherwise ``hint`` names where it is created.
    has_form: bool = True
    hint: str = ""
    begins_at: str = ""  # the route of that page
    begins_with: str = ""  # the query of that page that creates one
    #: The text of its first chip, and what a change means for existing workloads.
    chip: str = "For"
    #: Facts of its card that the table shows in columns of their own.
    columns: Columns = ()
    after_a_change: str = "Existing workloads keep the values they were submitted with."
    #: The types it may have, if its document has one: value and label.
    types: tuple[Option, ...] = ()
    #: Whether it cannot be deleted while something uses it.
    stays_while_used: bool = False
    #: Problems outside its document when it is saved.
    lacks: Callable[[A], Iterator[Problem]] = lacks_nothing
    #: Why assets cannot be used, by id: in a cluster, or each where it belongs.
    issues: Callable[[Iterable[A], Cluster | None], Mapping[UUID, str]] = no_issues
    #: Other assets that it refers to, and the table that stores these links.
    names: Callable[[A], Iterable[Reference]] = names_nothing
    links: type[AssetLink] | None = None
    #: Whether its card shows GPUs, which are virtual on some clusters.
    counts_gpus: bool = False
    #: Whether people can have their own, which nobody else sees.
    personal: bool = False
    #: Its form in REST; without one there are no calls for it.
    wire: AssetWire | None = None

    panel: Panel | None = None
    #: The text above the gallery in the wizard.
    choice_lead: str = ""
    #: What it adds to the document of a pod, by wire name.
    layer: Callable[[A], Values] = lambda asset: {}
    #: Keys that a copied workload's own values lose when an asset is chosen instead, and the facts
    #: of these values for the card "As copied".
    replaces: frozenset[str] = frozenset()
    copied: Callable[[Values], list[Fact]] = nothing_copied
    #: The key that a pod must have, from an asset of this kind or as its own value.
    required: str = ""
    #: Why a workload of a framework cannot use it, and which of the pod's own values it rules out.
    unfit: Callable[[A, str], str] = nothing_against
    complaints: Callable[[A, Values], Iterator[Problem]] = no_complaints
    #: How well it suits workloads of a kind and a framework; the smallest distance is offered
    #: first.
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
        """Whether the wizard asks for one per kind of pod."""
        return self.panel not in {None, Panel.SETUP}

    def visible_to(self, user: User) -> ScopedQuerySet[A]:
        """Assets visible to ``user``, with scope and usage counts, in a fixed number of queries."""
        rows = self.rows.visible_to(user).select_related(
            "cluster", "department", "project", "created_by"
        )
        return cast(ScopedQuerySet[A], with_counts(rows, self.slug))

    def fault_of(self, asset: A) -> str:
        """Why current rules no longer accept an asset; empty if they do."""
        return fault_of(self.part, getattr(asset, self.column))

    def as_yaml(self, asset: A) -> str:
        """An asset's document as YAML, without defaults and secrets."""
        document = getattr(asset, self.column)
        if not self.fault_of(asset):
            document = documents.brief(documents.ordered(document, self.part), self.part)
        return documents.to_yaml(documents.masked(document))
