"""What people can do with assets of any kind. Forms, REST and demo data use these verbs."""

import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from pydantic import ValidationError

from accounts import access
from accounts.models import User
from assets.asset import Asset
from assets.base import A, AssetKind
from assets.kinds import kind_named
from assets.links import Reference, tables
from assets.versions import history
from assets.versions.model import AssetVersion
from audit import services as audit
from core.deletion import Dependents, count_hidden, guard_deletion
from core.words import count_nouns, first_names
from projects.scopes import Place
from spec.formats.documents import Document
from spec.problems.errors import TAKEN, Problem, SpecError, problems_in

LONGEST_NAME = 63


def create(
    kind: AssetKind[A],
    *,
    by: User,
    name: str,
    place: Place,
    document: Document,
    description: str = "",
    **own: Any,
) -> A:
    """Create an asset with ``document``, which has the wire names of the kind's part.
    ``SpecError``.

    ``own`` are columns of the kind, such as an environment's ``framework``.
    """
    asset = kind.model(**own)
    with transaction.atomic():
        _put(kind, asset, by, name, place, description, document)
        _link(kind, asset, by)
        history.keep(kind, asset)
        audit.record(by, "create", asset, after=_facts(kind, asset))
    return asset


def update(
    kind: AssetKind[A],
    asset: A,
    *,
    by: User,
    name: str | None = None,
    description: str | None = None,
    document: Document | None = None,
    **own: Any,
) -> A:
    """Change the given values. Existing workloads keep theirs. ``SpecError``."""
    check_editable(kind, asset, by)
    asset.name = asset.name if name is None else name.strip()
    asset.description = asset.description if description is None else description.strip()
    for column, value in own.items():
        setattr(asset, column, value)
    asset.updated_by = by
    with transaction.atomic():
        before = kind.rows.select_for_update().get(pk=asset.pk)
        facts = _facts(kind, before)
        _save(kind, asset, document)
        if document is not None:
            _link(kind, asset, by)
        history.keep(kind, asset, before=before)
        audit.record(by, "update", asset, before=facts, after=_facts(kind, asset))
    return asset


def restore(kind: AssetKind[A], asset: A, version: AssetVersion, *, by: User) -> A:
    """Restore an earlier version, as a new version. ``SpecError``."""
    columns = history.columns_of(kind, history.as_it_was(kind, version))
    document = columns.pop(kind.column)
    return update(kind, asset, by=by, document=document, **columns)


def duplicate(
    kind: AssetKind[A], asset: A, *, by: User, name: str, place: Place, description: str = ""
) -> A:
    """Create a copy under another name or in another place. ``SpecError``."""
    twin = kind.rows.get(pk=asset.pk)
    twin.pk = uuid.uuid4()
    twin._state.adding = True
    with transaction.atomic():
        _put(kind, twin, by, name, place, description, None)
        _link(kind, twin, by)
        history.keep(kind, twin)
        audit.record(by, "create", twin, after=_facts(kind, twin))
    return twin


def delete(kind: AssetKind[A], asset: A, *, by: User) -> None:
    """Delete an asset; workloads keep its values. ``InUse`` if the kind cannot be deleted in
    use."""
    check_editable(kind, asset, by, "assets.delete")
    with guard_deletion(asset, lambda: obstacle_to_delete(kind, asset, by)):
        audit.record(by, "delete", asset, before=_facts(kind, asset))
        history.forget(kind, asset)
        asset.delete()


def obstacle_to_delete(kind: AssetKind[A], asset: A, by: User) -> str:
    """Why ``by`` cannot delete it now, in words; empty if they can."""
    users = _dependents(kind, asset, by) if kind.stays_while_used else Dependents(())
    return users.refusal(f"{asset} is used by", "Delete or change those first.")


def _dependents(kind: AssetKind[A], asset: A, by: User) -> Dependents:
    """The first of each kind: ``workload train``, ``template base``."""
    uses = [(table.noun(), table.made_with(kind.slug, asset.pk)) for table in tables()]
    names = [f"{noun} {name}" for noun, rows in uses for name in first_names(rows.visible_to(by))]
    return Dependents(names, count_nouns((count_hidden(rows, by), noun) for noun, rows in uses))


def free_name(kind: AssetKind[A], asset: A) -> str:
    """A name for a copy: ``pytorch-copy``, ``pytorch-copy-2``."""
    base = f"{asset.name[: LONGEST_NAME - 8]}-copy"
    taken = set(kind.rows.filter(name__startswith=base).values_list("name", flat=True))
    return next(n for n in (base, *(f"{base}-{i}" for i in range(2, 1000))) if n not in taken)


def check_editable(kind: AssetKind[A], asset: A, by: User, action: str = "assets.update") -> None:
    """``PermissionDenied`` if ``by`` may not change the asset, for example because it is only
    shared."""
    if not kind.rows.editable_by(by, action).filter(pk=asset.pk).exists():
        raise PermissionDenied(access.missing_permission_text(action, by))


def _facts(kind: AssetKind[A], asset: A) -> dict[str, Any]:
    """The asset's columns for the audit log. The scope of a personal one names its owner."""
    facts = audit.facts(asset, kind.column)
    if owner := Place.of(asset).owner:
        facts["scope"] = f"Only {owner}"
    return {name: value for name, value in facts.items() if name != "updated_by"}


def _put(
    kind: AssetKind[A],
    asset: A,
    by: User,
    name: str,
    place: Place,
    description: str,
    document: Document | None,
) -> None:
    if not place.is_open_to(by, "assets.create"):
        raise PermissionDenied(access.missing_permission_text("assets.create", by))
    asset.put(place)
    asset.name, asset.description = name.strip(), description.strip()
    asset.created_by = asset.updated_by = by
    _save(kind, asset, document)


def _link(kind: AssetKind[A], asset: A, by: User) -> None:
    """Update the asset's links. Ids in a draft come from its author, so only visible assets are
    linked; existing links stay while they are named."""
    if kind.links is None:
        return
    old = kind.links._default_manager.filter(**{kind.links.HOLDER: asset.pk})
    linked = set(old.values_list("kind", "asset_id"))
    references: list[Reference] = []
    for role, name, pk in kind.references(asset):
        target = kind_named(name)
        if target is None:
            continue
        if (target.slug, pk) in linked or target.rows.visible_to(by).filter(pk=pk).exists():
            references.append((role, target.slug, pk))
    old.delete()
    kind.links._default_manager.bulk_create(kind.links.of(asset, references))


def _save(kind: AssetKind[A], asset: A, document: Document | None) -> None:
    """Save the asset if its document and name are valid; otherwise raise every problem at once."""
    wrong = _name_problems(kind, asset)
    if document is not None:
        try:
            setattr(
                asset,
                kind.column,
                kind.dump_part(kind.part.model_validate(document, by_alias=True, by_name=False)),
            )
        except ValidationError as error:
            wrong += problems_in(error)
        else:
            wrong += kind.problems_when_saved(asset)
    if wrong:
        raise SpecError(wrong)
    try:
        with transaction.atomic():
            asset.save()
    except IntegrityError as error:
        raise SpecError([_taken(asset)]) from error


def _name_problems(kind: AssetKind[A], asset: A) -> list[Problem]:
    wrong = []
    if not asset.name:
        wrong.append(Problem(("name",), "is required", "required"))
    elif len(asset.name) > LONGEST_NAME:
        wrong.append(Problem(("name",), f"must be at most {LONGEST_NAME} characters long", "max"))
    elif _same_name(kind, asset):
        wrong.append(_taken(asset))
    if len(asset.description) > 250:
        wrong.append(Problem(("description",), "must be at most 250 characters long", "max"))
    return wrong


def _same_name(kind: AssetKind[A], asset: A) -> bool:
    return kind.rows.named(asset.name, Place.of(asset)).exclude(pk=asset.pk).exists()


def _taken(asset: Asset) -> Problem:
    place = Place.of(asset)
    where = "among your own" if place.owner else f"in {place}"
    message = f"{asset.name!r} already exists {where}; enter a different name"
    return Problem(("name",), message, TAKEN)
