"""Quote command lines and values for a shell, with ``$(NAME)`` as in Kubernetes. Pure."""

import re
import shlex
from collections.abc import Collection, Iterator

from spec.values.variable import REFERENCE

NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


def is_name(name: str) -> bool:
    """Whether a shell can have a variable of this name."""
    return bool(NAME.match(name))


def word(text: str, names: Collection[str] = ()) -> str:
    """The text as one shell word. ``$(NAME)`` becomes the value of a variable among ``names``;
    other names stay as they are. ``$$`` before a parenthesis becomes one dollar."""
    return "".join(_pieces(text, names)) or "''"


def line(words: str, names: Collection[str] = ()) -> str:
    """A command line of a spec, split into words as a shell does and quoted again."""
    return " ".join(word(each, names) for each in shlex.split(words))


def _pieces(text: str, names: Collection[str]) -> Iterator[str]:
    end = 0
    plain = ""
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
