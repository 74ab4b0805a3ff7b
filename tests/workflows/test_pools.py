"""Pools: the table, and what it leads to."""

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from accounts.models import User
from projects.models import Project
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from tests.web import signed_in
from workflows import pools
from workflows.models import Pool, Workflow
from workflows.reading import WorkflowFile, read_file

FILE = """\
workflow:
  name: digits
  pool: a100
  tasks:
  - {name: train, image: alpine, command: ["true"]}
"""


@pytest.fixture
def administrator(db: None) -> User:
    return UserFactory.create(administrator=True)


@pytest.fixture
def pool(project: Project, administrator: User) -> Pool:
    return pools.save("a100", project=project, description="Fast nodes", by=administrator)


def test_only_who_may_change_settings_changes_pools(project: Project, member: User) -> None:
    with pytest.raises(PermissionDenied):
        pools.save("a100", project=project, description="", by=member)
    assert Caller(member)("PUT", "/pools/a100", {"projectId": str(project.pk)})[0] == 403


def test_a_pool_has_a_name_that_command_lines_take(project: Project, administrator: User) -> None:
    with pytest.raises(ValidationError, match="start with a letter"):
        pools.save("no such", project=project, description="", by=administrator)


def test_a_pool_is_saved_listed_and_deleted_by_rest(administrator: User, project: Project) -> None:
    call = Caller(administrator)
    body = {"projectId": str(project.pk), "description": "Fast nodes"}
    assert call("PUT", "/pools/a100", body)[1]["projectName"] == "vision"
    for unknown in ("99999", "vision", "0.5"):
        assert call("PUT", "/pools/a100", body | {"projectId": unknown})[0] == 400
    assert [it["name"] for it in call("GET", "/pools")[1]["pools"]] == ["a100"]
    assert call("DELETE", "/pools/a100")[0] == 204
    assert call("DELETE", "/pools/a100")[0] == 404


@pytest.mark.usefixtures("pool")
def test_a_workflow_is_submitted_to_a_pool_by_its_name(project: Project, member: User) -> None:
    call = Caller(member)
    _, rendered = call("POST", "/osmo/pool/vision/workflow?dry_run=true", {"file": FILE})
    assert rendered["pool"] == "a100"
    assert call("POST", "/osmo/pool/a100/workflow", {"file": FILE})[0] == 200
    assert Workflow.objects.get().project == project
    stranger = Caller(UserFactory.create())
    assert stranger("GET", "/pools")[1]["pools"] == []


@pytest.mark.usefixtures("pool")
def test_the_report_says_whether_the_pool_of_the_file_is_meant(
    project: Project, member: User
) -> None:
    def note(text: str, home: Project) -> str:
        report = read_file(WorkflowFile(text), project=home, by=member).text.report
        return next(row["text"] for row in report if row["line"] == 3)

    other = ProjectFactory.create(cluster=project.cluster, members=[member])
    assert note(FILE, project) == "pool a100 is this project."
    assert "another project" in note(FILE, other)
    assert "not known here" in note(FILE.replace("a100", "h100"), project)


@pytest.mark.usefixtures("pool")
def test_pools_show_what_is_used_of_quotas_and_clusters(project: Project, member: User) -> None:
    project.gpu_quota = 1
    project.save()
    WorkloadFactory.create(project=project, running=True, gpus=3)
    neighbor = ProjectFactory.create(name="audio", cluster=project.cluster, members=[member])
    by_name = {use.name: use for use in pools.read_use(member)}
    assert by_name.keys() == {"a100", "audio"}
    a100 = by_name["a100"]
    assert (a100.used, a100.limit, a100.usage, a100.capacity, a100.free) == (1, 1, 3, 4, 1)
    assert by_name["audio"].project == neighbor
    assert [use.name for use in pools.read_use(member, ["audio"])] == ["audio"]


def test_administrators_keep_the_table_on_a_page(administrator: User, project: Project) -> None:
    browser = signed_in(administrator)
    assert "No pools yet" in browser.get("/workflows/pools/").content.decode()
    values = {"name": "a100", "project": str(project.pk), "description": "Fast nodes"}
    assert browser.post("/workflows/pools/new/", values).status_code == 302
    taken = browser.post("/workflows/pools/new/", values)
    assert "exists already" in taken.content.decode()
    edited = {"project": str(project.pk), "description": "Slow nodes"}
    assert browser.post("/workflows/pools/a100/edit/", edited).status_code == 302
    assert Pool.objects.get().description == "Slow nodes"
    assert browser.post("/workflows/pools/a100/delete/").status_code == 302
    assert not Pool.objects.exists()
