"""A recipe in CONTRIBUTING.md names files: each of them is there."""

import re

import pytest

from config.run.install import ROOT
from spec.workload import WorkloadSpec
from tests.repository import tracked

LAST_FIELD = "job_form"  # the field that was added to the spec last
MOST_FILES = 10  # of the source that name it
#: Folders that are not the source of the product.
OTHER_FOLDERS = {"tests", "docs", "bench"}
NAMES = ("<name>", "<kind>")
MADE = {"static/vendor/"}  # by make install
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
RECIPES = re.findall(r"^## (Recipe: .*)\n((?:(?!^## ).*\n?)*)", TEXT, re.MULTILINE)
FILES = {path.as_posix() for path in tracked("*")}


def paths_of(text: str) -> list[str]:
    """What is set as code and looks like a path of ours."""
    return re.findall(r"`((?:[\w.<>-]+/)+[\w.<>-]*)`", text)


@pytest.mark.parametrize(("title", "text"), RECIPES, ids=[title for title, _ in RECIPES])
def test_every_file_of_a_recipe_is_there(title: str, text: str) -> None:
    missing = [path for path in paths_of(text) if path not in MADE and not is_there(path)]
    assert not missing


def is_there(path: str) -> bool:
    """``<name>`` and ``<kind>`` are any that there are already."""
    pattern = re.escape(path)
    for name in NAMES:
        pattern = pattern.replace(re.escape(name), r"[\w-]+")
    return any(re.match(pattern + ("" if path.endswith("/") else "$"), file) for file in FILES)


def test_the_recipe_of_an_engine_names_all_that_is_touched() -> None:
    text = dict(RECIPES)["Recipe: add an engine and its kind of cluster"]
    touched = {"engines/<name>/", "clusters/kinds/<name>.py", "clusters/kinds/__init__.py"}
    assert touched <= set(paths_of(text))


def test_ten_files_at_most_name_the_field_added_last() -> None:
    wire_name = str(WorkloadSpec.model_fields[LAST_FIELD].alias)
    flag = f"--{LAST_FIELD.replace('_', '-')}"
    names = re.compile(rf"\b(?:{LAST_FIELD}|{wire_name})\b|{flag}\b")
    files = [
        path.as_posix()
        for path in tracked("*.py", "*.html", "*.js", "*.toml")
        if path.parts[0] not in OTHER_FOLDERS and names.search((ROOT / path).read_text())
    ]
    assert len(files) <= MOST_FILES, files
