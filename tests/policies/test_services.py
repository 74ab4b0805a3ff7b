"""Policies are saved by those who may, with versions, and never loosen what a wider scope rules."""

import pytest
from django.core.exceptions import PermissionDenied

from audit.models import AuditEntry
from policies.models import Policy, find_rules
from policies.services import delete_policy
from spec.kind import WorkloadKind
from spec.problems.errors import SpecError, path_text
from tests.factories import DepartmentFactory, ProjectFactory, UserFactory, give
from tests.policies.examples import Tree, default, make_policy, rule

pytestmark = pytest.mark.django_db


def test_a_second_save_makes_a_version() -> None:
    project = ProjectFactory()
    first = make_policy(project, rule("numWorkers", max=8))
    second = make_policy(project, rule("numWorkers", max=4), name="fewer")
    assert second.pk == first.pk
    assert [it.number for it in second.versions.all()] == [2, 1]
    assert second.versions.get(number=1).tree == rule("numWorkers", max=8)
    assert AuditEntry.objects.filter(target_kind="policy").count() == 2


def test_those_without_the_permission_are_refused() -> None:
    project = ProjectFactory()
    with pytest.raises(PermissionDenied, match=r"policies\.create"):
        make_policy(project, rule("numWorkers", max=8), by=UserFactory())
    policy = make_policy(project, rule("numWorkers", max=8))
    with pytest.raises(PermissionDenied, match=r"policies\.delete"):
        delete_policy(policy, by=UserFactory())
    delete_policy(policy, by=UserFactory(administrator=True))
    assert not Policy.objects.exists()


def test_policies_of_a_department_are_seen_there_and_nowhere_else() -> None:
    department = DepartmentFactory()
    own = make_policy(department, rule("numWorkers", max=8))
    make_policy(DepartmentFactory(cluster=department.cluster), rule("numWorkers", max=8))
    head = UserFactory()
    give(head, "Department administrator", f"department:{department.pk}")
    assert list(Policy.objects.visible_to(head)) == [own]
    assert not Policy.objects.visible_to(UserFactory()).exists()


@pytest.mark.parametrize(
    ("wide", "near", "path"),
    [
        (rule("numWorkers", max=4), rule("numWorkers", max=8), "rules.worker.numWorkers.max"),
        (rule("numWorkers", min=4), rule("numWorkers", min=2), "rules.worker.numWorkers.min"),
        (rule("numWorkers", max=4), default("numWorkers", 8), "defaults.worker.numWorkers"),
        (rule("image", canEdit=False), default("image", "a"), "defaults.worker.image"),
        (
            rule("image", required=True),
            rule("image", required=False),
            "rules.worker.image.required",
        ),
        (
            rule("image", options=[{"value": "a"}]),
            rule("image", options=[{"value": "b"}]),
            "rules.worker.image.options",
        ),
        (
            rule("labels.instances", canAdd=False),
            rule("labels.instances", canAdd=True),
            "rules.worker.labels.instances.canAdd",
        ),
    ],
)
def test_a_conflict_names_the_policy_that_owns_the_field(wide: Tree, near: Tree, path: str) -> None:
    project = ProjectFactory()
    make_policy(project.department, wide, name="house")
    with pytest.raises(SpecError) as refused:
        make_policy(project, near)
    (problem,) = refused.value.problems
    assert path_text(problem.path) == path
    assert "policy house of Department" in problem.message


def test_a_narrower_policy_may_tighten() -> None:
    project = ProjectFactory()
    make_policy(None, rule("numWorkers", max=8))
    make_policy(project, rule("numWorkers", max=4))
    rules = find_rules(project, WorkloadKind.DISTRIBUTED)
    assert [(it.value, it.source.scope) for it in rules] == [
        (8, "account"),
        (4, f"project:{project.pk}"),
    ]
    assert find_rules(ProjectFactory(), WorkloadKind.TRAINING) == ()


def test_a_default_beyond_its_own_range_is_refused() -> None:
    with pytest.raises(SpecError, match="max to 4"):
        make_policy(None, default("numWorkers", 8) | rule("numWorkers", max=4))
