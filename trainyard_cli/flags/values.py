"""Converts the texts of flags to values of a request, and back."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Environ = Mapping[str, str]
FlagTexts = Mapping[str, Any]  # what was typed, by the key of each flag
SECRET_MARK = "SECRET:"  # noqa: S105 -- in front of the name of a Secret
MASK = "***"  # shown instead of a secret value
SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1, "": 1}
DURATION = re.compile(r"(\d+)([dhms]?)")


class BadValue(ValueError):
    """The text of a flag cannot be read. The message is printed after the name of the flag."""


class NotWritable(ValueError):
    """No text of the flag is read as this value."""


@dataclass(frozen=True)
class ValueKind:
    """How the text of a flag becomes a value.

    ``read`` returns the value of a text, or with ``many`` one item of a list, and may raise
    ``BadValue``. ``write`` returns the text of a value, or raises ``Unsayable``. A ``switch`` has
    no text: it is there, or negated by ``no-`` in front of its name. ``words`` lists the words that
    a text may have.
    """

    metavar: str
    read: Callable[[str, Environ], Any]
    write: Callable[[Any], str]
    many: bool = False
    switch: bool = False
    words: str = ""


def _plain(text: str, _: Environ) -> str:
    return text


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise NotWritable
    return value


def _integer(text: str, _: Environ) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadValue(f"{text!r} is not a whole number") from None


def _write_integer(value: Any) -> str:
    if type(value) is not int:
        raise NotWritable
    return str(value)


def number_of(text: str, _: Environ) -> int | float:
    """Return a finite number, as an int if it is whole. Raises ``BadValue``."""
    try:
        value = float(text)
    except ValueError:
        raise BadValue(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise BadValue(f"{text!r} is not a number")
    return int(value) if value.is_integer() else value


def _write_number(value: Any) -> str:
    if type(value) not in {int, float} or float(number_of(repr(value), {})) != value:
        raise NotWritable
    return repr(number_of(repr(value), {}))


def _gpus(text: str, environ: Environ) -> int | float:
    """Return whole GPUs as an int, and a part of one as a float. Raises ``BadValue``."""
    value = number_of(text, environ)
    if isinstance(value, float) and not 0 < value < 1:
        raise BadValue(f"{text} is neither whole GPUs nor a part of one; write 2, or 0.5")
    return value


def _duration(text: str, _: Environ) -> int:
    """Return the seconds in a text like ``1h30m``. Raises ``BadValue``."""
    if not re.fullmatch(rf"({DURATION.pattern})+", text):
        raise BadValue(f"{text!r} is not a time; write 90s, 30m, 2h or 7d")
    return sum(int(count) * SECONDS[unit] for count, unit in DURATION.findall(text))


def _write_duration(value: Any) -> str:
    """Return seconds as a text with the largest unit that fits exactly."""
    if type(value) is not int or value < 0:
        raise NotWritable
    unit = next(it for it in "dhms" if value % SECONDS[it] == 0) if value else "s"
    return f"{value // SECONDS[unit]}{unit}"


def _pair(text: str, _: Environ) -> dict[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise BadValue(f"{text!r} is not NAME=VALUE")
    return {"name": name, "value": value}


def _write_pair(item: Any) -> str:
    return f"{_name(item, {'name', 'value'})}={_text(item.get('value'))}"


def _variable(text: str, environ: Environ) -> dict[str, str]:
    """Return a variable. A name alone takes its value from the shell, so that it is on no command
    line. ``NAME=SECRET:secret,key`` is a key of a Secret, as in Run:ai's command lines."""
    if "=" in text:
        pair = _pair(text, environ)
        is_secret = pair["value"].startswith(SECRET_MARK)
        return _secret_variable(pair["name"], pair["value"]) if is_secret else pair
    if text not in environ:
        raise BadValue(f"{text} is not set here; write {text}=VALUE, or export it")
    return {"name": text, "value": environ[text]}


def _secret_variable(name: str, value: str) -> dict[str, Any]:
    """Return a variable whose value is a key of a Secret. Raises ``BadValue``."""
    secret, comma, key = value.removeprefix(SECRET_MARK).partition(",")
    if not (secret and comma and key):
        raise BadValue(
            f"{value!r} is not {SECRET_MARK}SECRET,KEY; "
            f"for this text as it is, write --set environmentVariables=…"
        )
    return {"name": name, "secret": {"name": secret, "key": key}}


def _write_variable(item: Any) -> str:
    if isinstance(item, dict) and item.get("value") == MASK:
        return _name(item, {"name", "value"})
    return _write_pair(item)


def _name(item: Any, keys: set[str]) -> str:
    """Return the name of an item that has exactly these keys. Raises ``Unsayable``."""
    if not isinstance(item, dict) or item.keys() != keys:
        raise NotWritable
    name = _text(item["name"])
    if not name or "=" in name:
        raise NotWritable
    return name


def quantity_pair(text: str, _: Environ) -> dict[str, str]:
    """Return the extended resource that ``RESOURCE=QUANTITY`` requests. Raises ``BadValue``."""
    name, equals, quantity = text.partition("=")
    if not (name and equals and quantity):
        raise BadValue(f"{text!r} is not RESOURCE=QUANTITY")
    return {"resource": name, "quantity": quantity}


def _write_quantity(item: Any) -> str:
    if not isinstance(item, dict) or item.keys() != {"resource", "quantity"}:
        raise NotWritable
    return f"{_text(item['resource'])}={_text(item['quantity'])}"


def variable_kind(source: str) -> ValueKind:
    """Return the kind of a variable whose value is one key of a ``source``:
    ``NAME=SECRET,key=KEY``."""

    def read(text: str, _: Environ) -> dict[str, Any]:
        name, _equals, rest = text.partition("=")
        holder, comma, key = rest.partition(",key=")
        if not (name and holder and comma and key):
            raise BadValue(f"{text!r} is not NAME={source.upper()},key=KEY")
        return {"name": name, source: {"name": holder, "key": key}}

    def write(item: Any) -> str:
        name = _name(item, {"name", source})
        inner = item[source]
        if not isinstance(inner, dict) or inner.keys() != {"name", "key"}:
            raise NotWritable
        return f"{name}={_text(inner['name'])},key={_text(inner['key'])}"

    words = f"NAME={source.upper()},key=KEY"
    return ValueKind("NAME=…", read, write, many=True, words=words)


def _pod_field(text: str, environ: Environ) -> dict[str, Any]:
    pair = _pair(text, environ)
    return {"name": pair["name"], "podFieldRef": {"path": pair["value"]}}


def _write_pod_field(item: Any) -> str:
    name = _name(item, {"name", "podFieldRef"})
    inner = item["podFieldRef"]
    if not isinstance(inner, dict) or inner.keys() != {"path"}:
        raise NotWritable
    return f"{name}={_text(inner['path'])}"


def kind_by_name(**also: Any) -> ValueKind:
    """Return the kind of an object that only its name describes. ``also`` has its other, fixed
    fields."""

    def read(text: str, _: Environ) -> dict[str, Any]:
        return {"name": text, **also}

    def write(item: Any) -> str:
        if not isinstance(item, dict) or "name" not in item:
            raise NotWritable
        if {**item, "name": ""} != {"name": "", **also}:
            raise NotWritable
        return _text(item["name"])

    return ValueKind("NAME", read, write, many=True)


def affinity_kind(kind: str) -> ValueKind:
    """Return the kind of a pod affinity, ``Required`` or ``Preferred``, by the key of its label."""

    def read(text: str, _: Environ) -> dict[str, str]:
        return {"type": kind, "key": text}

    def write(value: Any) -> str:
        if not isinstance(value, dict) or set(value) != {"type", "key"} or value["type"] != kind:
            raise NotWritable
        return _text(value["key"])

    return ValueKind("KEY", read, write)


def json_or_text(text: str) -> Any:
    """Parse the value of ``--set``: as JSON, or as plain text if it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def as_json(value: Any) -> str:
    """Return the shortest text that ``json_or_text`` reads as ``value``."""
    is_plain = isinstance(value, str) and json_or_text(value) == value and value != ""
    return value if is_plain else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


TEXT = ValueKind("TEXT", _plain, _text)
QUANTITY = ValueKind("QUANTITY", _plain, _text)
INTEGER = ValueKind("NUMBER", _integer, _write_integer)
NUMBER = ValueKind("NUMBER", number_of, _write_number)
GPUS = ValueKind("NUMBER", _gpus, _write_integer)
DURATION_KIND = ValueKind("TIME", _duration, _write_duration)
SWITCH = ValueKind("", _plain, _text, switch=True)
TEXTS = ValueKind("TEXT", _plain, _text, many=True)
PAIRS = ValueKind("NAME=VALUE", _pair, _write_pair, many=True)
VARIABLES = ValueKind("NAME=VALUE", _variable, _write_variable, many=True)
POD_FIELDS = ValueKind("NAME=PATH", _pod_field, _write_pod_field, many=True)
QUANTITIES = ValueKind("RESOURCE=QUANTITY", quantity_pair, _write_quantity, many=True)
