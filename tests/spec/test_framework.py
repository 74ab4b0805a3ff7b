"""A framework is a row in a few tables: each table is whole, and nothing else knows one by name."""

import ast
import re
from pathlib import Path

import pytest

from config.run.install import ROOT
from engines.kubernetes.jobs import KINDS
from engines.local.planning import environment
from spec.framework import TRAITS, Framework, Head, framework_with
from spec.workload import WorkloadSpec
from tests.engines.kubernetes.cases import CASES
from tests.repository import tracked

TABLES = {
    "spec/framework.py",
    "engines/kubernetes/jobs.py",
    "engines/kubernetes/manifests/pod/rendezvous.py",
    "engines/local/planning/environment.py",
    "engines/local/planning/packages.py",
    "engines/slurm/script/rank/variables.py",
    "spec/imports/manifest/kinds.py",
}


def test_every_framework_has_a_row_and_every_row_a_framework() -> None:
    assert set(TRAITS) == set(Framework)
    assert len({traits.label for traits in TRAITS.values()}) == len(Framework)


def test_a_field_of_a_framework_belongs_to_no_other_framework() -> None:
    fields = [name for traits in TRAITS.values() for name in traits.fields]
    assert set(fields) <= {field.alias for field in WorkloadSpec.model_fields.values()}
    assert len(set(fields)) == len(fields)
    assert framework_with("slotsPerWorker") is Framework.MPI
    assert framework_with("numWorkers") is None


def test_kubernetes_has_a_job_and_a_golden_manifest_for_each() -> None:
    assert set(KINDS) == set(Framework)
    golden = {case.get("distributedFramework") for case in CASES.values()} - {None}
    assert golden == set(Framework)


@pytest.mark.parametrize("framework", Framework)
def test_a_job_has_a_place_for_what_leads_its_workers(framework: Framework) -> None:
    kind = KINDS[framework]
    assert bool(kind.master) is (framework.traits.head is not Head.NONE)
    assert kind.workers_only or kind.master


def test_this_machine_knows_how_the_ranks_of_each_framework_meet() -> None:
    assert set(environment.RENDEZVOUS) == set(Framework)


def named_in(path: Path) -> list[str]:
    return [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Framework"
        and node.attr.isupper()
    ]


def test_only_the_tables_know_a_framework_by_name() -> None:
    others = [
        path
        for path in tracked("*.py")
        if str(path) not in TABLES and path.parts[0] not in {"tests", "bench"}
    ]
    assert not [line for path in others for line in named_in(path)]


def test_the_recipe_lists_the_tables() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = text.partition("## Recipe: add a framework\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d\. `([^`]+)`", recipe, re.MULTILINE)
    assert set(steps) == TABLES | {"tests/engines/kubernetes/cases.py"}
    must = re.findall(r"^\d\. `[^`]+`(?!.*, if )", recipe, re.MULTILINE)
    assert len(must) <= 4, "Slurm runs it only if it has a row there"
    for path in steps:
        assert "ramework" in (ROOT / path).read_text(), path
    for name in ("TRAITS", "JobKind", "RENDEZVOUS"):
        assert any(name in (ROOT / path).read_text() for path in TABLES), name
