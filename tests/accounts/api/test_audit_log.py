"""REST: the audit log."""

import pytest

from accounts import services
from accounts.models import User
from tests.caller import Caller
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
TIME = "start=2026-01-01T00:00:00Z&end=2999-01-01T00:00:00Z"


@pytest.fixture
def admin() -> User:
    user: User = UserFactory.create(administrator=True, username="boss")
    ada: User = UserFactory.create(username="ada")
    services.set_active(ada, False, by=user)
    services.reset_password(ada, "analytical-engine", by=user)
    return user


def test_the_audit_log_tells_who_did_what_page_by_page(admin: User) -> None:
    page = Caller(admin)("GET", f"/audit/log?{TIME}&numberOfSamples=1")[1]
    (newest,) = page["audit_logs"]
    assert (newest["subject"], newest["action"]) == ("boss", "reset-password")
    assert (newest["entity_name"], newest["result"]) == ("ada", "Succeeded")
    assert (page["total"], page["next"]) == (2, 1)
    rest = Caller(admin)("GET", f"/audit/log?{TIME}&offset=1")[1]
    (before,) = rest["audit_logs"]
    assert (before["verb"], before["action"], rest["next"]) == ("deactivate", "update", None)


def test_the_audit_log_is_filtered_and_comes_as_a_file(admin: User) -> None:
    found = Caller(admin)("GET", f"/audit/log?{TIME}&filterBy=verb==deactivate")[1]
    assert found["total"] == 1
    text = Caller(admin)("GET", f"/audit/log/file?{TIME}&fileType=csv")[1].content.decode()
    assert [line.split(",")[3] for line in text.splitlines()] == [
        "verb", "reset password", "deactivate",
    ]  # fmt: skip
    assert len(Caller(admin)("GET", f"/audit/log/file?{TIME}")[1]) == 2


def test_the_audit_log_is_searched_by_user_verb_and_object(admin: User) -> None:
    def verbs(asked: str) -> list[str]:
        page = Caller(admin)("GET", f"/audit/log?{TIME}&{asked}")[1]
        return [it["verb"] for it in page["audit_logs"]]

    assert verbs("search=BOSS") == ["reset password", "deactivate"]
    assert verbs("search=activ") == ["deactivate"]
    assert verbs("search=ada") == ["reset password", "deactivate"]
    assert verbs("search=grace") == []
    assert verbs("filterBy=action==reset-password") == ["reset password"]
    assert verbs("filterBy=action==update") == ["deactivate"]
    assert verbs("filterBy=entity_type!=user") == []


def test_the_file_of_the_audit_log_follows_search_and_filters(admin: User) -> None:
    file = Caller(admin)("GET", f"/audit/log/file?{TIME}&search=ada&filterBy=action==update")[1]
    assert [it["verb"] for it in file] == ["deactivate"]


def test_times_of_any_zone_are_taken_as_far_as_there_are_years(admin: User) -> None:
    """PostgreSQL itself takes no offset of 16 hours."""
    until = "end=2999-01-01T00:00:00-21:48"
    status, answer = Caller(admin)("GET", f"/audit/log?start=2026-01-01T00:00:00%2B21:48&{until}")
    assert (status, "audit_logs" in answer) == (200, True)
    status, answer = Caller(admin)("GET", f"/audit/log?start=0001-01-01T00:00:00%2B01:00&{until}")
    assert (status, "before the year 1" in str(answer)) == (400, True)


def test_a_time_that_is_none_is_refused(admin: User) -> None:
    backwards = "start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z"
    assert Caller(admin)("GET", f"/audit/log?{backwards}")[0] == 400
