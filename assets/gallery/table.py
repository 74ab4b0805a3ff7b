"""A gallery as a table: columns, filters and sorting."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import QueryDict
from django.utils.formats import localize
from django.utils.timezone import localtime

from accounts.models import User
from assets.asset import Asset
from assets.base import AssetCard, AssetKind
from assets.gallery.cards import UNUSABLE_CHIPS, asset_cards
from assets.links import link_tables, usage_text
from core.forms.field import Option
from core.web.query import search_text
from projects.scopes import EVERY_CLUSTER, ME, ONLY_YOU, Scope, ScopedQuerySet

EXPORT_CHUNK = 500  # rows of an export
MOST_AUTHORS = 100  # offered by the filter
FIRST = "name"
NO_ISSUES = "No issues"


@dataclass(frozen=True)
class AssetColumn:
    """A column. ``order`` are the database fields it sorts by; a ``wide`` one has room for
    a text."""

    key: str
    label: str
    text: Callable[[Any, AssetCard], str]
    order: tuple[str, ...] = ()
    wide: bool = False


def columns_of(kind: AssetKind[Any]) -> list[AssetColumn]:
    """The columns of a kind. The first is the name, which links to the asset."""
    counts = tuple(f"used_by_{table.HOLDER}" for table in link_tables())
    return [
        AssetColumn(FIRST, "Name", lambda asset, card: asset.name, ("name",)),
        AssetColumn("description", "Description", lambda it, card: it.description, wide=True),
        AssetColumn("type", kind.type_label, _type),
        *(
            AssetColumn(f"fact-{number}", label, partial(_values_of, names), wide=True)
            for number, (label, names) in enumerate(kind.columns)
        ),
        AssetColumn("status", "Status", lambda it, card: card.why_not or NO_ISSUES, wide=True),
        AssetColumn("scope", "Scope", lambda asset, card: asset.scope_name, ("scope",)),
        AssetColumn("cluster", "Cluster", lambda asset, card: str(asset.cluster or EVERY_CLUSTER)),
        AssetColumn("used", "Used by", lambda asset, card: usage_text(asset), counts),
        AssetColumn("by", "Created by", _author, ("created_by__username",)),
        AssetColumn("created", "Created", lambda it, card: _time(it.created_at), ("created_at",)),
        AssetColumn("changed", "Changed", lambda it, card: _time(it.updated_at), ("updated_at",)),
    ]


def _type(asset: Asset, card: AssetCard) -> str:
    """The asset's type; empty if it can no longer be read."""
    return next((chip[0] for chip in card.chips if chip not in UNUSABLE_CHIPS), "")


def _values_of(names: Collection[str], asset: Asset, card: AssetCard) -> str:
    """The values of the facts in one column."""
    return ", ".join(value for _, name, value in card.facts if name in names)


def _author(asset: Asset, card: AssetCard) -> str:
    return asset.created_by.username if asset.created_by else ""


def _time(at: Any) -> str:
    return str(localize(localtime(at)))


class GalleryState:
    """The state of a gallery in its address: ``q`` searches, ``scope``, ``type`` and ``by`` filter,
    ``order`` sorts. Unknown values are ignored."""

    def __init__(self, kind: AssetKind[Any], query: QueryDict, user: User) -> None:
        self.kind = kind
        self.user = user
        self.columns = columns_of(kind)
        self.text = search_text(query)
        self.scopes = [*Scope.choices, *([(ME, ONLY_YOU)] if kind.may_be_personal else [])]
        self.scope = _if_known(query.get("scope", ""), dict(self.scopes))
        self.type = _if_known(query.get("type", ""), dict(kind.types))
        self.by = query.get("by", "")
        self.order = query.get("order", FIRST)
        self.by_key = {it.key: it.order for it in self.columns if it.order}
        if self.order.removeprefix("-") not in self.by_key:
            self.order = FIRST

    @property
    def is_filtered(self) -> bool:
        return bool(self.text or self.scope or self.type or self.by)

    def rows(self) -> ScopedQuerySet[Any]:
        rows = self.kind.visible_to(self.user)
        rows = rows.search(self.text) if self.text else rows
        rows = rows.filter(**self._scope_filter()) if self.scope else rows
        rows = rows.filter(**{f"{self.kind.column}__kind": self.type}) if self.type else rows
        rows = rows.filter(created_by__username=self.by) if self.by else rows
        down = "-" if self.order.startswith("-") else ""
        fields = self.by_key[self.order.removeprefix("-")]
        return rows.order_by(*(f"{down}{field}" for field in fields), "name", "pk")

    def _scope_filter(self) -> dict[str, Any]:
        if self.scope == ME:
            return {"owner": self.user}
        return {"scope": self.scope} | ({"owner": None} if self.kind.may_be_personal else {})

    def authors(self) -> list[Option]:
        """Options of the filter by author."""
        rows = self.kind.rows.visible_to(self.user).order_by("created_by__username")
        names = rows.exclude(created_by=None).values_list("created_by__username", flat=True)
        return [(name, name) for name in names.distinct()[:MOST_AUTHORS]]

    def export(self) -> Iterator[list[str]]:
        """The header and the cells of each row."""
        yield [column.label for column in self.columns]
        rows = list(self.rows())
        start = 0
        while chunk := rows[start : start + EXPORT_CHUNK]:
            for asset, card in zip(
                chunk, asset_cards(self.kind, chunk, viewer=self.user), strict=True
            ):
                yield [column.text(asset, card) for column in self.columns]
            start += EXPORT_CHUNK


def _if_known(text: str, words: Any) -> str:
    return text if text in words else ""
