"""List items that the chosen assets and policies add, and those of them that a draft removes."""

from collections.abc import Iterator
from typing import Any

from assets.kinds import KINDS
from core.forms import nested
from core.forms.field import Values
from core.forms.shown import Removed
from spec.formats.merge import KEYS
from workloads.plan import Plan
from workloads.wizard.choices import policies
from workloads.wizard.choices.rules import rule_path
from workloads.wizard.sections.base import Question


def inherited_item(question: Question, plan: Plan, name: str) -> Any:
    """Return the item of a list that an asset or a policy adds under a name; ``None`` without
    one."""
    for _, item in _asset_items(question, plan, name):
        return item
    return policies.item_with_key(question, plan, name)


def removed_items(question: Question, plan: Plan) -> Iterator[Removed]:
    """Yield the inherited items that a draft removes from a list."""
    for item in nested.items(question.values_in(plan.draft) or {}, question.key):
        if question.removes(item):
            name = name_of_removal(question, item)
            yield Removed(name, _source_text(question, plan, name))


def name_of_removal(question: Question, item: Values) -> str:
    """Return the name of the item that another one removes; empty if it names none."""
    keys = KEYS.get(question.key, ())
    return next((str(item[key]) for key in keys if item.get(key)), "")


def _source_text(question: Question, plan: Plan, name: str) -> str:
    rule = plan.policy_defaults.get(rule_path(question), {}).get(name)
    sources = [source for source, _ in _asset_items(question, plan, name)]
    sources += [rule.source.label] if rule else []
    return f"from {' and '.join(sources)}" if sources else "nothing adds it any more"


def _asset_items(question: Question, plan: Plan, name: str) -> Iterator[tuple[str, Values]]:
    """Yield the items of a name that the chosen assets add to a list, each with its asset."""
    for (role, slug), asset in plan.assets.items():
        kind = KINDS[slug]
        layer = kind.layer(asset) if role == question.role else {}
        for item in nested.items(layer, question.key):
            if item.get("name") == name:
                yield f"{kind.noun} {asset.name}", item
