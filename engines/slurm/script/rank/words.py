"""Quotes command lines and values for a shell, with ``$(NAME)`` as in Kubernetes. Pure."""

import re
import shlex
from collections.abc import Collection, Iterator

from spec.values.variable import REFERENCE

NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


def is_name(name: str) -> bool:
    """Whether a shell can have a variable of this name."""
    return bool(NAME.match(name))


def quote_word(text: str, names: Collection[str] = ()) -> str:
    """Return the text as one shell word. ``$(NAME)`` becomes the value of a variable in ``names``;
    other names are not replaced. ``$$`` before a parenthesis becomes one dollar."""
    return "".join(_quote_pieces(text, names)) or "''"


def quote_value(text: str, names: Collection[str] = ()) -> str:
    """Return the value of a variable as one shell word, like :func:`quote_word`; but two dollars
    are always one, as in the values of variables on Kubernetes."""
    return "".join(_quote_pieces(text, names, is_value=True)) or "''"


def quote_line(words: str, names: Collection[str] = ()) -> str:
    """Split a command line of a spec into words as a shell does, and quote them again."""
    return " ".join(quote_word(each, names) for each in shlex.split(words))


def _quote_pieces(text: str, names: Collection[str], *, is_value: bool = False) -> Iterator[str]:
    end = 0
    plain = ""
    for match in REFERENCE.finditer(text):
        plain += text[end : match.start()]
        end = match.end()
        if match[0] == "$$":
            plain += "$" if is_value or text[end : end + 1] == "(" else "$$"
        elif match[1] in names:
            yield shlex.quote(plain) if plain else ""
            yield f'"${match[1]}"'
            plain = ""
        else:
            plain += match[0]
    plain += text[end:]
    yield shlex.quote(plain) if plain else ""
