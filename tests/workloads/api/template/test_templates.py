"""REST: templates of each kind of workload, created, changed and used."""

from collections.abc import Callable
from typing import Any

import pytest

from assets.models import Template
from audit.models import AuditEntry
from projects.models import Project
from projects.scopes import OwningScope
from tests.caller import Body, Caller
from tests.factories import (
    ComputeResourceFactory,
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]

GANGS = "/workload-templates/distributed"
TRAININGS = "/workload-templates/trainings"
IMAGE = "kubeflow/pytorch-dist-mnist:latest"
SPEC = {"image": IMAGE, "numWorkers": 3, "distributedFramework": "PyTorch"}
Meta = Callable[..., dict[str, Any]]


@pytest.fixture
def meta(project: Project) -> Meta:
    def build(**changes: Any) -> dict[str, Any]:
        return {"name": "base", "scopeType": "project", "scopeId": str(project.pk)} | changes

    return build


def created(call: Caller, body: dict[str, Any], path: str = GANGS) -> dict[str, Any]:
    status, made = call("POST", path, body)
    assert status == 201, made
    return dict(made)


def fields(answer: dict[str, Any]) -> set[str]:
    return {issue["field"] for issue in answer["complianceIssues"]}


def test_a_template_that_was_created_gives_a_submission_what_it_leaves_out(
    call: Caller, meta: Meta, seed_body: Body
) -> None:
    made = created(call, {"meta": meta(), "spec": SPEC})
    body = seed_body() | {"templateId": made["meta"]["id"], "spec": {"backoffLimit": 1}}
    del body["name"]
    status, run = call("POST", "/workloads/distributed", body | {"name": "begun"})
    assert status == 202, run
    assert (run["spec"]["image"], run["spec"]["numWorkers"]) == (IMAGE, 3)
    assert AuditEntry.objects.filter(verb="create", target_name="base").exists()


def test_a_template_says_only_what_was_said_and_hides_what_looks_secret(
    call: Caller, meta: Meta
) -> None:
    variables = [{"name": "HF_TOKEN", "value": "not-told"}]
    made = created(call, {"meta": meta(), "spec": SPEC | {"environmentVariables": variables}})
    assert made["spec"].keys() == {*SPEC, "environmentVariables"}
    assert "not-told" not in str(made)
    status, refused = call("PUT", f"{GANGS}/{made['meta']['id']}", {"spec": made["spec"]})
    assert status == 400
    assert fields(refused) == {"spec.environmentVariables.0.value"}


def test_all_that_is_wrong_is_told_at_once_and_nothing_is_kept(call: Caller, meta: Meta) -> None:
    TemplateFactory(home=Project.objects.get(), name="base")
    spec = SPEC | {"numWorkers": 0, "surprise": 1}
    own = {"master": {"spec": {"restartPolicy": "Sometimes"}}}
    status, refused = call("POST", GANGS, {"meta": meta(), "spec": spec, **own})
    assert status == 400
    assert fields(refused) >= {"meta.name", "spec.numWorkers", "spec.surprise"}
    assert "master.spec.restartPolicy" in fields(refused)
    assert Template.objects.count() == 1


def test_a_taken_name_is_a_conflict_and_can_be_checked(call: Caller, meta: Meta) -> None:
    query = f"?templateName=base&scopeType=project&scopeId={meta()['scopeId']}"
    asked = f"/workload-templates/name-availability{query}"
    assert call("GET", asked)[1] == {"available": True}
    created(call, {"meta": meta()})
    assert call("GET", asked)[1] == {"available": False}
    status, refused = call("POST", GANGS, {"meta": meta()})
    assert (status, fields(refused)) == (409, {"meta.name"})


@pytest.mark.parametrize("place", [{"scopeId": "x"}, {"scopeId": "99999"}, {"scopeId": None}])
def test_a_place_that_is_none_is_refused(call: Caller, meta: Meta, place: dict[str, Any]) -> None:
    status, refused = call("POST", GANGS, {"meta": meta(**place), "spec": SPEC})
    assert (status, fields(refused)) == (400, {"meta.scopeId"})


def test_assets_of_a_template_are_read_and_kept_by_a_change(
    call: Caller, meta: Meta, project: Project
) -> None:
    chosen = {
        "environment": str(EnvironmentFactory(home=project).pk),
        "compute": str(ComputeResourceFactory(home=project).pk),
        "dataSources": [
            {"id": str(DataSourceFactory(home=project).pk), "path": "/data", "version": None}
        ],
    }
    made = created(call, {"meta": meta(), "assets": chosen, "spec": {"numWorkers": 2}})
    one = f"{GANGS}/{made['meta']['id']}"
    assert made["assets"] == chosen
    status, changed = call("PATCH", one, {"spec": {"args": "-v"}})
    assert (status, changed["assets"], changed["spec"]["args"]) == (200, chosen, "-v")
    cleared = {"fieldsToClear": ["assets.compute", "spec.args"]}
    left = call("PATCH", one, cleared)[1]
    assert left["assets"]["compute"] is None
    assert "args" not in left["spec"]
    others = {"compute": str(ComputeResourceFactory(home=ProjectFactory()).pk)}
    status, refused = call("PATCH", one, {"assets": others})
    assert (status, fields(refused)) == (400, {"assets.compute"})


def test_a_master_has_the_setup_of_the_workers_until_it_differs(call: Caller, meta: Meta) -> None:
    made = created(call, {"meta": meta(), "spec": SPEC, "masterSpecSameAsWorker": True})
    assert (made["masterSpecSameAsWorker"], made["master"]) == (True, None)
    one = f"{GANGS}/{made['meta']['id']}"
    own = call("PATCH", one, {"master": {"spec": {"image": "master:1"}}})[1]
    assert (own["masterSpecSameAsWorker"], own["master"]["spec"]["image"]) == (False, "master:1")
    assert call("PATCH", one, {"masterSpecSameAsWorker": True})[1]["master"] is None
    both = {"noMaster": True, "master": {"spec": {}}}
    status, refused = call("PATCH", one, both)
    assert (status, fields(refused)) == (400, {"master"})


def test_renaming_leaves_the_setup_and_a_new_setup_leaves_the_rules(
    call: Caller, project: Project
) -> None:
    rule = {"field": "worker.image", "locked": True, "why": "It is tested"}
    draft = {"worker": {"values": {"image": "mnist:1"}}, "rules": [rule]}
    template = TemplateFactory(home=project, name="base", draft_json=draft)
    one = f"{GANGS}/{template.pk}"
    renamed = call("PUT", one, {"meta": {"name": "renamed", "description": "For all"}})[1]
    assert (renamed["meta"]["name"], renamed["spec"]["image"]) == ("renamed", "mnist:1")
    replaced = call("PUT", one, {"spec": {"image": "mnist:2"}})[1]
    assert (replaced["meta"]["description"], replaced["spec"]["image"]) == ("For all", "mnist:2")
    assert [(it["field"], it["why"]) for it in replaced["rules"]] == [
        ("worker.image", "It is tested")
    ]


def test_each_kind_has_a_path_and_the_list_has_all(call: Caller, meta: Meta) -> None:
    gang = created(call, {"meta": meta(name="gang"), "spec": SPEC})["meta"]["id"]
    alone = created(call, {"meta": meta(name="alone"), "spec": {"image": "a:1"}}, TRAININGS)
    assert alone["master"] is alone["noMaster"] is None
    one = alone["meta"]["id"]
    assert call("GET", f"{GANGS}/{one}")[0] == 404
    assert call("GET", f"/workload-templates/{one}")[1]["meta"]["workloadType"] == "Training"
    page = call("GET", "/workload-templates?sortBy=name&limit=1")[1]
    assert [it["meta"]["id"] for it in page["entries"]] == [one]
    assert page["pagination"] == {"limit": 1, "offset": 0, "nextOffset": 1}
    assert [it["meta"]["id"] for it in call("GET", GANGS)[1]["entries"]] == [gang]
    status, refused = call("POST", TRAININGS, {"meta": meta(), "spec": SPEC})
    assert (status, fields(refused)) == (400, {"spec.numWorkers", "spec.distributedFramework"})


def test_a_template_that_is_only_shared_is_read_and_not_changed(
    call: Caller, project: Project
) -> None:
    shared = TemplateFactory(home=project, name="shared")
    shared.set_scope(OwningScope(project.cluster))
    shared.save()
    one = f"{GANGS}/{shared.pk}"
    assert call("GET", one)[0] == 200
    assert call("PATCH", one, {"spec": {"image": "a:1"}})[0] == 403
    assert call("DELETE", one)[0] == 403


def test_a_template_says_why_a_project_cannot_use_it(call: Caller, project: Project) -> None:
    other = ProjectFactory(cluster=project.cluster, members=[call.user])
    TemplateFactory(home=project, name="here")
    (entry,) = call("GET", f"{GANGS}?complyToProject={other.pk}")[1]["entries"]
    assert [it["field"] for it in entry["complianceIssues"]] == ["meta.scope"]


def test_a_template_with_what_cannot_be_sent_is_read_without_it(
    call: Caller, project: Project
) -> None:
    values = {"image": IMAGE, "connections": ["?"], "dataSources": [{"id": "", "path": None}]}
    template = TemplateFactory(home=project, draft_json={"worker": {"values": values}})
    status, shown = call("GET", f"{GANGS}/{template.pk}")
    assert (status, shown["spec"]["image"], shown["assets"]) == (200, IMAGE, None)
