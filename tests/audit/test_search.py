"""Searching the audit log: on its page, and through more entries than one answer looks at."""

import re
from datetime import UTC, datetime

import pytest
from django.db.models import F
from django.test import Client

from audit import search
from audit import services as audit
from audit.models import AuditEntry
from tests.factories import ClusterFactory, ProjectFactory, UserFactory
from tests.web import HTMX, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/audit/"


@pytest.fixture
def reader() -> Client:
    """An auditor, and a log with four entries."""
    admin = UserFactory(administrator=True, username="boss")
    ada = UserFactory(username="ada")
    audit.record(admin, "create", ProjectFactory(name="vision"))
    audit.record(ada, "update", ProjectFactory(name="speech"))
    audit.record(admin, "delete", ClusterFactory(name="west"))
    audit.record(None, "create", ProjectFactory(name="robots"))
    return signed_in(admin)


def names(client: Client, query: str) -> list[str]:
    page = client.get(f"{ADDRESS}?{query}", **HTMX).content.decode()
    return re.findall(r"</span> (vision|speech|west|robots)</td>", page)


def announced(page: str) -> list[str]:
    return re.findall(r'data-announce="([^"]*)"', page)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["robots", "west", "speech", "vision"]),
        ("q=VIS", ["vision"]),
        ("q=ada", ["speech"]),
        ("q=delet", ["west"]),
        ("q=cluster", ["west"]),
        ("q=command", ["robots"]),
        ("q=nothing-like-it", []),
        ("q=%25", []),
        ("verb=create", ["robots", "vision"]),
        ("kind=project&verb=update", ["speech"]),
        ("verb=nonsense", ["robots", "west", "speech", "vision"]),
        ("since=2999-01-01", []),
        ("until=2999-01-01", ["robots", "west", "speech", "vision"]),
        ("until=2001-01-01", []),
        ("since=2026-02-31", ["robots", "west", "speech", "vision"]),
    ],
)
def test_the_log_is_searched_and_filtered(reader: Client, query: str, expected: list[str]) -> None:
    assert names(reader, query) == expected


def test_days_include_their_whole_day(reader: Client) -> None:
    at = datetime(2026, 3, 5, 23, 59, 59, tzinfo=UTC)
    AuditEntry.objects.filter(target_name="speech").update(at=at)
    assert names(reader, "since=2026-03-05&until=2026-03-05") == ["speech"]
    assert names(reader, "until=2026-03-04") == []


def test_the_page_keeps_what_it_was_asked_for(reader: Client) -> None:
    page = reader.get(f"{ADDRESS}?q=vis&verb=create&since=2026-01-01").content.decode()
    assert 'name="q" value="vis"' in page
    assert '<option value="create" selected>' in page
    assert 'name="since" value="2026-01-01"' in page
    empty = reader.get(f"{ADDRESS}?q=nothing-like-it").content.decode()
    assert "No results" in empty


def test_a_search_continues_where_one_answer_ended(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PART_SIZE", 2)
    page = reader.get(f"{ADDRESS}?q=vision", **HTMX).content.decode()
    assert "Searched back to" in page
    assert 'hx-trigger="load"' in page
    assert set(announced(page)) == {"Searching…"}
    (older,) = set(re.findall(r'hx-get="(\?q=vision&amp;before=\d+&amp;shown=0)"', page))
    headers = HTMX | {"HTTP_HX_TARGET": "older"}
    rest = reader.get(f"{ADDRESS}{older.replace('&amp;', '&')}", **headers).content.decode()
    assert rest.lstrip().startswith("<tbody")
    assert "vision" in rest
    assert "No older entries match." in rest
    assert announced(rest) == ["1 entry"]


def test_a_search_ends_at_the_oldest_entry_there_is(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers of entries may begin far from 1, and each part without one was asked for."""
    monkeypatch.setattr(search, "PART_SIZE", 4)
    AuditEntry.objects.update(id=F("id") + 1_000)
    page = reader.get(f"{ADDRESS}?q=nothing-like-it", **HTMX).content.decode()
    assert "Searched back to" not in page


def test_the_entries_of_all_parts_of_a_search_are_announced(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PART_SIZE", 2)
    headers = HTMX | {"HTTP_HX_TARGET": "older"}
    query = "?q=o"
    said = []
    while query:
        page = reader.get(f"{ADDRESS}{query}", **headers).content.decode()
        said += announced(page)
        query = "".join(re.findall(r'hx-get="(\S+)"', page)).replace("&amp;", "&")
    assert said == ["Searching…", "4 entries"]


def test_a_full_page_leads_to_the_next_one(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PAGE_SIZE", 2)
    page = reader.get(ADDRESS, **HTMX).content.decode()
    (older,) = set(re.findall(r'href="\?(before=\d+)"', page))
    assert names(reader, "") == ["robots", "west"]
    assert names(reader, older) == ["speech", "vision"]
