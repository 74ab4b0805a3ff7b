"""REST: the ranks of projects, which Run:ai calls priorities."""

from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from core.rest.api import Wire
from core.rest.filters import NUMBER, TEXT, Fields
from core.rest.rows import WholeListing
from projects.models import Project
from spec.parts.scheduling import PriorityClass

router = Router(tags=["Projects"], by_alias=True)
FIELDS: Fields = {"name": ("name", TEXT), "value": ("value", NUMBER)}


class RankOut(Wire):
    """The project with the higher ``value`` goes first."""

    name: str = Field(description="The value for rank")
    value: int = Field(description="A number; the higher goes first")
    is_default: bool = Field(description="Whether new projects have it")


class RankList(Wire):
    priorities: list[RankOut] = Field(description="The priorities, the lowest first")


@router.get("/org-unit/priorities", response=RankList)
def list_project_ranks(request: ApiRequest, listing: Query[WholeListing]) -> RankList:
    """The ranks that a project can have, the lowest first."""
    default = Project._meta.get_field("rank").get_default()
    every = (
        RankOut(name=rank.value, value=rank.level, is_default=rank.value == default)
        for rank in PriorityClass
    )
    return RankList(priorities=listing.select(every, FIELDS, "name"))
