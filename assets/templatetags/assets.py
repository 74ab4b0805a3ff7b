"""``{% asset_kinds as kinds %}``: the kinds of assets that the sidebar lists.
``{% may_create_asset "compute" as may_create %}``: whether the user of the page may create one."""

from typing import Any

from django import template

from assets.base import AssetKind
from assets.kinds import KINDS

register = template.Library()


@register.simple_tag
def asset_kinds() -> list[AssetKind[Any]]:
    """Those with a form of their own. Templates stand with the workloads that they start."""
    return [kind for kind in KINDS.values() if kind.has_form]


@register.simple_tag(takes_context=True)
def may_create_asset(context: template.Context, slug: str) -> bool:
    """Whether the user of the page may create an asset of the kind with this slug."""
    return KINDS[slug].may_create(context["user"])
