"""Every list takes the same parameters, and sorts by each field that it says it has."""

from urllib.parse import urlencode

import pytest

from accounts.models import User
from projects.models import Project
from tests.caller import Caller
from tests.described import document, operations
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory

TAKEN = {"filterBy", "search", "sortBy", "sortOrder", "offset", "limit"}
LISTS = {
    name.removeprefix("GET /api/v1"): {it["name"]: it for it in described["parameters"]}
    for name, described in operations(document())
    if described["operationId"].startswith("list_")
    or described["operationId"] == "read_workload_history"
}
#: Of a kind of asset all have the same, and so have templates of a kind of workload.
ALIKE = ("/asset/", "/workload-templates/")
ASKED = [path for path in LISTS if not path.startswith(ALIKE) and "{webhook_id}" not in path]
OF_A_TIME = {"start": "2026-01-01T00:00:00Z", "end": "2036-01-01T00:00:00Z"}


@pytest.fixture
def boss() -> User:
    return UserFactory.create(administrator=True, username="boss")


@pytest.fixture
def project(boss: User) -> Project:
    return ProjectFactory.create(name="vision", members=[boss])


def test_every_list_is_filtered_searched_sorted_and_cut() -> None:
    assert len(LISTS) > 40
    assert {path: TAKEN - taken.keys() for path, taken in LISTS.items()} == {
        path: set() for path in LISTS
    }


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.django_db
def test_a_list_names_its_fields_and_sorts_by_each(path: str, boss: User, project: Project) -> None:
    workload = WorkloadFactory.create(project=project)
    places = {"workload_id": workload.pk, "cluster_id": project.cluster_id}
    asked = {"clusterId": str(project.cluster_id)} if path.startswith("/storage-classes") else {}
    asked |= OF_A_TIME if "start" in LISTS[path] else {}
    call = Caller(boss)

    def answer(**more: object) -> tuple[int, object]:
        return call("GET", f"{path.format(**places)}?{urlencode({**asked, **more})}")

    status, refused = answer(filterBy="nothing==1")
    assert status == 400
    assert isinstance(refused, dict)
    fields = refused["details"].removeprefix("Known: ").removesuffix(".").split(", ")
    for field in fields:
        for order in ("asc", "desc"):
            status, body = answer(sortBy=field, sortOrder=order, limit=1, search="v")
            assert status == 200, (field, body)
