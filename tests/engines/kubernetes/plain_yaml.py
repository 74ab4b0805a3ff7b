"""Writes golden files for people to read."""

from typing import Any

import yaml


class Plain(yaml.SafeDumper):
    """Keeps lines as they are, and writes repeated values in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _lines(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


Plain.add_representer(str, _lines)
