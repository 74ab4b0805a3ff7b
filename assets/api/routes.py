"""REST: the paths of the calls about assets, for each kind and each of its types."""

from typing import Any
from uuid import UUID

from ninja import Query, Router, Status

from accounts.api.tokens import ApiRequest
from assets.api.calls import AssetCalls
from assets.api.runai import adapt_asset
from assets.api.schemas import (
    AssetChange,
    AssetIn,
    AssetList,
    AssetListing,
    AssetOut,
    WithInfo,
)
from assets.base import A, AssetKind

ROOT = "/asset"


def asset_router(kind: AssetKind[A]) -> Router:
    """The router with the calls of one kind; empty if the kind has no form in JSON."""
    router = Router(tags=[kind.title], by_alias=True, exclude_unset=True)
    if (wire := kind.wire) is None:
        return router
    if any(wire_type.path for wire_type in wire.types):
        _add_list(router, f"{ROOT}/{wire.path}", AssetCalls(kind, wire), kind.title.lower())
    for wire_type in wire.types:
        path = "/".join(filter(None, (ROOT, wire.path, wire_type.path)))
        calls = AssetCalls(kind, wire, wire_type)
        noun = wire_type.noun_with_article or kind.noun_with_article
        _add_list(router, path, calls, kind.title.lower())
        _add_read(router, path, calls, noun)
        if not wire.read_only:
            _add_create(router, path, calls, noun)
            _add_changes(router, path, calls, noun)
    return router


def _add_list(router: Router, path: str, calls: AssetCalls, nouns: str) -> None:
    @router.get(
        path,
        response=AssetList,
        operation_id=f"list{_operation_name(path)}",
        summary=f"List {nouns}",
    )
    def list_assets(request: ApiRequest, listing: Query[AssetListing]) -> AssetList:
        """Assets that you can see. ``usageInfo=true`` adds what uses each, ``statusInfo=true``
        whether it can be used in its cluster, ``complyToProject`` whether in a project."""
        answer = calls.list_assets(listing, request.user)
        answer.entries = [adapt_asset(request, asset) for asset in answer.entries]
        return answer


def _add_read(router: Router, path: str, calls: AssetCalls, noun: str) -> None:
    asset_path = f"{path}/{{asset_id}}"
    name = _operation_name(path)

    @router.get(asset_path, response=AssetOut, operation_id=f"read{name}", summary=f"Get {noun}")
    def read(request: ApiRequest, asset_id: UUID, asked: Query[WithInfo]) -> AssetOut:
        """One asset. ``usageInfo=true`` adds what uses it, ``statusInfo=true`` whether it can be
        used in its cluster, ``complyToProject`` whether in a project."""
        return adapt_asset(request, calls.read(asset_id, request.user, asked))


def _add_create(router: Router, path: str, calls: AssetCalls, noun: str) -> None:
    @router.post(
        path,
        response={201: AssetOut},
        operation_id=f"create{_operation_name(path)}",
        summary=f"Create {noun}",
        openapi_extra=_spec_schema(calls.wire_type.schema()),
    )
    def create(request: ApiRequest, body: AssetIn) -> Status[AssetOut]:
        """Create an asset. 400 lists every invalid field."""
        return Status(201, adapt_asset(request, calls.create(body, request.user)))


def _add_changes(router: Router, path: str, calls: AssetCalls, noun: str) -> None:
    asset_path = f"{path}/{{asset_id}}"
    name = _operation_name(path)

    @router.put(
        asset_path,
        response=AssetOut,
        operation_id=f"update{name}",
        summary=f"Change {noun}",
        openapi_extra=_spec_schema(calls.wire_type.schema()),
    )
    def update(request: ApiRequest, asset_id: UUID, body: AssetChange) -> AssetOut:
        """Change an asset. Missing fields of ``meta`` do not change; ``spec`` is replaced as a
        whole. Existing workloads keep their values."""
        return adapt_asset(request, calls.update(asset_id, body, request.user))

    @router.delete(
        asset_path, response={204: None}, operation_id=f"delete{name}", summary=f"Delete {noun}"
    )
    def delete(request: ApiRequest, asset_id: UUID) -> Status[None]:
        """Delete an asset. 409 while something uses it and needs it."""
        calls.delete(asset_id, request.user)
        return Status(204, None)


def _spec_schema(spec: dict[str, Any]) -> dict[str, Any]:
    """The schema of a request's ``spec``, as an addition to the operation."""
    described = {"description": "The specification"} | spec
    content = {"application/json": {"schema": {"properties": {"spec": described}}}}
    return {"requestBody": {"content": content}}


def _operation_name(path: str) -> str:
    """The path, such as ``/asset/datasource/host-path``, as part of an operation's id."""
    words = path.replace("/", "_").replace("-", "_")
    return words.replace("_api_", "_")  # generators cut names there
