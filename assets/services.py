"""What people do with assets. Forms, the API and the demo data all call these verbs."""

import uuid
from collections.abc import Iterable
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from pydantic import ValidationError

from accounts.models import User
from assets.models import ComputeResource, Environment, Template
from assets.scopes import Place
from spec import documents
from spec.compute import Compute
from spec.draft import WorkloadDraft
from spec.environment import Environment as EnvironmentSpec
from spec.errors import Problem, SpecError, problems
from spec.part import Part

A = TypeVar("A", Environment, ComputeResource, Template)
AnyAsset = Environment | ComputeResource | Template
LONGEST_NAME = 63
NOT_YOURS = "This asset is for administrators, or for the members of its project, to change."


class InUse(Exception):
    """The asset cannot go: ``workloads`` and ``templates`` are the names of what uses it."""

    def __init__(self, asset: AnyAsset, workloads: list[str], templates: list[str]) -> None:
        self.workloads, self.templates = workloads, templates
        users = [*(f"workload {name}" for name in workloads), *(f"template {t}" for t in templates)]
        super().__init__(f"{asset.name} is used by {', '.join(users)}.")


def create_environment(
    *,
    by: User,
    name: str,
    place: Place,
    document: dict[str, Any],
    description: str = "",
    framework: str = "",
    distributed: bool = True,
    override_uid_gid: bool = False,
) -> Environment:
    """An environment of ``document`` (wire names of ``spec.environment``). ``SpecError``."""
    environment = Environment(
        framework=framework, distributed=distributed, override_uid_gid=override_uid_gid
    )
    return _create(environment, by, name, place, description, document)


def create_compute(
    *, by: User, name: str, place: Place, document: dict[str, Any], description: str = ""
) -> ComputeResource:
    """A compute resource of ``document`` (wire names of ``spec.compute``). ``SpecError``."""
    return _create(ComputeResource(), by, name, place, description, document)


def create_template(
    *, by: User, name: str, place: Place, draft: WorkloadDraft, description: str = ""
) -> Template:
    """A template of a draft, complete or not. It keeps neither its name nor its project."""
    kept = draft.model_copy(update={"name": "", "project": None, "template": None})
    template = Template(draft_json=kept.model_dump(mode="json", by_alias=True))
    with transaction.atomic():
        made = _create(template, by, name, place, description, None)
        # Ids of a draft are what its author sent: only what the author may see becomes a link.
        replicas = [draft.worker, *([draft.master] if draft.master else [])]
        environments = Environment.objects.visible_to(by)
        computes = ComputeResource.objects.visible_to(by)
        made.environments.set(environments.filter(pk__in=[r.environment for r in replicas]))
        made.compute_resources.set(computes.filter(pk__in=[r.compute for r in replicas]))
    return made


def update(
    asset: A,
    *,
    by: User,
    name: str | None = None,
    description: str | None = None,
    document: dict[str, Any] | None = None,
    **own: Any,
) -> A:
    """Change what is given. Workloads keep the values they were submitted with. ``SpecError``.

    ``own`` are columns of the kind, such as an environment's ``framework``.
    """
    if not type(asset).objects.editable_by(by).filter(pk=asset.pk).exists():
        raise PermissionDenied(NOT_YOURS)
    asset.name = asset.name if name is None else name.strip()
    asset.description = asset.description if description is None else description.strip()
    for column, value in own.items():
        setattr(asset, column, value)
    return _save(asset, document)


def duplicate(asset: A, *, by: User, name: str, place: Place, description: str = "") -> A:
    """The same values under another name, or in another place. ``SpecError``."""
    twin = type(asset).objects.get(pk=asset.pk)
    twin.pk = uuid.uuid4()
    twin._state.adding = True
    with transaction.atomic():
        made = _create(twin, by, name, place, description, None)
        if isinstance(made, Template) and isinstance(asset, Template):
            made.environments.set(asset.environments.all())
            made.compute_resources.set(asset.compute_resources.all())
    return made


def delete(asset: AnyAsset, *, by: User) -> None:
    """Remove it; workloads keep their copy. ``InUse`` for a compute resource that is in use."""
    if not type(asset).objects.editable_by(by).filter(pk=asset.pk).exists():
        raise PermissionDenied(NOT_YOURS)
    with transaction.atomic():
        if isinstance(asset, ComputeResource):
            workloads = names(asset.workloads.filter(deleted_at=None))
            templates = names(asset.templates.all())
            if workloads or templates:
                raise InUse(asset, workloads, templates)
        asset.delete()


def names(items: Iterable[Any]) -> list[str]:
    return sorted(str(item) for item in items)


def free_name(asset: AnyAsset) -> str:
    """A name for a copy: ``pytorch-copy``, ``pytorch-copy-2``."""
    base = f"{asset.name[: LONGEST_NAME - 8]}-copy"
    taken = set(type(asset).objects.filter(name__startswith=base).values_list("name", flat=True))
    return next(n for n in (base, *(f"{base}-{i}" for i in range(2, 1000))) if n not in taken)


def _create(
    asset: A,
    by: User,
    name: str,
    place: Place,
    description: str,
    document: dict[str, Any] | None,
) -> A:
    if not place.open_to(by):
        raise PermissionDenied(f"You may not create assets in {place}.")
    asset.put(place)
    asset.name, asset.description, asset.created_by = name.strip(), description.strip(), by
    return _save(asset, document)


def _save(asset: A, document: dict[str, Any] | None) -> A:
    """Write the asset when its document and its name are good; every problem at once otherwise."""
    found = _name_problems(asset)
    if document is not None:
        assert isinstance(asset, Environment | ComputeResource)  # noqa: S101 -- only they have one
        try:
            asset.spec_json = documents.dump(_part(asset).model_validate(document))
        except ValidationError as error:
            found += problems(error)
    if found:
        raise SpecError(found)
    try:
        with transaction.atomic():
            asset.save()
    except IntegrityError as error:
        raise SpecError([_taken(asset)]) from error
    return asset


def _part(asset: Environment | ComputeResource) -> type[Part]:
    return EnvironmentSpec if isinstance(asset, Environment) else Compute


def _name_problems(asset: AnyAsset) -> list[Problem]:
    found = []
    if not asset.name:
        found.append(Problem(("name",), "is required"))
    elif len(asset.name) > LONGEST_NAME:
        found.append(Problem(("name",), f"must be at most {LONGEST_NAME} characters long"))
    elif _same_name(asset):
        found.append(_taken(asset))
    if len(asset.description) > 250:
        found.append(Problem(("description",), "must be at most 250 characters long"))
    return found


def _same_name(asset: AnyAsset) -> bool:
    there = {"scope": asset.scope, asset.scope: getattr(asset, asset.scope)}
    others = type(asset).objects.exclude(pk=asset.pk)
    return bool(others.filter(name=asset.name, **there).exists())


def _taken(asset: AnyAsset) -> Problem:
    message = f"{asset.name!r} is taken in {asset.scope_name}; enter a different name"
    return Problem(("name",), message)
