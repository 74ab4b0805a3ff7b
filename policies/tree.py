"""Run:ai's form of a policy: a tree of ``defaults``, ``rules`` and ``imposedAssets``.

A policy of a distributed training has a tree for its ``worker`` and one for its ``master``. A rule
may have two keys of our own: ``allowOverride``, and ``why``, the reason that people are told.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.forms import nested
from core.words import name_first_three
from policies.fields import (
    ENFORCEMENTS,
    MASTER,
    WORKER,
    RuledField,
    ValueType,
    address_of,
    find_field,
    role_and_name,
    ruled_fields,
)
from policies.rules import (
    Enforcement,
    Rule,
    RuleSource,
    item_field,
    split_attribute,
    split_item,
)
from spec.formats.documents import Document
from spec.kind import WorkloadKind
from spec.problems.errors import Path, Problem, SpecError
from spec.values.quantities import to_bytes

DEFAULTS = "defaults"
RULES = "rules"
IMPOSED_ASSETS = "imposedAssets"
SECTIONS = (DEFAULTS, RULES, IMPOSED_ASSETS)
INSTANCES = "instances"
ATTRIBUTES = "attributes"
ALLOW_OVERRIDE = "allowOverride"
WHY = "why"
SOURCE_OF_RULE = "sourceOfRule"
LONGEST_REASON = 200
DATA_SOURCES = "dataSources"


def read_tree(tree: Any, kind: WorkloadKind) -> tuple[Rule, ...]:
    """Return the rules of a tree, the defaults first. ``SpecError`` has every problem, with its
    path in the tree."""
    reader = _TreeReader(kind)
    reader.read(tree)
    if reader.problems:
        raise SpecError(reader.problems)
    return tuple(reader.rules)


def write_tree(
    rules: Iterable[Rule],
    kind: WorkloadKind,
    *,
    describe_source: Callable[[RuleSource], Document] | None = None,
) -> Document:
    """Return the tree of a policy's rules, the inverse of :func:`read_tree`.

    With ``describe_source`` each field's rules say whose they are, which :func:`read_tree` refuses:
    of rules of several policies, whose the last one is.
    """
    sections: dict[str, Document] = {section: {} for section in SECTIONS}
    for rule in rules:
        role, name = role_and_name(rule.field)
        if rule.enforcement is Enforcement.IMPOSED:
            imposed = sections[IMPOSED_ASSETS].setdefault(role, [])
            imposed.append(split_item(name)[1])
        elif rule.enforcement is Enforcement.DEFAULT:
            _write_default(sections[DEFAULTS].setdefault(role, {}), name, rule.value)
        else:
            leaf = _write_rule(sections[RULES].setdefault(role, {}), name, rule)
            if describe_source:
                leaf[SOURCE_OF_RULE] = describe_source(rule.source)
    if not kind.is_gang:
        sections = {name: section.get(WORKER, {}) for name, section in sections.items()}
    return {name: section for name, section in sections.items() if section}


def _write_default(section: Document, name: str, value: Any) -> None:
    list_name, attribute = split_attribute(name)
    items_name, key = split_item(name)
    if attribute:
        nested.put(section, f"{list_name}.{ATTRIBUTES}.{attribute}", value)
    elif key is not None:
        _leaf(section, items_name).setdefault(INSTANCES, []).append(value)
    else:
        nested.put(section, name, value)


def _write_rule(section: Document, name: str, rule: Rule) -> Document:
    """Write a rule, and return the rules of its field."""
    list_name, attribute = split_attribute(name)
    items_name, key = split_item(name)
    if attribute:
        leaf = _leaf(section, f"{list_name}.{ATTRIBUTES}.{attribute}")
    elif key is not None or rule.enforcement is Enforcement.CAN_ADD:
        leaf = _leaf(section, f"{items_name}.{INSTANCES}")
    else:
        leaf = _leaf(section, name)
    if key is not None:
        leaf.setdefault(Enforcement.LOCKED.value, []).append(key)
    else:
        leaf[rule.enforcement.value] = rule.value
    if rule.may_override:
        leaf[ALLOW_OVERRIDE] = True
    if rule.why:
        leaf[WHY] = rule.why
    return leaf


def _leaf(section: Document, name: str) -> Document:
    for step in name.split("."):
        section = section.setdefault(step, {})
    return section


@dataclass(frozen=True)
class _Place:
    """Where the reader is: the role whose part it reads, and the path in the tree."""

    role: str
    path: Path

    def __truediv__(self, step: str | int) -> "_Place":
        return _Place(self.role, (*self.path, step))


class _TreeReader:
    """Reads the sections of a tree one after the other, and collects rules and problems."""

    def __init__(self, kind: WorkloadKind) -> None:
        self.kind = kind
        self.rules: list[Rule] = []
        self.problems: list[Problem] = []

    def read(self, tree: Any) -> None:
        sections = self._mapping(tree, ())
        self._refuse_unknown(sections, SECTIONS, ())
        for role, part, place in self._parts(sections, DEFAULTS):
            self._walk(part, place, ruled_fields(self.kind, role), "", self._read_default)
        for role, part, place in self._parts(sections, RULES):
            self._walk(part, place, ruled_fields(self.kind, role), "", self._read_rules)
        self._read_imposed(sections.get(IMPOSED_ASSETS))
        self._check_fillings()

    def _parts(self, sections: Document, section: str) -> Iterator[tuple[str, Document, _Place]]:
        content = self._mapping(sections.get(section), (section,))
        if not self.kind.is_gang:
            yield WORKER, content, _Place(WORKER, (section,))
            return
        self._refuse_unknown(content, (WORKER, MASTER), (section,))
        for role in (WORKER, MASTER):
            path = (section, role)
            yield role, self._mapping(content.get(role), path), _Place(role, path)

    def _walk(
        self,
        part: Document,
        place: _Place,
        fields: Mapping[str, RuledField],
        prefix: str,
        read: Callable[[Any, _Place, str, RuledField], None],
    ) -> None:
        """Call ``read`` for each field of a part, and report keys that are none."""
        for key, value in part.items():
            name = f"{prefix}{key}"
            if value is None:
                continue  # clients send null for what they leave out
            if name in fields:
                read(value, place / key, name, fields[name])
            elif any(field.startswith(f"{name}.") for field in fields):
                inner = self._mapping(value, (place / key).path)
                self._walk(inner, place / key, fields, f"{name}.", read)
            else:
                self._refuse_key(place / key, _names_below(fields, prefix))

    def _read_default(self, value: Any, place: _Place, name: str, ruled: RuledField) -> None:
        address = address_of(place.role, name)
        if ruled.type is not ValueType.ITEMS:
            self._check_value(value, ruled.type, place)
            self._add(address, Enforcement.DEFAULT, value)
            return
        content = self._mapping(value, place.path)
        self._refuse_unknown(content, (INSTANCES, ATTRIBUTES), place.path)
        instances = place / INSTANCES
        for number, item in enumerate(self._list(content.get(INSTANCES), instances)):
            key = next((item.get(key) for key in ruled.keys if item.get(key)), None)
            if key is None:
                names = " or ".join(ruled.keys)
                self._report(instances / number, f"needs {names}, which names the item")
            else:
                self._add(item_field(address, str(key)), Enforcement.DEFAULT, item)
        attributes = place / ATTRIBUTES
        for attribute, default, at in self._attributes(content, attributes, ruled):
            self._check_value(default, ruled.attributes[attribute], at)
            self._add(f"{address}[].{attribute}", Enforcement.DEFAULT, default)

    def _read_rules(self, value: Any, place: _Place, name: str, ruled: RuledField) -> None:
        address = address_of(place.role, name)
        content = self._mapping(value, place.path)
        if ruled.type is not ValueType.ITEMS:
            self._read_limits(content, place, address, ruled.type)
            return
        self._refuse_unknown(content, (INSTANCES, ATTRIBUTES), place.path)
        self._read_instances(content.get(INSTANCES), place / INSTANCES, address)
        attributes = place / ATTRIBUTES
        for attribute, limits, at in self._attributes(content, attributes, ruled):
            attribute_type = ruled.attributes[attribute]
            self._read_limits(
                self._mapping(limits, at.path), at, f"{address}[].{attribute}", attribute_type
            )

    def _read_instances(self, value: Any, place: _Place, address: str) -> None:
        content = self._mapping(value, place.path)
        known = (Enforcement.CAN_ADD.value, Enforcement.LOCKED.value, ALLOW_OVERRIDE, WHY)
        self._refuse_unknown(content, known, place.path)
        extra = self._extra(content, place)
        can_add = content.get(Enforcement.CAN_ADD)
        if can_add is not None:
            self._check_value(can_add, ValueType.FLAG, place / Enforcement.CAN_ADD.value)
            self._add(address, Enforcement.CAN_ADD, can_add, **extra)
        keys = content.get(Enforcement.LOCKED)
        if keys is not None:
            self._check_value(keys, ValueType.WORDS, place / Enforcement.LOCKED.value)
        for key in keys if isinstance(keys, list) else ():
            self._add(item_field(address, str(key)), Enforcement.LOCKED, True, **extra)

    def _read_limits(
        self, content: Document, place: _Place, address: str, value_type: ValueType
    ) -> None:
        allowed = ENFORCEMENTS[value_type]
        self._refuse_unknown(content, (*allowed, ALLOW_OVERRIDE, WHY), place.path)
        extra = self._extra(content, place)
        for enforcement in allowed:
            value = content.get(enforcement)
            if value is None:
                continue
            self._check_limit(enforcement, value, value_type, place / enforcement.value)
            self._add(address, enforcement, value, **extra)
        self._check_range(content, value_type, place)

    def _check_limit(
        self, enforcement: Enforcement, value: Any, value_type: ValueType, place: _Place
    ) -> None:
        if enforcement in (Enforcement.REQUIRED, Enforcement.CAN_EDIT):
            self._check_value(value, ValueType.FLAG, place)
        elif enforcement is Enforcement.OPTIONS:
            self._check_options(value, value_type, place)
        elif enforcement is Enforcement.DEFAULT_FROM:
            self._check_default_from(value, place)
        elif enforcement is Enforcement.STEP and _is_number(value) and value <= 0:
            self._report(place, "must be more than 0")
        else:
            self._check_value(value, value_type, place)

    def _check_options(self, value: Any, value_type: ValueType, place: _Place) -> None:
        options = self._list(value, place)
        if not options and value == []:
            self._report(place, "needs at least one option")
        for number, option in enumerate(options):
            at = place / number
            self._refuse_unknown(option, ("value", "displayed"), at.path)
            item_type = ValueType.TEXT if value_type is ValueType.WORDS else value_type
            self._check_value(option.get("value"), item_type, at / "value")

    def _check_default_from(self, value: Any, place: _Place) -> None:
        content = self._mapping(value, place.path)
        self._refuse_unknown(content, ("field", "factor"), place.path)
        factor = content.get("factor", 1)
        if not _is_number(factor) or factor <= 0:
            self._report(place / "factor", "must be a number above 0")
        name = content.get("field")
        source = find_field(address_of(place.role, str(name)))
        measured = (ValueType.WHOLE, ValueType.NUMBER, ValueType.MEMORY)
        if source is None or source.type not in measured:
            self._report(place / "field", "must be the name of a field that is an amount")

    def _check_range(self, content: Document, value_type: ValueType, place: _Place) -> None:
        low = content.get(Enforcement.MIN)
        high = content.get(Enforcement.MAX)
        if low is None or high is None:
            return
        try:
            if measure(low, value_type) > measure(high, value_type):
                self._report(place / Enforcement.MAX.value, f"must be at least min, which is {low}")
        except (TypeError, ValueError):
            return  # a bound of the wrong type is reported

    def _read_imposed(self, value: Any) -> None:
        path: Path = (IMPOSED_ASSETS,)
        if not self.kind.is_gang:
            self._impose(value, _Place(WORKER, path))
            return
        content = self._mapping(value, path)
        self._refuse_unknown(content, (WORKER, MASTER), path)
        for role in (WORKER, MASTER):
            self._impose(content.get(role), _Place(role, (*path, role)))

    def _impose(self, value: Any, place: _Place) -> None:
        if value is None:
            return
        if not isinstance(value, list):
            self._report(place, "must be a list of IDs of data sources")
            return
        for number, asset_id in enumerate(value):
            try:
                key = str(UUID(str(asset_id)))
            except ValueError:
                self._report(place / number, "must be the ID of a data source (a UUID)")
                continue
            address = item_field(f"{place.role}.{DATA_SOURCES}", key)
            self._add(address, Enforcement.IMPOSED, True)

    def _check_fillings(self) -> None:
        """Report fields that a default and ``defaultFrom`` both fill, and circles of fields."""
        defaults = {rule.field for rule in self.rules if rule.enforcement is Enforcement.DEFAULT}
        sources = {
            rule.field: address_of(role_and_name(rule.field)[0], str(rule.value.get("field")))
            for rule in self.rules
            if rule.enforcement is Enforcement.DEFAULT_FROM and isinstance(rule.value, dict)
        }
        for name in sources:
            path = self._path_of_limits(name)
            if name in defaults:
                self.problems.append(Problem(path, "has a default already; keep one of the two"))
            if name in _follow(sources, name):
                self.problems.append(Problem(path, "is a multiple of itself; end the circle"))

    def _path_of_limits(self, name: str) -> Path:
        role, inner = role_and_name(name)
        roles = (role,) if self.kind.is_gang else ()
        return (RULES, *roles, *inner.split("."), Enforcement.DEFAULT_FROM.value)

    def _attributes(
        self, content: Document, place: _Place, ruled: RuledField
    ) -> Iterator[tuple[str, Any, _Place]]:
        """Yield the attributes of a list's items with their value, those of objects too."""
        found = list[tuple[str, Any, _Place]]()

        def add(value: Any, at: _Place, name: str, _: RuledField) -> None:
            found.append((name, value, at))

        fields = {name: RuledField(value_type) for name, value_type in ruled.attributes.items()}
        self._walk(self._mapping(content.get(ATTRIBUTES), place.path), place, fields, "", add)
        yield from found

    def _extra(self, content: Document, place: _Place) -> dict[str, Any]:
        may_override = content.get(ALLOW_OVERRIDE, False)
        self._check_value(may_override, ValueType.FLAG, place / ALLOW_OVERRIDE)
        why = content.get(WHY, "")
        if not isinstance(why, str) or len(why) > LONGEST_REASON:
            self._report(place / WHY, f"must be a text of at most {LONGEST_REASON} characters")
        return {"may_override": bool(may_override), "why": str(why)}

    def _add(self, address: str, enforcement: Enforcement, value: Any, **extra: Any) -> None:
        self.rules.append(Rule(address, enforcement, value, **extra))

    def _check_value(self, value: Any, value_type: ValueType, place: _Place) -> None:
        if not _is_of_type(value, value_type):
            self._report(place, f"must be {value_type}")

    def _mapping(self, value: Any, path: Path) -> Document:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.problems.append(Problem(path, "must be an object"))
            return {}
        return value

    def _list(self, value: Any, place: _Place) -> list[Document]:
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self._report(place, "must be a list of objects")
            return []
        return value

    def _refuse_unknown(self, content: Document, known: tuple[str, ...], path: Path) -> None:
        for key, value in content.items():
            if key not in known and value is not None:
                self._refuse_key(_Place(WORKER, (*path, key)), set(map(str, known)))

    def _refuse_key(self, place: _Place, known: set[str]) -> None:
        names = ", ".join(sorted(known)) if len(known) < 12 else name_first_three(sorted(known))
        self._report(place, f"is not known here; allowed are {names}")

    def _report(self, place: _Place, message: str) -> None:
        self.problems.append(Problem(place.path, message))


def _follow(sources: Mapping[str, str], name: str) -> Iterator[str]:
    """Yield what a field is a multiple of, and what that is a multiple of, each once."""
    seen: set[str] = set()
    while (name := sources.get(name, "")) and name not in seen:
        seen.add(name)
        yield name


def _names_below(fields: Mapping[str, RuledField], prefix: str) -> set[str]:
    return {
        name.removeprefix(prefix).partition(".")[0] for name in fields if name.startswith(prefix)
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_of_type(value: Any, value_type: ValueType) -> bool:
    match value_type:
        case ValueType.FLAG:
            return isinstance(value, bool)
        case ValueType.WHOLE:
            return isinstance(value, int) and not isinstance(value, bool)
        case ValueType.NUMBER:
            return _is_number(value)
        case ValueType.MEMORY:
            return _is_memory(value)
        case ValueType.WORDS:
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case ValueType.OBJECT:
            return isinstance(value, dict)
        case ValueType.ITEMS:
            return isinstance(value, list)
        case ValueType.TEXT | ValueType.AMOUNT:
            return isinstance(value, str) and bool(value)


def _is_memory(value: Any) -> bool:
    try:
        return isinstance(value, str) and to_bytes(value) >= 0
    except ValueError:
        return False


def measure(value: Any, value_type: ValueType) -> float:
    """Return an amount as a number; memory in bytes. ``ValueError`` if it is none."""
    return to_bytes(str(value)) if value_type is ValueType.MEMORY else float(value)
