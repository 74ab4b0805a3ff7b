"""The calls about assets, for any kind: read, create, change and delete."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from assets import services
from assets.api.info import additional_info
from assets.api.places import scope_from_meta
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
from assets.wire import NOT_SUPPORTED, AssetInput, AssetWire, WireType, same_path
from core.rest.api import ApiError, Issue, not_found, refusal_error, translate_errors
from core.rest.filters import filter_queryset, sort_queryset
from projects.scopes import OwningScope, ScopedQuerySet
from spec.formats.merge import without_empty
from spec.formats.stored import as_mapping
from spec.problems.errors import Path, Problem, SpecError

RELATED = ("created_by", "updated_by", "cluster")
SCOPE_AND_DESCENDANTS = "includeDescendants: cannot be used with scope; leave one of both out"
META_FIELDS = ("name", "description")


@dataclass(frozen=True)
class AssetCalls:
    """The calls of one path. They concern assets of ``single_type``, or of all types of the kind if
    it is ``None``."""

    kind: AssetKind[Any]
    wire: AssetWire
    single_type: WireType | None = None

    @property
    def wire_type(self) -> WireType:
        return self.single_type or self.wire.types[0]

    def rows(self, user: User) -> ScopedQuerySet[Any]:
        rows = self.kind.rows.visible_to(user).select_related(*RELATED)
        if self.single_type and self.single_type.document_kinds:
            condition = {f"{self.kind.column}__kind__in": self.single_type.document_kinds}
            rows = rows.filter(**condition)
        return rows

    def list_assets(self, listing: AssetListing, user: User) -> AssetList:
        if listing.include_descendants and listing.scope is not None:
            raise ApiError(400, SCOPE_AND_DESCENDANTS)
        rows = self.rows(user).filter(listing.condition)
        rows = filter_queryset(rows, listing.filter_by, FIELDS)
        rows = rows.search(listing.search) if listing.search else rows
        page, next_offset = listing.cut(sort_queryset(rows, listing, FIELDS))
        entries = self.assets_out(page, user, listing)
        if self.single_type is None:
            for asset, entry in zip(page, entries, strict=True):
                # In the list of all types, clients also look for the spec under its type's key.
                if list_key := type_of(self.kind, self.wire, asset).list_key:
                    entry.spec = entry.spec | {list_key: entry.spec}
        return AssetList(entries=entries, next=next_offset)

    def read(self, pk: UUID, user: User, info_query: WithInfo | None = None) -> AssetOut:
        asset = self.find(pk, user)
        (asset_out,) = self.assets_out([asset], user, info_query or WithInfo())
        return asset_out

    def create(self, body: AssetIn, user: User) -> AssetOut:
        asset_input = self._read_spec(body.spec, None)
        scope, issues = scope_from_meta(body.meta, user, personal=self.kind.may_be_personal)
        issues += self._unsupported_issues(body.meta)
        issues += _request_issues(asset_input.problems)
        if scope is None:
            raise self._refusal(issues)
        columns = asset_input.columns | self._supported_columns(body.meta, issues)
        with self._reporting_issues(issues, asset_input.request_path):
            asset = services.create(
                self.kind,
                by=user,
                name=body.meta.name,
                description=body.meta.description or "",
                scope=scope,
                document=asset_input.document,
                **columns,
            )
        return self.read(asset.pk, user)

    def update(self, pk: UUID, body: AssetChange, user: User) -> AssetOut:
        asset = self.find(pk, user)
        issues = self._unsupported_issues(body.meta)
        issues += _private_change_issues(asset, body.meta)
        changes: dict[str, Any] = {}
        request_path: Callable[[Path], Path] = same_path
        if body.spec is not None:
            asset_input = self._read_spec(body.spec, asset)
            issues += _request_issues(asset_input.problems)
            changes = {"document": asset_input.document, **asset_input.columns}
            request_path = asset_input.request_path
        changes |= self._supported_columns(body.meta, issues)
        with self._reporting_issues(issues, request_path):
            services.update(
                self.kind,
                asset,
                by=user,
                name=body.meta.name,
                description=body.meta.description,
                **changes,
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

    def assets_out(
        self, assets: list[Any], user: User, info_query: WithInfo | AssetListing
    ) -> list[AssetOut]:
        info = additional_info(self.kind, assets, user, info_query)
        return [
            AssetOut.from_asset(
                asset, self.wire, type_of(self.kind, self.wire, asset), **info[asset.pk]
            )
            for asset in assets
        ]

    def _read_spec(self, spec: dict[str, Any], asset: Any) -> AssetInput:
        return self.wire_type.read(without_empty(spec), asset)

    def _supported_columns(self, meta: AssetMetaChange, issues: list[Issue]) -> dict[str, Any]:
        """Return the columns for ``meta.workloadSupportedTypes``, and add problems with it to
        ``issues``."""
        if self.wire.supported is None or meta.workload_supported_types is None:
            return {}
        types = meta.workload_supported_types.model_dump(by_alias=True, exclude_none=True)
        asset_input = self.wire.supported.read(types)
        issues += _request_issues(asset_input.problems, "meta", "workloadSupportedTypes")
        return asset_input.columns

    def _unsupported_issues(self, meta: AssetMetaChange) -> list[Issue]:
        """Return an issue for each field of Run:ai that is set and that Trainyard lacks."""
        names = ("auto_delete",) if self.kind.may_be_personal else ("private", "auto_delete")
        issues = [_unsupported_issue(name) for name in names if getattr(meta, name)]
        if self.wire.supported is None and meta.workload_supported_types is not None:
            issues.append(_unsupported_issue("workload_supported_types"))
        return issues

    @contextmanager
    def _reporting_issues(
        self, issues: list[Issue], request_path: Callable[[Path], Path]
    ) -> Iterator[None]:
        """Report the problems of a change together with ``issues``, which were found before. If
        there are any, the change is rolled back."""
        try:
            with translate_errors(""), transaction.atomic():
                yield
                if issues:
                    # Leave the transaction by an exception, so that the change is undone.
                    raise SpecError(())
        except SpecError as error:
            reported_fields = {issue.field for issue in issues}
            service_issues = [_service_issue(problem, request_path) for problem in error.problems]
            new_issues = [it for it in service_issues if it.field not in reported_fields]
            raise self._refusal([*issues, *new_issues]) from error

    def _refusal(self, issues: list[Issue]) -> ApiError:
        return refusal_error(f"The {self.kind.noun} cannot be saved.", issues)


def type_of(kind: AssetKind[Any], wire: AssetWire, asset: Any) -> WireType:
    """Return the type of an asset, according to its document."""
    document_kind = as_mapping(getattr(asset, kind.column)).get("kind")
    matches = (it for it in wire.types if document_kind in it.document_kinds)
    return next(matches, wire.types[0])


def _service_issue(problem: Problem, request_path: Callable[[Path], Path]) -> Issue:
    """Return a problem of a service as an issue. Its path in the document becomes that in the
    request."""
    is_in_meta = len(problem.path) > 0 and problem.path[0] in META_FIELDS
    path = ("meta", *problem.path) if is_in_meta else ("spec", *request_path(problem.path))
    return Issue(field=".".join(map(str, path)), details=problem.message, rule=problem.rule)


def _request_issues(problems: Iterable[Problem], *parent: str) -> list[Issue]:
    """Return problems as issues. Their paths are those of the request, below ``parent``, which is
    ``spec`` if it is left out."""
    prefix = parent or ("spec",)
    return [
        Issue(field=".".join(map(str, (*prefix, *it.path))), details=it.message, rule=it.rule)
        for it in problems
    ]


def _private_change_issues(asset: Any, meta: AssetMetaChange) -> list[Issue]:
    is_personal = OwningScope.from_asset(asset).owner is not None
    if meta.private in (None, is_personal) or not hasattr(asset, "owner"):
        return []
    return [Issue(field="meta.private", details="cannot be changed; create another credential")]


def _unsupported_issue(name: str) -> Issue:
    alias = AssetMetaChange.model_fields[name].alias
    return Issue(field=f"meta.{alias}", details=NOT_SUPPORTED)
