"""REST: types, priorities and categories of workloads."""

from collections.abc import Iterable
from typing import Self
from uuid import UUID, uuid5

from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from accounts.models import User
from core.rest.api import Wire, not_found
from core.rest.filters import NUMBER, TEXT, Fields
from core.rest.rows import WholeListing
from spec.kind import WorkloadKind
from spec.parts.scheduling import PriorityClass
from workloads.models import Workload

router = Router(tags=["Workloads"], by_alias=True)

GROUP = "trainyard"
CATEGORIES = UUID("6d1f9b54-2f0e-4f0c-9a6e-0d5b6a1c7f11")  # namespace of their ids
FIELDS: Fields = {"id": ("id", TEXT), "name": ("name", TEXT)}
PRIORITY_FIELDS: Fields = {"name": ("name", TEXT), "value": ("value", NUMBER)}


class WorkloadTypeOut(Wire):
    """``name`` is the type that lists of workloads have. A type has no category or priority, so
    their ids are empty: each workload has its own."""

    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    group: str = Field(default=GROUP, description="The group of the type")
    description: str = Field(description="A description for people")
    category_id: str = Field(default="", description="Empty: a type has no category of its own")
    priority_id: str = Field(default="", description="Empty: a type has no priority of its own")

    @classmethod
    def of(cls, kind: WorkloadKind) -> Self:
        traits = kind.traits
        return cls(id=traits.path, name=traits.type, description=traits.label)


class WorkloadTypeList(Wire):
    types: list[WorkloadTypeOut] = Field(description="The types of workloads")


class CategoryOut(Wire):
    id: str = Field(description="Its ID")
    name: str = Field(description="The name")

    @classmethod
    def of(cls, name: str) -> Self:
        return cls(id=str(uuid5(CATEGORIES, name)), name=name)


class CategoryList(Wire):
    categories: list[CategoryOut] = Field(description="The categories, by name")


class PriorityOut(Wire):
    """``name`` is the value for ``priorityClass`` in a spec. A higher ``value`` goes first."""

    id: str = Field(description="Its ID")
    name: str = Field(description="The value for priorityClass")
    value: int = Field(description="A number; the higher goes first")


class PriorityList(Wire):
    priorities: list[PriorityOut] = Field(description="The priorities, the lowest first")


@router.get("/workload-types", response=WorkloadTypeList)
def list_workload_types(request: ApiRequest, listing: Query[WholeListing]) -> WorkloadTypeList:
    """The types of workloads. Each has a path of its own, where it is submitted."""
    return WorkloadTypeList(
        types=listing.select(map(WorkloadTypeOut.of, WorkloadKind), FIELDS, "name")
    )


@router.get("/workload-types/{type_id}", response=WorkloadTypeOut)
def get_workload_type(request: ApiRequest, type_id: str) -> WorkloadTypeOut:
    """One type of workloads, by the last part of its path."""
    kind = next((it for it in WorkloadKind if it.traits.path == type_id), None)
    if kind is None:
        raise not_found("The type")
    return WorkloadTypeOut.of(kind)


@router.get("/workload-categories", response=CategoryList)
def list_workload_categories(request: ApiRequest, listing: Query[WholeListing]) -> CategoryList:
    """The categories of the workloads that you can see, by name. Any word can be one."""
    return CategoryList(categories=listing.select(_categories(request.user), FIELDS, "name"))


@router.get("/workload-categories/{category_id}", response=CategoryOut)
def get_workload_category(request: ApiRequest, category_id: str) -> CategoryOut:
    """One category, by its id."""
    category = next((it for it in _categories(request.user) if it.id == category_id), None)
    if category is None:
        raise not_found("The category")
    return category


@router.get("/workload-priorities", response=PriorityList)
def list_workload_priorities(request: ApiRequest, listing: Query[WholeListing]) -> PriorityList:
    """The priorities that a workload can have, the lowest first."""
    every = (
        PriorityOut(id=it.value, name=it.value, value=it.value_on_cluster) for it in PriorityClass
    )
    return PriorityList(priorities=listing.select(every, PRIORITY_FIELDS, "name"))


def _categories(user: User) -> Iterable[CategoryOut]:
    rows = Workload.objects.visible_to(user).exclude(spec_json__category=None).order_by()
    names = rows.values_list("spec_json__category", flat=True).distinct()
    words = (name for name in names if isinstance(name, str))  # old specs may have other values
    return map(CategoryOut.of, sorted(words))
