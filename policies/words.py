"""Rules in words, for pages."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from policies.document import value_type_of
from policies.fields import MASTER, role_and_name
from policies.rules import FILLING, Enforcement, Rule, RuleSource, split_attribute, split_item
from spec.kind import WorkloadKind

LABELS = {
    Enforcement.DEFAULT: "Default",
    Enforcement.DEFAULT_FROM: "Default from a field",
    Enforcement.REQUIRED: "Required",
    Enforcement.CAN_EDIT: "May be changed",
    Enforcement.MIN: "Minimum",
    Enforcement.MAX: "Maximum",
    Enforcement.STEP: "Step",
    Enforcement.OPTIONS: "Allowed values",
    Enforcement.STARTS_WITH: "Starts with",
    Enforcement.CAN_ADD: "Items may be added",
    Enforcement.LOCKED: "Locked item",
    Enforcement.IMPOSED: "Imposed data source",
}


@dataclass(frozen=True)
class RuleWords:
    """A rule as a row of a table. ``role`` is empty for kinds of workloads without a master."""

    role: str
    name: str
    label: str
    value: str
    rule: Rule

    @property
    def fills(self) -> bool:
        """Whether it fills the field in, so that a narrower scope may have another default."""
        return self.rule.enforcement in FILLING


@dataclass
class ParameterWords:
    """What holds for one field: a row of the effective policy. ``sources`` are those of the default
    and of the rules, without repetition."""

    role: str
    name: str
    type: str
    default: str = ""
    rules: list[RuleWords] = field(default_factory=list)
    sources: list[RuleSource] = field(default_factory=list)


def rule_rows(rules: Iterable[Rule], kind: WorkloadKind) -> list[RuleWords]:
    return [rule_words(rule, kind) for rule in rules]


def parameter_rows(rules: Iterable[Rule], kind: WorkloadKind) -> list[ParameterWords]:
    """Return a row for each field that has rules, in the order of their names."""
    rows: dict[str, ParameterWords] = {}
    for rule in rules:
        words = rule_words(rule, kind)
        row = rows.setdefault(
            rule.field, ParameterWords(words.role, words.name, _type_words(rule.field))
        )
        if rule.enforcement in FILLING:
            row.default = words.value
        else:
            row.rules.append(words)
        if rule.source not in row.sources:
            row.sources.append(rule.source)
    return sorted(rows.values(), key=lambda row: (row.role != "Workers", row.role, row.name))


def rule_words(rule: Rule, kind: WorkloadKind) -> RuleWords:
    return RuleWords(
        role_label(rule.field, kind),
        field_label(rule.field),
        LABELS[rule.enforcement],
        value_words(rule),
        rule,
    )


def role_label(address: str, kind: WorkloadKind) -> str:
    if not kind.is_gang:
        return ""
    return "Master" if role_and_name(address)[0] == MASTER else "Workers"


def field_label(address: str) -> str:
    """Return the name of a field without its role: ``labels: team`` for one item of a list, and
    ``storage.pvc: path of each item`` for a field of every item."""
    name = role_and_name(address)[1]
    list_name, attribute = split_attribute(name)
    if attribute:
        return f"{list_name}: {attribute} of each item"
    items_name, key = split_item(name)
    return name if key is None else f"{items_name}: {key}"


def value_words(rule: Rule) -> str:
    """Return the value of a rule for people to read."""
    value = rule.value
    if rule.enforcement is Enforcement.OPTIONS:
        return ", ".join(str(it.get("displayed") or it["value"]) for it in value)
    if rule.enforcement is Enforcement.DEFAULT_FROM:
        return f"{value.get('factor', 1)} × {value['field']}"
    if rule.enforcement in (Enforcement.LOCKED, Enforcement.IMPOSED):
        return ""
    return plain_words(value)


def plain_words(value: Any) -> str:
    """Return a value of a document for people to read, without parts that have no value."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, dict):
        parts = {key: plain_words(item) for key, item in value.items()}
        return ", ".join(f"{key}: {text}" for key, text in parts.items() if text)
    if isinstance(value, list):
        separator = "; " if any(isinstance(item, dict) for item in value) else ", "
        return separator.join(map(plain_words, value))
    return "" if value is None else str(value)


def _type_words(address: str) -> str:
    """``whole number``; ``item`` for one item of a list."""
    name, key = split_item(address)
    if key is not None:
        return "item"
    article, _, noun = value_type_of(name).partition(",")[0].partition(" ")
    return noun if article in ("a", "an") else f"{article} {noun}".strip()
