"""What holds for every call of the REST API, whatever it is about."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pydantic import AliasChoices, BaseModel, ValidationError

from core.rest.api import Parameters, StrictBody
from tests.caller import Body, Caller, call, project, researcher, seed_body
from tests.calls import address, calls
from tests.factories import UserFactory
from workloads.models import Workload

BODIES: dict[str, Any] = {"/api/v1/org-unit/departments/{department_id}/resources": []}
__all__ = ["call", "project", "researcher", "seed_body"]


@pytest.mark.django_db
def test_a_query_parameter_that_a_call_does_not_know_is_refused() -> None:
    admin_call = Caller(UserFactory.create(administrator=True))
    for method, path in calls():
        status, answer = admin_call(method, f"{address(path)}?surprise=1", BODIES.get(path, {}))
        assert status == 400, (method, path, answer)
        wrong = {issue["field"] for issue in answer["complianceIssues"]}
        assert "surprise" in wrong, (method, path)
        assert "surprise" in answer["details"], (method, path)


def test_a_dry_run_submits_nothing_and_unknown_parameters_are_named(
    call: Caller, seed_body: Body
) -> None:
    status, answer = call("POST", "/workloads/distributed?dryrun=true", seed_body())
    assert status == 400
    assert "dryrun is not a parameter of this call; it accepts dryRun" in answer["details"]
    status, answer = call("POST", "/workloads/distributed?dryRun=perhaps", seed_body())
    assert status == 400
    status, answer = call("POST", "/workloads/distributed?dryRun=true", seed_body())
    assert (status, answer["dryRun"]) == (200, True)
    assert not Workload.objects.exists()
    status, answer = call("GET", "/node-pools?filtered=name==none&sorted=x")
    assert status == 400
    assert [issue["field"] for issue in answer["complianceIssues"]] == ["filtered", "sorted"]
    assert "it accepts clusterId" in answer["details"]


def test_a_method_that_an_address_does_not_have_is_refused_in_json(call: Caller) -> None:
    status, answer = call("PATCH", "/workloads")
    assert (status, answer["code"]) == (405, 405)
    assert "accepts GET" in answer["details"]


@pytest.mark.parametrize(
    ("change", "field", "rule"),
    [
        ({"numWorkers": 0}, "spec.numWorkers", "min"),
        ({"numWorkers": 10**6}, "spec.numWorkers", "max"),
        ({"distributedFramework": "Chainer"}, "spec.distributedFramework", "options"),
        ({"image": ""}, "spec.image", "required"),
    ],
)
def test_an_issue_names_the_rule_that_a_value_breaks(
    call: Caller, seed_body: Body, change: dict[str, Any], field: str, rule: str
) -> None:
    body = seed_body()
    body["spec"] |= change
    _, answer = call("POST", "/workloads/distributed", body)
    assert {it["field"]: it["rule"] for it in answer["complianceIssues"]} == {field: rule}


def test_an_issue_of_a_body_names_the_rule_too(call: Caller) -> None:
    _, answer = call("POST", "/workloads/batch", {"action": "stop"})
    rules = {it["field"]: it["rule"] for it in answer["complianceIssues"]}
    assert rules == {"ids": "required", "action": "options"}


def test_head_is_get_without_its_body(call: Caller) -> None:
    status, answer = call("HEAD", "/workloads")
    assert (status, answer.content) == (200, b"")
    assert int(answer["Content-Length"]) > 10


def test_a_call_without_a_token_is_told_to_send_one(client: Client) -> None:
    answer = client.get("/api/v1/workloads")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


def models(of: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield of
    for inner in of.__subclasses__():
        yield from models(inner)


def inputs() -> list[tuple[Any, Any]]:
    """Each text of a body or a query, by the model that takes it."""
    return [
        (model, field.validation_alias or field.alias or name)
        for model in sorted({*models(StrictBody), *models(Parameters)}, key=str)
        for name, field in model.model_fields.items()
        if field.annotation is str
    ]


@pytest.mark.parametrize(
    ("model", "name"), inputs(), ids=lambda it: getattr(it, "__name__", str(it)[:30])
)
def test_a_text_of_a_call_without_end_is_refused(model: Any, name: Any) -> None:
    alias = name.choices[0] if isinstance(name, AliasChoices) else name
    with pytest.raises(ValidationError) as refused:
        model.model_validate({alias: "a" * 300_000})
    kinds = {error["type"] for error in refused.value.errors() if error["loc"][:1] == (alias,)}
    assert kinds & {"string_too_long", "literal_error"}
