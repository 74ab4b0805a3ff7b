"""The keys that the YAML of a policy may have, for completion in the editor."""

from typing import Any

from core.forms import nested
from policies.fields import ENFORCEMENTS, MASTER, WORKER, RuledField, ValueType, ruled_fields
from policies.rules import Enforcement
from policies.tree import (
    ALLOW_OVERRIDE,
    ATTRIBUTES,
    DEFAULTS,
    IMPOSED_ASSETS,
    INSTANCES,
    RULES,
    WHY,
)
from spec.kind import WorkloadKind

#: Keys by name: a mapping has further keys below, a text is the type of the value.
Keys = dict[str, Any]
REASON = {ALLOW_OVERRIDE: ValueType.FLAG.value, WHY: ValueType.TEXT.value}


def allowed_keys(kind: WorkloadKind) -> Keys:
    """Return the keys of a policy for a kind of workload, level by level."""
    if kind.is_gang:
        roles = (WORKER, MASTER)
        return {
            DEFAULTS: {role: _default_keys(kind, role) for role in roles},
            RULES: {role: _rule_keys(kind, role) for role in roles},
            IMPOSED_ASSETS: dict.fromkeys(roles, ValueType.WORDS.value),
        }
    return {
        DEFAULTS: _default_keys(kind, WORKER),
        RULES: _rule_keys(kind, WORKER),
        IMPOSED_ASSETS: ValueType.WORDS.value,
    }


def _default_keys(kind: WorkloadKind, role: str) -> Keys:
    keys: Keys = {}
    for name, ruled in ruled_fields(kind, role).items():
        value: Any = ruled.type.value
        if ruled.type is ValueType.ITEMS:
            value = {INSTANCES: ValueType.ITEMS.value}
            if ruled.attributes:
                value[ATTRIBUTES] = _nested({it: t.value for it, t in ruled.attributes.items()})
        nested.put(keys, name, value)
    return keys


def _rule_keys(kind: WorkloadKind, role: str) -> Keys:
    keys: Keys = {}
    for name, ruled in ruled_fields(kind, role).items():
        nested.put(
            keys, name, _list_keys(ruled) if ruled.type is ValueType.ITEMS else _limits(ruled.type)
        )
    return keys


def _list_keys(ruled: RuledField) -> Keys:
    instances: Keys = {
        Enforcement.CAN_ADD.value: ValueType.FLAG.value,
        Enforcement.LOCKED.value: ValueType.WORDS.value,
    }
    keys: Keys = {INSTANCES: instances | REASON}
    if ruled.attributes:
        keys[ATTRIBUTES] = _nested({it: _limits(t) for it, t in ruled.attributes.items()})
    return keys


def _limits(value_type: ValueType) -> Keys:
    """Return the keys of a field's rules, each with the type of its value."""
    special: Keys = {
        Enforcement.REQUIRED.value: ValueType.FLAG.value,
        Enforcement.CAN_EDIT.value: ValueType.FLAG.value,
        Enforcement.OPTIONS.value: ValueType.ITEMS.value,
        Enforcement.DEFAULT_FROM.value: {
            "field": ValueType.TEXT.value,
            "factor": ValueType.NUMBER.value,
        },
    }
    limits = {it.value: special.get(it, value_type.value) for it in ENFORCEMENTS[value_type]}
    return limits | REASON


def _nested(values: Keys) -> Keys:
    keys: Keys = {}
    for name, value in values.items():
        nested.put(keys, name, value)
    return keys
