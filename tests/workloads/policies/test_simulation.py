"""A simulation says of each workload what submitting it again under the policy would do."""

from collections import Counter
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
from tests.factories import DataSourceFactory, ProjectFactory, UserFactory
from tests.policies.examples import Tree, make_policy, rule
from tests.workloads.policies.projects import roomy_project
from tests.workloads.policies.shapes import (
    POLICY,
    POLICY_OF_ONE_POD,
    POLICY_OF_TRAININGS,
    shape_draft,
    submit_all_kinds,
    submit_shapes,
)
from workloads import services
from workloads.models import Workload
from workloads.policies.simulation import (
    ChangedValue,
    SimulatedOutcome,
    changed_values,
    simulate,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]

IMPOSED = {
    "kind": "git",
    "git": {"repository": "https://example.com/shared.git", "path": "/shared"},
}


def unsaved_policy(
    project: Project, tree: Tree, kind: WorkloadKind = WorkloadKind.DISTRIBUTED
) -> Policy:
    policy = Policy(name="limits", kind=kind, rules_json=dump_rules(read_tree(tree, kind)))
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
    submit_all_kinds(project, user)
    imposed = DataSourceFactory(home=project, name="imposed", spec_json=IMPOSED)
    trees = {
        WorkloadKind.DISTRIBUTED: POLICY,
        WorkloadKind.TRAINING: POLICY_OF_TRAININGS,
        WorkloadKind.WORKSPACE: POLICY_OF_ONE_POD | {"imposedAssets": [str(imposed.pk)]},
    }
    simulations = {
        kind: simulate(unsaved_policy(project, tree, kind), by=user) for kind, tree in trees.items()
    }
    rows = [row for simulation in simulations.values() for row in simulation.rows]
    assert len(rows) == 100
    outcomes = Counter(row.outcome for row in rows)
    assert len(outcomes) == 3
    assert min(outcomes.values()) >= 5, "every outcome is tried"
    assert all(simulation.counts["refused"] for simulation in simulations.values())
    for kind, tree in trees.items():
        make_policy(project, tree, kind=kind)
    wrong = []
    for row in rows:
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
    simulation = simulate(policy, by=user)
    assert ([row.workload for row in simulation.rows], simulation.hidden) == ([inside], 0)
    nothing = simulate(policy, by=UserFactory())
    assert (nothing.rows, nothing.hidden) == ((), 1)


def test_a_refusal_that_is_not_the_edits_says_so() -> None:
    user = UserFactory()
    project = roomy_project(members=[user])
    submit_shapes(project, user, 1)
    make_policy(project.department, rule("image", startsWith="other/"), name="wide")
    (row,) = simulate(unsaved_policy(project, rule("numWorkers", max=64)), by=user).rows
    assert row.outcome is SimulatedOutcome.REFUSED
    assert row.is_refused_already


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


def test_changed_values_are_in_words() -> None:
    items = [{"name": "gpu", "seconds": None}, {"name": "spot", "exclude": False}]
    changed = ChangedValue("worker.tolerations", [], items)
    assert changed.before_words == ""
    assert changed.after_words == "name: gpu; name: spot, exclude: No"


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
