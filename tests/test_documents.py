"""Commands and links that documents name exist."""

import re
import subprocess
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests.repository import targets, tracked


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_documented_commands_exist(page: str) -> None:
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", code_of((ROOT / page).read_text())))
    assert named
    assert named <= targets()


def code_of(markdown: str) -> str:
    """Return only what is set as code, because prose says "make" too."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", markdown, re.DOTALL))


def test_make_help_lists_every_target_for_people() -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"],  # noqa: S607 -- whichever make runs the tests
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    listed = set(re.findall(r"^  make ([a-z-]+)", shown, re.MULTILINE))
    assert listed == targets() - {"install", "install-dev", "python"}


@pytest.mark.parametrize("page", tracked("*.md"), ids=str)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = (ROOT / page).read_text()
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    assert not [link for link in links if not (ROOT / page.parent / link).exists()]
