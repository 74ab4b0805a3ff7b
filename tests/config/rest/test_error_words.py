"""Errors in a query or a body have our own texts, under the names that were sent."""

from typing import Any

import pytest
from django.db import transaction

from core.rest.api import RULES
from projects.models import Project
from spec.kind import WorkloadKind
from tests.caller import Caller, call, project, researcher
from tests.calls import address
from tests.described import Described, body_of, document, operations, ways
from tests.factories import UserFactory
from workloads.api.spec_schemas import NAMES

__all__ = ["call", "project", "researcher"]

NOW = document()
CALLS = dict(operations(NOW))
#: What pydantic says, and no person would.
FOREIGN = ("nput should", "nable to", "alue error", "valid ", "found `", "tring should", "pattern")
ODD: dict[str, Any] = {"string": "§", "object": {"§": 1}, "array": ["§"], "null": None}


def odd_for(schema: Described) -> Any:
    """A value that it does not accept, as far as its types say."""
    allowed = {it.get("type") for it in ways(schema, NOW) if not {"enum", "format"} & it.keys()}
    return next(value for kind, value in ODD.items() if kind not in allowed)


@pytest.mark.django_db
def test_wrong_values_are_told_in_our_words_under_wire_names() -> None:
    admin_call = Caller(UserFactory.create(administrator=True))
    for name in CALLS:
        with transaction.atomic():
            _send_wrong_values(name, admin_call)
            transaction.set_rollback(True)


def _send_wrong_values(name: str, admin_call: Caller) -> None:
    method, path = name.split()
    call = CALLS[name]
    described = body_of(CALLS[name], NOW).get("properties", {})
    query = {it["name"] for it in call["parameters"] if it["in"] == "query"}
    asked = "&".join(f"{it}=%C2%A7" for it in sorted(query))
    body = {field: odd_for(schema) for field, schema in described.items()}
    status, answer = admin_call(method, f"{address(path)}?{asked}", body or None)
    assert status in {200, 400, 404, 409}, (name, answer)
    for issue in answer["complianceIssues"] if status in {400, 409} else ():
        assert not [it for it in FOREIGN if it in issue["details"]], issue
        assert issue["field"].split(".")[0] in {*query, *described, "body"}, issue
        assert issue["rule"] in RULES, issue


@pytest.mark.parametrize("kind", WorkloadKind)
def test_every_field_that_is_described_is_judged_under_its_own_name(
    kind: WorkloadKind, call: Caller, project: Project
) -> None:
    described = NOW["components"]["schemas"][NAMES[kind]]["properties"]
    spec = {field: odd_for(schema) for field, schema in described.items()}
    place = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    path = f"/workloads/{kind.traits.path}"
    status, answer = call("POST", path, {"name": "odd", **place, "spec": spec | {"surprise": 1}})
    assert status == 400
    told = {issue["field"].split(".")[1] for issue in answer["complianceIssues"]}
    assert told >= {*described, "surprise"}
