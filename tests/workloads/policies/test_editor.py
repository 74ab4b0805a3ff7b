"""The editor of a policy: the form and the YAML are the same policy, and problems name lines."""

from typing import Any

import pytest
from django.test import Client

from policies.models import Policy
from policies.services import find_wider_rules
from policies.tree import read_tree
from projects.scopes import OwningScope
from spec.kind import WorkloadKind
from tests.factories import DataSourceFactory, ProjectFactory, UserFactory
from tests.policies.examples import EVERYTHING, default, make_policy, rule
from tests.web import HTMX, signed_in
from tests.workloads.policies.shapes import submit_shapes
from workloads.policies.editor import PolicyText, write_text
from workloads.policies.rule_form import RuleForm, field_groups, limits_of, put_rule

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
NEW = "/policies/new/"
MOST_WORKERS = "rules:\n  worker:\n    numWorkers:\n      max: 8\n"
KIND = WorkloadKind.DISTRIBUTED


@pytest.fixture
def boss() -> Client:
    return signed_in(UserFactory(administrator=True))


def posted(action: str, text: str = "", **also: Any) -> dict[str, Any]:
    head = {"name": "limits", "scope": "account", "kind": "distributed", "version": "0"}
    return {**head, "yaml": text, "action": action, **also}


def entered(field: str, limit: str, value: str, **also: Any) -> dict[str, Any]:
    return {"rule-field": field, "rule-limit": limit, "rule-value": value, **also}


def test_a_rule_of_the_form_is_put_into_the_yaml(boss: Client) -> None:
    fields = entered("numWorkers", "max", "8", **{"rule-why": "One rack"})
    page = boss.post(NEW, posted("put", **fields))
    assert page.context["text"] == f"{MOST_WORKERS}      why: One rack\n"
    assert not Policy.objects.exists()


def test_a_saved_policy_has_what_the_yaml_says(boss: Client) -> None:
    answer = boss.post(NEW, posted("save", MOST_WORKERS))
    policy = Policy.objects.get()
    assert answer["Location"] == policy.get_absolute_url()
    assert policy.tree == rule("numWorkers", max=8)


def test_each_problem_is_at_its_line(boss: Client) -> None:
    text = "rules:\n  worker:\n    numWorkers:\n      max: many\n    color:\n      min: 1\n"
    page = boss.post(NEW, posted("save", text))
    assert page.status_code == 422
    assert [problem.line for problem in page.context["problems"]] == [4, 5]
    assert "must be a whole number" in page.context["problems"][0].message
    assert page.context["first_bad_line"] == 4
    assert not Policy.objects.exists()


def test_a_conflict_names_the_policy_that_owns_the_field(boss: Client) -> None:
    make_policy(None, rule("numWorkers", max=4), name="racks")
    project = ProjectFactory()
    scope = f"project:{project.pk}"
    page = boss.post(NEW, posted("save", MOST_WORKERS, scope=scope))
    (problem,) = page.context["problems"]
    assert problem.line == 4
    assert "policy racks of the account" in problem.message
    page = boss.post(NEW, posted("put", scope=scope, **entered("numWorkers", "max", "8")))
    (error,) = page.context["rule_form"]["rule-value"].errors
    assert "policy racks of the account" in error
    assert page.context["text"] == ""


def test_a_rule_can_be_changed_and_removed(boss: Client) -> None:
    page = boss.post(NEW, posted("change 0", MOST_WORKERS))
    form = page.context["rule_form"]
    assert (form["rule-field"].value, form["rule-value"].value) == ("numWorkers", "8")
    assert boss.post(NEW, posted("remove 0", MOST_WORKERS)).context["text"] == ""


def test_choosing_a_field_shows_what_it_may_have(boss: Client) -> None:
    fields = entered("worker.image", "", "")
    page = boss.post(NEW, posted("choose", **fields), **HTMX, HTTP_HX_TARGET="rule")
    text = page.content.decode()
    assert "Allowed values" in text
    assert "Minimum" not in text
    assert "<html" not in text


def test_a_scope_with_a_policy_gets_no_second_one(boss: Client) -> None:
    make_policy(None, default("numWorkers", 2), name="first")
    page = boss.post(NEW, posted("save", MOST_WORKERS))
    assert page.status_code == 422
    assert "has the policy first" in page.content.decode()
    assert Policy.objects.get().version == 1


def test_an_older_page_does_not_overwrite_a_newer_version(boss: Client) -> None:
    policy = make_policy(None, default("numWorkers", 2))
    address = f"{policy.get_absolute_url()}edit/"
    assert boss.get(address).context["text"] == write_text(policy.rules, KIND)
    make_policy(None, default("numWorkers", 3))
    page = boss.post(address, posted("save", MOST_WORKERS, version="1"))
    assert page.status_code == 409
    assert MOST_WORKERS in page.content.decode()
    assert Policy.objects.get().tree == default("numWorkers", 3)


def test_a_policy_that_refuses_everything_is_confirmed_first(boss: Client) -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    submit_shapes(project, user, 1)
    text = "rules:\n  worker:\n    image:\n      startsWith: other/\n"
    page = boss.post(NEW, posted("save", text))
    assert page.status_code == 409
    assert page.context["simulation"].counts["refused"] == 1
    assert "shape-0" in page.content.decode()
    assert not Policy.objects.exists()
    assert boss.post(NEW, posted("confirm", text)).status_code == 302
    assert Policy.objects.exists()


def test_a_simulation_saves_nothing(boss: Client) -> None:
    page = boss.post(NEW, posted("simulate", MOST_WORKERS))
    assert page.status_code == 200
    assert "There are no workloads of this kind" in page.content.decode()
    assert not Policy.objects.exists()


def test_a_data_source_can_be_imposed(boss: Client) -> None:
    source = DataSourceFactory(in_account=True)
    page = boss.post(NEW, posted("put", **entered("worker.dataSources", "", str(source.pk))))
    assert page.context["text"] == f"imposedAssets:\n  worker:\n  - {source.pk}\n"


def test_people_without_the_permission_are_refused() -> None:
    policy = make_policy(None, rule("numWorkers", max=8))
    client = signed_in(UserFactory())
    assert client.get(NEW).status_code == 403
    assert client.post(f"{policy.get_absolute_url()}edit/", posted("save")).status_code == 403


def test_every_rule_survives_the_form() -> None:
    sources = [(key, key) for key in EVERYTHING["imposedAssets"]["worker"]]
    for each in read_tree(EVERYTHING, KIND):
        form = RuleForm(KIND, sources, rule=each)
        built = form.build_rule()
        assert built is not None, form.errors
        assert (built.field, built.enforcement, built.value) == (
            each.field,
            each.enforcement,
            each.value,
        )


def test_every_field_of_the_form_has_rules() -> None:
    for kind in WorkloadKind:
        addresses = [it for _, options in field_groups(kind) for it, _ in options]
        assert len(set(addresses)) == len(addresses)
        assert all(map(limits_of, addresses))


def test_limits_of_a_field_share_their_reason() -> None:
    text = PolicyText(f"{MOST_WORKERS}      min: 2\n", OwningScope(), KIND, "limits")
    (most, least) = text.rules or ()
    assert find_wider_rules(OwningScope(), KIND) == ()
    changed = put_rule([most, least], RuleForm(KIND, [], rule=most).build_rule() or most)
    assert {it.why for it in changed} == {""}
