"""Every address of a workload answers to those who may see it, and to nobody else."""

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from accounts.models import User
from spec.phases import Phase
from tests.web import signed_in
from workloads.models import Workload

PAGES = ["", "header/", "ranks/", "logs/", "metrics/", "events/", "spec/"]
PARTS = ["logs/lines/", "metrics/data/"]
TARGETS = ["", "drawer", "workload-panel", "workload-content"]


@pytest.mark.parametrize("page", [*PAGES, *PARTS])
def test_members_and_administrators_see_the_pages_of_a_workload(
    page: str, workload: Workload, client: Client, administrator: User
) -> None:
    address = f"/workloads/{workload.pk}/{page}"
    assert client.get(address).status_code == 200
    assert signed_in(administrator).get(address).status_code == 200


@pytest.mark.parametrize("target", TARGETS)
def test_a_stranger_finds_no_page_of_a_workload(
    target: str, workload: Workload, stranger: User
) -> None:
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    client = signed_in(stranger)
    for page in (*PAGES, *PARTS):
        answer = client.get(f"/workloads/{workload.pk}/{page}", headers=headers)
        assert answer.status_code == 404, page
        assert "digits" not in answer.content.decode(), page


@pytest.mark.parametrize("page", [*PAGES, *PARTS])
def test_the_pages_of_a_workload_ask_for_signing_in(page: str, workload: Workload) -> None:
    answer = Client().get(f"/workloads/{workload.pk}/{page}")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("page", [*PAGES, *PARTS])
def test_only_users_who_saw_a_workload_see_it_when_deleted(
    page: str, workload: Workload, client: Client, stranger: User
) -> None:
    Workload.objects.update(deleted_at=workload.created_at, phase=Phase.STOPPED)
    address = f"/workloads/{workload.pk}/{page}"
    assert client.get(address).status_code == 200
    assert signed_in(stranger).get(address).status_code == 404
    assert Client().get(address).status_code == 302


@pytest.mark.parametrize("verb", ["stop", "run", "delete", "template", "tools", "terminal/x"])
def test_nothing_can_be_done_with_a_deleted_workload(
    verb: str, workload: Workload, client: Client
) -> None:
    Workload.objects.update(deleted_at=workload.created_at, phase=Phase.STOPPED)
    for answer in (client.get, client.post):
        assert answer(f"/workloads/{workload.pk}/{verb}/").status_code in {404, 405}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rank", ["", "?rank=0"])
def test_downloads_of_a_workload_are_for_those_who_may_see_it(
    rank: str, workload: Workload, member: User, stranger: User
) -> None:
    async def status(user: User | None) -> int:
        client = AsyncClient()
        if user:
            await client.aforce_login(user)
        answer = await client.get(f"/workloads/{workload.pk}/logs/download/{rank}")
        return answer.status_code

    assert async_to_sync(status)(member) == 200
    assert async_to_sync(status)(stranger) == 404
    assert async_to_sync(status)(None) == 302


@pytest.mark.parametrize("target", TARGETS[1:])
def test_htmx_gets_the_part_that_it_asks_for(
    target: str, workload: Workload, client: Client
) -> None:
    headers = {"HX-Request": "true", "HX-Target": target}
    part = client.get(f"/workloads/{workload.pk}/ranks/", headers=headers).content.decode()
    assert "<html" not in part
    assert ('class="drawer-head"' in part) == (target == "drawer")
    assert ('id="workload-panel"' in part) == (target != "workload-content")
    assert "worker-1" in part
