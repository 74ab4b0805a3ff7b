"""The calls about assets, for any kind: read, create, change and delete."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from assets import services
from assets.api.info import info_of
from assets.api.places import place_of
from assets.api.schemas import (
    FIELDS,
    AssetChange,
    AssetIn,
    AssetList,
    AssetListing,
    AssetMetaChange,
    AssetOut,
    WithInfo,
)
from assets.base import AssetKind
from assets.wire import NOT_HERE, AssetWire, Given, WireType, unchanged
from core.rest.api import ApiError, Issue, not_found, refusal_error, translate_errors
from core.rest.filters import filter_queryset, sort_queryset
from projects.scopes import Place, ScopedQuerySet
from spec.formats.merge import without_nothing
from spec.formats.stored import as_mapping
from spec.problems.errors import Path, Problem, SpecError

NAMED = ("created_by", "updated_by", "cluster")
BOTH = "includeDescendants: cannot be used with scope; leave one of both out"
META = ("name", "description")


@dataclass(frozen=True)
class Calls:
    """The calls of one path: for ``its`` type, or without one for all types of the kind."""

    kind: AssetKind[Any]
    wire: AssetWire
    its: WireType | None = None

    @property
    def type(self) -> WireType:
        return self.its or self.wire.types[0]

    def rows(self, user: User) -> ScopedQuerySet[Any]:
        rows = self.kind.rows.visible_to(user).select_related(*NAMED)
        if self.its and self.its.of:
            rows = rows.filter(**{f"{self.kind.column}__kind__in": self.its.of})
        return rows

    def listed(self, listing: AssetListing, user: User) -> AssetList:
        if listing.include_descendants and listing.scope is not None:
            raise ApiError(400, BOTH)
        rows = self.rows(user).filter(listing.condition)
        rows = filter_queryset(rows, listing.filter_by, FIELDS)
        rows = rows.search(listing.search) if listing.search else rows
        page, following = listing.cut(sort_queryset(rows, listing, FIELDS))
        entries = self.shown(page, user, listing)
        for asset, entry in zip(page if self.its is None else (), entries, strict=False):
            if below := type_of(self.kind, self.wire, asset).below:
                entry.spec = entry.spec | {below: entry.spec}
        return AssetList(entries=entries, next=following)

    def read(self, pk: UUID, user: User, asked: WithInfo | None = None) -> AssetOut:
        (shown,) = self.shown([self.find(pk, user)], user, asked or WithInfo())
        return shown

    def create(self, body: AssetIn, user: User) -> AssetOut:
        given = self._given(body.spec, None)
        place, wrong = place_of(body.meta, user, personal=self.kind.personal)
        wrong += [*self._unsaid(body.meta), *_issues(given.problems)]
        if place is None:
            raise self._refused(wrong)
        columns = given.columns | self._supported(body.meta, wrong)
        with self._judged(wrong, given.place):
            asset = services.create(
                self.kind,
                by=user,
                name=body.meta.name,
                description=body.meta.description or "",
                place=place,
                document=given.document,
                **columns,
            )
        return self.read(asset.pk, user)

    def update(self, pk: UUID, body: AssetChange, user: User) -> AssetOut:
        asset = self.find(pk, user)
        wrong = [*self._unsaid(body.meta), *_kept_private(asset, body.meta)]
        changes: dict[str, Any] = {}
        place: Callable[[Path], Path] = unchanged
        if body.spec is not None:
            given = self._given(body.spec, asset)
            wrong += _issues(given.problems)
            changes = {"document": given.document, **given.columns}
            place = given.place
        changes |= self._supported(body.meta, wrong)
        with self._judged(wrong, place):
            name = body.meta.name
            description = body.meta.description
            services.update(
                self.kind, asset, by=user, name=name, description=description, **changes
            )
        return self.read(pk, user)

    def delete(self, pk: UUID, user: User) -> None:
        asset = self.find(pk, user)
        with translate_errors(""):
            services.delete(self.kind, asset, by=user)

    def find(self, pk: UUID, user: User) -> Any:
        asset = self.rows(user).filter(pk=pk).first()
        if asset is None:
            raise not_found(f"The {self.kind.noun}")
        return asset

    def shown(
        self, assets: list[Any], user: User, asked: WithInfo | AssetListing
    ) -> list[AssetOut]:
        info = info_of(self.kind, assets, user, asked)
        return [
            AssetOut.of(asset, self.wire, type_of(self.kind, self.wire, asset), **info[asset.pk])
            for asset in assets
        ]

    def _given(self, spec: dict[str, Any], asset: Any) -> Given:
        return self.type.read(without_nothing(spec), asset)

    def _supported(self, meta: AssetMetaChange, wrong: list[Issue]) -> dict[str, Any]:
        """The columns for ``meta.workloadSupportedTypes``. Adds problems with it to ``wrong``."""
        if self.wire.supported is None or meta.workload_supported_types is None:
            return {}
        types = meta.workload_supported_types.model_dump(by_alias=True, exclude_none=True)
        given = self.wire.supported.read(types)
        wrong += _issues(given.problems, "meta", "workloadSupportedTypes")
        return given.columns

    def _unsaid(self, meta: AssetMetaChange) -> list[Issue]:
        """Problems with fields of Run:ai that Trainyard does not support."""
        never = ("auto_delete",) if self.kind.personal else ("private", "auto_delete")
        wrong = [_not_here(name) for name in never if getattr(meta, name)]
        if self.wire.supported is None and meta.workload_supported_types is not None:
            wrong.append(_not_here("workload_supported_types"))
        return wrong

    @contextmanager
    def _judged(self, wrong: list[Issue], place: Callable[[Path], Path]) -> Iterator[None]:
        """Report the problems of a change together with ``wrong``, which were found before. If
        there are any, the change is rolled back."""
        try:
            with translate_errors(""), transaction.atomic():
                yield
                if wrong:
                    raise SpecError(())
        except SpecError as error:
            named = {issue.field for issue in wrong}
            issues = [_issue(problem, place) for problem in error.problems]
            more = [issue for issue in issues if issue.field not in named]
            raise self._refused([*wrong, *more]) from error

    def _refused(self, issues: list[Issue]) -> ApiError:
        return refusal_error(f"The {self.kind.noun} cannot be saved.", issues)


def type_of(kind: AssetKind[Any], wire: AssetWire, asset: Any) -> WireType:
    """The type of an asset, according to its document."""
    word = as_mapping(getattr(asset, kind.column)).get("kind")
    return next((its for its in wire.types if word in its.of), wire.types[0])


def _issue(problem: Problem, place: Callable[[Path], Path]) -> Issue:
    """A problem of a service, whose path is that of the document, as an issue of the request."""
    in_meta = problem.path[:1] in {(name,) for name in META}
    path = ("meta", *problem.path) if in_meta else ("spec", *place(problem.path))
    return Issue(field=".".join(map(str, path)), details=problem.message, rule=problem.rule)


def _issues(problems: Iterable[Problem], *within: str) -> list[Issue]:
    """Problems as issues; their paths are those of the request."""
    at = within or ("spec",)
    return [
        Issue(field=".".join(map(str, (*at, *it.path))), details=it.message, rule=it.rule)
        for it in problems
    ]


def _kept_private(asset: Any, meta: AssetMetaChange) -> list[Issue]:
    is_own = Place.of(asset).owner is not None
    if meta.private in (None, is_own) or not hasattr(asset, "owner"):
        return []
    return [Issue(field="meta.private", details="cannot be changed; create another credential")]


def _not_here(name: str) -> Issue:
    alias = AssetMetaChange.model_fields[name].alias
    return Issue(field=f"meta.{alias}", details=NOT_HERE)
