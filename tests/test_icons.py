"""The list of icons names those that pages use, and no others."""

import re
from pathlib import Path

from config.run import install
from tests.repository import tracked

IN_MARKUP = re.compile(
    r'\bti-([a-z0-9-]+)|\bicon="([a-z0-9-]+)"|{% nav_item "[^"]*" "[^"]*" "([a-z0-9-]+)"'
)


def test_every_icon_of_templates_and_scripts_is_in_the_list() -> None:
    names = install.ICON_NAMES.read_text().split()
    used = {
        name
        for path in _files(".html", ".js")
        for names_of_match in IN_MARKUP.findall(path.read_text())
        for name in names_of_match
        if name
    }
    assert used
    assert not used - set(names), "add these to static/icons.txt"


def test_every_icon_in_the_list_is_used() -> None:
    texts = " ".join(path.read_text() for path in _files(".html", ".js", ".py"))
    words = set(re.findall(r"[a-z0-9-]+", texts.replace("ti-", " ")))
    assert not set(install.ICON_NAMES.read_text().split()) - words


def _files(*suffixes: str) -> list[Path]:
    names = tracked(*(f"*{suffix}" for suffix in suffixes))
    return [install.ROOT / name for name in names if name.parts[0] != "tests"]
