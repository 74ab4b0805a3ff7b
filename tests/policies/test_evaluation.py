"""Values are judged by rules, field by field and item by item."""

from typing import Any

import pytest

from policies.evaluation import find_violations, find_violations_of_asset
from policies.filling import fill_in
from policies.rules import RuleSource
from policies.rulings import field_rulings
from policies.tree import read_tree
from spec.kind import WorkloadKind
from spec.problems.errors import Problem
from tests.policies.examples import Tree, default, nest, rule

OWNER = RuleSource("policy limits of the account", "account")
ENV = "environmentVariables"
DISTRIBUTED = WorkloadKind.DISTRIBUTED


def violations(
    tree: Tree, worker: Tree, *, master: Tree | None = None, **wide: Any
) -> list[Problem]:
    rules = [it.with_source(OWNER) for it in read_tree(tree, DISTRIBUTED)]
    document = {"worker": worker, **wide} | ({"master": master} if master else {})
    loaded = document | {"master": master or worker}
    return list(find_violations(rules, document, loaded))


@pytest.mark.parametrize(
    ("tree", "worker", "broken"),
    [
        (rule("compute.gpuDevicesRequest", min=1), {"compute": {"gpuDevicesRequest": 0}}, "min"),
        (rule("compute.gpuDevicesRequest", max=8), {"compute": {"gpuDevicesRequest": 8}}, ""),
        (rule("compute.gpuDevicesRequest", max=8), {"compute": {"gpuDevicesRequest": 9}}, "max"),
        (rule("compute.cpuMemoryLimit", max="1Gi"), {"compute": {"cpuMemoryLimit": "1G"}}, ""),
        (rule("compute.cpuMemoryLimit", max="1G"), {"compute": {"cpuMemoryLimit": "1Gi"}}, "max"),
        (rule("compute.cpuCoreRequest", min=1, step=0.5), {"compute": {"cpuCoreRequest": 2.5}}, ""),
        (
            rule("compute.cpuCoreRequest", min=1, step=0.5),
            {"compute": {"cpuCoreRequest": 2.3}},
            "step",
        ),
        (rule("image", options=[{"value": "a"}, {"value": "b"}]), {"image": "b"}, ""),
        (rule("image", options=[{"value": "a"}, {"value": "b"}]), {"image": "c"}, "options"),
        (rule("image", startsWith="reg.example.com/"), {"image": "reg.example.com/a"}, ""),
        (rule("image", startsWith="reg.example.com/"), {"image": "docker.io/a"}, "options"),
        (rule("workingDir", required=True), {}, "required"),
        (rule("workingDir", required=True), {"workingDir": "/a"}, ""),
        (rule("workingDir", canEdit=False), {}, ""),
        (rule("workingDir", canEdit=False), {"workingDir": "/a"}, "canEdit"),
        (
            default("security.runAsUid", 500) | rule("security.runAsUid", canEdit=False),
            {"security": {"runAsUid": 501}},
            "canEdit",
        ),
        (
            default("security.runAsUid", 500) | rule("security.runAsUid", canEdit=False),
            {"security": {"runAsUid": 500}},
            "",
        ),
        (
            rule("storage.hostPath.instances", canAdd=False),
            {"storage": {"hostPath": [{"path": "/a", "mountPath": "/b"}]}},
            "canAdd",
        ),
        (
            default(f"{ENV}.instances", [{"name": "A", "value": "1"}])
            | rule(f"{ENV}.instances", canAdd=False, locked=["A"]),
            {ENV: [{"name": "A", "value": "1"}]},
            "",
        ),
        (
            default(f"{ENV}.instances", [{"name": "A", "value": "1"}])
            | rule(f"{ENV}.instances", locked=["A"]),
            {ENV: [{"name": "A", "value": "2"}]},
            "locked",
        ),
        (
            default(f"{ENV}.instances", [{"name": "A", "value": "1"}])
            | rule(f"{ENV}.instances", locked=["A"]),
            {},
            "locked",
        ),
        (
            rule("tolerations.attributes.effect", options=[{"value": "NoSchedule"}]),
            {"tolerations": [{"key": "a", "effect": "NoExecute"}]},
            "options",
        ),
        (
            rule("exposedUrls.attributes.container", min=8000),
            {"connections": [{"name": "x", "toolType": "custom", "containerPort": 80}]},
            "min",
        ),
    ],
)
def test_values_are_judged(tree: Tree, worker: Tree, broken: str) -> None:
    found = violations(tree, worker)
    assert [it.rule for it in found] == ([broken] if broken else [])
    assert all(OWNER.label in it.message and it.source == OWNER.label for it in found)


def test_braces_in_a_value_are_said_as_they_are() -> None:
    tree = rule(f"{ENV}.instances", canAdd=False)
    (found,) = violations(tree, {ENV: [{"name": "{source}{0}", "value": "1"}]})
    assert "{0} cannot be added" in found.message


def test_options_hold_for_each_item_of_a_list() -> None:
    tree = rule("nodePools", options=[{"value": "a"}, {"value": "b"}])
    assert violations(tree, {}, nodePools=["a", "b"]) == []
    (found,) = violations(tree, {}, nodePools=["a", "c"])
    assert found.path == ("nodePools",)


def test_a_master_without_a_setup_is_judged_by_the_workers_values() -> None:
    tree = {"rules": {"master": nest("security.runAsUid", {"min": 1000})}}
    (found,) = violations(tree, {"security": {"runAsUid": 1}})
    assert found.path == ("worker", "security", "runAsUid")
    (found,) = violations(tree, {}, master={"security": {"runAsUid": 1}})
    assert found.path == ("master", "security", "runAsUid")


def test_workers_alone_break_no_rule_of_a_master() -> None:
    rules = read_tree({"rules": {"master": {"image": {"required": True}}}}, DISTRIBUTED)
    document = {"worker": {"command": "a"}}
    assert list(find_violations(rules, document, document)) == []


def test_amounts_are_filled_in_from_others() -> None:
    tree = rule(
        "compute.cpuMemoryRequest", defaultFrom={"field": "compute.cpuMemoryLimit", "factor": 0.5}
    )
    rules = read_tree(tree, DISTRIBUTED)
    filled, origins = fill_in(rules, {"worker": {"compute": {"cpuMemoryLimit": "2G"}}})
    assert filled["worker"]["compute"]["cpuMemoryRequest"] == "1000000000"
    assert list(origins) == ["worker.compute.cpuMemoryRequest"]


def test_amounts_follow_amounts_that_follow_others() -> None:
    limits = {
        "gpuMemoryLimit": {"defaultFrom": {"field": "compute.cpuMemoryRequest"}},
        "cpuMemoryRequest": {"defaultFrom": {"field": "compute.cpuMemoryLimit"}},
    }
    rules = read_tree({"rules": {"worker": {"compute": limits}}}, DISTRIBUTED)
    filled, _ = fill_in(rules, {"worker": {"compute": {"cpuMemoryLimit": "2G"}}})
    assert filled["worker"]["compute"]["gpuMemoryLimit"] == "2000000000"


def test_tools_get_the_defaults_of_urls() -> None:
    rules = read_tree(default("exposedUrls.attributes.container", 8080), DISTRIBUTED)
    tools = [
        {"name": "a", "connectionType": "ExternalUrl"},
        {"name": "b", "connectionType": "NodePort"},
    ]
    filled, origins = fill_in(rules, {"worker": {"connections": tools}})
    assert [it.get("containerPort") for it in filled["worker"]["connections"]] == [8080, None]
    assert list(origins) == ["worker.connections[0].containerPort"]


def test_items_get_the_defaults_of_their_fields() -> None:
    rules = read_tree(default("tolerations.attributes.effect", "NoSchedule"), DISTRIBUTED)
    given = {"worker": {"tolerations": [{"key": "a"}, {"key": "b", "effect": "Any"}]}}
    filled, _ = fill_in(rules, given)
    assert [it["effect"] for it in filled["worker"]["tolerations"]] == ["NoSchedule", "Any"]
    assert "effect" not in given["worker"]["tolerations"][0]


def test_an_asset_is_judged_by_its_own_values() -> None:
    tree = rule("compute", gpuDevicesRequest={"max": 2}, cpuCoreLimit={"required": True})
    rules = read_tree(tree, DISTRIBUTED)
    (found,) = find_violations_of_asset(rules, "worker", {"compute": {"gpuDevicesRequest": 4}})
    assert found.rule == "max"
    assert (
        list(find_violations_of_asset(rules, "master", {"compute": {"gpuDevicesRequest": 4}})) == []
    )


def test_the_strictest_limits_of_a_field_are_shown() -> None:
    rules = [
        *read_tree(rule("numWorkers", max=8, min=1), DISTRIBUTED),
        *read_tree(rule("numWorkers", max=4, step=2), DISTRIBUTED),
        *read_tree(rule("image", options=[{"value": "a"}, {"value": "b"}]), DISTRIBUTED),
        *read_tree(rule("image", options=[{"value": "b"}]), DISTRIBUTED),
    ]
    rulings = field_rulings(rules)
    workers = rulings["numWorkers"]
    assert (workers.min, workers.max, workers.step) == (1, 4, 2)
    assert [option.value for option in rulings["worker.image"].options] == ["b"]


def test_a_field_with_rules_of_two_policies_names_both() -> None:
    team = RuleSource("policy small of Project team", "project:1")
    name = "compute.gpuDevicesRequest"
    wide = [
        it.with_source(OWNER)
        for it in read_tree(rule(name, max=8, why="A node has 8"), DISTRIBUTED)
    ]
    narrow = [it.with_source(team) for it in read_tree(rule(name, min=1), DISTRIBUTED)]
    ruling = field_rulings([*wide, *narrow])[f"worker.{name}"]
    assert ruling.sentence == f"1 to 8 by {OWNER.label} and {team.label}: A node has 8."
    assert ruling.scopes == ("account", "project:1")
