"""Section: the tools that the image serves, how each is reached, and who may open it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assets.environment import tools
from clusters.models import Cluster
from clusters.withheld import why_withheld
from core.forms.field import Cell, Input, Values
from core.forms.shown import ShownField
from spec.parts.environment import TOOLS as TOOL_NAMES
from workloads.plan import Plan
from workloads.wizard.sections.base import FOLD, Question, ReviewLine, Section, reviewed_replica

if TYPE_CHECKING:
    from workloads.wizard.choices.offers import Offer

CELL_CHANGES: dict[str, dict[str, Any]] = {
    "tool_type": {"options": tuple(TOOL_NAMES.items())},
    "name": {"placeholder": "the tool's own"},
    "container_port": {"required": True, "placeholder": "8888"},
    "node_port": {"input": Input.WHOLE, "placeholder": "any free one, or 30000 to 32767"},
    "external_url": {"placeholder": "chosen automatically"},
    "who": {"suggests": "draft-people", "required": True},
}
CELLS: tuple[Cell, ...] = tuple(
    replace(cell, **CELL_CHANGES.get(cell.key, {})) for cell in tools.CELLS
)


class ToolsQuestion(Question):
    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        for item in shown.items:
            tools.hide_served_cells(item)
        offer.warn_about_people(shown)


def new_tool(cluster: Cluster | None) -> Values:
    """A new tool, reached in a way that the cluster supports."""
    why_no_urls = why_withheld(cluster, tools.EXTERNAL_URL_OPTION) if cluster else ""
    return {"toolType": "custom"} | tools.blank_tool(why_no_urls)


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    for tool in reviewed_replica(plan, role).connections:
        document = tool.model_dump(mode="json", by_alias=True)
        yield tool.name, tools.tool_text(document), f"{role}.connections"


TOOLS = Section(
    "tools",
    "Tools",
    "Apps that the image serves, and pages elsewhere: how each is reached, and who may open it.",
    template=FOLD,
    replica=(
        ToolsQuestion(
            "connections",
            "Tools",
            Input.ITEMS,
            add="TOOL",
            cells=CELLS,
            repack=tools.REPACK,
            inherits=True,
            new_item=new_tool,
            describe_item=tools.tool_text,
        ),
    ),
    review=review,
)
