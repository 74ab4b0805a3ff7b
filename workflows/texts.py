"""The texts of workflows, as people may see them."""

import re

from spec.values.variable import MASK, looks_secret

#: A key with a value on the same line, as a mapping of variables has them.
PAIR = re.compile(
    r"^(?P<start>[ \t-]*[\"']?(?P<name>[\w.-]+)[\"']?[ \t]*:[ \t]+)(?P<value>\S.*)$", re.M
)


def mask_secrets(text: str) -> str:
    """Return a workflow's text without the values of variables that look secret."""

    def mask(pair: re.Match[str]) -> str:
        return f"{pair['start']}{MASK}" if looks_secret(pair["name"]) else pair[0]

    return PAIR.sub(mask, text)
