"""Command lines and values as a shell reads them, ``$(NAME)`` as Kubernetes does. Pure."""

import re
import shlex
from collections.abc import Collection, Iterator

from spec.values.variable import REFERENCE

NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


def is_name(name: str) -> bool:
    """Whether a shell can have a variable of this name."""
    return bool(NAME.match(name))


def word(text: str, names: Collection[str] = ()) -> str:
    """A word of a command line. ``$(NAME)`` becomes the value of a known variable; an unknown one
    stays as it is, and ``$$`` is one dollar before a parenthesis."""
    return "".join(_pieces(text, names)) or "''"


def line(words: str, names: Collection[str] = ()) -> str:
    """A command line of a spec, whose words are split as a shell splits them."""
    return " ".join(word(each, names) for each in shlex.split(words))


def _pieces(text: str, names: Collection[str]) -> Iterator[str]:
    end, plain = 0, ""
    for match in REFERENCE.finditer(text):
        plain += text[end : match.start()]
        end = match.end()
        if match[0] == "$$":
            plain += "$" if text[end : end + 1] == "(" else "$$"
        elif match[1] in names:
            yield shlex.quote(plain) if plain else ""
            yield f'"${match[1]}"'
            plain = ""
        else:
            plain += match[0]
    plain += text[end:]
    yield shlex.quote(plain) if plain else ""
