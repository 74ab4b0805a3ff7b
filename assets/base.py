"""The definition of a kind of asset, and its card."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from django.urls import reverse
from pydantic import BaseModel

from accounts import access
from accounts.models import User
from assets.asset import Asset
from assets.forms.base import AssetForm
from assets.links import AssetLink, Reference, with_usage_counts
from assets.wire import AssetWire
from clusters.models import Cluster
from core.forms.field import Option
from projects.scopes import ScopedQuerySet
from spec.draft import Values
from spec.formats import documents
from spec.formats.documents import Document
from spec.formats.stored import document_fault
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


class AssetKind(ABC, Generic[A]):
    """A kind of asset: a subclass for each, with one instance in the table of
    :mod:`assets.kinds`. Texts are empty if there is nothing to say.

    The wizard asks for a kind with a ``panel``. A kind that is chosen for each kind of pod adds a
    ``layer`` to the pod's document. Of a kind with a ``list_key`` a pod may have several.
    """

    #: The kind in drafts and links; its routes start with it.
    slug: str
    #: The start of its URLs.
    path: str
    model: type[A]
    #: The type of the model's ``column``.
    part: type[BaseModel]
    column: str = "spec_json"
    #: The table that stores the other assets that it refers to.
    links: type[AssetLink] | None = None
    #: The types it may have, if its document has one: value and label.
    types: tuple[Option, ...] = ()
    #: Whether people can have their own, which nobody else sees.
    may_be_personal: bool = False
    #: Whether it cannot be deleted while something uses it.
    stays_while_used: bool = False
    #: Its form in REST; without one there are no calls for it.
    wire: AssetWire | None = None

    noun: str
    title: str
    lead: str
    icon: str
    #: Run:ai's words for the verbs.
    edit_verb: str = "Edit"
    copy_verb: str = "Make a copy"
    #: The text of its first chip.
    type_label: str = "For"
    #: Facts of its card that the table shows in columns of their own.
    columns: Columns = ()
    #: What a change means for existing workloads.
    after_a_change: str = "Existing workloads keep the values they were submitted with."
    #: Whether its card shows GPUs, which are virtual on some clusters.
    counts_gpus: bool = False

    form: type[AssetForm]
    #: The template of the form's own fields.
    fields: str = ""
    #: Whether there is a form to create one; otherwise ``hint`` names where it is created.
    has_form: bool = True
    hint: str = ""
    start_route: str = ""  # the route of that page
    start_query: str = ""  # the query of that page that creates one

    panel: Panel | None = None
    #: The list of a pod's values that names its assets of this kind, if a pod may have several: a
    #: field of :class:`spec.draft.GalleryChoices`. Each item has the ``id`` of one.
    list_key: str = ""
    #: The text above the gallery in the wizard.
    choice_lead: str = ""
    #: Keys that a copied workload's own values lose when an asset is chosen instead.
    replaced_keys: frozenset[str] = frozenset()
    #: The key that a pod must have, from an asset of this kind or as its own value.
    required_key: str = ""

    @abstractmethod
    def draw_card(self, asset: A, cluster: Cluster | None) -> AssetCard:
        """Return an asset's card, for a cluster if one is chosen."""

    def panel_of(self, asset: A) -> Values | None:
        """Return what the page of an asset shows besides its document: values for a ``template``;
        ``None`` if there is nothing."""
        return None

    def blank_values(self) -> Values:
        """Return the initial values of the form of a new asset."""
        return {}

    def initial_values(self, asset: A) -> Values:
        """Return the initial values of the form of an existing asset."""
        return {}

    def dump_part(self, part: Any) -> Document:
        """Return a validated ``part`` as its column stores it."""
        return documents.dump_spec(part)

    def problems_when_saved(self, asset: A) -> Iterator[Problem]:
        """Yield what is wrong with an asset outside its document."""
        return iter(())

    def issues(self, assets: Iterable[A], cluster: Cluster | None) -> Mapping[UUID, str]:
        """Return why assets cannot be used, by id: on a cluster, or each where it belongs."""
        return {}

    def references(self, asset: A) -> Iterator[Reference]:
        """Yield the other assets that it refers to. Their kinds may be named by ``list_key``."""
        return iter(())

    def layer(self, asset: A) -> Values:
        """Return what it adds to the document of a pod, by wire name."""
        return {}

    def list_layer(self, chosen: Sequence[tuple[A, Values]]) -> Values:
        """Return what listed assets add to the document of a pod. Each comes with its item of the
        list."""
        return {}

    def item_problems(self, asset: A, item: Values, cluster: Cluster | None) -> Iterator[Problem]:
        """Yield what is wrong with an item that lists an asset, on a cluster if one is chosen."""
        return iter(())

    def item_links(self, asset: A, item: Values) -> Iterator[tuple[str, UUID]]:
        """Yield the kind and the id of what is stored as used by a workload that lists an
        asset."""
        yield self.slug, asset.pk

    def option_label(self, asset: A) -> str:
        """Return an asset's label among the options of a list."""
        return asset.name

    def copied_facts(self, values: Values) -> list[Fact]:
        """Return the facts of a copied pod's own values, for the card "As copied"."""
        return []

    def complaints(self, asset: A, own_values: Values) -> Iterator[Problem]:
        """Yield problems of a pod's own values that it rules out."""
        return iter(())

    def why_unfit(self, asset: A, framework: str) -> str:
        """Why a workload of a framework cannot use it."""
        return ""

    def distance(self, asset: A, traits: KindTraits, framework: str) -> int:
        """Return how badly it suits workloads of a kind and a framework: the smallest distance is
        offered first."""
        return 0

    def address(self, page: str, *args: Any) -> str:
        return reverse(f"{self.slug}-{page}", args=args)

    @property
    def rows(self) -> ScopedQuerySet[A]:
        return cast(ScopedQuerySet[A], self.model._default_manager.all())

    @property
    def label(self) -> str:
        return f"{self.noun[:1].upper()}{self.noun[1:]}"

    @property
    def empty_title(self) -> str:
        return f"No {self.title.lower()} yet"

    @property
    def noun_with_article(self) -> str:
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @property
    def is_judged(self) -> bool:
        """Whether policies judge what it adds to a pod."""
        return self.is_chosen_per_pod or bool(self.list_key)

    @property
    def is_chosen_per_pod(self) -> bool:
        """Whether the wizard asks for one per kind of pod."""
        return self.panel not in {None, Panel.SETUP}

    def may_create(self, user: User) -> bool:
        """Whether there is a scope where ``user`` may create an asset. One of their own counts, if
        the kind has them."""
        permission = self.model.permission("create")
        if self.may_be_personal and access.may_with_own(user, permission):
            return True
        return access.may_anywhere(user, permission)

    def visible_to(self, user: User) -> ScopedQuerySet[A]:
        """Assets visible to ``user``, with scope and usage counts, in a fixed number of queries."""
        rows = self.rows.visible_to(user).select_related(
            "cluster", "department", "project", "created_by"
        )
        return cast(ScopedQuerySet[A], with_usage_counts(rows, self.slug))

    def fault_of(self, asset: A) -> str:
        """Why current rules no longer accept an asset; empty if they do."""
        return document_fault(self.part, getattr(asset, self.column))

    def as_yaml(self, asset: A) -> str:
        """An asset's document as YAML, without defaults and secrets."""
        document = getattr(asset, self.column)
        if not self.fault_of(asset):
            document = documents.without_defaults(
                documents.order_keys(document, self.part), self.part
            )
        return documents.to_yaml(documents.mask_secret_values(document))
