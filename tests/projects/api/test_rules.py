"""REST: scheduling rules of projects and departments, in Run:ai's words."""

import pytest

from projects.models import Department, Project
from tests.caller import Caller
from tests.factories import ClusterFactory, DepartmentFactory, ProjectFactory, UserFactory

pytestmark = pytest.mark.django_db
PROJECTS = "/org-unit/projects"
DEPARTMENTS = "/org-unit/departments"


@pytest.fixture
def admin_call() -> Caller:
    return Caller(UserFactory(administrator=True))


def test_rules_are_set_and_answered_by_rest(admin_call: Caller) -> None:
    cluster = ClusterFactory(kind="kubernetes")
    body = {
        "name": "vision",
        "clusterId": str(cluster.pk),
        "schedulingRules": {"trainingJobTimeLimitSeconds": 7200, "extensionSeconds": 600},
        "nodeTypes": {"training": ["a100"], "workspace": None},
    }
    status, made = admin_call("POST", PROJECTS, body)
    assert status == 201, made
    rules = made["schedulingRules"]
    assert (rules["trainingJobTimeLimitSeconds"], rules["extensionSeconds"]) == (7200, 600)
    assert rules["interactiveJobTimeLimitSeconds"] is None
    assert made["nodeTypes"] == {"training": ["a100"], "workspace": [], "names": None}
    again = {key: made[key] for key in ("schedulingRules", "nodeTypes")}
    assert admin_call("PUT", f"{PROJECTS}/{made['id']}", again)[1]["schedulingRules"] == rules


def test_a_given_object_replaces_all_rules_and_a_missing_one_none(admin_call: Caller) -> None:
    department = DepartmentFactory(
        training_job_time_limit_seconds=7200, interactive_job_time_limit_seconds=3600
    )
    path = f"{DEPARTMENTS}/{department.pk}"
    assert admin_call("PUT", path, {"name": "lab", "schedulingRules": None})[0] == 200
    assert Department.objects.get().training_job_time_limit_seconds == 7200
    rules = {"interactiveJobTimeLimitSeconds": 1800}
    assert admin_call("PUT", path, {"schedulingRules": rules})[0] == 200
    changed = Department.objects.get()
    assert changed.interactive_job_time_limit_seconds == 1800
    assert changed.training_job_time_limit_seconds is None


def test_a_looser_rule_is_refused_at_its_path(admin_call: Caller) -> None:
    department = DepartmentFactory(training_job_time_limit_seconds=3600)
    project = ProjectFactory(department=department, cluster=department.cluster)
    body = {"schedulingRules": {"trainingJobTimeLimitSeconds": 7200}}
    status, answer = admin_call("PUT", f"{PROJECTS}/{project.pk}", body)
    assert status == 400
    (issue,) = answer["complianceIssues"]
    assert issue["field"] == "schedulingRules.trainingJobTimeLimitSeconds"
    assert Project.objects.get().training_job_time_limit_seconds is None
