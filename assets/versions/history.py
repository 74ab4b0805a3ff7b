"""Versions of assets: stored with each change, compared, and restored."""

from dataclasses import dataclass
from typing import Any

from django.db.models import DateTimeField, Field, QuerySet

from accounts.models import User
from assets.asset import Asset
from assets.base import A, AssetKind
from assets.names import as_yaml
from assets.versions.model import AssetVersion
from core.database.fields import EncryptedTextField
from core.differences import diff_lines
from projects.scopes import Scoped
from spec.formats import documents
from spec.versions import upgrade_document, with_version

MAX_VERSIONS = 50  # versions kept per asset
HEAD = ("name", "description")
NOT_VERSIONED = {"id", "created_by", "updated_by"} | {field.name for field in Scoped._meta.fields}
Columns = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A version and its differing lines; the first has none. The ``tone`` of a line is ``added``,
    ``removed`` or empty."""

    version: AssetVersion
    lines: tuple[tuple[str, str], ...]
    is_first: bool
    is_current: bool


def versions_of(kind: AssetKind[A], asset: Asset) -> QuerySet[AssetVersion]:
    """Return an asset's versions, newest first."""
    return AssetVersion.objects.filter(kind=kind.slug, asset_id=asset.pk).order_by("-number")


def columns_of(kind: AssetKind[A], asset: A) -> Columns:
    return {field.name: getattr(asset, field.attname) for field in _versioned_fields(kind)}


def columns_of_version(kind: AssetKind[A], version: AssetVersion) -> Columns:
    """Return the columns of a version. Its document is upgraded to the current format."""
    document = upgrade_document(version.columns.get(kind.column), kind.part)
    return {**version.columns, kind.column: document}


def store_version(kind: AssetKind[A], asset: A, *, before: A | None = None) -> None:
    """Store a version if the asset has changed.

    ``before`` is the row before the change. It becomes the first version of an asset that has no
    versions yet.
    """
    latest_version = versions_of(kind, asset).first()
    if latest_version is None and before is not None:
        latest_version = _save_version(kind, before, 1)
    if latest_version is None or columns_of_version(kind, latest_version) != columns_of(
        kind, asset
    ):
        number = latest_version.number + 1 if latest_version else 1
        _save_version(kind, asset, number)
        versions_of(kind, asset).filter(number__lte=number - MAX_VERSIONS).delete()


def delete_versions(kind: AssetKind[A], asset: Asset) -> None:
    versions_of(kind, asset).delete()


def changes(kind: AssetKind[A], asset: A, user: User) -> list[Change]:
    """Return the changes of an asset, newest first. An asset that never changed has one version."""
    versions = list(versions_of(kind, asset).select_related("by")) or [
        _build_version(kind, asset, 1)
    ]
    texts = [_version_lines(kind, asset, version, user) for version in versions] + [[]]
    return [
        Change(
            version,
            diff_lines(texts[index + 1], texts[index]) if texts[index + 1] else (),
            is_first=index == len(versions) - 1,
            is_current=index == 0,
        )
        for index, version in enumerate(versions)
    ]


def restored_asset(kind: AssetKind[A], version: AssetVersion) -> A:
    """Return an unsaved asset with those columns of a version that still exist."""
    field_names = {field.name for field in _versioned_fields(kind)}
    columns = columns_of_version(kind, version)
    return kind.model(**{key: value for key, value in columns.items() if key in field_names})


def _versioned_fields(kind: AssetKind[A]) -> "list[Field[Any, Any]]":
    """Return the columns that people edit."""
    return [
        field
        for field in kind.model._meta.concrete_fields
        if field.editable
        and field.name not in NOT_VERSIONED
        and not isinstance(field, EncryptedTextField | DateTimeField)
    ]


def _save_version(kind: AssetKind[A], asset: A, number: int) -> AssetVersion:
    version = _build_version(kind, asset, number)
    version.save()
    return version


def _build_version(kind: AssetKind[A], asset: A, number: int) -> AssetVersion:
    columns = columns_of(kind, asset)
    return AssetVersion(
        kind=kind.slug,
        asset_id=asset.pk,
        number=number,
        columns={**columns, kind.column: with_version(columns[kind.column])},
        by=asset.updated_by,
        at=asset.updated_at,
    )


def _version_lines(kind: AssetKind[A], asset: A, version: AssetVersion, user: User) -> list[str]:
    """Return a version as lines of text, without secrets and defaults."""
    version_asset = restored_asset(kind, version)
    column_values = {
        key: value
        for key, value in columns_of(kind, version_asset).items()
        if key != kind.column and value not in ("", None)
    }
    return [
        *documents.to_yaml(column_values).splitlines(),
        *as_yaml(kind, version_asset, user).splitlines(),
    ]
