"""Filters of the list of workloads over REST."""

from urllib.parse import urlencode

import pytest

from projects.models import Project
from spec.formats import documents
from spec.parts.scheduling import PriorityClass
from tests.caller import Caller
from tests.factories import WorkloadFactory, workload_spec
from workloads.models import Workload


def names(call: Caller, **query: object) -> list[str]:
    status, answer = call("GET", f"/workloads?{urlencode(query, doseq=True)}")
    assert status == 200, answer
    return [row["name"] for row in answer["workloads"]]


GAMMA = {
    "node_pools": ("a100", "a1"),
    "category": "Build",
    "priority_class": PriorityClass.HIGH,
}


@pytest.fixture
def three(project: Project) -> list[Workload]:
    return [
        WorkloadFactory.create(project=project, name="alpha", running=True, gpus=1),
        WorkloadFactory.create(project=project, name="beta", completed=True, gpus=2),
        WorkloadFactory.create(
            project=project,
            name="gamma",
            failed=True,
            gpus=3,
            failure_class="disk-full",
            spec_json=documents.dump_spec(workload_spec().model_copy(update=GAMMA)),
        ),
    ]


FILTERS = [
    ("name==alpha", ["alpha"]),
    ("name!=alpha", ["beta", "gamma"]),
    ("name=@et", ["beta"]),
    ("name!@a", []),
    ("name=^ga", ["gamma"]),
    ("name=$ta", ["beta"]),
    ("requestedGPU>=2", ["beta", "gamma"]),
    ("requestedGPU<=1", ["alpha"]),
    ("allocatedGPU>=1", ["alpha"]),
    ("allocatedGPU==0", ["beta", "gamma"]),
    ("phase==Failed", ["gamma"]),
    ("phase!=Failed", ["alpha", "beta"]),
    ("phase=@ed", ["beta", "gamma"]),
    ("phase!@ed", ["alpha"]),
    ("phase=^fa", ["gamma"]),
    ("phase==Updating", []),
    ("type=@dist", ["alpha", "beta", "gamma"]),
    ("type!@dist", []),
    ("distributedFramework=^Py", ["alpha", "beta", "gamma"]),
    ("createdAt>=2020-01-01T00:00:00Z", ["alpha", "beta", "gamma"]),
    ("createdAt<=2020-01-01T00:00:00Z", []),
    ("departmentName=^department", ["alpha", "beta", "gamma"]),
    ("clusterName=^lo", ["alpha", "beta", "gamma"]),
    ("clusterName=$nowhere", []),
    ("nodePool==a100", ["gamma"]),
    ("nodePool==A100", []),
    ("nodePool==a1", ["gamma"]),
    ("nodePool==a", []),
    ("nodePool!=a100", ["alpha", "beta"]),
    ("nodePool=^a10", ["gamma"]),
    ("nodePool=$00", ["gamma"]),
    ("nodePool=@10", ["gamma"]),
    ("nodePool=@.", []),
    ("nodePool!@1", ["alpha", "beta"]),
    ("category==Build", ["gamma"]),
    ("category!=Build", ["alpha", "beta"]),
    ("category=@buil", ["gamma"]),
    ("priorityClassName==high", ["gamma"]),
    ("priorityClassName=^hi", ["gamma"]),
    ("failureClass==disk-full", ["gamma"]),
    ("failureClass!=", ["gamma"]),
    ("failureClass==", ["alpha", "beta"]),
    ("failureClass=^disk", ["gamma"]),
    ("phaseReason!@Quota", ["alpha", "beta", "gamma"]),
]


@pytest.mark.usefixtures("three")
def test_workloads_listed_by_rest_pass_the_filter(call: Caller) -> None:
    for text, expected in FILTERS:
        assert names(call, filterBy=[text], sortBy="name") == expected, text


@pytest.mark.parametrize(("operator", "expected"), [("==", 1), ("<=", 1), (">=", 3), ("!=", 2)])
def test_a_moment_that_was_answered_is_found_by_it(
    call: Caller, three: list[Workload], operator: str, expected: int
) -> None:
    told = call("GET", f"/workloads/{three[0].pk}")[1]["createdAt"]
    assert len(names(call, filterBy=[f"createdAt{operator}{told}"])) == expected


def test_a_workload_is_found_by_its_id_and_its_department(
    call: Caller, three: list[Workload]
) -> None:
    assert names(call, filterBy=f"id=={three[1].pk}") == ["beta"]
    department = three[1].project.department_id
    assert len(names(call, filterBy=f"departmentId=={department}")) == 3


def test_commas_join_filters_or_belong_to_a_value(call: Caller, three: list[Workload]) -> None:
    assert names(call, filterBy="requestedGPU>=2,phase==Failed") == ["gamma"]
    assert names(call, filterBy="requestedGPU>=2, name=^b") == ["beta"]
    assert names(call, filterBy="name!=a,b", sortBy="name") == ["alpha", "beta", "gamma"]


def test_filters_add_up_and_search_looks_everywhere(call: Caller, three: list[Workload]) -> None:
    assert names(call, filterBy=["requestedGPU>=2", "phase==Failed"]) == ["gamma"]
    assert names(call, search="MNIST", sortBy="name", sortOrder="desc")[0] == "gamma"


@pytest.mark.parametrize(
    "query",
    [
        "filterBy=name",
        "filterBy=colour==red",
        "filterBy=requestedGPU==many",
        "filterBy=createdAt==soon",
        "filterBy=requestedGPU=@1",
        "filterBy=requestedPods==nan",
        "filterBy=projectId==1e400",
        "filterBy=clusterId==here",
        "filterBy=clusterId=@a",
        "filterBy=id==here",
        "filterBy=phase==Finished",
        "filterBy=type!=Pod",
        "filterBy=failureClass==nonsense",
        "filterBy=phaseReason==nonsense",
        "filterBy=priorityClassName!=nonsense",
        "filterBy=distributedFramework==Torch",
        "filterBy=nodePool>=a",
        "filterBy=departmentId==research",
        "filterBy=createdAt>=0001-01-01T00:00:00%2B14:00",
        "filterBy=colour==red,name==alpha",
        "sortBy=colour",
    ],
)
def test_a_filter_that_cannot_be_read_says_so(call: Caller, query: str) -> None:
    status, answer = call("GET", f"/workloads?{query}")
    assert status == 400
    assert query.split("=", 1)[1].split("=")[0] in answer["message"]


def test_a_word_that_does_not_exist_is_refused_with_those_that_do(call: Caller) -> None:
    status, answer = call("GET", "/workloads?filterBy=failureClass==nonsense")
    assert status == 400
    assert "'nonsense' is not a value of this field" in answer["message"]
    assert "cuda-out-of-memory" not in answer["message"], "they are in the details, once"
    assert answer["details"].startswith("Known: ")
    assert answer["details"].count("cuda-out-of-memory,") == 1
    assert answer["details"].endswith(", or nothing.")
    assert call("GET", "/workloads?filterBy=failureClass==")[0] == 200


def test_nothing_is_offered_only_where_a_field_may_be_empty(call: Caller) -> None:
    answer = call("GET", "/workloads?filterBy=distributedFramework==nonsense")[1]
    assert answer["details"].startswith("Known: ")
    assert "nothing" not in answer["details"]
