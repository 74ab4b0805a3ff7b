"""Mask default values of variables that look secret."""

from collections.abc import Iterable
from dataclasses import replace

from policies.rules import Enforcement, Rule, split_item
from spec.values.variable import MASK, looks_secret

VARIABLES = ".environmentVariables"


def mask_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules with ``***`` instead of the value of each variable that looks secret."""
    return tuple(
        replace(rule, value={**rule.value, "value": MASK}) if _has_secret(rule) else rule
        for rule in rules
    )


def _has_secret(rule: Rule) -> bool:
    name, key = split_item(rule.field)
    is_variable = rule.enforcement is Enforcement.DEFAULT and name.endswith(VARIABLES)
    return is_variable and looks_secret(key or "") and bool(rule.value.get("value"))
