"""``{% asset_kinds as kinds %}``: the kinds of assets that the sidebar lists."""

from typing import Any

from django import template

from assets.base import AssetKind
from assets.kinds import KINDS

register = template.Library()


@register.simple_tag
def asset_kinds() -> list[AssetKind[Any]]:
    """Those with a form of their own. Templates stand with the workloads that they start."""
    return [kind for kind in KINDS.values() if kind.has_form]
