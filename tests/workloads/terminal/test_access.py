"""Who gets a terminal."""

from functools import partial
from typing import Any

import pytest

from accounts.models import User
from engines.fake import FakeEngine
from spec.phases import RankPhase
from tests.factories import UserFactory, add_members
from tests.web import signed_in
from tests.workloads.own import use_own_credential
from tests.workloads.terminal.conftest import dial, key_of, opened, play
from workloads.models import Workload

pytestmark = pytest.mark.django_db(transaction=True)


def is_let_in(workload: Workload, key: str, **where: Any) -> bool:
    async def scenario() -> bool:
        socket = dial(workload, key, **where)
        connected = await socket.connect()
        await socket.disconnect()
        return connected

    return bool(play(scenario))


def test_members_and_administrators_get_a_terminal(
    engine: FakeEngine, workload: Workload, member: User, administrator: User
) -> None:
    assert is_let_in(workload, key_of(member))
    assert is_let_in(workload, key_of(administrator))


def test_own_credentials_restrict_terminals_to_their_author(
    engine: FakeEngine, workload: Workload, member: User, administrator: User
) -> None:
    use_own_credential(workload)
    colleague = UserFactory()
    add_members(workload.project, colleague)

    async def why(key: str) -> str:
        async with opened(workload, key, engine) as page:
            return await page.ended()

    for user in (colleague, administrator):
        assert "belong to maria alone" in play(partial(why, key_of(user)))
    assert not engine.sessions
    assert is_let_in(workload, key_of(member))
    assert engine.sessions


def test_strangers_and_the_signed_out_get_no_terminal(
    engine: FakeEngine, workload: Workload, stranger: User
) -> None:
    assert not is_let_in(workload, key_of(stranger))
    assert not is_let_in(workload, "made-up")
    assert not is_let_in(workload, "")
    assert not engine.sessions


def test_a_cookie_with_a_nul_opens_no_terminal(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    assert not is_let_in(workload, '"\\000aaaaaaaaaaaa"')
    assert not is_let_in(workload, f'{key_of(member)}; other="\\000"')


def test_pages_of_other_sites_get_no_terminal(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    key = key_of(member)
    assert not is_let_in(workload, key, origin="http://evil.example")
    assert not is_let_in(workload, key, origin="http://testserver:8888")
    assert not is_let_in(workload, key, origin="https://testserver")
    assert not is_let_in(workload, key, origin="ftp://testserver")
    assert not is_let_in(workload, key, origin="null")
    assert not is_let_in(workload, key, origin="http://evil.example", host="evil.example")
    assert not engine.sessions


def test_a_rank_that_is_not_there(engine: FakeEngine, workload: Workload, member: User) -> None:
    assert not is_let_in(workload, key_of(member), rank=17)


def test_a_rank_that_does_not_run_says_so(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    workload.ranks.filter(rank=1).update(phase=RankPhase.FAILED)

    async def scenario() -> str:
        async with opened(workload, key, engine, rank=1) as page:
            return await page.ended()

    key = key_of(member)
    assert play(scenario) == "worker-0 is Failed."
    assert not engine.sessions


def test_a_user_has_at_most_so_many_terminals_at_once(
    engine: FakeEngine, workload: Workload, member: User, settings: Any
) -> None:
    settings.TERMINALS_PER_USER = 1
    mine = key_of(member)
    other = key_of(UserFactory(administrator=True))

    async def scenario() -> str:
        async with opened(workload, mine, engine) as first, opened(workload, other, engine):
            await first.shell()
            async with opened(workload, mine, engine) as second:
                return await second.ended()

    assert "1 terminals open, which is" in play(scenario)
    assert is_let_in(workload, mine), "a closed one makes room"


def test_the_page_offers_running_ranks(workload: Workload, member: User, stranger: User) -> None:
    address = f"/workloads/{workload.pk}/terminal/"
    page = signed_in(member).get(f"{address}?rank=1").content.decode()
    assert "Open terminal" in page
    assert '<option value="1" selected>worker-0</option>' in page
    assert signed_in(stranger).get(address).status_code == 404


def test_the_page_says_why_there_is_none(workload: Workload, member: User) -> None:
    workload.ranks.update(phase=RankPhase.PENDING)
    address = f"/workloads/{workload.pk}/terminal/"
    assert "needs a running rank" in signed_in(member).get(address).content.decode()
    workload.cluster.capabilities_json |= {"terminal": False}
    workload.cluster.save()
    assert "does not support terminals" in signed_in(member).get(address).content.decode()
