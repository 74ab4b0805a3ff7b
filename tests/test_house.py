"""The house keeps its order: tests stand where the source does, and no test file is a library."""

import ast
import re
from collections import Counter

import yaml

from config.run.install import ROOT
from tests.__main__ import marked
from tests.pictures import PICTURES
from tests.repository import targets, tracked

#: Folders of tests that are about more than one place of the source, or run in one way only.
OF_THEIR_OWN = {"access", "clients", "deploy", "e2e", "faults", "fuzz", "runapy"}
#: Verbs and subjects of one module that have a folder, because they have many tests.
OF_ONE_MODULE = {"accounts/api", "workloads/reconcile", "workloads/services"}
#: Files that pages of tests read, programs that they run, and real clusters that rooms share.
SHARED = {"kubernetes", "golden", "programs"}
#: Modules that Django, Celery and Python look for by these names.
BY_CONVENTION = {"__init__", "__main__", "apps", "models", "tasks", "urls"}
MODULES = 9


def test_no_test_file_is_imported_by_another() -> None:
    """What two of them need is a builder, in a plain module beside them."""
    borrowed = []
    for path in tracked("tests/*.py", "bench/*.py"):
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            borrowed += [
                f"{path}: {name}"
                for name in names
                if name.startswith("tests.")
                and any(part.startswith("test_") for part in name.split("."))
            ]
    assert not borrowed


def test_folders_of_tests_are_those_of_the_source() -> None:
    strangers = []
    for folder in {path.parent.relative_to("tests") for path in tracked("tests/*.py")}:
        parts = folder.parts
        if not parts or parts[0] in OF_THEIR_OWN or str(folder) in OF_ONE_MODULE:
            continue
        if parts[-1] in SHARED or (ROOT / folder).is_dir():
            continue
        strangers.append(str(folder))
    assert not strangers


def test_a_test_is_marked_in_its_own_file() -> None:
    """``python -m tests`` collects the parts that need more by the files that name their mark."""
    elsewhere = [
        str(path)
        for path in tracked("tests/*.py")
        if not path.name.startswith("test_")
        and re.search(r"pytest\.mark\.(e2e|faults|kubernetes|slurm)", (ROOT / path).read_text())
    ]
    assert not elsewhere
    for mark in ("e2e", "faults", "kubernetes", "slurm"):
        assert marked(mark)


def test_every_page_of_the_docs_has_a_picture_at_its_head_that_make_pictures_takes() -> None:
    pages = {str(path) for path in tracked("docs/*.md") if path.parent.name == "docs"}
    # For those who work on Trainyard, or for programs: nothing to see.
    pages -= {"docs/review.md", "docs/words.md", "docs/api.md"}
    assert {picture.document for picture in PICTURES} == pages | {"README.md"}
    for picture in PICTURES:
        lines = (ROOT / picture.document).read_text().splitlines()
        assert f"pictures/{picture.name}.png" in "\n".join(lines[4 if picture.within else 0 :])
        assert picture.within or f"pictures/{picture.name}.png" in "\n".join(lines[:4])
        assert (ROOT / "docs" / "pictures" / f"{picture.name}.png").is_file()


def test_hooks_and_workflow_call_the_commands_of_the_makefile() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    lines = [hook["entry"] for repo in hooks["repos"] for hook in repo["hooks"]]
    lines += [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]
    assert lines
    assert all(line.startswith("make ") for line in lines)
    assert {re.split(r"\s+", line)[1] for line in lines} <= targets()


def test_a_folder_of_the_source_has_nine_modules_at_most() -> None:
    modules = Counter(
        path.parent.as_posix()
        for path in tracked("*.py")
        if path.parts[0] not in {"tests", "bench"}
        and path.stem not in BY_CONVENTION
        and path.parent.name not in {"migrations", "commands", "."}
    )
    assert not {folder: count for folder, count in modules.items() if count > MODULES}
