"""REST: environments, whose words on the wire are not those of their documents."""

from typing import Any

import pytest

from assets.models import Environment
from projects.models import Project
from spec.kind import WorkloadKind
from spec.values.variable import MASK
from tests.assets.api.conftest import Meta
from tests.caller import Caller
from tests.factories import EnvironmentFactory

PATH = "/asset/environment"
ONE_POD = (WorkloadKind.TRAINING, WorkloadKind.WORKSPACE)
TOOL = {
    "name": "Notebook",
    "isExternal": False,
    "internalToolInfo": {
        "toolType": "jupyter-notebook",
        "connectionType": "NodePort",
        "containerPort": 8888,
        "nodePortInfo": {"isCustomPort": True, "nodePort": 30_100},
        "externalUrlInfo": {"isCustomUrl": False},
    },
}
SPEC: dict[str, Any] = {
    "image": "train:1",
    "environmentVariables": [
        {"name": "MODE", "value": "fast", "exclude": False},
        {"name": "HUB", "credential": {"assetId": "6bb6cdf4-08e7-4df0-abe7-d8400bc891b2"}},
    ],
    "connections": [TOOL],
    "uidGidSource": "custom",
    "runAsUid": 500,
    "overrideUidGidInWorkspace": True,
    "probes": {"readiness": {"periodSeconds": 5, "handler": {"httpGet": {"port": 8888}}}},
}
SPEC["environmentVariables"][1]["credential"]["key"] = "token"
TYPES = {"workspace": True, "training": True, "inference": False, "distributed": True}


def stored(answer: Any) -> Environment:
    return Environment.objects.get(pk=answer["meta"]["id"])


def test_an_environment_is_created_with_tools_and_rights_in_run_ais_words(
    call: Caller, meta: Meta
) -> None:
    types = TYPES | {"distFramework": "TF"}
    body = {"meta": meta(workloadSupportedTypes=types), "spec": SPEC}
    status, answer = call("POST", PATH, body)
    assert status == 201, answer
    row = stored(answer)
    assert (row.distributed, row.framework, row.override_uid_gid) == (True, "TF", True)
    (tool,) = row.spec.connections
    assert (tool.name, tool.container_port, tool.node_port) == ("Notebook", 8888, 30_100)
    assert row.spec.security.run_as_uid == 500
    shown = answer["spec"]
    assert row.spec.probes.readiness.period_seconds == 5  # type: ignore[union-attr]
    assert shown["probes"]["readiness"]["handler"]["httpGet"]["port"] == 8888
    assert shown["runAsUid"] == 500
    assert "security" not in shown
    assert shown["connections"][0]["internalToolInfo"].items() >= TOOL["internalToolInfo"].items()  # type: ignore[attr-defined]
    assert shown["overrideUidGidInWorkspace"] is True
    assert answer["meta"]["workloadSupportedTypes"] == types


def test_an_environment_sent_back_is_the_same(call: Caller, meta: Meta) -> None:
    body = {"meta": meta(workloadSupportedTypes=TYPES), "spec": SPEC}
    _, answer = call("POST", PATH, body)
    types = {"workloadSupportedTypes": answer["meta"]["workloadSupportedTypes"]}
    one = f"{PATH}/{answer['meta']['id']}"
    status, again = call("PUT", one, {"meta": types, "spec": answer["spec"]})
    assert status == 200, again
    assert again["spec"] == answer["spec"]
    assert again["meta"]["workloadSupportedTypes"] == answer["meta"]["workloadSupportedTypes"]


def test_a_change_of_an_environment_keeps_what_it_leaves_out_of_meta(
    call: Caller, project: Project
) -> None:
    row = EnvironmentFactory(home=project, framework="MPI", override_uid_gid=True)
    assert call("PUT", f"{PATH}/{row.pk}", {"meta": {"description": "new"}})[0] == 200
    row.refresh_from_db()
    assert (row.framework, row.override_uid_gid, row.description) == ("MPI", True, "new")
    standard = {"meta": {"workloadSupportedTypes": {"training": True}}}
    call("PUT", f"{PATH}/{row.pk}", standard)
    row.refresh_from_db()
    assert (row.distributed, row.framework, row.override_uid_gid) == (False, "", True)


def test_compliance_of_an_environment_depends_on_the_kind_of_workload(
    call: Caller, project: Project
) -> None:
    alone = EnvironmentFactory(home=project, name="alone", distributed=False)
    gang = EnvironmentFactory(home=project, name="gang", framework="MPI")

    def complies(row: Environment, kind: str) -> Any:
        asked = f"complyToProject={project.pk}&complyToWorkloadType={kind}"
        asked += "&complyToReplicaType=Master" if kind == "distributed" else ""
        status, answer = call("GET", f"{PATH}/{row.pk}?{asked}")
        assert status == 200, answer
        return answer["compliance"]

    assert all(complies(gang, kind)["compliance"] for kind in WorkloadKind)
    assert [complies(alone, kind)["compliance"] for kind in ONE_POD] == [True, True]
    refused = complies(alone, "distributed")
    assert refused["compliance"] is False
    assert refused["reason"][0]["field"] == "meta.workloadSupportedTypes"
    listed = call("GET", f"{PATH}?complyToProject={project.pk}&complyToWorkloadType=distributed")
    found = {it["meta"]["name"]: it["compliance"]["compliance"] for it in listed[1]["entries"]}
    assert (found["alone"], found["gang"]) == (False, True)


@pytest.mark.parametrize(
    "asked", ["complyToWorkloadType=training", "complyToProject=1&complyToWorkloadType=model"]
)
def test_a_kind_of_workload_needs_a_project_and_must_exist(call: Caller, asked: str) -> None:
    status, answer = call("GET", f"{PATH}?{asked}")
    assert status == 400
    assert "complyTo" in str(answer)


def test_a_tool_that_is_elsewhere_is_answered_as_it_was_sent(call: Caller, meta: Meta) -> None:
    status, answer = call("POST", PATH, {"meta": meta(), "spec": SPEC | {"connections": [WANDB]}})
    assert status == 201, answer
    assert answer["spec"]["connections"] == [WANDB]
    (tool,) = stored(answer).spec.connections
    assert (tool.is_external, tool.external_url) == (True, "https://wandb.ai/a/${MODE}")


def test_secrets_in_variables_of_an_environment_are_not_answered(call: Caller, meta: Meta) -> None:
    spec = {"image": "a", "environmentVariables": [{"name": "API_TOKEN", "value": "zanzibar"}]}
    _, answer = call("POST", PATH, {"meta": meta(), "spec": spec})
    assert answer["spec"]["environmentVariables"][0]["value"] == MASK
    status, again = call("PUT", f"{PATH}/{answer['meta']['id']}", {"spec": answer["spec"]})
    (issue,) = again["complianceIssues"]
    assert (status, issue["field"]) == (400, "spec.environmentVariables.0.value")


def tool(**changes: Any) -> dict[str, Any]:
    return {"connections": [{**TOOL, "internalToolInfo": {**INSIDE, **changes}}]}


INSIDE: dict[str, Any] = {"toolType": "custom", "containerPort": 80}
AT = "spec.connections.0"
OUTSIDE = "externalToolInfo"
WANDB: dict[str, Any] = {
    "name": "Runs",
    "isExternal": True,
    "externalToolInfo": {"toolType": "wandb", "externalUrl": "https://wandb.ai/a/${MODE}"},
}


def elsewhere(**info: Any) -> dict[str, Any]:
    return {"connections": [WANDB | {OUTSIDE: info}]}


PROBE: dict[str, Any] = {"handler": {"httpGet": {"port": 80}}}
PERIOD = "spec.probes.readiness.periodSeconds"
VARIABLE = "spec.environmentVariables.0.exclude"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"image": ""}, "spec.image"),
        ({"probes": {"readiness": {}}}, "spec.probes.readiness.handler"),
        ({"probes": {"readiness": PROBE | {"periodSeconds": 0}}}, PERIOD),
        ({"security": {"runAsUid": 1}}, "spec.security"),
        ({"uidGidSource": "fromTheImage"}, "spec.runAsUid"),
        ({"hostIpc": "yes"}, "spec.hostIpc"),
        ({"overrideUidGidInWorkspace": "yes"}, "spec.overrideUidGidInWorkspace"),
        ({"imagePullSecrets": [{"name": "a"}]}, "spec.imagePullSecrets"),
        ({"environmentVariables": [{"name": "A", "exclude": True}]}, VARIABLE),
        ({"connections": [WANDB | {"internalToolInfo": INSIDE}]}, f"{AT}.internalToolInfo"),
        ({"connections": [TOOL | {OUTSIDE: WANDB[OUTSIDE]}]}, f"{AT}.{OUTSIDE}"),
        (elsewhere(toolType="custom", externalUrl="https://a"), f"{AT}.{OUTSIDE}.toolType"),
        (elsewhere(toolType="wandb"), f"{AT}.{OUTSIDE}.externalUrl"),
        (elsewhere(toolType="wandb", externalUrl="ftp://a"), f"{AT}.{OUTSIDE}.externalUrl"),
        (elsewhere(toolType="wandb", externalUrl="https://a", port=1), f"{AT}.{OUTSIDE}.port"),
        ({"connections": [TOOL | {"containerPort": 1}]}, f"{AT}.containerPort"),
        ({"connections": ["jupyter"]}, AT),
        ({"connections": [{"name": "a"}]}, f"{AT}.internalToolInfo.containerPort"),
        (tool(containerPort=0), f"{AT}.internalToolInfo.containerPort"),
        (tool(connectionType="ServingPort"), f"{AT}.internalToolInfo.connectionType"),
        (tool(servingPortInfo={"protocol": "http"}), f"{AT}.internalToolInfo.servingPortInfo"),
        (tool(nodePort=30_000), f"{AT}.internalToolInfo.nodePort"),
        (tool(nodePortInfo={"nodePort": 1}), f"{AT}.internalToolInfo.nodePortInfo.nodePort"),
        (tool(nodePortInfo={"port": 1}), f"{AT}.internalToolInfo.nodePortInfo.port"),
        (
            tool(externalUrlInfo={"isCustomUrl": True}),
            f"{AT}.internalToolInfo.externalUrlInfo.isCustomUrl",
        ),
        (
            tool(externalUrlInfo={"externalUrl": "ftp://a"}),
            f"{AT}.internalToolInfo.externalUrlInfo.externalUrl",
        ),
    ],
    ids=str,
)
def test_faults_of_an_environment_have_the_paths_of_the_request(
    call: Caller, meta: Meta, spec: dict[str, Any], field: str
) -> None:
    status, answer = call("POST", PATH, {"meta": meta(), "spec": SPEC | spec})
    assert (status, [it["field"] for it in answer["complianceIssues"]]) == (400, [field])
    assert not Environment.objects.exists()


@pytest.mark.parametrize(
    ("types", "field"),
    [
        (TYPES | {"inference": True}, "inference"),
        (TYPES | {"workspace": False}, "workspace"),
        (TYPES | {"distFramework": "Ray"}, "distFramework"),
        ({"distFramework": "PyTorch"}, "distFramework"),
        (TYPES | {"hpo": True}, "hpo"),
    ],
    ids=str,
)
def test_workload_types_that_an_environment_cannot_have_are_refused(
    call: Caller, meta: Meta, types: dict[str, Any], field: str
) -> None:
    body = {"meta": meta(workloadSupportedTypes=types), "spec": {"image": "a"}}
    status, answer = call("POST", PATH, body)
    fields = [it["field"] for it in answer["complianceIssues"]]
    assert (status, fields) == (400, [f"meta.workloadSupportedTypes.{field}"])
