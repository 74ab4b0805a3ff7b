"""REST: compute resources, and with them what the calls of all kinds of assets have in common."""

from typing import Any

import pytest

from assets.models import ComputeResource
from audit.models import AuditEntry
from projects.models import Project
from tests.assets.api.conftest import Meta
from tests.assets.links import named
from tests.caller import Caller
from tests.factories import (
    ComputeResourceFactory,
    ProjectFactory,
    TemplateFactory,
    WorkloadFactory,
)

PATH = "/asset/compute"
SPEC = {
    "gpuDevicesRequest": 1,
    "gpuRequestType": "portion",
    "gpuPortionRequest": 0.1,
    "cpuCoreRequest": 2,
    "extendedResources": [{"resource": "rdma/hca", "quantity": "1", "exclude": False}],
}


def issues(answer: Any) -> dict[str, str]:
    return {it["field"]: it["details"] for it in answer["complianceIssues"]}


def test_a_compute_resource_is_created_read_changed_and_deleted(
    call: Caller, meta: Meta, project: Project
) -> None:
    status, created = call("POST", PATH, {"meta": meta(description="One."), "spec": SPEC})
    assert status == 201, created
    assert created["spec"]["gpuPortionRequest"] == 0.1
    assert created["spec"]["cpuMemoryRequest"] == "100M", "defaults included"
    assert created["spec"]["extendedResources"] == [{"resource": "rdma/hca", "quantity": "1"}]
    head = created["meta"]
    assert (head["kind"], head["scope"], head["projectId"]) == ("compute", "project", project.pk)
    assert (head["clusterId"], head["departmentId"]) == (str(project.cluster_id), None)
    assert head["createdBy"] == head["updatedBy"] == call.user.username
    assert "usedBy" not in created
    one = f"{PATH}/{head['id']}"
    assert call("GET", one) == (200, created)
    change = {"meta": {"name": "large"}, "spec": {"cpuCoreRequest": 8}}
    status, changed = call("PUT", one, change)
    assert (status, changed["meta"]["name"], changed["meta"]["description"]) == (
        200,
        "large",
        "One.",
    )
    assert changed["spec"]["cpuCoreRequest"] == 8
    assert changed["spec"]["gpuDevicesRequest"] == 0, "a spec replaces the whole one"
    assert call("PUT", one, {"meta": {"description": ""}})[1]["spec"] == changed["spec"]
    assert call("DELETE", one)[0] == 204
    assert call("GET", one)[0] == 404
    verbs = AuditEntry.objects.filter(target_name__in=["small", "large"])
    assert [it.verb for it in verbs] == ["delete", "update", "update", "create"]


def test_a_taken_name_is_a_conflict_unless_more_is_wrong(call: Caller, meta: Meta) -> None:
    body = {"meta": meta(), "spec": SPEC}
    assert call("POST", PATH, body)[0] == 201
    status, answer = call("POST", PATH, body)
    assert (status, [it["rule"] for it in answer["complianceIssues"]]) == (409, ["unique"])
    assert call("POST", PATH, body | {"spec": {"cpuCoreRequest": -1}})[0] == 400


def test_an_answer_sent_back_is_the_same_asset(call: Caller, meta: Meta) -> None:
    _, created = call("POST", PATH, {"meta": meta(), "spec": SPEC})
    one = f"{PATH}/{created['meta']['id']}"
    assert call("PUT", one, {"spec": created["spec"]})[1]["spec"] == created["spec"]


def test_runapys_words_for_nothing_are_taken_with_an_asset(
    call: Caller, meta: Meta, project: Project
) -> None:
    """Its models always send them."""
    nothing = {"workloadSupportedTypes": None, "description": None, "autoDelete": False}
    ids = {"clusterId": str(project.cluster_id), "departmentId": str(project.department_id)}
    body = {"meta": meta(**nothing, **ids), "spec": SPEC | {"gpuMemoryRequest": None}}
    status, answer = call("POST", PATH, body)
    assert status == 201, answer


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"spec": {"gpuDevicesRequest": 99}}, "spec.gpuDevicesRequest", "at most 64"),
        ({"spec": {"cpu_core_request": 1}}, "spec.cpu_core_request", "not a known field"),
        ({"spec": {"migProfile": "1g"}}, "spec.migProfile", "not a known field"),
        (
            {"spec": {"extendedResources": [{"resource": "a", "quantity": "1", "exclude": True}]}},
            "spec.extendedResources.0.exclude",
            "not supported",
        ),
        ({"meta": {"name": ""}}, "meta.name", "is required"),
        ({"meta": {"description": "x" * 251}}, "meta.description", "at most 250"),
        ({"meta": {"projectId": None}}, "meta.projectId", "is required"),
        ({"meta": {"projectId": 99_999}}, "meta.projectId", "not the ID of a project"),
        ({"meta": {"departmentId": 99_999}}, "meta.departmentId", "leave it out"),
        ({"meta": {"private": True}}, "meta.private", "not supported"),
        ({"meta": {"workloadSupportedTypes": {}}}, "meta.workloadSupportedTypes", "not supported"),
        ({"meta": {"scope": "system"}}, "meta.scope", "tenant"),
        ({"meta": {"id": "1"}}, "meta.id", "not a known field"),
        ({"metadata": {}}, "metadata", "not a known field"),
    ],
    ids=str,
)
def test_all_problems_of_an_asset_are_named_and_nothing_is_created(
    call: Caller, meta: Meta, changes: dict[str, Any], field: str, words: str
) -> None:
    body = {**changes, "meta": meta(**changes.get("meta", {})), "spec": changes.get("spec", SPEC)}
    status, answer = call("POST", PATH, body)
    assert status == 400
    assert words in issues(answer).get(field, ""), answer
    assert not ComputeResource.objects.exists()


def test_several_things_that_are_wrong_are_told_at_once(call: Caller, meta: Meta) -> None:
    ComputeResourceFactory(name="small", home=Project.objects.visible_to(call.user).get())
    items = [{"resource": "a", "quantity": "1", "exclude": True}]
    spec = {"gpuDevicesRequest": -1, "extendedResources": items}
    status, answer = call("POST", PATH, {"meta": meta(private=True), "spec": spec})
    assert status == 400
    assert issues(answer).keys() == {
        "meta.name",
        "meta.private",
        "spec.gpuDevicesRequest",
        "spec.extendedResources.0.exclude",
    }


def test_the_place_of_an_asset_is_asked_for_by_its_scope(
    call: Caller, admin_call: Caller, meta: Meta, project: Project
) -> None:
    places: list[dict[str, Any]] = [
        {"scope": "tenant", "projectId": None},
        {"scope": "cluster", "projectId": None, "clusterId": str(project.cluster_id)},
        {"scope": "department", "projectId": None, "departmentId": str(project.department_id)},
    ]
    for place in places:
        body = {"meta": meta(**place), "spec": SPEC}
        assert call("POST", PATH, body)[0] == 403, place
        status, answer = admin_call("POST", PATH, body)
        assert (status, answer["meta"]["scope"]) == (201, place["scope"])
        assert call("GET", f"{PATH}/{answer['meta']['id']}")[0] == 200, "shared"
        assert call("DELETE", f"{PATH}/{answer['meta']['id']}")[0] == 403
    wrong = {"meta": meta(scope="cluster", clusterId=str(project.cluster_id)), "spec": SPEC}
    assert "meta.projectId" in issues(admin_call("POST", PATH, wrong)[1])


def test_assets_of_other_projects_are_not_there(stranger: Caller, project: Project) -> None:
    one = f"{PATH}/{ComputeResourceFactory(home=project).pk}"
    assert stranger("GET", PATH)[1] == {"entries": [], "next": None}
    for method, body in (("GET", None), ("PUT", {"meta": {"name": "x"}}), ("DELETE", None)):
        assert stranger(method, one, body)[0] == 404


def test_a_list_of_assets_is_filtered_sorted_searched_and_paged(
    call: Caller, project: Project
) -> None:
    other = ProjectFactory(members=[call.user])
    for name, home in (("b", project), ("a", project), ("c", other)):
        ComputeResourceFactory(name=name, home=home, description=f"is {name}", created_by=call.user)
    ComputeResourceFactory(name="shared", in_account=True)

    def names(query: str) -> list[str]:
        status, answer = call("GET", f"{PATH}?sortBy=name&{query}")
        assert status == 200, answer
        return [it["meta"]["name"] for it in answer["entries"]]

    assert names("") == ["a", "b", "c", "shared"]
    assert names("sortOrder=desc&limit=2") == ["shared", "c"]
    assert names("offset=3") == ["shared"]
    assert names("search=is%20b") == ["b"]
    assert names("filterBy=scope==tenant") == ["shared"]
    assert names("scope=tenant") == ["shared"]
    assert names(f"projectId={other.pk}") == ["c"]
    assert names(f"filterBy=projectId=={project.pk}&filterBy=name!=b") == ["a"]
    assert names(f"filterBy=createdBy=={call.user.username}&clusterId={other.cluster_id}") == ["c"]
    assert call("GET", f"{PATH}?limit=1&sortBy=name")[1]["next"] == 1
    for query in ("filterBy=scope==earth", "filterBy=image==a", "sortBy=image", "usageinfo=true"):
        assert call("GET", f"{PATH}?{query}")[0] == 400, query


def test_usage_lists_what_uses_an_asset_and_can_be_seen(call: Caller, project: Project) -> None:
    asset = ComputeResourceFactory(in_account=True)
    workload = WorkloadFactory(project=project, running=True)
    template = TemplateFactory(home=project)
    for holder in (workload, template, WorkloadFactory()):
        named(holder, asset)
    _, answer = call("GET", f"{PATH}?usageInfo=true")
    (entry,) = answer["entries"]
    assert entry["usedBy"] == {
        "distributed": [{"id": str(workload.pk), "name": workload.name, "status": "Running"}],
        "trainings": [],
        "workspaces": [],
        "templates": [{"id": str(template.pk), "name": template.name}],
        "dataSources": [],
        "policies": [],
    }
    assert call("GET", f"{PATH}/{asset.pk}?usageInfo=true")[1]["usedBy"] == entry["usedBy"]


def test_an_asset_that_is_used_is_not_deleted_by_rest(call: Caller, project: Project) -> None:
    asset = ComputeResourceFactory(home=project)
    workload = WorkloadFactory(project=project)
    named(workload, asset)
    status, answer = call("DELETE", f"{PATH}/{asset.pk}")
    assert (status, workload.name in answer["message"]) == (409, True)
