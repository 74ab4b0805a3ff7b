"""A lower package may read a higher one's rows through a reverse relation. It never writes them,
and never looks into their JSON: the higher package offers a method for that."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import JSONField, Model

from config.run.install import ROOT
from tests.repository import tracked

WRITES = {
    *("add", "set", "remove", "clear", "create", "get_or_create", "update_or_create"),
    *("bulk_create", "bulk_update", "update", "delete"),
}
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
LAYERS = [name for name in CONTRACTS["contracts"][0]["layers"] if apps.is_installed(name)]
LAYERS.remove("config")  # commands, and no rows
BELOW = LAYERS[1:]  # the topmost has nothing above it


def models_of(packages: list[str]) -> list[type[Model]]:
    return [model for name in packages for model in apps.get_app_config(name).get_models()]


def above(package: str) -> list[str]:
    return LAYERS[: LAYERS.index(package)]


def reverse_names(package: str) -> set[str]:
    """By what attribute the rows of higher packages are reached from here."""
    higher = set(models_of(above(package)))
    here = models_of(LAYERS[LAYERS.index(package) :])
    relations = [relation for model in here for relation in model._meta.related_objects]
    names = {it.get_accessor_name() for it in relations if it.related_model in higher}
    return {name for name in names if name}


def json_columns(packages: list[str]) -> set[str]:
    columns = (field for model in models_of(packages) for field in model._meta.get_fields())
    return {it.name for it in columns if isinstance(it, JSONField) and it.name.endswith("_json")}


def chain(node: ast.expr) -> Iterator[str]:
    """The names of ``a.b.c(…).d``."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.func if isinstance(node, ast.Call) else node.value


def writes(source: str, names: set[str]) -> list[str]:
    """Calls that write the rows behind one of these relations."""
    return [
        ast.unparse(call.func)
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in WRITES
        and names & set(chain(call.func.value))
    ]


def looks(source: str, columns: set[str], relations: set[str]) -> list[str]:
    """Where JSON of higher rows is named, here or across a relation."""
    path = rf"\b(?:{'|'.join(sorted(relations))})__\w*_json\w*"
    column = rf"\b(?:{'|'.join(sorted(columns))})(?:__\w+)?\b"
    patterns = ([path] if relations else []) + ([column] if columns else [])
    return [match for pattern in patterns for match in re.findall(pattern, source)]


def sources(package: str) -> list[Path]:
    return tracked(f"{package}/*.py")


def test_the_layers_are_those_of_the_import_contract() -> None:
    assert LAYERS[0] == "notifications"
    assert {"workloads", "assets", "projects", "clusters", "accounts"} <= set(BELOW)
    assert "workloads" in reverse_names("clusters")


@pytest.mark.parametrize("package", BELOW)
def test_no_rows_of_a_higher_package_are_written(package: str) -> None:
    names = reverse_names(package)
    wrong = {
        str(path): written
        for path in sources(package)
        if (written := writes((ROOT / path).read_text(), names))
    }
    assert not wrong


@pytest.mark.parametrize("package", BELOW)
def test_no_package_looks_into_the_json_of_a_higher_one(package: str) -> None:
    own = json_columns(LAYERS[LAYERS.index(package) :])
    columns = json_columns(above(package)) - own
    relations = reverse_names(package)
    wrong = {
        str(path): found
        for path in sources(package)
        if (found := looks((ROOT / path).read_text(), columns, relations))
    }
    assert not wrong


@pytest.mark.parametrize("package", BELOW)
def test_no_model_of_a_higher_package_is_taken_by_its_name(package: str) -> None:
    by_name = re.compile(r"\bget_model\(")
    assert not [str(it) for it in sources(package) if by_name.search((ROOT / it).read_text())]


def test_writes_and_looks_into_a_higher_package_would_be_noticed() -> None:
    traces = "project.workloads.filter(deleted_at__isnull=False).delete()"
    assert writes(traces, reverse_names("projects")) == [traces.removesuffix("()")]
    assert writes("user.workloads.set(workloads)", reverse_names("accounts"))
    assert not writes("cluster.workloads.holding()", reverse_names("clusters"))
    columns = json_columns(["workloads"])
    assert looks("workloads.filter(spec_json__nodePools__isnull=False)", columns, set())
    assert looks("Sum('workloads__spec_json__gpus')", set(), reverse_names("clusters"))
