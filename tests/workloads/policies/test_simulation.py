"""A simulation says of each workload what submitting it again under the policy would do."""

from typing import Any

import pytest

from policies.models import Policy, dump_rules
from policies.saving import NeedsConfirmation
from policies.services import save_policy
from policies.tree import read_tree
from projects.models import Project
from projects.scopes import OwningScope
from spec.draft import WorkloadDraft
from spec.kind import WorkloadKind
from spec.problems.errors import SpecError
from tests.factories import ProjectFactory, UserFactory
from tests.policies.examples import Tree, make_policy, rule
from tests.workloads.policies.projects import roomy_project
from tests.workloads.policies.shapes import POLICY, shape_draft, submit_shapes
from workloads import services
from workloads.models import Workload
from workloads.policies.simulation import SimulatedOutcome, changed_values, simulate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]


def unsaved_policy(project: Project, tree: Tree, name: str = "limits") -> Policy:
    kind = WorkloadKind.DISTRIBUTED
    policy = Policy(name=name, kind=kind, rules_json=dump_rules(read_tree(tree, kind)))
    policy.set_scope(OwningScope(project))
    return policy


def submit_again(workload: Workload, by: Any) -> tuple[Any, ...]:
    """Submit a workload again, and return its spec, or the problems with it."""
    draft = WorkloadDraft.model_validate(workload.draft_json)
    draft.name = f"again-{workload.name}"
    try:
        return ("accepted", services.submit(draft, by=by).spec_json)
    except SpecError as error:
        return ("refused", {problem.message for problem in error.problems})


def test_a_simulation_equals_submitting_a_hundred_workloads_again() -> None:
    user = UserFactory()
    project = roomy_project(members=[user])
    make_policy(project.department, rule("numWorkers", max=64), name="wide")
    submit_shapes(project, user)
    simulation = simulate(unsaved_policy(project, POLICY), by=user)
    assert len(simulation.rows) == 100
    assert min(simulation.counts.values()) >= 5, "every outcome is tried"
    make_policy(project, POLICY)
    wrong = []
    for row in simulation.rows:
        verdict, found = submit_again(row.workload, user)
        if row.outcome is SimulatedOutcome.REFUSED:
            expected: Any = ("refused", {problem.message for problem in row.problems})
        else:
            expected = ("accepted", row.spec_after)
        is_changed = verdict == "accepted" and found != row.workload.spec_json
        if (verdict, found) != expected or is_changed != (row.outcome is SimulatedOutcome.CHANGED):
            wrong.append((row.workload.name, row.outcome, found))
    assert not wrong


def test_only_workloads_in_scope_that_the_user_may_see_are_simulated() -> None:
    user = UserFactory()
    project = roomy_project(members=[user])
    other = ProjectFactory(cluster=project.cluster, gpu_quota=10_000, members=[user])
    (inside,) = submit_shapes(project, user, 1)
    submit_shapes(other, user, 1)
    policy = unsaved_policy(project, POLICY)
    assert [row.workload for row in simulate(policy, by=user).rows] == [inside]
    assert simulate(policy, by=UserFactory()).rows == ()


def test_a_refusal_that_is_not_the_edits_says_so() -> None:
    user = UserFactory()
    project = roomy_project(members=[user])
    submit_shapes(project, user, 1)
    make_policy(project.department, rule("image", startsWith="other/"), name="wide")
    (row,) = simulate(unsaved_policy(project, rule("numWorkers", max=64)), by=user).rows
    assert row.outcome is SimulatedOutcome.REFUSED
    assert row.is_refused_already
    assert not row.is_refused_by_policy


def test_a_changed_value_that_looks_secret_is_not_shown() -> None:
    user = UserFactory()
    project = roomy_project(members=[user])
    services.submit(shape_draft(project, 2), by=user)
    (row,) = simulate(unsaved_policy(project, POLICY), by=user).rows
    assert "abracadabra" not in str(row.changes)


def test_changed_values_name_the_place() -> None:
    before = {"a": 1, "b": {"c": [1, 2]}, "d": [1]}
    after = {"a": 1, "b": {"c": [1, 3]}, "d": [1, 2]}
    found = [(it.field, it.before, it.after) for it in changed_values(before, after)]
    assert found == [("b.c[1]", 2, 3), ("d", [1], [1, 2])]


def test_a_policy_that_refuses_everything_needs_a_confirmation() -> None:
    boss = UserFactory(administrator=True)
    project = roomy_project(members=[boss])
    submit_shapes(project, boss, 3)
    fields: dict[str, Any] = {
        "by": boss,
        "scope": OwningScope(project),
        "kind": WorkloadKind.DISTRIBUTED,
        "name": "none",
        "tree": rule("image", startsWith="other/"),
    }
    with pytest.raises(NeedsConfirmation, match="refuses all"):
        save_policy(**fields)
    assert not Policy.objects.exists()
    assert save_policy(**fields, confirmed=True).version == 1


def test_a_policy_without_workloads_needs_no_confirmation() -> None:
    boss = UserFactory(administrator=True)
    tree = rule("image", startsWith="other/")
    kind = WorkloadKind.DISTRIBUTED
    save_policy(by=boss, scope=OwningScope(), kind=kind, name="none", tree=tree)
    assert Policy.objects.count() == 1
