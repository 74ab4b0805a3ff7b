"""Categories are those of the workloads that one sees."""

from projects.models import Project
from tests.caller import Caller
from tests.factories import WorkloadFactory
from workloads.models import Workload


def test_a_category_that_old_rules_let_in_takes_no_list_down(
    call: Caller, project: Project
) -> None:
    for category in ("Nightly", 7):
        workload = WorkloadFactory.create(project=project)
        spec = workload.spec_json | {"category": category}
        Workload.objects.filter(pk=workload.pk).update(spec_json=spec)
    status, answer = call("GET", "/workload-categories")
    assert status == 200, answer
    assert [it["name"] for it in answer["categories"]] == ["Nightly"]
