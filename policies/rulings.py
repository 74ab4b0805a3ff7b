"""Say what rules decide about each field, for forms and answers that show it."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from policies.document import document_address, measured, value_type_of
from policies.rules import FILLING, Enforcement, Rule, split_item
from spec.formats.documents import Document
from spec.problems.rulings import AllowedValue, FieldRuling


def field_rulings(rules: Iterable[Rule]) -> dict[str, FieldRuling]:
    """Return what rules say about each field, by its dotted path in the document."""
    by_field: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.enforcement in (*FILLING, Enforcement.IMPOSED):
            continue
        name = document_address(split_item(rule.field)[0])
        by_field.setdefault(name, []).append(rule)
    return {name: _combine(name, its) for name, its in by_field.items()}


def _combine(name: str, rules: list[Rule]) -> FieldRuling:
    values: dict[Enforcement, list[Rule]] = {}
    for rule in rules:
        values.setdefault(rule.enforcement, []).append(rule)

    def limits_of(enforcement: Enforcement) -> list[Any]:
        return [rule.value for rule in values.get(enforcement, ())]

    locking = [rule for rule in values.get(Enforcement.CAN_EDIT, ()) if not rule.value]
    deciding = locking or rules  # a locked field keeps its value, whatever else holds for it
    scopes = dict.fromkeys(rule.source.scope for rule in deciding)
    value_type = value_type_of(name)
    bound = partial(measured, value_type)
    locked_items = (split_item(rule.field)[1] for rule in values.get(Enforcement.LOCKED, ()))
    prefixes = limits_of(Enforcement.STARTS_WITH)
    return FieldRuling(
        locked=False in limits_of(Enforcement.CAN_EDIT),
        required=True in limits_of(Enforcement.REQUIRED),
        source=" and ".join(dict.fromkeys(rule.source.label for rule in deciding)),
        scopes=tuple(scopes),
        why="; ".join(dict.fromkeys(rule.why.rstrip(".") for rule in deciding if rule.why)),
        min=max(limits_of(Enforcement.MIN), key=bound, default=None),
        max=min(limits_of(Enforcement.MAX), key=bound, default=None),
        step=next(iter(limits_of(Enforcement.STEP)), None),
        options=_common_options(limits_of(Enforcement.OPTIONS)),
        starts_with=max(prefixes, key=len, default=""),
        may_add=False not in limits_of(Enforcement.CAN_ADD),
        locked_items=frozenset(key for key in locked_items if key is not None),
    )


def _common_options(lists: list[list[Document]]) -> tuple[AllowedValue, ...]:
    first, *others = lists or [[]]
    allowed = [{str(option["value"]) for option in options} for options in others]
    return tuple(
        AllowedValue(option["value"], str(option.get("displayed") or option["value"]))
        for option in first
        if all(str(option["value"]) in values for values in allowed)
    )
