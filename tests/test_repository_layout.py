"""What keeps the repository readable: imports without circles, narrow templates, and tests that
stand where the source does."""

import ast
import graphlib
import re
import tomllib

import grimp

from config.run.install import ROOT
from tests.__main__ import marked
from tests.repository import tracked

#: Folders of tests that are about more than one place of the source, or run in one way only.
OF_THEIR_OWN = {"access", "clients", "deploy", "e2e", "faults", "fuzz", "runapy", "upgrades"}
#: Verbs and subjects of one module that have a folder, because they have many tests.
OF_ONE_MODULE = {"accounts/api", "workloads/reconcile", "workloads/services"}
#: Files that pages of tests read, programs that they run, real clusters that rooms share, and
#: scripts that two engines run.
SHARED = {"kubernetes", "golden", "programs", "corpus"}
TEMPLATE_COLUMNS = 160
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
#: Importer and imported: inside a function that is called when all modules are there.
IMPORTED_LATER = [("clusters.kinds.kubernetes.kind", "clusters.models")]


def test_imports_have_no_circles() -> None:
    graph = grimp.build_graph(
        *CONTRACTS["root_packages"], exclude_type_checking_imports=True, cache_dir=None
    )
    for importer, imported in IMPORTED_LATER:
        graph.remove_import(importer=importer, imported=imported)
    graphlib.TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    ).prepare()


def test_templates_stay_narrow() -> None:
    templates = tracked("*.html")
    assert templates
    assert not [
        f"{path}:{number} has {len(line)} columns"
        for path in templates
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1)
        if len(line) > TEMPLATE_COLUMNS
    ]


def test_no_style_hangs_on_what_is_anywhere_in_a_page() -> None:
    """With ``body:has()`` a browser looks at the whole page again at each change: one in a table of
    200 rows took 300 ms instead of 10. A script sets a class on the body instead."""
    slow = re.compile(r"(?:\b(?:html|body|main)|:root|\.workloads-table [^{,]*):has\(")
    sheets = tracked("static/css/*.css")
    assert not [str(path) for path in sheets if slow.search((ROOT / path).read_text())]


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
        and re.search(
            r"pytest\.mark\.(e2e|faults|extended|kubernetes|slurm)", (ROOT / path).read_text()
        )
    ]
    assert not elsewhere
    for mark in ("e2e", "faults", "extended", "kubernetes", "slurm"):
        assert marked(mark)
