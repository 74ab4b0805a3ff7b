"""REST: subscriptions of one's own, and what they may say."""

from typing import Any

import pytest

from accounts.models import User
from notifications.models import Subscription
from projects.models import Project
from tests.caller import Caller, call, project, researcher, stranger
from tests.factories import ProjectFactory
from tests.notifications.factories import SubscriptionFactory

__all__ = ["call", "project", "researcher", "stranger"]

EVENTS = [
    {"category": "Workload status change", "types": ["workload.failed"]},
    {"category": "Quota", "types": ["project.quota-nearly-used"]},
]


def test_a_subscription_is_created_read_replaced_and_deleted(
    call: Caller, researcher: User, project: Project
) -> None:
    given = {"events": EVENTS, "channels": [], "projectId": str(project.pk)}
    status, made = call("POST", "/subscriptions", given)
    assert (status, made["events"], made["projectId"]) == (201, EVENTS, str(project.pk))
    assert call("GET", "/subscriptions")[1] == [made]
    change = {"events": EVENTS[:1], "kinds": ["workspace"], "pendingMinutes": 5}
    status, changed = call("PUT", f"/subscriptions/{made['id']}", change)
    assert (status, changed["projectId"], changed["kinds"]) == (200, None, ["workspace"])
    assert Subscription.objects.get().user == researcher
    assert call("DELETE", f"/subscriptions/{made['id']}")[0] == 204
    assert not Subscription.objects.exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"channels": ["slack"]}, "channels"),
        ({"channels": ["email"]}, "mail"),
        ({"events": [{"category": "Workload", "types": ["workload.exploded"]}]}, "events"),
        ({"kinds": ["inference"]}, "kinds"),
        ({"pendingMinutes": 0}, "pendingMinutes"),
        ({"projectId": "99999"}, "projectId"),
    ],
)
def test_what_is_wrong_is_named(call: Caller, change: dict[str, Any], field: str) -> None:
    status, answer = call("POST", "/subscriptions", {"events": EVENTS} | change)
    assert status == 400
    assert [issue["field"] for issue in answer["complianceIssues"]] == [field]


def test_nobody_reaches_projects_and_subscriptions_of_others(
    stranger: Caller, project: Project
) -> None:
    given = {"events": EVENTS, "projectId": str(project.pk)}
    assert stranger("POST", "/subscriptions", given)[0] == 400
    theirs = SubscriptionFactory(project=ProjectFactory())
    assert stranger("GET", "/subscriptions")[1] == []
    assert stranger("DELETE", f"/subscriptions/{theirs.pk}")[0] == 404
