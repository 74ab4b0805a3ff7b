"""docs/review.md answers every finding of the five pages, and the tests that it names exist."""

import re
from pathlib import Path

from config.run.install import ROOT
from tests.repository import tracked
from tests.texts import read

REVIEW = Path("docs/review.md")
#: So many findings have a number on each page of the review.
PAGES = {"ux": 25, "mission": 15, "faults": 11, "kubernetes": 18, "api": 19}
ROW = re.compile(r"^\| (?!finding|-)(?P<finding>.+?) \| (?P<done>.+) \| (?P<shown>.+?) \|$", re.M)
FINDINGS = re.compile(r"\b(ux|mission|faults|kubernetes|api) ((?:F?\d+[a-z]?(?:, | and )?)+)")
PROOF = re.compile(r"test_|tests/|python -m bench|same file|^–$")
NAMED = re.compile(r"((?:[\w/]+/)?test_\w+\.py)?(?:::(test_\w+)(…?))?")
FOLDER = re.compile(r"\btests/[\w/]+\b(?!\.py)(?!\.)")

TEXT = read(REVIEW)
ROWS = [*ROW.finditer(TEXT)]
FILES = {path.as_posix(): read(path) for path in tracked("tests/*.py")}


def test_each_numbered_finding_has_a_row() -> None:
    told = {
        (page, int(re.sub(r"\D", "", number)))
        for row in ROWS
        for page, numbers in FINDINGS.findall(row["finding"])
        for number in re.split(", | and ", numbers.removesuffix(", ").removesuffix(" and "))
        if number
    }
    missing = [
        f"{page} {number}"
        for page, count in PAGES.items()
        for number in range(1, count + 1)
        if (page, number) not in told
    ]
    assert not missing
    assert told <= {(page, n) for page, count in PAGES.items() for n in range(1, count + 1)}


def test_each_row_names_its_test_or_says_that_there_is_none() -> None:
    silent = [row["finding"] for row in ROWS if not PROOF.search(row["shown"])]
    assert not silent
    assert len(ROWS) > 100


def test_tests_that_are_named_exist() -> None:
    wrong = []
    for line in TEXT.splitlines():
        here: list[str] = []
        for match in NAMED.finditer(line):
            file, name, cut = match.groups()
            if file:
                here = [path for path in FILES if f"/{path}".endswith(f"/{file}")]
                wrong += [] if here else [file]
            if name and not any(defines(FILES[path], name, bool(cut)) for path in here):
                wrong.append(f"{file or '…'}::{name}")
    assert not wrong


def test_folders_of_tests_that_are_named_exist() -> None:
    folders = {folder for folder in FOLDER.findall(TEXT) if not (ROOT / folder).is_dir()}
    assert not folders


def defines(text: str, name: str, is_cut: bool) -> bool:
    """Whether there is a test of this name, or one that begins so where its name is cut."""
    return re.search(rf"def {name}{'' if is_cut else r'(?=[(])'}", text) is not None
