"""Find where the rules of a policy contradict those of a wider scope, which must hold below it."""

from collections.abc import Iterable, Iterator

from policies.document import value_type_of
from policies.evaluation import is_within
from policies.fields import ValueType, role_and_name
from policies.rules import FILLING, Enforcement, Rule, split_item
from policies.tree import DEFAULTS, INSTANCES, RULES, measure
from spec.kind import WorkloadKind
from spec.problems.errors import Path, Problem

NEVER_LOOSER = {Enforcement.REQUIRED: True, Enforcement.CAN_EDIT: False, Enforcement.CAN_ADD: False}


def find_conflicts(
    wider: Iterable[Rule], own: Iterable[Rule], kind: WorkloadKind
) -> Iterator[Problem]:
    """Yield a problem, with its path in the tree, for each rule of a policy that loosens one of the
    wider scopes, and for each default that the limits do not allow."""
    own = tuple(own)
    held = [rule for rule in wider if not rule.may_override]
    for rule in own:
        is_filling = rule.enforcement in FILLING
        conflicts = (
            text
            for other in [*held, *(own if is_filling else ())]
            if other.field == rule.field and (text := _conflict(other, rule))
        )
        if conflict := next(conflicts, ""):
            yield Problem(path_in_tree(rule, kind), conflict)


def _conflict(limit: Rule, rule: Rule) -> str:
    """Return how a rule conflicts with another one of the same field; or an empty text."""
    owner = f"{limit.source.label}{limit.reason}"
    if rule.enforcement is Enforcement.DEFAULT and not is_within(limit, rule.value):
        return f"is not allowed: {owner} sets {limit.enforcement} to {limit.value}"
    if rule.enforcement in FILLING:
        is_anothers = limit.source != rule.source
        return f"has no effect: {owner} locks it" if is_anothers and limit.fixes_field else ""
    if rule.enforcement is limit.enforcement and is_looser(limit, rule):
        return f"cannot be {rule.value}: {owner} sets {limit.enforcement} to {limit.value}"
    return ""


def is_looser(wider: Rule, rule: Rule) -> bool:
    """Whether a rule allows what another one of the same field and enforcement does not."""
    value_type = value_type_of(rule.field)
    match rule.enforcement:
        case Enforcement.MIN:
            return measure(rule.value, value_type) < measure(wider.value, value_type)
        case Enforcement.MAX:
            return measure(rule.value, value_type) > measure(wider.value, value_type)
        case Enforcement.OPTIONS:
            return not all(is_within(wider, option["value"]) for option in rule.value)
        case Enforcement.STARTS_WITH:
            return not rule.value.startswith(wider.value)
        case Enforcement.STEP:
            return value_type is ValueType.WHOLE and rule.value % wider.value != 0
    strict = NEVER_LOOSER.get(rule.enforcement)
    return strict is not None and wider.value is strict and rule.value is not strict


def path_in_tree(rule: Rule, kind: WorkloadKind) -> Path:
    """Return where the tree of a policy has a rule."""
    role, name = role_and_name(rule.field)
    roles = (role,) if kind.is_gang else ()
    list_name, key = split_item(name)
    steps = list_name.replace("[]", ".attributes").split(".")
    if key is not None:
        steps.append(INSTANCES)
    if rule.enforcement is Enforcement.DEFAULT:
        return (DEFAULTS, *roles, *steps)
    if rule.enforcement is Enforcement.CAN_ADD:
        steps.append(INSTANCES)
    return (RULES, *roles, *steps, rule.enforcement.value)
