"""Rows that no longer validate, as after an upgrade that tightens a rule: each shows as such, and
no page fails for it."""

from typing import Any

import pytest

from accounts.models import User
from clusters.connections import engine_for
from clusters.models import Cluster
from engines.base import EngineUnavailable
from projects.models import Project
from spec.phases import Phase
from tests.caller import Caller
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
    WorkloadFactory,
)
from tests.web import signed_in
from tests.workloads.wizard.browser import Inputs
from workloads import reconcile
from workloads.models import Draft, Workload
from workloads.scheduling import admission, capacity
from workloads.wizard import drafts

pytestmark = pytest.mark.django_db
ODD: list[Any] = [
    pytest.param({"image": "a b"}, marks=pytest.mark.extended),
    {"gone": 1},
    pytest.param({}, marks=pytest.mark.extended),
    [],
    pytest.param(5, marks=pytest.mark.extended),
    {"security": 5},
    {"gpuDevicesRequest": -1},
]
NO_LONGER = "No longer valid"


@pytest.fixture
def user() -> User:
    return UserFactory(administrator=True)


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory(members=[user])


@pytest.mark.parametrize("document", ODD, ids=str)
@pytest.mark.parametrize("factory", [EnvironmentFactory, ComputeResourceFactory])
def test_an_asset_of_old_rules_is_marked_and_breaks_no_page(
    user: User, project: Project, factory: Any, document: Any
) -> None:
    client = signed_in(user)
    _ = factory(home=project, name="good")
    odd = factory(home=project, name="odd", spec_json=document)
    gallery = odd.get_absolute_url().rsplit("/", 2)[0]
    page = client.get(f"{gallery}/").content.decode()
    assert "good" in page
    is_valid = factory is ComputeResourceFactory and document == {}
    assert (NO_LONGER in page) is not is_valid
    for verb in ("", "edit/", "copy/", "delete/"):
        assert client.get(f"{odd.get_absolute_url()}{verb}").status_code == 200, verb
    draft = drafts.begin(user, project=str(project.pk))
    kind = "environment" if factory is EnvironmentFactory else "compute"
    content = draft.content
    content.worker.assets = {kind: odd.pk}
    draft.content = content
    draft.save()
    for step in (1, 2, 3):
        assert client.get(f"/workloads/drafts/{draft.pk}/{step}/").status_code == 200


def test_an_environment_of_old_rules_is_put_right_by_its_form(user: User, project: Project) -> None:
    old = {"image": "a b", "gone": 1, "security": {"gone": 2}}
    odd = EnvironmentFactory(home=project, spec_json=old)
    client = signed_in(user)
    address = f"{odd.get_absolute_url()}edit/"
    page = client.get(address).content.decode()
    answer = client.post(address, Inputs(page).values | {"image": "good:1"})
    assert answer.status_code == 302, answer.content
    odd.refresh_from_db()
    assert odd.spec.image == "good:1"


@pytest.mark.parametrize("document", [{"framework": 5}, {"gone": 1}, {"worker": 3}, [], None])
def test_templates_and_drafts_of_old_rules_are_read_in_part(
    user: User, project: Project, document: Any
) -> None:
    client = signed_in(user)
    template = TemplateFactory(home=project, draft_json=document if document is not None else 7)
    assert NO_LONGER in client.get("/templates/").content.decode()
    for verb in ("", "edit/", "copy/", "delete/"):
        assert client.get(f"{template.get_absolute_url()}{verb}").status_code == 200, verb
    draft = Draft.objects.create(
        owner=user, document=document if document is not None else 7, touched=["name"]
    )
    assert "Partly unreadable" in client.get("/workloads/").content.decode()
    answer = client.get(f"/workloads/drafts/{draft.pk}/1/")
    assert answer.status_code == 200
    assert "is no longer readable" in answer.content.decode()
    begun = client.get(f"/workloads/new/?template={template.pk}", follow=True)
    assert begun.status_code == 200


@pytest.mark.parametrize("document", [{"worker": {"image": "a b"}}, {"gone": 1}, {}, {"worker": 5}])
def test_a_workload_of_old_rules_shows_as_such_and_holds_nobody_up(
    user: User, project: Project, document: Any
) -> None:
    client = signed_in(user)
    call = Caller(user)
    old = WorkloadFactory(project=project, running=True, name="old")
    Workload.objects.filter(pk=old.pk).update(spec_json=document)
    for tab in ("", "ranks/", "logs/", "metrics/", "events/", "spec/", "tools/", "terminal/"):
        answer = client.get(f"{old.get_absolute_url()}{tab}")
        assert answer.status_code in {200, 404}, tab
    assert "spec is no longer valid" in client.get(old.get_absolute_url()).content.decode()
    assert client.get("/workloads/").status_code == 200
    assert call("GET", f"/workloads/distributed/{old.pk}")[0] == 200
    assert call("GET", "/workloads")[0] == 200
    assert client.post(f"/workloads/{old.pk}/copy/", follow=True).status_code == 200
    there = capacity.occupying_workloads(project.cluster)
    room = capacity.free_room(project.cluster, there)
    whole = capacity.total_room(project.cluster)
    assert room.cpu < whole.cpu, "it is counted as what it was submitted with"


def test_a_workload_of_old_rules_waits_and_delays_no_other(
    project: Project, sent: list[Any]
) -> None:
    old = WorkloadFactory(project=project, pending=True)
    Workload.objects.filter(pk=old.pk).update(spec_json={"gone": 1})
    later = WorkloadFactory(project=project, pending=True)
    assert admission.admit_waiting(project.cluster) == 1
    old.refresh_from_db()
    later.refresh_from_db()
    assert (old.phase, later.phase) == (Phase.PENDING, Phase.INITIALIZING)
    assert "Its spec is no longer valid: " in old.message
    assert "gone: is not a known field" in old.message


def test_a_workload_of_old_rules_that_was_admitted_ends_with_the_reason(
    project: Project, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = WorkloadFactory(project=project, initializing=True)
    Workload.objects.filter(pk=old.pk).update(spec_json={"gone": 1})
    reconcile.launch(Workload.objects.get(pk=old.pk))
    old.refresh_from_db()
    assert old.phase == Phase.FAILED
    assert "The spec is no longer valid: " in old.message


CLUSTER: list[dict[str, Any]] = [
    {"settings_json": {"namespace_prefix": "NO!", "gone": 1}},
    {"capabilities_json": {"frameworks": [{"framework": "Caffe"}]}},
    {"capabilities_json": {"frameworks": 5}},
    {"findings_json": [{"area": "x", "level": "odd"}]},
]


@pytest.mark.parametrize("values", CLUSTER, ids=lambda values: str(values)[:50])
def test_a_cluster_of_old_rules_takes_no_page_down(
    user: User, project: Project, values: dict[str, Any]
) -> None:
    client = signed_in(user)
    call = Caller(user)
    cluster = project.cluster
    WorkloadFactory(project=project, running=True)
    Cluster.objects.filter(pk=cluster.pk).update(kind="kubernetes", **values)
    cluster.refresh_from_db()
    for path in ("", "connection/", "edit/", "nodes/", "pools/"):
        assert client.get(f"{cluster.get_absolute_url()}{path}").status_code in {200, 404}, path
    assert client.get("/clusters/").status_code == 200
    assert client.get("/workloads/").status_code == 200
    assert call("GET", f"/clusters/{cluster.pk}")[0] == 200
    draft = drafts.begin(user, project=str(project.pk))
    for step in (1, 2, 3):
        assert client.get(f"/workloads/drafts/{draft.pk}/{step}/").status_code == 200
    if "settings_json" in values:
        with pytest.raises(EngineUnavailable, match="settings are no longer valid"):
            engine_for(cluster)
        assert "settings are no longer valid" in cluster.outage
        change = {"namespacePrefix": "good-"}
        status, answer = call("PUT", f"/clusters/{cluster.pk}", change)
        assert status == 200, answer
        assert not Cluster.objects.get(pk=cluster.pk).settings_fault
