"""Run:ai's form of a policy is read and written without loss, and refused at the wrong entry."""

from typing import Any

import pytest

from policies.fields import ruled_fields
from policies.rules import Enforcement, Rule
from policies.tree import read_tree, write_tree
from spec.formats.documents import REPLICA_FIELDS, WORKLOAD_FIELDS
from spec.kind import WorkloadKind
from spec.problems.errors import SpecError, path_text
from tests.policies.examples import EVERYTHING, Tree, nest

DISTRIBUTED = WorkloadKind.DISTRIBUTED
#: Fields of policies that a pod has under another name, or that no pod has yet.
OTHER_NAMES = {"ports", "exposedUrls", "storage.dataVolume"}


def test_a_tree_is_written_as_it_was_read() -> None:
    assert write_tree(read_tree(EVERYTHING, DISTRIBUTED), DISTRIBUTED) == EVERYTHING


def test_a_policy_of_one_pod_has_no_roles() -> None:
    tree = {
        "defaults": {"compute": {"gpuDevicesRequest": 1}},
        "rules": {"image": {"required": True}},
        "imposedAssets": ["6f8c1c9a-0d0e-4c3f-9a55-3b1d7a1f3f10"],
    }
    rules = read_tree(tree, WorkloadKind.WORKSPACE)
    assert Rule("worker.compute.gpuDevicesRequest", Enforcement.DEFAULT, 1) in rules
    assert write_tree(rules, WorkloadKind.WORKSPACE) == tree


def test_null_counts_as_left_out() -> None:
    tree = {"defaults": None, "rules": {"worker": {"image": None, "compute": None}, "master": None}}
    assert read_tree(tree, DISTRIBUTED) == ()


@pytest.mark.parametrize(
    ("tree", "path", "word"),
    [
        ({"rule": {}}, "rule", "rules"),
        ({"rules": {"launcher": {}}}, "rules.launcher", "worker"),
        ({"rules": {"worker": {"imge": {}}}}, "rules.worker.imge", "allowed"),
        (
            {"rules": {"worker": {"compute": {"gpus": {}}}}},
            "rules.worker.compute.gpus",
            "allowed",
        ),
        ({"rules": {"master": {"numWorkers": {}}}}, "rules.master.numWorkers", "allowed"),
        ({"rules": {"worker": {"image": {"min": 1}}}}, "rules.worker.image.min", "options"),
        (
            {"rules": {"worker": {"numWorkers": {"max": "9"}}}},
            "rules.worker.numWorkers.max",
            "whole",
        ),
        (
            {"rules": {"worker": {"numWorkers": {"min": 9, "max": 2}}}},
            "rules.worker.numWorkers.max",
            "9",
        ),
        ({"rules": {"worker": {"numWorkers": {"step": 0}}}}, "rules.worker.numWorkers.step", "0"),
        (
            {"rules": {"worker": nest("compute.cpuMemoryLimit", {"max": "64 apples"})}},
            "rules.worker.compute.cpuMemoryLimit.max",
            "2Gi",
        ),
        (
            {"rules": {"worker": nest("compute.cpuMemoryRequest.defaultFrom", {"field": "image"})}},
            "rules.worker.compute.cpuMemoryRequest.defaultFrom.field",
            "amount",
        ),
        ({"rules": {"worker": {"image": {"options": []}}}}, "rules.worker.image.options", "one"),
        (
            {"rules": {"worker": nest("labels.attributes", {"value": {}})}},
            "rules.worker.labels.attributes.value",
            "allowed",
        ),
        (
            {"defaults": {"worker": nest("labels.instances", [{"value": "x"}])}},
            "defaults.worker.labels.instances[0]",
            "name",
        ),
        ({"defaults": {"worker": {"numWorkers": True}}}, "defaults.worker.numWorkers", "whole"),
        ({"imposedAssets": {"worker": ["data"]}}, "imposedAssets.worker[0]", "UUID"),
        ({"imposedAssets": ["data"]}, "imposedAssets", "object"),
        ([], "", "object"),
    ],
)
def test_a_wrong_entry_is_refused_at_its_path(tree: Any, path: str, word: str) -> None:
    with pytest.raises(SpecError) as refused:
        read_tree(tree, DISTRIBUTED)
    (problem,) = refused.value.problems
    assert path_text(problem.path) == path
    assert word in problem.message


def test_a_field_is_filled_by_one_rule() -> None:
    tree: Tree = {
        "defaults": {"worker": nest("compute.cpuMemoryRequest", "1G")},
        "rules": {
            "worker": nest(
                "compute.cpuMemoryRequest.defaultFrom", {"field": "compute.cpuMemoryLimit"}
            )
        },
    }
    with pytest.raises(SpecError, match="already"):
        read_tree(tree, DISTRIBUTED)


def test_a_circle_of_multiples_is_refused() -> None:
    limits = {
        "cpuMemoryRequest": {"defaultFrom": {"field": "compute.cpuMemoryLimit"}},
        "cpuMemoryLimit": {"defaultFrom": {"field": "compute.cpuMemoryRequest"}},
    }
    with pytest.raises(SpecError, match="circle"):
        read_tree({"rules": {"worker": {"compute": limits}}}, DISTRIBUTED)


def test_every_ruled_field_is_one_of_a_workload() -> None:
    known = REPLICA_FIELDS | WORKLOAD_FIELDS
    names = ruled_fields(DISTRIBUTED, "worker").keys() - OTHER_NAMES
    assert {name for name in names if name.partition(".")[0] not in known} == set()
