"""The table as CSV."""

import csv
import io

import pytest
from asgiref.sync import async_to_sync
from django.http import StreamingHttpResponse
from django.test import AsyncClient, Client

from accounts.models import User
from core.web.sheets import escape_formula
from projects.models import Project
from tests.factories import WorkloadFactory
from workloads.models import Workload

pytestmark = pytest.mark.django_db(transaction=True)


def download(user: User, query: str = "") -> list[list[str]]:
    async def fetch() -> str:
        client = AsyncClient()
        await client.aforce_login(user)
        response = await client.get(f"/workloads/export.csv?{query}")
        assert isinstance(response, StreamingHttpResponse)
        assert response["Content-Disposition"].startswith('attachment; filename="workloads-')
        return "".join([part.decode() async for part in response])

    return list(csv.reader(io.StringIO(async_to_sync(fetch)())))


def test_the_csv_of_the_table_holds_the_columns_shown_and_every_row(
    project: Project, member: User
) -> None:
    WorkloadFactory.create_batch(120, project=project)
    rows = download(member, "columns=name,gpus,project&sort=name")
    assert rows[0] == ["Workload", "GPU compute request", "Project"]
    assert len(rows) == 121, "more than a page"
    assert rows[1:] == sorted(rows[1:])


def test_the_csv_of_the_table_follows_the_filter_and_the_permission(
    project: Project, member: User, stranger: User
) -> None:
    WorkloadFactory(name="one", project=project)
    WorkloadFactory(name="two", project=project)
    assert [row[0] for row in download(member, "q=two&columns=name")[1:]] == ["two"]
    assert download(stranger, "columns=name") == [["Workload"]]


def test_the_csv_of_the_table_asks_for_signing_in(db: None) -> None:
    assert Client().get("/workloads/export.csv").status_code == 302


def test_a_message_that_is_a_formula_stays_text(project: Project, member: User) -> None:
    workload = WorkloadFactory(project=project)
    Workload.objects.filter(pk=workload.pk).update(image='=HYPERLINK("http://x","y")')
    assert download(member, "columns=image")[1][1] == '\'=HYPERLINK("http://x","y")'


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"])
def test_no_cell_runs_in_a_spreadsheet(text: str) -> None:
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "plain", "a=1", "2026-11-21"])
def test_ordinary_cells_stay_as_they_are(text: str) -> None:
    assert escape_formula(text) == text
