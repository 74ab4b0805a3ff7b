"""Every list takes the same parameters, and sorts by each field that it says it has."""

from collections.abc import Callable
from itertools import cycle
from urllib.parse import urlencode

import pytest

from assets.data_source.datasets.model import DatasetVersion
from assets.datasets import services
from tests.caller import Caller
from tests.datasets import make_dataset
from tests.described import document, operations
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from workloads.models import Workload

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


#: Fields with words that people or clusters choose. All other text is one of a few words.
OF_ANY_WORD = {
    *("name", "description", "key", "label", "value", "message", "why", "subject", "username"),
    *("email", "url", "images", "category", "template", "actor", "labelKey", "labelValue"),
    *("id", "clientId", "subjectId", "scopeId", "scopeName", "roleName", "nodePool", "nodeName"),
    "role",
    *("createdBy", "submittedBy", "storageClassName", "storage_class_name", "parentName"),
    *("projectName", "departmentName", "clusterName", "workloadName", "clusterQueue"),
    *("entity_name", "entity_id", "role", "path", "sha256"),
}


@pytest.fixture
def call(db: None) -> Caller:
    return Caller(UserFactory.create(administrator=True, username="boss"))


@pytest.fixture
def workload(call: Caller) -> Workload:
    project = ProjectFactory.create(name="vision", members=[call.user])
    return WorkloadFactory.create(project=project)


def test_every_list_is_filtered_searched_sorted_and_cut() -> None:
    assert len(LISTS) > 40
    assert {path: TAKEN - taken.keys() for path, taken in LISTS.items()} == {
        path: set() for path in LISTS
    }


def _asking(path: str, call: Caller, workload: Workload) -> Callable[..., tuple[int, object]]:
    """Ask for the list with these parameters."""
    cluster = workload.project.cluster_id
    version = DatasetVersion.objects.first() or services.begin_version(
        make_dataset(workload.project, call.user), by=call.user
    )
    places = {
        "dataset_id": version.dataset_id,
        "version": version.pk,
        "workload_id": workload.pk,
        "cluster_id": cluster,
        "project_id": workload.project_id,
    }
    asked = {"clusterId": str(cluster)} if path.startswith("/storage-classes") else {}
    asked |= OF_A_TIME if "start" in LISTS[path] else {}

    def answer(**more: object) -> tuple[int, object]:
        return call("GET", f"{path.format(**places)}?{urlencode({**asked, **more})}")

    return answer


def _fields_of(answer: Callable[..., tuple[int, object]]) -> list[str]:
    """The fields that the list has, as it says when it is asked for another."""
    status, refused = answer(filterBy="nothing==1")
    assert status == 400
    assert isinstance(refused, dict)
    fields: list[str] = refused["details"].removeprefix("Known: ").removesuffix(".").split(", ")
    return fields


def test_a_list_names_its_fields_and_sorts_by_each(call: Caller, workload: Workload) -> None:
    orders = cycle(("asc", "desc"))  # which one function applies, whatever the field
    for path in ASKED:
        answer = _asking(path, call, workload)
        for field in _fields_of(answer):
            status, body = answer(sortBy=field, sortOrder=next(orders), limit=1, search="v")
            assert status == 200, (path, field, body)


def test_an_impossible_value_is_refused_with_the_possible_ones(
    call: Caller, workload: Workload
) -> None:
    for path in ASKED:
        answer = _asking(path, call, workload)
        for field in sorted(set(_fields_of(answer)) - OF_ANY_WORD):
            status, refused = answer(filterBy=f"{field}==nonsense")
            assert status == 400, (path, field)
            assert isinstance(refused, dict)
            assert "'nonsense' is not " in refused["message"], (path, field)
