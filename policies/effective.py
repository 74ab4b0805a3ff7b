"""The effective policy of a scope: the rules that hold there, one for each limit of a field."""

from collections.abc import Iterable
from dataclasses import replace

from policies.conflicts import is_looser
from policies.evaluation import is_within
from policies.rules import FILLING, Enforcement, Rule


def strictest_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return one rule for each field and enforcement: of several that hold together the strictest,
    and of lists of options what all of them allow. ``rules`` are those that :func:`settle` left,
    the widest scope first."""
    strictest: dict[tuple[str, Enforcement], Rule] = {}
    for rule in rules:
        key = (rule.field, rule.enforcement)
        other = strictest.get(key)
        if other is None or rule.enforcement in FILLING:
            strictest[key] = rule
        elif rule.enforcement is Enforcement.OPTIONS:
            allowed = [option for option in rule.value if is_within(other, option["value"])]
            strictest[key] = replace(rule, value=allowed)
        elif not is_looser(other, rule):
            strictest[key] = rule
    return tuple(strictest.values())
