"""REST: the paths of the calls about templates."""

from typing import Any, NamedTuple
from uuid import UUID

from ninja import Field, Query, Router, Status

from accounts.api.tokens import ApiRequest
from core.rest.api import Count, Wire
from spec.kind import WorkloadKind
from workloads.api.template.answers import TemplateList, TemplateOut
from workloads.api.template.bodies import (
    DistributedTemplateChange,
    DistributedTemplateIn,
    DistributedTemplatePatch,
    OnePodTemplateChange,
    OnePodTemplateIn,
    OnePodTemplatePatch,
    TemplateListing,
    TemplateNarrowing,
    WantedTemplateName,
)
from workloads.api.template.calls import TemplateCalls, is_name_free


class TemplateBodies(NamedTuple):
    """The request bodies of a kind: to create a template, to replace its setup, and to
    change it."""

    create: Any
    update: Any
    patch: Any


GANG = TemplateBodies(DistributedTemplateIn, DistributedTemplateChange, DistributedTemplatePatch)
ONE_POD = TemplateBodies(OnePodTemplateIn, OnePodTemplateChange, OnePodTemplatePatch)
ALL = TemplateCalls()

router = Router(tags=["Templates"], by_alias=True)


class TemplateNameAvailability(Wire):
    available: bool = Field(description="Whether a new template can have this name")


@router.get("", response=TemplateList)
def list_templates(request: ApiRequest, listing: Query[TemplateListing]) -> TemplateList:
    """Templates of all kinds that you can see, page by page."""
    return ALL.list_page(listing, request.user)


@router.get("/count", response=Count)
def count_templates(request: ApiRequest, narrowing: Query[TemplateNarrowing]) -> Count:
    """The number of templates that match the filters."""
    return Count(count=ALL.filtered_rows(narrowing, request.user).count())


@router.get("/name-availability", response=TemplateNameAvailability)
def check_template_name(
    request: ApiRequest, wanted: Query[WantedTemplateName]
) -> TemplateNameAvailability:
    """Whether a new template of this scope can have the name."""
    return TemplateNameAvailability(available=is_name_free(wanted, request.user))


@router.get("/{uuid:template_id}", response=TemplateOut)
def read_template(request: ApiRequest, template_id: UUID) -> TemplateOut:
    """A template of any kind."""
    return ALL.read(template_id, request.user)


def add_kind(kind: WorkloadKind) -> None:
    """Add the calls below the path of one kind, such as ``/workload-templates/trainings``."""
    calls = TemplateCalls(kind)
    takes = GANG if kind.is_gang else ONE_POD
    path = f"/{kind.traits.path}"
    noun = f"{kind.value}_template"
    one = f"{path}/{{uuid:template_id}}"
    thing = f"a template of a {kind.label.lower()}"

    @router.get(path, response=TemplateList, operation_id=f"list_{noun}s")
    def list_all(request: ApiRequest, listing: Query[TemplateListing]) -> TemplateList:
        """Templates of this kind that you can see. ``complyToProject`` adds why each cannot be used
        in a project."""
        return calls.list_page(listing, request.user)

    @router.get(one, response=TemplateOut, operation_id=f"read_{noun}", summary=f"Get {thing}")
    def read(request: ApiRequest, template_id: UUID) -> TemplateOut:
        """The template's values, and its rules for fields."""
        return calls.read(template_id, request.user)

    @router.delete(one, response={204: None}, operation_id=f"delete_{noun}")
    def delete(request: ApiRequest, template_id: UUID) -> Status[None]:
        """Delete the template. Workloads that started from it do not change."""
        calls.delete(template_id, request.user)
        return Status(204, None)

    _add_writes(kind, calls, takes)


def _add_writes(kind: WorkloadKind, calls: TemplateCalls, takes: TemplateBodies) -> None:
    path = f"/{kind.traits.path}"
    noun = f"{kind.value}_template"
    one = f"{path}/{{uuid:template_id}}"
    thing = f"a template of a {kind.label.lower()}"

    @router.post(
        path,
        response={201: TemplateOut},
        operation_id=f"create_{noun}",
        summary=f"Create {thing}",
    )
    def create(request: ApiRequest, body: takes.create) -> Status[TemplateOut]:  # type: ignore[name-defined]
        """Create a template. Any field may be missing. 400 lists every invalid one."""
        return Status(201, calls.create(body, request.user))

    @router.put(
        one, response=TemplateOut, operation_id=f"update_{noun}", summary=f"Replace {thing}"
    )
    def update(request: ApiRequest, template_id: UUID, body: takes.update) -> TemplateOut:  # type: ignore[name-defined]
        """Replace the template's setup, if any of it is given. Missing fields of ``meta`` do not
        change, and neither do rules, or workloads that started from the template."""
        return calls.update(template_id, body, request.user)

    @router.patch(
        one, response=TemplateOut, operation_id=f"change_{noun}", summary=f"Change {thing}"
    )
    def patch(request: ApiRequest, template_id: UUID, body: takes.patch) -> TemplateOut:  # type: ignore[name-defined]
        """Change the given fields, then remove ``fieldsToClear``, such as ``spec.image``."""
        return calls.patch(template_id, body, request.user)


for each in WorkloadKind:
    add_kind(each)
