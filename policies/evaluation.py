"""Judge the values of a workload by rules. The same code judges policies and templates."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from core.forms import nested
from policies import roles
from policies.document import (
    document_address,
    measured,
    tools_view,
    value_type_of,
    with_tools,
)
from policies.fields import MASTER, WORKER, ValueType, find_field
from policies.filling import NOTES, multiple
from policies.rules import FILLING, Enforcement, Rule, split_attribute, split_item
from spec.formats.connections import PORTS, URLS
from spec.formats.documents import Document
from spec.formats.merge import parent_paths
from spec.problems.errors import Path, Problem

LONGEST_QUOTE = 60  # characters of a value that a message repeats
#: How a value is told from its bound: a factor that rounding cannot reach.
TOLERANCE = Decimal("1e-9")
SOURCE = "{source}"  # where a message names whose rule it is


def find_violations(
    rules: Sequence[Rule],
    given: Document,
    loaded: Document,
    *,
    reported: Sequence[str] = (),
    origins: Mapping[str, str] | None = None,
) -> Iterator[Problem]:
    """Yield a problem for each rule that a workload breaks.

    ``given`` is its document without the defaults of the spec, ``loaded`` with them. A master that
    only ``loaded`` has inherits the workers' setup. A field that is ``reported`` already is
    not reported as missing. ``origins`` says where values came from, as ``MergedLayers`` does: a
    list may have whatever a policy imposes. Each named role is judged as workers are.
    """
    for number in range(roles.number_of_roles(given)):
        problems = find_violations(
            rules,
            roles.view_of_role(given, number),
            roles.view_of_role(loaded, number),
            reported=[roles.field_in_view(field, number) for field in reported],
            origins=roles.origins_in_view(origins or {}, number),
        )
        for problem in problems:
            yield replace(problem, path=roles.path_in_document(problem.path, number))
    if roles.number_of_roles(given):
        return
    inherits = bool(loaded.get(MASTER)) and not given.get(MASTER)
    whole = {**given, MASTER: given.get(WORKER)} if inherits else given
    judge = Judge(
        rules,
        read_given=partial(nested.get, with_tools(whole)),
        read_loaded=partial(nested.get, with_tools(loaded)),
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
    read = partial(nested.get, view)
    ends = (Enforcement.REQUIRED, Enforcement.LOCKED)
    relevant = [
        rule
        for rule in rules
        if rule.enforcement not in ends
        and (rule.enforcement is not Enforcement.CAN_EDIT or read(rule.field) not in nested.EMPTY)
    ]
    yield from Judge(relevant, read_given=read, read_loaded=read).find_violations()


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
        address = document_address(rule.field)
        given = self.read_given(address)
        loaded = self.read_loaded(address)
        if rule.enforcement is Enforcement.REQUIRED:
            is_missing = given in nested.EMPTY and loaded in nested.EMPTY
            if rule.value and is_missing and address not in self.reported:
                yield self._problem(rule, address, f"is required by {SOURCE}")
        elif rule.enforcement is Enforcement.CAN_EDIT:
            default = self._default(rule.field)
            if not rule.value and not _is_same(given, default, value_type_of(rule.field)):
                yield self._problem(rule, address, _lock_message(default))
        elif broken := broken_limit(rule, loaded, self._start(rule)):
            yield self._problem(rule, address, broken)

    def _judge_items(self, rule: Rule, list_name: str, attribute: str) -> Iterator[Problem]:
        address = document_address(list_name)
        items = self.read_loaded(address)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            value = nested.get(item, attribute)
            place = f"{address}.{number}.{attribute}"
            if rule.enforcement is Enforcement.REQUIRED:
                if rule.value and value in nested.EMPTY:
                    yield self._problem(rule, place, f"is required by {SOURCE}")
            elif rule.enforcement is Enforcement.CAN_EDIT:
                default = self._item_default(list_name, item, attribute)
                if not rule.value and not _is_same(value, default, value_type_of(rule.field)):
                    yield self._problem(rule, place, _lock_message(default))
            elif broken := broken_limit(rule, value, self._start(rule)):
                yield self._problem(rule, place, broken)

    def _judge_locked_item(self, rule: Rule, list_name: str, key: str) -> Iterator[Problem]:
        address = document_address(list_name)
        default = self._default(rule.field)
        if not rule.value or not isinstance(default, dict):
            return
        named = self._items_by_key(list_name, self.read_given(address))
        if key not in named:
            message = f"must have {key}, which is locked by {SOURCE}"
            yield self._problem(rule, address, message)
            return
        number, item = named[key]
        expected = {name: value for name, value in default.items() if name not in NOTES}
        if any(item.get(name) != value for name, value in expected.items()):
            message = f"{key} is locked by {SOURCE}; leave it as it is"
            yield self._problem(rule, f"{address}.{number}", message)

    def _judge_additions(self, rule: Rule) -> Iterator[Problem]:
        address = document_address(rule.field)
        if rule.value:
            return
        items = self.read_given(address)
        for key, (number, _) in self._items_by_key(rule.field, items).items():
            is_default = f"{rule.field}[{key}]" in self.defaults
            if not is_default and not self._is_imposed(f"{address}[{number}]"):
                message = f"{key} cannot be added: {SOURCE} allows no further items"
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
        is_masters = document_address(rule.field).startswith(f"{MASTER}.")
        return is_masters and not self.read_loaded(MASTER)

    def _default(self, name: str) -> Any:
        rule = self.defaults.get(name)
        if rule is None:
            return None
        if rule.enforcement is Enforcement.DEFAULT_FROM:
            return multiple(rule, self.read_given)
        return rule.value

    def _item_default(self, list_name: str, item: Document, attribute: str) -> Any:
        ruled = find_field(list_name)
        keys = ruled.keys if ruled else ("name",)
        key = next((item[key] for key in keys if item.get(key)), "")
        own = self._default(f"{list_name}[{key}]")
        value = nested.get(own, attribute)
        return self._default(f"{list_name}[].{attribute}") if value in nested.EMPTY else value

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
        text = message.replace(SOURCE, f"{rule.source.label}{rule.reason}")
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
    if value in nested.EMPTY:
        return ""
    value_type = value_type_of(rule.field)
    limit = rule.value
    match rule.enforcement:
        case Enforcement.MIN if measured(value_type, value) < measured(value_type, limit):
            return f"must be at least {limit} by {SOURCE}"
        case Enforcement.MAX if measured(value_type, value) > measured(value_type, limit):
            return f"must be at most {limit} by {SOURCE}"
        case Enforcement.STEP if not _is_step(value, limit, start):
            return f"must be {start} plus a multiple of {limit} by {SOURCE}"
        case Enforcement.OPTIONS if not _are_options(value, limit):
            names = ", ".join(str(option["value"]) for option in limit[:8])
            more = ", …" if len(limit) > 8 else ""
            return f"must be one of {names}{more} by {SOURCE}"
        case Enforcement.STARTS_WITH if not str(value).startswith(limit):
            return f"must start with {limit} by {SOURCE}"
    return ""


def _are_options(value: Any, options: list[Document]) -> bool:
    allowed = {str(option["value"]) for option in options}
    return all(str(each) in allowed for each in (value if isinstance(value, list) else [value]))


def _is_step(value: Any, step: Any, start: Any) -> bool:
    try:
        steps = (Decimal(str(value)) - Decimal(str(start))) / Decimal(str(step))
    except ArithmeticError:
        return False
    return abs(steps - round(steps)) < TOLERANCE


def _is_same(value: Any, other: Any, value_type: ValueType) -> bool:
    if value in nested.EMPTY or other in nested.EMPTY:
        return value in nested.EMPTY and other in nested.EMPTY
    if value == other:
        return True
    if value_type is ValueType.MEMORY:
        return measured(value_type, value) == measured(value_type, other)
    return False


def _lock_message(default: Any) -> str:
    """Return what is wrong with a locked field that does not have its default."""
    if default in nested.EMPTY:
        return f"is locked by {SOURCE}; leave it empty"
    text = str(default).lower() if isinstance(default, bool) else str(default)
    is_short = isinstance(default, str | int | float) and len(text) <= LONGEST_QUOTE
    return f"is locked by {SOURCE}; leave {text if is_short else 'its value as it is'}"


def _path(address: str) -> Path:
    """Return an address as the path of a problem. Policies know ports and URLs, people know the
    tools that have them."""
    steps = [int(step) if step.isdigit() else step for step in address.split(".")]
    for position, step in enumerate(steps):
        if step in (PORTS, URLS):
            return (*steps[:position], "connections")
    return tuple(steps)
