"""Rules: what a policy or a template decides about one field of a workload.

A policy is a list of rules. The rules of a project are those of all policies whose scope includes
it, the widest scope first, as :func:`settle` leaves them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

ITEM_KEY_END = "]"


class Enforcement(StrEnum):
    """What a rule does with its field. Most words are Run:ai's, and a violation names them."""

    DEFAULT = "default"  # the value where nobody gives one
    DEFAULT_FROM = "defaultFrom"  # a multiple of another field where nobody gives a value
    REQUIRED = "required"
    CAN_EDIT = "canEdit"  # if it is false, the field keeps its default
    MIN = "min"
    MAX = "max"
    STEP = "step"
    OPTIONS = "options"
    STARTS_WITH = "startsWith"
    CAN_ADD = "canAdd"  # whether a list may have items that are not defaults
    LOCKED = "locked"  # an item of a list that may be neither removed nor changed
    IMPOSED = "imposed"  # a data source that every workload has


#: What fills a field. Everything else limits what others may fill in.
FILLING = frozenset({Enforcement.DEFAULT, Enforcement.DEFAULT_FROM})


@dataclass(frozen=True)
class RuleSource:
    """Whose rule it is: ``label`` for people, and the key of the scope that the policy belongs to,
    such as ``department:3``. A template's rules have no scope."""

    label: str = ""
    scope: str = ""


@dataclass(frozen=True)
class Rule:
    """One decision about one field.

    ``field`` is a dotted path in the document of a workload, such as ``numWorkers`` or
    ``worker.compute.cpuMemoryLimit``. ``worker.labels[team]`` is one item of a list, by its key;
    ``worker.storage.pvc[].path`` is a field of every item. A narrower scope may loosen the rule or
    replace the default only if it ``may_override``. ``why`` is the administrator's reason.
    """

    field: str
    enforcement: Enforcement
    value: Any
    may_override: bool = False
    why: str = ""
    source: RuleSource = RuleSource()

    def with_source(self, source: RuleSource) -> "Rule":
        """Return the same rule, as one of this source."""
        return replace(self, source=source)

    @property
    def reason(self) -> str:
        return f": {self.why.rstrip('.')}" if self.why else ""

    @property
    def fixes_field(self) -> bool:
        """Whether the field keeps its default, also in narrower scopes."""
        is_locked = self.enforcement is Enforcement.LOCKED and self.value
        is_fixed = self.enforcement is Enforcement.CAN_EDIT and not self.value
        return bool(is_locked or is_fixed) and not self.may_override


def item_field(field: str, key: str) -> str:
    """Return the address of one item of a list."""
    return f"{field}[{key}]"


def split_item(field: str) -> tuple[str, str | None]:
    """Split the address of an item into that of its list and its key. Without a key it is not the
    address of an item."""
    if not field.endswith(ITEM_KEY_END):
        return field, None
    name, _, key = field[:-1].partition("[")
    return name, key


def split_attribute(field: str) -> tuple[str, str]:
    """Split the address of a field of every item into that of the list and the field's name, which
    is empty if it is not such an address."""
    name, _, attribute = field.partition("[].")
    return name, attribute


def settle(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules that hold, of the rules of several policies, the widest scope first and in
    each policy the defaults first.

    - Of several defaults of a field the narrowest holds. A field that a policy fixes keeps the
      default that it has there.
    - All other rules of a field hold together, so that a narrower scope can only tighten them.
      A rule that ``may_override`` ends where a narrower scope has one of the same enforcement.
    """
    given = list(rules)
    fixed: set[str] = set()
    defaults: dict[str, int] = {}
    limits: dict[tuple[str, Enforcement], int] = {}
    for position, rule in enumerate(given):
        if rule.enforcement not in FILLING:
            limits[rule.field, rule.enforcement] = position
        elif rule.field not in fixed:
            defaults[rule.field] = position
        if rule.fixes_field:
            fixed.add(rule.field)

    def holds(position: int, rule: Rule) -> bool:
        if rule.enforcement in FILLING:
            return defaults.get(rule.field) == position
        return not rule.may_override or limits[rule.field, rule.enforcement] == position

    return tuple(rule for position, rule in enumerate(given) if holds(position, rule))
