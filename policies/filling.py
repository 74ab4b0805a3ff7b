"""Fill in what policies give: defaults, multiples of other amounts, imposed data sources."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from core.forms import nested
from policies import roles
from policies.document import (
    document_address,
    part_and_name,
    value_type_of,
    with_value,
)
from policies.fields import ValueType, role_and_name
from policies.rules import Enforcement, Rule, split_attribute, split_item
from policies.tree import DATA_SOURCES
from spec.formats.connections import FIELD_NAMES_OF, list_of_tool
from spec.formats.documents import Document
from spec.values.quantities import to_bytes

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
        role, inner = part_and_name(name)
        if role != part:
            continue
        layer = layers.setdefault(rule.source.label, {})
        if key is None:
            nested.put(layer, inner, rule.value)
        else:
            item = {name: value for name, value in rule.value.items() if name not in NOTES}
            nested.put(layer, inner, [*nested.items(layer, inner), item])
    return list(layers.items())


def default_rules(rules: Iterable[Rule]) -> dict[str, dict[str, Rule]]:
    """Return the rules that fill in a field, by its dotted path in the document, where ports and
    URLs are connections: those of list items by the key of the item, any other one by the empty
    text."""
    by_field: dict[str, dict[str, Rule]] = {}
    for rule in rules:
        if rule.enforcement is Enforcement.DEFAULT:
            name, key = split_item(rule.field)
            role, _, inner = document_address(name).partition(".")
            is_of_tools = inner in FIELD_NAMES_OF
            address = f"{role}.connections" if is_of_tools else document_address(name)
            by_field.setdefault(address, {})[key or ""] = rule
    return by_field


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


def fill_in(rules: Sequence[Rule], document: Document) -> tuple[Document, dict[str, str]]:
    """Fill in what only the merged document shows to be missing: fields of list items, and amounts
    that are a multiple of another. Return the document, and the policy of each value by its
    path. Each named role gets what workers get."""
    if roles.number_of_roles(document):
        return _fill_in_roles(rules, document)
    filled = document
    origins: dict[str, str] = {}
    multiples: list[Rule] = []
    for rule in rules:
        list_name, attribute = split_attribute(document_address(rule.field))
        if rule.enforcement is Enforcement.DEFAULT_FROM and not attribute:
            multiples.append(rule)
        if rule.enforcement is not Enforcement.DEFAULT or not attribute:
            continue
        for place, number, name in _items_without(filled, list_name, attribute):
            filled = with_value(filled, f"{place}.{number}.{name}", rule.value)
            origins[f"{place}[{number}].{name}"] = rule.source.label
    # The amount that another is a multiple of may be such a multiple itself.
    for _ in multiples:
        for rule in multiples:
            address = document_address(rule.field)
            amount = multiple(rule, partial(nested.get, filled))
            if amount is not None and nested.get(filled, address) in nested.EMPTY:
                filled = with_value(filled, address, amount)
                origins[address] = rule.source.label
    return filled, origins


def _fill_in_roles(rules: Sequence[Rule], document: Document) -> tuple[Document, dict[str, str]]:
    origins: dict[str, str] = {}
    for number in range(roles.number_of_roles(document)):
        view, origins_in_view = fill_in(rules, roles.view_of_role(document, number))
        document = roles.with_role(document, number, view)
        origins |= roles.origins_in_document(origins_in_view, number)
    return document, origins


def _items_without(
    document: Document, list_name: str, attribute: str
) -> Iterator[tuple[str, int, str]]:
    """Yield the list, index and field of each item that lacks an attribute, by the names of the
    document, which has ports and URLs among the connections."""
    role, _, inner = list_name.partition(".")
    is_of_tools = inner in FIELD_NAMES_OF
    place = f"{role}.connections" if is_of_tools else list_name
    name = FIELD_NAMES_OF[inner].get(attribute, attribute) if is_of_tools else attribute
    items = nested.get(document, place)
    for number, item in enumerate(items if isinstance(items, list) else ()):
        is_meant = isinstance(item, dict) and (not is_of_tools or list_of_tool(item) == inner)
        if is_meant and nested.get(item, name) in nested.EMPTY:
            yield place, number, name


def multiple(rule: Rule, read: Callable[[str], Any]) -> Any:
    """Return the amount that ``defaultFrom`` computes, or ``None`` while its source is empty."""
    role = role_and_name(rule.field)[0]
    name = rule.value["field"]
    amount = read(document_address(f"{role}.{name}"))
    if amount in nested.EMPTY:
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
