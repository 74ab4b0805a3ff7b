"""The form of one rule: its field, what the rule is, and the value."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict

from core.forms.field import Field, Input, Option
from core.forms.form import Form
from core.forms.read import posted_text
from policies.document import value_type_of
from policies.fields import (
    ENFORCEMENTS,
    MASTER,
    WORKER,
    WORKLOAD_FIELDS,
    ValueType,
    address_of,
    find_field,
    ruled_fields,
)
from policies.rules import Enforcement, Rule, item_field, split_attribute, split_item
from policies.tree import DATA_SOURCES
from policies.words import LABELS, field_label, role_label
from spec.formats import documents
from spec.formats.lines import YamlError, parse_yaml
from spec.kind import WorkloadKind

RULE = "rule"
FIELD = "field"
LIMIT = "limit"
VALUE = "value"
WHY = "why"
MAY_OVERRIDE = "mayOverride"
NO_FIELD = "Select a field"
YES_OR_NO = (("true", "Yes"), ("false", "No"))
MULTIPLE = re.compile(r"(?:(?P<factor>[\d.]+)\s*[×x*]\s*)?(?P<field>[A-Za-z.]+)")
SECTIONS = {
    "compute.": "Compute resource",
    "security.": "Security",
    "storage.": "Storage",
}
#: Rules that say something about a field that is true or false.
FLAGS = (Enforcement.REQUIRED, Enforcement.CAN_EDIT, Enforcement.CAN_ADD)
#: Rules that Run:ai's form of a policy has without a reason.
WITHOUT_REASON = (Enforcement.DEFAULT, Enforcement.IMPOSED)
HINTS = {
    Enforcement.OPTIONS: "One a line. After “=” comes the label that people see.",
    Enforcement.DEFAULT_FROM: "Such as 0.5 × compute.cpuMemoryLimit.",
    Enforcement.LOCKED: "The name of a default item, which nobody may change or remove.",
    Enforcement.IMPOSED: "Every workload gets it.",
}


@dataclass(frozen=True)
class RuleChoice:
    """What somebody has chosen in the form so far: ``field`` is the address of a field or a
    list."""

    field: str
    limit: Enforcement

    @property
    def value_type(self) -> ValueType:
        return value_type_of(self.field)

    @property
    def is_item(self) -> bool:
        """Whether the value is one item of a list."""
        return self.limit is Enforcement.DEFAULT and self.value_type is ValueType.ITEMS

    @property
    def may_have_reason(self) -> bool:
        return self.limit not in WITHOUT_REASON


def field_groups(kind: WorkloadKind) -> list[tuple[str, list[Option]]]:
    """Return the fields that a rule may have, by heading."""
    groups: dict[str, list[Option]] = {}
    for role in (WORKER, MASTER) if kind.is_gang else (WORKER,):
        imposed = f"{role}.{DATA_SOURCES}"
        for address in [*_addresses(kind, role), imposed]:
            words = (role_label(address, kind), _section(address))
            heading = " · ".join(filter(None, words))
            groups.setdefault(heading, []).append((address, field_label(address)))
    return list(groups.items())


def limits_of(address: str) -> tuple[Enforcement, ...]:
    """Return the rules that a field may have."""
    if address.endswith(f".{DATA_SOURCES}"):
        return (Enforcement.IMPOSED,)
    value_type = value_type_of(address)
    if value_type is ValueType.ITEMS:
        return (Enforcement.DEFAULT, Enforcement.CAN_ADD, Enforcement.LOCKED)
    return (Enforcement.DEFAULT, *ENFORCEMENTS[value_type])


class RuleForm(Form):
    """The form of a rule. ``choice`` is ``None`` until a field is chosen. A posted value that does
    not suit the chosen field is left out."""

    def __init__(
        self,
        kind: WorkloadKind,
        data_sources: Iterable[Option],
        *,
        posted: QueryDict | None = None,
        rule: Rule | None = None,
    ) -> None:
        groups = field_groups(kind)
        addresses = {address for _, options in groups for address, _ in options}
        self.choice = None
        values: dict[str, Any] = {}
        if rule:
            self.choice = RuleChoice(split_item(rule.field)[0], rule.enforcement)
            values = {VALUE: value_text(rule), WHY: rule.why, MAY_OVERRIDE: rule.may_override}
        elif posted is not None and (choice := _posted_choice(posted, addresses)):
            self.choice = choice
            values = {
                VALUE: posted_text(posted, f"{RULE}-{VALUE}"),
                WHY: posted_text(posted, f"{RULE}-{WHY}"),
                MAY_OVERRIDE: posted.get(f"{RULE}-{MAY_OVERRIDE}") == "on",
            }
        limits: list[Option] = []
        if self.choice:
            limits = [(it.value, LABELS[it]) for it in limits_of(self.choice.field)]
            values |= {FIELD: self.choice.field, LIMIT: self.choice.limit.value}
        sources = list(data_sources)
        fields = list(_fields(self.choice))
        value_field = next((it for it in fields if it.key == VALUE), None)
        if value_field and value_field.input is Input.SELECT:
            options = dict([*value_field.options, *(sources if value_field.choices else ())])
            values[VALUE] = values[VALUE] if values[VALUE] in options else ""
        offered = {
            f"{RULE}-{FIELD}": [("", NO_FIELD), *((it, it) for it in sorted(addresses))],
            f"{RULE}-{LIMIT}": limits,
            f"{RULE}-{DATA_SOURCES}": sources,
        }
        super().__init__(fields, values, offered=offered)
        self[f"{RULE}-{FIELD}"].groups = [("", [("", NO_FIELD)]), *groups]

    def build_rule(self) -> Rule | None:
        """Return the rule that was entered; ``None`` if the form says what is wrong."""
        if self.choice is None:
            self.add_error(f"{RULE}-{FIELD}", "Select a field.")
            return None
        text = str(self.values.get(VALUE) or "")
        if not text:
            self.add_error(f"{RULE}-{VALUE}", "Value is required.")
            return None
        try:
            rule = _read_rule(self.choice, text)
        except ValueError as error:
            self.add_error(f"{RULE}-{VALUE}", str(error))
            return None
        has_reason = self.choice.may_have_reason
        return replace(
            rule,
            why=str(self.values.get(WHY) or "") if has_reason else "",
            may_override=has_reason and bool(self.values.get(MAY_OVERRIDE)),
        )


def put_rule(rules: Iterable[Rule], new: Rule) -> list[Rule]:
    """Return rules with a new one, which replaces that of the same field and enforcement. All
    limits of a field have one reason, so the others get that of the new one."""
    kept = [it for it in rules if (it.field, it.enforcement) != (new.field, new.enforcement)]
    if new.enforcement in WITHOUT_REASON:
        return [*kept, new]

    def with_reason(rule: Rule) -> Rule:
        is_same = split_item(rule.field)[0] == split_item(new.field)[0]
        if not is_same or rule.enforcement in WITHOUT_REASON:
            return rule
        return replace(rule, why=new.why, may_override=new.may_override)

    return [*map(with_reason, kept), new]


def value_text(rule: Rule) -> str:
    """Return the value of a rule as the form shows it, the inverse of what it reads."""
    value = rule.value
    match rule.enforcement:
        case Enforcement.OPTIONS:
            return "\n".join(
                f"{it['value']} = {it['displayed']}" if it.get("displayed") else str(it["value"])
                for it in value
            )
        case Enforcement.DEFAULT_FROM:
            return f"{value.get('factor', 1)} × {value['field']}"
        case Enforcement.LOCKED | Enforcement.IMPOSED:
            return split_item(rule.field)[1] or ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return documents.to_yaml(value).rstrip()
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _addresses(kind: WorkloadKind, role: str) -> Iterator[str]:
    for name, ruled in sorted(ruled_fields(kind, role).items()):
        address = address_of(role, name)
        yield address
        for attribute in ruled.attributes:
            yield f"{address}[].{attribute}"


def _section(address: str) -> str:
    head, _, inner = address.partition(".")
    name = inner if head in (WORKER, MASTER) else address
    if split_attribute(name)[0] in WORKLOAD_FIELDS:
        return "Workload"
    return next((it for prefix, it in SECTIONS.items() if name.startswith(prefix)), "Container")


def _posted_choice(posted: QueryDict, addresses: set[str]) -> RuleChoice | None:
    address = posted.get(f"{RULE}-{FIELD}", "")
    if address not in addresses:
        return None
    limits = limits_of(address)
    limit = posted.get(f"{RULE}-{LIMIT}", "")
    return RuleChoice(address, next((it for it in limits if it == limit), limits[0]))


def _fields(choice: RuleChoice | None) -> Iterator[Field]:
    yield Field(FIELD, "Field", Input.SELECT, within=RULE, choices=f"{RULE}-{FIELD}")
    if choice is None:
        return
    yield Field(LIMIT, "Rule", Input.SELECT, within=RULE, choices=f"{RULE}-{LIMIT}")
    yield _value_field(choice)
    if choice.may_have_reason:
        yield Field(
            WHY,
            "Why",
            within=RULE,
            hint="People read it where the rule holds. It is that of all rules of this field.",
        )
        yield Field(
            MAY_OVERRIDE, "A narrower scope may replace these rules", Input.FLAG, within=RULE
        )


def _value_field(choice: RuleChoice) -> Field:
    common: dict[str, Any] = {"within": RULE, "literal": True}
    value_type = choice.value_type
    hint = HINTS.get(choice.limit, "")
    if choice.limit is Enforcement.IMPOSED:
        choices = f"{RULE}-{DATA_SOURCES}"
        return Field(VALUE, "Data source", Input.SELECT, hint=hint, choices=choices, **common)
    if choice.limit in (Enforcement.LOCKED, Enforcement.DEFAULT_FROM):
        return Field(VALUE, "Value", hint=hint, **common)
    if choice.limit in FLAGS or value_type is ValueType.FLAG:
        return Field(VALUE, "Value", Input.SELECT, options=YES_OR_NO, **common)
    if choice.is_item or value_type is ValueType.OBJECT:
        hint = "As YAML, such as name: NCCL_DEBUG, and value: WARN in the next line."
        return Field(VALUE, "Value", Input.LINES, hint=hint, **common)
    if choice.limit is Enforcement.OPTIONS or value_type is ValueType.WORDS:
        return Field(VALUE, "Value", Input.LINES, hint=hint or "One a line.", **common)
    return Field(VALUE, "Value", hint=f"{value_type[:1].upper()}{value_type[1:]}.", **common)


def _read_rule(choice: RuleChoice, text: str) -> Rule:
    """Return the rule of a value. ``ValueError`` says what is wrong with it."""
    address = choice.field
    limit = choice.limit
    if limit in (Enforcement.LOCKED, Enforcement.IMPOSED):
        return Rule(item_field(address, text), limit, True)
    if choice.is_item:
        item = _read_yaml(text)
        ruled = find_field(address)
        keys = ruled.keys if ruled else ("name",)
        key = next((item[key] for key in keys if item.get(key)), None)
        if key is None:
            raise ValueError(f"Value needs {' or '.join(keys)}, which names the item.")
        return Rule(item_field(address, str(key)), limit, item)
    if limit in FLAGS:
        return Rule(address, limit, text == "true")
    if limit is Enforcement.OPTIONS:
        return Rule(address, limit, [_option(line, choice.value_type) for line in _lines(text)])
    if limit is Enforcement.DEFAULT_FROM:
        return Rule(address, limit, _multiple(text))
    return Rule(address, limit, _read_value(text, choice.value_type))


def _read_value(text: str, value_type: ValueType) -> Any:
    """Return a value of a type. A text that is none stays as it is: the check of the policy refuses
    it."""
    match value_type:
        case ValueType.FLAG:
            return text == "true"
        case ValueType.WORDS:
            return _lines(text)
        case ValueType.OBJECT:
            return _read_yaml(text)
        case ValueType.WHOLE | ValueType.NUMBER:
            return _number(text)
    return text


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _option(line: str, value_type: ValueType) -> dict[str, Any]:
    value, _, label = (part.strip() for part in line.partition(" = "))
    item_type = ValueType.TEXT if value_type is ValueType.WORDS else value_type
    return {"value": _read_value(value, item_type)} | ({"displayed": label} if label else {})


def _multiple(text: str) -> dict[str, Any]:
    match = MULTIPLE.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            "Value must be a factor and a field, such as 0.5 × compute.cpuMemoryLimit."
        )
    return {"field": match["field"]} | (
        {"factor": _number(match["factor"])} if match["factor"] else {}
    )


def _read_yaml(text: str) -> dict[str, Any]:
    try:
        return parse_yaml(text).values
    except YamlError as error:
        raise ValueError(" ".join(it.sentence for it in error.problems)) from error
