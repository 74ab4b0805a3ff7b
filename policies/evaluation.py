"""Judge the values of a workload by rules. The same code judges policies and templates."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from policies.fields import (
    MASTER,
    WORKER,
    WORKLOAD_FIELDS,
    RuledField,
    ValueType,
    find_field,
    role_and_name,
)
from policies.rules import FILLING, Enforcement, Rule, split_attribute, split_item
from policies.tree import DATA_SOURCES, measure
from spec.formats.connections import (
    FIELD_NAMES_OF,
    PORTS,
    URLS,
    connections_to_tools,
    list_of_tool,
)
from spec.formats.documents import Document
from spec.formats.merge import parent_paths
from spec.problems.errors import Path, Problem
from spec.problems.rulings import AllowedValue, FieldRuling
from spec.values.quantities import to_bytes

EMPTY_VALUES: tuple[object, ...] = (None, "", [], {})
LONGEST_QUOTE = 60  # characters of a value that a message repeats
#: How a value is told from its bound: a factor that rounding cannot reach.
TOLERANCE = Decimal("1e-9")
NOTES = ("description",)  # what a default item says about itself


def default_layers(rules: Iterable[Rule], part: str) -> list[tuple[str, Document]]:
    """Return the defaults of one part of the document (``worker``, ``master``, or the empty text
    for what a workload has once): a layer for each policy, with its name, the widest scope
    first."""
    layers: dict[str, Document] = {}
    for rule in rules:
        if rule.enforcement is not Enforcement.DEFAULT or split_attribute(rule.field)[1]:
            continue
        name, key = split_item(rule.field)
        role, inner = _part_and_name(name)
        if role != part:
            continue
        layer = layers.setdefault(rule.source.label, {})
        if key is None:
            _put(layer, inner, rule.value)
        else:
            item = {name: value for name, value in rule.value.items() if name not in NOTES}
            _append(layer, inner, item)
    return list(layers.items())


def imposed_assets(rules: Iterable[Rule], role: str) -> list[tuple[str, str]]:
    """Return the IDs of the data sources that every pod of a role has, each with the name of the
    policy that imposes it."""
    address = f"{role}.{DATA_SOURCES}"
    items = (
        (split_item(rule.field), rule.source.label)
        for rule in rules
        if rule.enforcement is Enforcement.IMPOSED
    )
    return [(key, label) for (name, key), label in items if name == address and key is not None]


def fill_in(rules: Iterable[Rule], document: Document) -> tuple[Document, dict[str, str]]:
    """Fill in what only the merged document shows to be missing: fields of list items, and amounts
    that are a multiple of another. Return the document, and the policy of each value by its
    path."""
    filled = document
    origins: dict[str, str] = {}
    multiples: list[Rule] = []
    for rule in rules:
        list_name, attribute = split_attribute(_document_address(rule.field))
        if rule.enforcement is Enforcement.DEFAULT_FROM and not attribute:
            multiples.append(rule)
        if rule.enforcement is not Enforcement.DEFAULT or not attribute:
            continue
        for place, number, name in _items_without(filled, list_name, attribute):
            filled = _with_value(filled, f"{place}.{number}.{name}", rule.value)
            origins[f"{place}[{number}].{name}"] = rule.source.label
    # The amount that another is a multiple of may be such a multiple itself.
    for _ in multiples:
        for rule in multiples:
            address = _document_address(rule.field)
            amount = _multiple(rule, partial(value_at, filled))
            if amount is not None and value_at(filled, address) in EMPTY_VALUES:
                filled = _with_value(filled, address, amount)
                origins[address] = rule.source.label
    return filled, origins


def _items_without(
    document: Document, list_name: str, attribute: str
) -> Iterator[tuple[str, int, str]]:
    """Yield the list, index and field of each item that lacks an attribute, by the names of the
    document, which has ports and URLs among the connections."""
    role, _, inner = list_name.partition(".")
    is_of_tools = inner in FIELD_NAMES_OF
    place = f"{role}.connections" if is_of_tools else list_name
    name = FIELD_NAMES_OF[inner].get(attribute, attribute) if is_of_tools else attribute
    items = value_at(document, place)
    for number, item in enumerate(items if isinstance(items, list) else ()):
        is_meant = isinstance(item, dict) and (not is_of_tools or list_of_tool(item) == inner)
        if is_meant and value_at(item, name) in EMPTY_VALUES:
            yield place, number, name


def find_violations(
    rules: Iterable[Rule],
    given: Document,
    loaded: Document,
    *,
    reported: Iterable[str] = (),
    origins: Mapping[str, str] | None = None,
) -> Iterator[Problem]:
    """Yield a problem for each rule that a workload breaks.

    ``given`` is its document without the defaults of the spec, ``loaded`` with them. A master that
    only ``loaded`` has inherits the workers' setup. A field that is ``reported`` already is
    not reported as missing. ``origins`` says where values came from, as ``MergedLayers`` does: a
    list may have whatever a policy imposes.
    """
    inherits = bool(loaded.get(MASTER)) and not given.get(MASTER)
    whole = {**given, MASTER: given.get(WORKER)} if inherits else given
    judge = Judge(
        rules,
        read_given=partial(value_at, _with_tools(whole)),
        read_loaded=partial(value_at, _with_tools(loaded)),
        reported=reported,
        origins=origins,
    )
    for problem in judge.find_violations():
        is_inherited = inherits and problem.path[0] == MASTER
        yield replace(problem, path=(WORKER, *problem.path[1:])) if is_inherited else problem


def find_violations_of_asset(
    rules: Iterable[Rule], role: str, values: Document
) -> Iterator[Problem]:
    """Yield a problem for each rule of a role that the values of an asset break by themselves,
    whatever else a workload has."""
    view = {role: tools_view(values)}
    read = partial(value_at, view)
    ends = (Enforcement.REQUIRED, Enforcement.LOCKED)
    relevant = [
        rule
        for rule in rules
        if rule.enforcement not in ends
        and (rule.enforcement is not Enforcement.CAN_EDIT or read(rule.field) not in EMPTY_VALUES)
    ]
    yield from Judge(relevant, read_given=read, read_loaded=read).find_violations()


def default_rules(rules: Iterable[Rule]) -> dict[str, dict[str, Rule]]:
    """Return the rules that fill in a field, by its dotted path in the document: those of list
    items by the key of the item, any other one by the empty text."""
    by_field: dict[str, dict[str, Rule]] = {}
    for rule in rules:
        if rule.enforcement is Enforcement.DEFAULT:
            name, key = split_item(rule.field)
            by_field.setdefault(_document_address(name), {})[key or ""] = rule
    return by_field


def field_rulings(rules: Iterable[Rule]) -> dict[str, FieldRuling]:
    """Return what rules say about each field, by its dotted path in the document."""
    by_field: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.enforcement in (*FILLING, Enforcement.IMPOSED):
            continue
        name = _document_address(split_item(rule.field)[0])
        by_field.setdefault(name, []).append(rule)
    return {name: _combine(name, its) for name, its in by_field.items()}


def _combine(name: str, rules: list[Rule]) -> FieldRuling:
    values: dict[Enforcement, list[Rule]] = {}
    for rule in rules:
        values.setdefault(rule.enforcement, []).append(rule)

    def given(enforcement: Enforcement) -> list[Any]:
        return [rule.value for rule in values.get(enforcement, ())]

    locking = [rule for rule in values.get(Enforcement.CAN_EDIT, ()) if not rule.value]
    deciding = locking or rules  # a locked field keeps its value, whatever else holds for it
    scopes = dict.fromkeys(rule.source.scope for rule in deciding)
    value_type = value_type_of(name)
    bound = partial(_measured, value_type)
    locked_items = (split_item(rule.field)[1] for rule in values.get(Enforcement.LOCKED, ()))
    prefixes = given(Enforcement.STARTS_WITH)
    return FieldRuling(
        locked=False in given(Enforcement.CAN_EDIT),
        required=True in given(Enforcement.REQUIRED),
        source=" and ".join(dict.fromkeys(rule.source.label for rule in deciding)),
        scopes=tuple(scopes),
        why="; ".join(dict.fromkeys(rule.why.rstrip(".") for rule in deciding if rule.why)),
        min=max(given(Enforcement.MIN), key=bound, default=None),
        max=min(given(Enforcement.MAX), key=bound, default=None),
        step=next(iter(given(Enforcement.STEP)), None),
        options=_common_options(given(Enforcement.OPTIONS)),
        starts_with=max(prefixes, key=len, default=""),
        may_add=False not in given(Enforcement.CAN_ADD),
        locked_items=frozenset(key for key in locked_items if key is not None),
    )


def _common_options(lists: list[list[Document]]) -> tuple[AllowedValue, ...]:
    first, *others = lists or [[]]
    allowed = [{_key(option["value"]) for option in options} for options in others]
    return tuple(
        AllowedValue(option["value"], str(option.get("displayed") or option["value"]))
        for option in first
        if all(_key(option["value"]) in values for values in allowed)
    )


class Judge:
    """Judges values by rules. ``read_given`` returns the value at a dotted path as it was given,
    ``read_loaded`` with the defaults of the spec."""

    def __init__(
        self,
        rules: Iterable[Rule],
        *,
        read_given: Callable[[str], Any],
        read_loaded: Callable[[str], Any],
        reported: Iterable[str] = (),
        origins: Mapping[str, str] | None = None,
    ) -> None:
        self.rules = tuple(rules)
        self.read_given = read_given
        self.read_loaded = read_loaded
        self.reported = frozenset(reported)
        self.origins = origins or {}
        self.sources = {rule.source.label for rule in self.rules}
        self.defaults = {rule.field: rule for rule in self.rules if rule.enforcement in FILLING}

    def find_violations(self) -> Iterator[Problem]:
        for rule in self.rules:
            if rule.enforcement in (*FILLING, Enforcement.IMPOSED) or self._is_absent(rule):
                continue
            list_name, attribute = split_attribute(rule.field)
            items_name, key = split_item(rule.field)
            if attribute:
                yield from self._judge_items(rule, list_name, attribute)
            elif key is not None:
                yield from self._judge_locked_item(rule, items_name, key)
            elif rule.enforcement is Enforcement.CAN_ADD:
                yield from self._judge_additions(rule)
            else:
                yield from self._judge_field(rule)

    def _judge_field(self, rule: Rule) -> Iterator[Problem]:
        address = _document_address(rule.field)
        given = self.read_given(address)
        loaded = self.read_loaded(address)
        if rule.enforcement is Enforcement.REQUIRED:
            is_missing = given in EMPTY_VALUES and loaded in EMPTY_VALUES
            if rule.value and is_missing and address not in self.reported:
                yield self._problem(rule, address, "is required by {source}")
        elif rule.enforcement is Enforcement.CAN_EDIT:
            default = self._default(rule.field)
            if not rule.value and not _is_same(given, default, value_type_of(rule.field)):
                yield self._problem(rule, address, f"is locked by {{source}}; {_keep(default)}")
        elif broken := broken_limit(rule, loaded, self._start(rule)):
            yield self._problem(rule, address, broken)

    def _judge_items(self, rule: Rule, list_name: str, attribute: str) -> Iterator[Problem]:
        address = _document_address(list_name)
        items = self.read_loaded(address)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            value = value_at(item, attribute)
            place = f"{address}.{number}.{attribute}"
            if rule.enforcement is Enforcement.REQUIRED:
                if rule.value and value in EMPTY_VALUES:
                    yield self._problem(rule, place, "is required by {source}")
            elif rule.enforcement is Enforcement.CAN_EDIT:
                default = self._item_default(list_name, item, attribute)
                if not rule.value and not _is_same(value, default, value_type_of(rule.field)):
                    yield self._problem(rule, place, f"is locked by {{source}}; {_keep(default)}")
            elif broken := broken_limit(rule, value, self._start(rule)):
                yield self._problem(rule, place, broken)

    def _judge_locked_item(self, rule: Rule, list_name: str, key: str) -> Iterator[Problem]:
        address = _document_address(list_name)
        default = self._default(rule.field)
        if not rule.value or not isinstance(default, dict):
            return
        named = self._items_by_key(list_name, self.read_given(address))
        if key not in named:
            message = f"must have {key}, which is locked by {{source}}"
            yield self._problem(rule, address, message)
            return
        number, item = named[key]
        expected = {name: value for name, value in default.items() if name not in NOTES}
        if any(item.get(name) != value for name, value in expected.items()):
            message = f"{key} is locked by {{source}}; leave it as it is"
            yield self._problem(rule, f"{address}.{number}", message)

    def _judge_additions(self, rule: Rule) -> Iterator[Problem]:
        address = _document_address(rule.field)
        if rule.value:
            return
        items = self.read_given(address)
        for key, (number, _) in self._items_by_key(rule.field, items).items():
            is_default = f"{rule.field}[{key}]" in self.defaults
            if not is_default and not self._is_imposed(f"{address}[{number}]"):
                message = f"{key} cannot be added: {{source}} allows no further items"
                yield self._problem(rule, f"{address}.{number}", message)

    def _is_imposed(self, path: str) -> bool:
        places = (path, *parent_paths(path))
        origin = next((self.origins[place] for place in places if place in self.origins), "")
        return origin in self.sources

    def _items_by_key(self, list_name: str, items: Any) -> dict[str, tuple[int, Document]]:
        ruled = find_field(list_name)
        keys = ruled.keys if ruled else ("name",)
        if not isinstance(items, list):
            return {}
        named: dict[str, tuple[int, Document]] = {}
        for number, item in enumerate(items):
            if isinstance(item, dict):
                key = next((item[key] for key in keys if item.get(key)), f"item {number + 1}")
                named[str(key)] = (number, item)
        return named

    def _is_absent(self, rule: Rule) -> bool:
        """Whether a rule is about the master of a workload that has none."""
        is_masters = _document_address(rule.field).startswith(f"{MASTER}.")
        return is_masters and not self.read_loaded(MASTER)

    def _default(self, name: str) -> Any:
        rule = self.defaults.get(name)
        if rule is None:
            return None
        if rule.enforcement is Enforcement.DEFAULT_FROM:
            return _multiple(rule, self.read_given)
        return rule.value

    def _item_default(self, list_name: str, item: Document, attribute: str) -> Any:
        ruled = find_field(list_name)
        keys = ruled.keys if ruled else ("name",)
        key = next((item[key] for key in keys if item.get(key)), "")
        own = self._default(f"{list_name}[{key}]")
        value = value_at(own, attribute)
        return self._default(f"{list_name}[].{attribute}") if value in EMPTY_VALUES else value

    def _start(self, rule: Rule) -> Any:
        """Return the value that a step counts from: the least that its policy allows."""
        starts = (
            other.value
            for other in self.rules
            if other.field == rule.field
            and other.enforcement is Enforcement.MIN
            and other.source == rule.source
        )
        return next(starts, 0)

    def _problem(self, rule: Rule, address: str, message: str) -> Problem:
        text = message.format(source=f"{rule.source.label}{rule.reason}")
        word = rule.enforcement
        if word is Enforcement.STARTS_WITH:
            word = Enforcement.OPTIONS  # the word that Run:ai's clients know
        return Problem(_path(address), text, word.value, rule.source.label)


def is_within(rule: Rule, value: Any) -> bool:
    """Whether a value complies with a rule about amounts or options."""
    return not broken_limit(rule, value, start=0)


def broken_limit(rule: Rule, value: Any, start: Any) -> str:
    """Return what a value should be by a rule about amounts or options; empty if it complies or
    there is none."""
    if value in EMPTY_VALUES:
        return ""
    value_type = value_type_of(rule.field)
    limit = rule.value
    match rule.enforcement:
        case Enforcement.MIN if _measured(value_type, value) < _measured(value_type, limit):
            return f"must be at least {limit} by {{source}}"
        case Enforcement.MAX if _measured(value_type, value) > _measured(value_type, limit):
            return f"must be at most {limit} by {{source}}"
        case Enforcement.STEP if not _is_step(value, limit, start):
            return f"must be {start} plus a multiple of {limit} by {{source}}"
        case Enforcement.OPTIONS if not _are_options(value, limit):
            names = ", ".join(str(option["value"]) for option in limit[:8])
            more = ", …" if len(limit) > 8 else ""
            return f"must be one of {_escape(names)}{more} by {{source}}"
        case Enforcement.STARTS_WITH if not str(value).startswith(limit):
            return f"must start with {_escape(limit)} by {{source}}"
    return ""


def _are_options(value: Any, options: list[Document]) -> bool:
    allowed = {_key(option["value"]) for option in options}
    return all(_key(each) in allowed for each in (value if isinstance(value, list) else [value]))


def _key(value: Any) -> str:
    return str(value)


def _is_step(value: Any, step: Any, start: Any) -> bool:
    try:
        steps = (Decimal(str(value)) - Decimal(str(start))) / Decimal(str(step))
    except ArithmeticError:
        return False
    return abs(steps - round(steps)) < TOLERANCE


def _measured(value_type: ValueType, value: Any) -> float:
    """Return an amount as a number. What is none counts as 0: the spec refuses it."""
    try:
        return measure(value, value_type)
    except (TypeError, ValueError):
        return 0.0


def value_type_of(name: str) -> ValueType:
    """Return the type of a rule's field."""
    list_name, attribute = split_attribute(name)
    ruled: RuledField | None = find_field(list_name)
    if ruled is None:
        return ValueType.TEXT
    return ruled.attributes[attribute] if attribute else ruled.type


def _is_same(value: Any, other: Any, value_type: ValueType) -> bool:
    if value in EMPTY_VALUES or other in EMPTY_VALUES:
        return value in EMPTY_VALUES and other in EMPTY_VALUES
    if value == other:
        return True
    if value_type is ValueType.MEMORY:
        return _measured(value_type, value) == _measured(value_type, other)
    return False


def _keep(default: Any) -> str:
    if default in EMPTY_VALUES:
        return "leave it empty"
    text = str(default).lower() if isinstance(default, bool) else str(default)
    is_short = isinstance(default, str | int | float) and len(text) <= LONGEST_QUOTE
    return f"leave {_escape(text)}" if is_short else "leave its value as it is"


def _escape(text: str) -> str:
    """Escape a text for ``str.format``."""
    return text.replace("{", "{{").replace("}", "}}")


def _multiple(rule: Rule, read: Callable[[str], Any]) -> Any:
    """Return the amount that ``defaultFrom`` computes, or ``None`` while its source is empty."""
    role = role_and_name(rule.field)[0]
    name = rule.value["field"]
    amount = read(_document_address(f"{role}.{name}"))
    if amount in EMPTY_VALUES:
        return None
    factor = Decimal(str(rule.value.get("factor", 1)))
    value_type = value_type_of(rule.field)
    try:
        if value_type is ValueType.MEMORY:
            return str(int(to_bytes(str(amount)) * factor))
        product = Decimal(str(amount)) * factor
    except (ArithmeticError, ValueError):
        return None
    return int(product) if value_type is ValueType.WHOLE else float(product)


def tools_view(replica: Any) -> Any:
    """Return the values of a pod as policies name them: with ``ports`` and ``exposedUrls`` instead
    of connections."""
    if not isinstance(replica, dict):
        return {}
    connections = replica.get("connections")
    is_readable = isinstance(connections, list) and all(
        isinstance(item, dict) for item in connections
    )
    return connections_to_tools(replica) if is_readable else replica


def _with_tools(document: Document) -> Document:
    parts = {role: tools_view(document[role]) for role in (WORKER, MASTER) if document.get(role)}
    return {**document, **parts}


def _document_address(name: str) -> str:
    """Return the path in the document of a rule's field: what a workload has once is not in the
    master's part."""
    return ".".join(filter(None, _part_and_name(name)))


def _part_and_name(name: str) -> tuple[str, str]:
    """Return the part of the document that has a rule's field, and the field's path there."""
    head, _, inner = name.partition(".")
    if head not in (WORKER, MASTER):
        return "", name
    is_of_workload = split_item(split_attribute(inner)[0])[0] in WORKLOAD_FIELDS
    return ("", inner) if is_of_workload else (head, inner)


def value_at(values: Any, path: str) -> Any:
    """Return the value at a dotted path; ``None`` where there is none."""
    for key in path.split("."):
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _path(address: str) -> Path:
    """Return an address as the path of a problem. Policies know ports and URLs, people know the
    tools that have them."""
    steps = [int(step) if step.isdigit() else step for step in address.split(".")]
    for position, step in enumerate(steps):
        if step in (PORTS, URLS):
            return (*steps[:position], "connections")
    return tuple(steps)


def _put(values: Document, name: str, value: Any) -> None:
    *parents, last = name.split(".")
    for parent in parents:
        values = values.setdefault(parent, {})
    values[last] = value


def _append(values: Document, name: str, item: Document) -> None:
    *parents, last = name.split(".")
    for parent in parents:
        values = values.setdefault(parent, {})
    values.setdefault(last, []).append(item)


def _with_value(values: Any, path: str, value: Any) -> Any:
    """Return a copy with the value at a path. A number in the path is the index of an item."""
    head, _, rest = path.partition(".")
    if isinstance(values, list):
        number = int(head)
        changed = _with_value(values[number], rest, value) if rest else value
        return [*values[:number], changed, *values[number + 1 :]]
    inner = values if isinstance(values, dict) else {}
    changed = _with_value(inner.get(head), rest, value) if rest else value
    return {**inner, head: changed}
