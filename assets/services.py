"""What people can do with assets of any kind. Forms, REST and demo data use these verbs."""

import uuid
from typing import Any, NoReturn

from django.db import IntegrityError, transaction
from pydantic import ValidationError

from accounts import access
from accounts.models import User
from assets.asset import Asset
from assets.base import A, AssetKind
from assets.kinds import kind_named
from assets.links import Reference, link_tables
from assets.versions import history
from assets.versions.model import AssetVersion
from audit import services as audit
from core.deletion import Dependents, count_hidden, guard_deletion
from core.words import count_nouns, first_names
from projects.scopes import OwningScope
from spec.formats.documents import Document
from spec.problems.errors import TAKEN, Problem, SpecError, problems_in

MAX_NAME_LENGTH = 63


def create(
    kind: AssetKind[A],
    *,
    by: User,
    name: str,
    scope: OwningScope,
    document: Document,
    description: str = "",
    **columns: Any,
) -> A:
    """Create an asset with ``document``, which has the wire names of the kind's part.

    ``columns`` are those of the kind, such as an environment's ``framework``. Raises ``SpecError``
    with every problem, or ``PermissionDenied``.
    """
    asset = kind.model(**columns)
    with transaction.atomic():
        _save_new(kind, asset, by, name, scope, description, document)
        _update_links(kind, asset, by)
        history.store_version(kind, asset)
        audit.record(by, "create", asset, after=_audit_facts(kind, asset))
    return asset


def update(
    kind: AssetKind[A],
    asset: A,
    *,
    by: User,
    name: str | None = None,
    description: str | None = None,
    document: Document | None = None,
    **columns: Any,
) -> A:
    """Change the given values. Existing workloads keep theirs. Raises ``SpecError`` with every
    problem, or ``PermissionDenied``."""
    check_editable(kind, asset, by)
    asset.name = asset.name if name is None else name.strip()
    asset.description = asset.description if description is None else description.strip()
    for column, value in columns.items():
        setattr(asset, column, value)
    asset.updated_by = by
    with transaction.atomic():
        # Lock the row, so that the log and the version tell exactly what this change replaces.
        before = kind.rows.select_for_update().get(pk=asset.pk)
        facts = _audit_facts(kind, before)
        _save(kind, asset, document)
        if document is not None:
            _update_links(kind, asset, by)
        history.store_version(kind, asset, before=before)
        audit.record(by, "update", asset, before=facts, after=_audit_facts(kind, asset))
    return asset


def restore(kind: AssetKind[A], asset: A, version: AssetVersion, *, by: User) -> A:
    """Restore an earlier version, as a new version. Raises ``SpecError`` if it is no longer
    valid."""
    columns = history.columns_of(kind, history.restored_asset(kind, version))
    document = columns.pop(kind.column)
    return update(kind, asset, by=by, document=document, **columns)


def duplicate(
    kind: AssetKind[A], asset: A, *, by: User, name: str, scope: OwningScope, description: str = ""
) -> A:
    """Create a copy under another name or in another scope. Raises ``SpecError``."""
    copy = kind.rows.get(pk=asset.pk)
    copy.pk = uuid.uuid4()
    copy._state.adding = True
    with transaction.atomic():
        _save_new(kind, copy, by, name, scope, description, None)
        _update_links(kind, copy, by)
        history.store_version(kind, copy)
        audit.record(by, "create", copy, after=_audit_facts(kind, copy))
    return copy


def delete(kind: AssetKind[A], asset: A, *, by: User) -> None:
    """Delete an asset. Workloads keep its values. Raises ``InUse`` if something uses it and its
    kind cannot be deleted then."""
    check_editable(kind, asset, by, "delete")
    with guard_deletion(asset, lambda: obstacle_to_delete(kind, asset, by)):
        audit.record(by, "delete", asset, before=_audit_facts(kind, asset))
        history.delete_versions(kind, asset)
        asset.delete()


def obstacle_to_delete(kind: AssetKind[A], asset: A, by: User) -> str:
    """Return why ``by`` cannot delete the asset now; empty if they can."""
    users = _dependents(kind, asset, by) if kind.stays_while_used else Dependents(())
    return users.refusal(f"{asset} is used by", "Delete or change those first.")


def _dependents(kind: AssetKind[A], asset: A, by: User) -> Dependents:
    """Return the first few holders of each kind: ``workload train``, ``template base``."""
    holders_by_noun = [
        (table.noun(), table.holders_of_asset(kind.slug, asset.pk)) for table in link_tables()
    ]
    names = [
        f"{noun} {name}"
        for noun, rows in holders_by_noun
        for name in first_names(rows.visible_to(by))
    ]
    return Dependents(
        names, count_nouns((count_hidden(rows, by), noun) for noun, rows in holders_by_noun)
    )


def free_name(kind: AssetKind[A], asset: A) -> str:
    """Return an unused name for a copy: ``pytorch-copy``, ``pytorch-copy-2``."""
    base = f"{asset.name[: MAX_NAME_LENGTH - 8]}-copy"
    taken = set(kind.rows.filter(name__startswith=base).values_list("name", flat=True))
    return next(n for n in (base, *(f"{base}-{i}" for i in range(2, 1000))) if n not in taken)


def check_editable(kind: AssetKind[A], asset: A, by: User, action: str = "update") -> None:
    """Raise ``PermissionDenied`` if ``by`` may not change the asset, for example because the asset
    only reaches their project from a wider scope."""
    if not kind.rows.editable_by(by, action).filter(pk=asset.pk).exists():
        _refuse(kind, action, by, OwningScope.from_asset(asset))


def check_creatable(kind: AssetKind[Any], by: User) -> None:
    """Raise ``PermissionDenied`` if ``by`` may not create an asset in any scope."""
    if not kind.may_create(by):
        _refuse(kind, "create", by, OwningScope())


def _refuse(kind: AssetKind[Any], action: str, by: User, scope: OwningScope) -> NoReturn:
    """Raise ``PermissionDenied`` for an action on assets of a scope."""
    permission = kind.model.permission(action)
    text = access.missing_permission_text(permission, by, *scope.scope_keys)
    raise access.MissingPermission(permission, text)


def _audit_facts(kind: AssetKind[A], asset: A) -> dict[str, Any]:
    """Return the asset's columns for the audit log. The scope of a personal asset names its
    owner."""
    facts = audit.facts(asset, kind.column)
    if owner := OwningScope.from_asset(asset).owner:
        facts["scope"] = f"Only {owner}"
    return {name: value for name, value in facts.items() if name != "updated_by"}


def _save_new(
    kind: AssetKind[A],
    asset: A,
    by: User,
    name: str,
    scope: OwningScope,
    description: str,
    document: Document | None,
) -> None:
    if not scope.is_open_to(by, kind.model.permission("create")):
        _refuse(kind, "create", by, scope)
    asset.set_scope(scope)
    asset.name = name.strip()
    asset.description = description.strip()
    asset.created_by = by
    asset.updated_by = by
    _save(kind, asset, document)


def _update_links(kind: AssetKind[A], asset: A, by: User) -> None:
    """Replace the asset's links by those that its document names.

    The ids in a document come from its author, so a new link is made only to an asset that ``by``
    may see. An existing link stays as long as the document names the asset.
    """
    if kind.links is None:
        return
    old_links = kind.links._default_manager.filter(**{kind.links.HOLDER: asset.pk})
    linked = set(old_links.values_list("kind", "asset_id"))
    references: list[Reference] = []
    for role, name, pk in kind.references(asset):
        target = kind_named(name)
        if target is None:
            continue
        if (target.slug, pk) in linked or target.rows.visible_to(by).filter(pk=pk).exists():
            references.append((role, target.slug, pk))
    old_links.delete()
    kind.links._default_manager.bulk_create(kind.links.build_links(asset, references))


def _save(kind: AssetKind[A], asset: A, document: Document | None) -> None:
    """Save the asset if its document and name are valid; otherwise raise every problem at once."""
    problems = _name_problems(kind, asset)
    if document is not None:
        try:
            part = kind.part.model_validate(document, by_alias=True, by_name=False)
            setattr(asset, kind.column, kind.dump_part(part))
        except ValidationError as error:
            problems += problems_in(error)
        else:
            problems += kind.problems_when_saved(asset)
    if problems:
        raise SpecError(problems)
    try:
        with transaction.atomic():
            asset.save()
    except IntegrityError as error:
        # Another request has taken the name since it was checked.
        raise SpecError([_name_taken_problem(asset)]) from error


def _name_problems(kind: AssetKind[A], asset: A) -> list[Problem]:
    problems = []
    if not asset.name:
        problems.append(Problem(("name",), "is required", "required"))
    elif len(asset.name) > MAX_NAME_LENGTH:
        problems.append(
            Problem(("name",), f"must be at most {MAX_NAME_LENGTH} characters long", "max")
        )
    elif _is_name_taken(kind, asset):
        problems.append(_name_taken_problem(asset))
    if len(asset.description) > 250:
        problems.append(Problem(("description",), "must be at most 250 characters long", "max"))
    return problems


def _is_name_taken(kind: AssetKind[A], asset: A) -> bool:
    return kind.rows.named(asset.name, OwningScope.from_asset(asset)).exclude(pk=asset.pk).exists()


def _name_taken_problem(asset: Asset) -> Problem:
    scope = OwningScope.from_asset(asset)
    location = "among your own" if scope.owner else f"in {scope}"
    message = f"{asset.name!r} already exists {location}; enter a different name"
    return Problem(("name",), message, TAKEN)
