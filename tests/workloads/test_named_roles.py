"""Gangs of named roles at the doors: REST, YAML and pages, with assets, policies and secrets."""

from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from accounts.models import User
from assets.template.kind import TEMPLATE
from policies.models import Policy
from projects.models import Project
from spec.draft import WorkloadDraft, is_blank
from spec.formats.draft_yaml import Names, parse_draft_yaml, write_draft_yaml
from tests.caller import Caller
from tests.factories import (
    ComputeResourceFactory,
    CredentialFactory,
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
)
from tests.policies.examples import default, make_policy, rule
from tests.web import signed_in
from tests.workloads.wizard.browser import Wizard
from workloads import services
from workloads.launch import launch_with_secrets
from workloads.models import Draft, Workload
from workloads.plan import Plan, plan
from workloads.wizard.pages.steps import page_address

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
CREATE = "/workloads/distributed"
Role = dict[str, Any]
MASTER = {"name": "master", "leads": True, "command": "true"}
WORKER = {"name": "worker", "count": 2, "command": "sleep 1"}


@pytest.fixture
def member() -> User:
    return UserFactory()


@pytest.fixture
def project(member: User) -> Project:
    return ProjectFactory(members=[member], name="team-a")


@pytest.fixture
def call(member: User) -> Caller:
    return Caller(member)


def body(project: Project, *roles: Role, spec: Role | None = None, **also: Any) -> dict[str, Any]:
    return {
        "name": "two-roles",
        "projectId": str(project.pk),
        "clusterId": str(project.cluster_id),
        "spec": {"roles": list(roles), **(spec or {})},
        **also,
    }


def draft(project: Project, *roles: Role, **values: Any) -> WorkloadDraft:
    place = {"cluster": project.cluster_id, "project": project.pk}
    return WorkloadDraft(
        name="two-roles", framework="", values={"roles": list(roles), **values}, **place
    )


def problems(found: Plan) -> dict[str, str]:
    return {problem.field: problem.message for problem in found.problems}


def test_rest_submits_roles_and_answers_with_them(call: Caller, project: Project) -> None:
    tool = {"container": 8080, "toolType": "custom", "toolName": "Board"}
    status, made = call("POST", CREATE, body(project, MASTER, WORKER | {"ports": [tool]}))
    assert status == 202, made
    workload = Workload.objects.get(pk=made["workloadId"])
    assert [rank.name for rank in workload.ranks.all()] == ["master-0", "worker-0", "worker-1"]
    assert (workload.num_pods, workload.framework, workload.architecture) == (3, "", "roles")
    assert workload.has_tools
    assert not {"worker", "numWorkers", "architecture"} & workload.spec_json.keys()

    status, read = call("GET", f"{CREATE}/{made['workloadId']}")
    assert status == 200
    assert [role["name"] for role in read["spec"]["roles"]] == ["master", "worker"]
    assert read["spec"]["roles"][1]["ports"][0]["container"] == 8080
    again = {key: read[key] for key in ("projectId", "clusterId", "spec")} | {"name": "again"}
    status, second = call("POST", CREATE, again)
    assert status == 202, second
    assert second["spec"] == read["spec"]
    pods = call("GET", f"/workloads/{made['workloadId']}/pods")[1]["pods"]
    assert {pod["role"] for pod in pods} == {"master", "worker"}


def test_rest_refuses_at_its_field(call: Caller, project: Project) -> None:
    for given, field in [
        (body(project, MASTER, WORKER, spec={"image": "x:1"}), "spec.image"),
        (body(project, MASTER, WORKER, spec={"numWorkers": 2}), "spec.numWorkers"),
        (body(project, MASTER, WORKER, masterSpec={"image": "x:1"}), "masterSpec.image"),
        (body(project, MASTER, WORKER | {"count": 0}), "spec.roles.1.count"),
        (body(project, MASTER, WORKER | {"comand": "x"}), "spec.roles.1.comand"),
        (body(project, MASTER, {"name": "worker"}), "spec.roles.1.image"),
        (body(project, MASTER, MASTER), "spec.roles"),
        (body(project, MASTER, WORKER | {"nodeType": "dgx"}), "spec.roles.1.nodeType"),
        (body(project, MASTER, WORKER | {"assets": {"compute": "x"}}), "spec.roles.1.compute"),
        (body(project, MASTER | {"compute": {"gpuDevicesRequest": 60}}), "spec.roles"),
        (body(project, spec={"roles": "many"}), "spec.roles"),
    ]:
        status, refused = call("POST", CREATE, given)
        assert status == 400, given
        assert field in {issue["field"] for issue in refused["complianceIssues"]}, refused


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.extended)])
def test_odd_roles_are_refused_with_a_message(call: Caller, project: Project, step: int) -> None:
    """Of the odd values of keys, every one of ``step`` is sent."""
    make_policy(project, default("compute.cpuMemoryRequest", "300M"))
    make_policy(project.department, rule("numWorkers", max=4))
    environment = {"environment": str(EnvironmentFactory(home=project).pk)}
    odd: list[Any] = ["x", 5, None, [], {}, [[]], {"a": "b"}, [{"name": 5}], True]
    keys = ("name", "count", "leads", "assets", "dataSources", "compute", "storage")
    for key, value in list(product(keys, odd))[::step]:
        given = body(project, MASTER, WORKER | {key: value}, assets=environment)
        status, answer = call("POST", f"{CREATE}?dryRun=true", given)
        assert status == 200, (key, value, answer)
    for value in odd:
        # Among others, what is blank counts as not filled in, in each list.
        for roles in (value, [value], *([] if is_blank(value) else [[value, MASTER]])):
            status, answer = call(
                "POST", CREATE, body(project, spec={"roles": roles}, assets=environment)
            )
            assert status == 400, (roles, answer)


def test_a_role_has_assets_of_its_own(call: Caller, project: Project) -> None:
    environment = EnvironmentFactory(home=project)
    compute = ComputeResourceFactory(home=project)
    source = DataSourceFactory(
        home=project,
        spec_json={"kind": "git", "git": {"repository": "https://example.com/a", "path": "/code"}},
    )
    chosen = {"environment": str(environment.pk), "compute": str(compute.pk)}
    role = {
        "name": "worker",
        "assets": chosen,
        "command": "true",
        "dataSources": [{"id": str(source.pk), "path": "/elsewhere"}],
    }
    status, made = call("POST", CREATE, body(project, MASTER, role))
    assert status == 202, made
    master, worker = made["spec"]["roles"]
    assert worker["image"] == environment.spec.image
    assert worker["storage"]["git"][0]["path"] == "/elsewhere"
    assert master["image"] is None
    links = {(link.role, link.kind) for link in Workload.objects.get().assets.all()}
    assert links == {("worker", kind) for kind in ("environment", "compute", "data-source")}

    for_all = body(project, MASTER, WORKER, assets=chosen, name="for-all")
    status, made = call("POST", CREATE, for_all)
    assert status == 202, made
    assert {role["image"] for role in made["spec"]["roles"]} == {environment.spec.image}


def test_a_template_gives_roles_by_name(call: Caller, project: Project) -> None:
    template = TemplateFactory(
        home=project, draft_json=draft(project, MASTER, WORKER).model_dump(mode="json")
    )
    changed = {"name": "worker", "count": 1, "command": "false"}
    given = body(project, changed, templateId=str(template.pk))
    status, made = call("POST", CREATE, given)
    assert status == 202, made
    roles = {role["name"]: role["command"] for role in made["spec"]["roles"]}
    assert roles == {"master": "true", "worker": "false"}


def test_policies_hold_for_each_role_as_for_workers(project: Project, member: User) -> None:
    def found(*limits: dict[str, Any], role: Role = WORKER, **values: Any) -> Plan:
        Policy.objects.all().delete()
        for tree in limits:
            make_policy(project, tree)
        return plan(draft(project, MASTER, role, **values), by=member)

    assert found().is_submittable, problems(found())
    two = {"compute": {"gpuDevicesRequest": 2}}
    small = rule("compute.gpuDevicesRequest", max=1)
    assert "roles.1.compute.gpuDevicesRequest" in problems(found(small, role=WORKER | two))
    only = rule("image", options=[{"value": "a:1"}])
    assert "roles.1.image" in problems(found(only, role=WORKER | {"image": "b:1"}))
    required = problems(found(rule("image", required=True)))
    assert {"roles.0.image", "roles.1.image"} <= required.keys()
    assert "roles" in problems(found(rule("numWorkers", max=1)))
    framework = rule("distributedFramework", options=[{"value": "PyTorch"}])
    assert "distributedFramework" in problems(found(framework))

    filled = found(default("compute.cpuMemoryRequest", "300M"))
    assert filled.is_submittable, problems(filled)
    memories = [role["compute"]["cpuMemoryRequest"] for role in filled.document["roles"]]
    assert memories == ["300M", "300M"]
    assert filled.origin_of("roles[1].compute.cpuMemoryRequest") not in {"", "user"}
    assert found(default("numWorkers", 2)).is_submittable

    source = DataSourceFactory(scope="account", cluster=None, project=None)
    imposed = found({"imposedAssets": {"worker": [str(source.pk)]}})
    assert all("storage" in role for role in imposed.document["roles"])


def test_secrets_of_roles_reach_the_engine_and_no_preview(
    project: Project, member: User, call: Caller
) -> None:
    CredentialFactory(name="hub", home=project, entered={"token": "s3cret-token"})
    taken = {"name": "HF_TOKEN", "credential": {"name": "hub", "key": "token"}}
    typed = {"name": "API_TOKEN", "value": "typed-secret"}
    role = WORKER | {"environmentVariables": [taken, typed]}
    status, dry = call("POST", f"{CREATE}?dryRun=true", body(project, MASTER, role))
    assert status == 200
    assert dry["valid"], dry
    assert dry["manifests"]
    assert "typed-secret" not in str(dry)

    workload = services.submit(draft(project, MASTER, role), by=member)
    assert {(link.role, link.kind) for link in workload.assets.all()} == {("worker", "credential")}
    launch = launch_with_secrets(workload)
    variable = workload.spec.pods[1].replica.environment_variables[0]
    assert launch.secret_of(variable) == "s3cret-token"


def test_yaml_of_a_stored_draft_gives_the_same_workload(project: Project, member: User) -> None:
    given = draft(project, MASTER, WORKER, ignoreNonLeadStatus=True)
    back = parse_draft_yaml(write_draft_yaml(given, Names()), WorkloadDraft(), Names())
    assert back == given
    spec = plan(back, by=member).spec
    assert spec
    assert spec.ignore_non_lead_status
    unknown = given.model_copy(
        update={"values": {"roles": [MASTER | {"assets": {"compute": str(uuid4())}}]}}
    )
    assert "roles.0.compute" in problems(plan(unknown, by=member))


def test_pages_show_roles_and_a_copy_submits_them_again(
    project: Project, member: User, call: Caller
) -> None:
    workload = services.submit(draft(project, MASTER, WORKER), by=member)
    browser = signed_in(member)
    for tab in ("", "ranks/", "logs/"):
        page = browser.get(f"{workload.get_absolute_url()}{tab}")
        assert page.status_code == 200, tab
    assert "worker-1" in browser.get(f"{workload.get_absolute_url()}ranks/").text

    browser.post(reverse("workload-copy", args=[workload.pk]))
    copy = Draft.objects.get()
    setup, roles, review = (browser.get(page_address(copy, page)).text for page in (1, 2, 3))
    assert 'name="numWorkers"' not in roles + setup
    assert "sleep 1" in roles
    assert "1 master + 2 worker" in roles
    assert "leads · 1 pod · true" in review
    wizard = Wizard(member).open(page_address(copy, 1)).press("continue", name="again")
    assert "Roles" in wizard.page
    wizard.press("continue").press("create")
    again = Workload.objects.get(name="again")
    assert again.spec.roles == workload.spec.roles


def test_assets_of_roles_are_in_use_and_a_copy_keeps_their_values(
    project: Project, member: User
) -> None:
    environment = EnvironmentFactory(home=project)
    name = "a-role-with-a-name-of-forty-characters-0"
    chosen = {"environment": str(environment.pk)}
    role = {"name": name, "assets": chosen, "command": "true", "compute": {}}
    given = draft(project, MASTER, role)
    template = TemplateFactory(home=project, draft_json=given.model_dump(mode="json"))
    assert {pk for _, _, pk in TEMPLATE.references(template)} == {environment.pk}

    workload = services.submit(given, by=member)
    (link,) = workload.assets.all()
    link.full_clean()
    assert (link.role, link.asset_id) == (name, environment.pk)
    image = environment.spec.image
    environment.delete()
    copy = services.copy(workload, by=member)
    planned = plan(copy.content, by=member)
    assert planned.is_submittable, problems(planned)
    assert planned.document["roles"][1]["image"] == image


def test_a_rule_for_node_types_holds_for_each_role(project: Project, member: User) -> None:
    Project.objects.filter(pk=project.pk).update(training_node_types=["dgx"])
    found = problems(plan(draft(project, MASTER, WORKER), by=member))
    assert {"roles.0.nodeType", "roles.1.nodeType"} <= found.keys()


def test_a_wrong_role_is_told_on_its_page(project: Project, member: User) -> None:
    content = draft(project, MASTER, {"name": "worker"})
    stored = Draft(owner=member, touched=["roles"])
    stored.content = content
    stored.save()
    page = signed_in(member).get(page_address(stored, 2)).text
    assert "roles[1].image: is required." in page


def test_roles_of_a_framework_need_no_operator_of_it(call: Caller, project: Project) -> None:
    cluster = project.cluster
    cluster.kind = "kubernetes"
    lacking = {"framework": "TF", "available": False, "why": "The cluster has no TFJob."}
    cluster.capabilities_json = {"frameworks": [lacking], "queues": True}
    cluster.save()
    chief = {"name": "chief", "leads": True, "image": "train:1"}
    made = body(project, chief, spec={"distributedFramework": "TF"})
    status, answer = call("POST", CREATE, made)
    assert status == 202, answer
