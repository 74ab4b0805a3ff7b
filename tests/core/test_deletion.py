"""Rows that others need are kept, and verbs, pages and REST say so in the same words."""

from collections.abc import Callable

import pytest

from accounts import tokens
from accounts.models import User
from accounts.permissions import PERMISSIONS
from assets.compute.kind import COMPUTE
from audit.models import AuditEntry
from core.deletion import InUse
from projects.models import Project
from projects.services import delete_project
from spec.formats import documents
from tests.caller import Caller
from tests.factories import (
    ClusterFactory,
    ComputeResourceFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
    add_members,
)
from tests.web import signed_in
from workloads.models import Workload

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator() -> User:
    return UserFactory.create(administrator=True)


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(name="vision", cluster=ClusterFactory.create(name="kept"))


def project_in_use(project: Project) -> tuple[str, str, str]:
    WorkloadFactory.create(running=True, name="mnist", project=project)
    words = "vision has workloads: mnist. Delete them first."
    return f"/projects/{project.pk}/", f"/org-unit/projects/{project.pk}", words


def department_in_use(project: Project) -> tuple[str, str, str]:
    words = f"{project.department} has projects: vision. Delete them or move them first."
    pk = project.department_id
    return f"/departments/{pk}/", f"/org-unit/departments/{pk}", words


def cluster_in_use(project: Project) -> tuple[str, str, str]:
    type(project.cluster).objects.update(kind="kubernetes")  # the local one stays for good
    words = "kept has projects: vision. Delete them first."
    return project.cluster.get_absolute_url(), f"/clusters/{project.cluster_id}", words


def node_pool_in_use(project: Project) -> tuple[str, str, str]:
    pool = project.cluster.pools.create(name="fast", label_key="gpu", label_value="a100")
    workload = WorkloadFactory.create(running=True, name="mnist", project=project)
    spec = documents.dump_spec(workload.spec) | {"nodePools": ["fast"]}
    Workload.objects.filter(pk=workload.pk).update(spec_json=spec)
    words = "Workloads use fast: mnist. Delete them first."
    page = f"{project.cluster.get_absolute_url()}node-pools/{pool.pk}/"
    return page, f"/node-pools/{pool.pk}", words


def asset_in_use(project: Project) -> tuple[str, str, str]:
    compute = ComputeResourceFactory.create(home=project, name="small")
    for name in ("a", "b", "c", "d"):
        workload = WorkloadFactory.create(running=True, name=name, project=project)
        workload.assets.create(role="worker", kind=COMPUTE.slug, asset_id=compute.pk)
    words = (
        "small is used by workload a, workload b, workload c and others. "
        "Delete or change those first."
    )
    return COMPUTE.address("detail", compute.pk), f"/asset/compute/{compute.pk}", words


@pytest.mark.parametrize(
    "rows", [project_in_use, department_in_use, cluster_in_use, node_pool_in_use, asset_in_use]
)
def test_page_and_rest_keep_what_is_in_use_and_say_the_same(
    administrator: User, project: Project, rows: Callable[[Project], tuple[str, str, str]]
) -> None:
    page, path, words = rows(project)
    browser = signed_in(administrator)
    question = browser.get(f"{page}delete/")
    assert (question.status_code, question.context["refusal"]) == (200, words)
    answer = browser.post(f"{page}delete/")
    assert (answer.status_code, answer.context["refusal"]) == (422, words)
    status, body = Caller(administrator)("DELETE", path)
    assert (status, body["message"]) == (409, words)
    assert browser.get(f"{page}delete/").status_code == 200, "it is still there"


@pytest.mark.parametrize(
    ("rows", "scopes", "words"),
    [
        (project_in_use, ["projects"], "vision has workloads: 1 that you cannot open. For what"),
        (department_in_use, ["departments"], "has projects: 1 that you cannot open. For what"),
        (cluster_in_use, ["clusters"], "kept has projects: 1 that you cannot open. For what"),
        (node_pool_in_use, ["nodepools"], "Workloads use fast: 1 that you cannot open. For what"),
        (
            asset_in_use,
            ["compute-resources"],
            "small is used by 4 workloads that you cannot open. For what",
        ),
    ],
)
def test_nothing_is_named_that_the_reader_cannot_open(
    administrator: User,
    project: Project,
    rows: Callable[[Project], tuple[str, str, str]],
    scopes: list[str],
    words: str,
) -> None:
    _, path, _ = rows(project)
    allowed = {f"{it}.delete" for it in scopes} | {f"{it}.read" for it in (*scopes, "clusters")}
    administrator.acting_key, _ = tokens.make_key(
        administrator, "tidy", scopes=sorted(allowed & PERMISSIONS)
    )
    status, body = Caller(administrator)("DELETE", path)
    assert status == 409
    assert words in body["message"]
    assert body["message"].endswith("For what you cannot open, ask an administrator.")


def test_a_refusal_names_what_the_reader_can_open_and_counts_the_rest(project: Project) -> None:
    ada = UserFactory.create()
    compute = ComputeResourceFactory.create(home=project, name="small")
    add_members(project, ada)
    for name, home in (("mnist", project), ("moved", ProjectFactory.create())):
        workload = WorkloadFactory.create(running=True, name=name, project=home)
        workload.assets.create(role="worker", kind=COMPUTE.slug, asset_id=compute.pk)
    words = (
        "small is used by workload mnist, and 1 workload that you cannot open. "
        "Delete or change those first. For what you cannot open, ask an administrator."
    )
    browser = signed_in(ada)
    page = COMPUTE.address("delete", compute.pk)
    assert browser.get(page).context["refusal"] == words
    assert browser.post(page).context["refusal"] == words


@pytest.mark.parametrize(
    ("later", "words"),
    [
        ("vision has workloads: mnist.", "vision has workloads: mnist."),
        ("", "vision was in use a moment ago. Try again."),
    ],
)
def test_a_workload_that_comes_after_the_obstacle_was_asked_keeps_its_project(
    administrator: User, project: Project, monkeypatch: pytest.MonkeyPatch, later: str, words: str
) -> None:
    WorkloadFactory.create(running=True, project=project)
    obstacles = iter(["", later])
    monkeypatch.setattr("projects.services.obstacle_to_delete", lambda project, by: next(obstacles))
    with pytest.raises(InUse) as refused:
        delete_project(project, by=administrator)
    assert str(refused.value) == words
    assert Project.objects.filter(pk=project.pk).exists()
    assert not AuditEntry.objects.filter(verb="delete").exists()
