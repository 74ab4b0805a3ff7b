"""What admission decided, over REST."""

import pytest

from accounts.models import User
from projects.models import Project
from tests.caller import Caller
from workloads.models import Workload

pytestmark = pytest.mark.django_db


def listed(user: User, project: Project, query: str = "") -> list[tuple[str, str, str | None]]:
    """Name, decision and the other's name of each."""
    status, body = Caller(user)("GET", f"/clusters/{project.cluster_id}/decisions{query}")
    assert status == 200, body
    rows = body["decisions"]
    return [
        (it["workload"]["name"], it["decision"], (it["other"] or {}).get("name")) for it in rows
    ]


def test_an_administrator_gets_all_newest_round_first(
    decided: Project, administrator: User
) -> None:
    assert listed(administrator, decided) == [
        ("zanzibar", "taken back", "claim"),
        ("claim", "waits", None),
        ("behind", "waits", None),
        ("guest", "started", None),
        ("zanzibar", "started", None),
    ]


def test_members_get_those_of_their_own_workloads_and_no_name_of_another(
    decided: Project, member: User
) -> None:
    assert listed(member, decided) == [("claim", "waits", None), ("behind", "waits", None)]
    status, body = Caller(member)("GET", f"/clusters/{decided.cluster_id}/decisions")
    assert status == 200
    assert "zanzibar" not in str(body)
    assert body["decisions"][0]["why"].startswith("It is within the quota of team-a.")


def test_decisions_are_searched_filtered_and_paged(
    decided: Project, other_project: Project, administrator: User
) -> None:
    claim = Workload.objects.get(name="claim").pk
    assert len(listed(administrator, decided, "?search=zanz")) == 2
    assert len(listed(administrator, decided, f"?projectId={other_project.pk}")) == 3
    assert listed(administrator, decided, f"?workloadId={claim}") == [("claim", "waits", None)]
    assert listed(administrator, decided, "?offset=4&limit=1") == [("zanzibar", "started", None)]


def test_a_cluster_out_of_reach_is_not_there(decided: Project, stranger: User) -> None:
    assert Caller(stranger)("GET", f"/clusters/{decided.cluster_id}/decisions")[0] == 404
