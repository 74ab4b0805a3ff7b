"""What passes between a browser and a tool."""

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from websockets.sync.server import ServerConnection, serve

from accounts.models import User
from config.asgi import application
from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import RankPhase
from tests.factories import add_members, remove_members
from tests.sockets import Socket
from tests.web import signed_in
from tests.workloads.tools import conftest
from tests.workloads.tools.conftest import Browser
from workloads.models import Event, Workload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(engine: FakeEngine, served: Workload, member: User) -> Browser:
    return Browser(signed_in(member), served)


def test_connect_leads_in_and_is_written_down(browser: Browser, served: Workload) -> None:
    came = browser.enter()
    assert (came.status_code, came.headers["location"]) == (303, "/")
    cookie = came.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Lax", "Path=/"))
    assert "Domain" not in cookie
    assert browser.get("/lab?x=1").json()["path"] == "/lab?x=1"
    event = Event.objects.get(workload=served, verb="connect")
    assert (event.message, event.actor_name) == ("Opened My Notebook.", "maria")


def test_our_cookies_stay_with_us(browser: Browser) -> None:
    browser.enter()
    answer = browser.get("/")
    seen = dict(answer.json()["headers"])
    assert seen["cookie"] == "other=kept"
    assert seen["x-forwarded-proto"] == "http"
    assert seen["host"] == browser.origin.removeprefix("http://")
    assert answer.headers.get_list("set-cookie") == ["mine=1; Path=/x"]
    assert "clear-site-data" not in answer.headers, "which ends the visitor's session, too"


def test_bodies_stream_both_ways(browser: Browser) -> None:
    browser.enter()
    assert len(browser.get("/many").content) == 1_000_000
    sent = "ü" * 200_000
    answer = browser.get("/", "POST", content=sent.encode())
    assert (answer.status_code, answer.json()["body"]) == (201, sent)


def test_a_tool_that_does_not_answer_says_so(browser: Browser, served: Workload) -> None:
    browser.enter()
    assert browser.get("/cut").status_code == 502
    conftest.serve(served, {"name": "My Notebook", "containerPort": 1})
    answer = browser.get("/")
    assert (answer.status_code, answer.headers["content-type"][:10]) == (502, "text/plain")


def test_the_proxy_of_a_tool_lets_nobody_in_without_a_grant(browser: Browser) -> None:
    assert browser.get("/").status_code == 401
    assert browser.get("/?trainyard_code=guessed").status_code == 401
    browser.cookie = "trainyard_tool=guessed"
    assert browser.get("/").status_code == 401


def test_a_code_is_good_once_and_for_one_tool(
    browser: Browser, served: Workload, member: User
) -> None:
    leads = signed_in(member).get(browser.entry, HTTP_HOST="localhost")["Location"]
    path = leads.removeprefix(browser.origin)
    other = Browser(browser.client, served, "another-tool")
    assert other.get(path).status_code == 401
    assert browser.get(path).status_code == 401, "it was shown at the wrong door"
    browser.enter()
    stolen = Browser(browser.client, served, "another-tool")
    stolen.cookie = browser.cookie
    assert stolen.get("/").status_code == 401


def test_signing_out_and_losing_the_project_end_a_visit(browser: Browser, project: Project) -> None:
    browser.enter()
    remove_members(project)
    Workload.objects.update(created_by=None)
    assert browser.get("/").status_code == 401
    add_members(project, User.objects.get(username="maria"))
    assert browser.get("/").status_code == 201
    browser.client.logout()
    assert browser.get("/").status_code == 401


def test_no_page_of_ours_is_served_at_a_tools_address(browser: Browser) -> None:
    browser.enter()
    assert browser.get("/workloads/").json()["path"] == "/workloads/"
    elsewhere = Browser(browser.client, Workload(), "x")
    for origin in ("http://x.localhost", "http://no-such.tool.localhost", elsewhere.origin):
        elsewhere.origin = origin
        assert elsewhere.get("/accounts/login/").status_code in {401, 404}


def test_the_proxy_of_a_tool_closes_with_the_rank(browser: Browser, served: Workload) -> None:
    browser.enter()
    served.ranks.filter(rank=0).update(phase=RankPhase.FAILED)
    assert browser.get("/").status_code == 503
    answer = browser.client.get(browser.entry, HTTP_HOST="localhost")
    assert answer.status_code == 409
    assert "can be opened while master-0 runs" in answer.content.decode()


@pytest.fixture
def echo(served: Workload) -> Iterator[None]:
    def answer(peer: ServerConnection) -> None:
        peer.send(json.dumps(dict(peer.request.headers.raw_items())) if peer.request else "")
        for message in peer:
            peer.send(message)

    with serve(answer, "127.0.0.1", 0, subprotocols=["v1.kernel"]) as server:  # type: ignore[list-item]  # a plain name
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        conftest.serve(served, {"name": "My Notebook", "containerPort": port})
        yield
        server.shutdown()


def socket_to(browser: Browser, origin: str) -> Socket:
    host = browser.origin.removeprefix("http://")
    headers = [(b"host", host), (b"origin", origin), (b"cookie", browser.cookie)]
    scope: dict[str, Any] = {
        "type": "websocket",
        "scheme": "ws",
        "raw_path": b"/api/kernels",
        "query_string": b"a=b",
        "subprotocols": ["v1.kernel"],
        "headers": [(name, value.encode()) for name, value in headers],
    }
    return Socket(application, scope)


def test_websockets_pass(echo: None, browser: Browser) -> None:
    browser.enter()

    async def scenario() -> list[Any]:
        socket = socket_to(browser, browser.origin)
        await socket.send_input({"type": "websocket.connect"})
        accepted = await socket.receive_output(5)
        told = json.loads((await socket.receive_output(5))["text"])
        await socket.send("text")
        await socket.send(b"\x00\xff")
        found = [(await socket.receive_output(5)) for _ in range(2)]
        await socket.disconnect()
        return [accepted["subprotocol"], told, *found]

    subprotocol, told, text, data = async_to_sync(scenario)()
    assert subprotocol == "v1.kernel"
    assert told["Host"] == browser.origin.removeprefix("http://")
    assert told["origin"] == browser.origin
    assert "cookie" not in told
    assert (text["text"], data["bytes"]) == ("text", b"\x00\xff")


def test_a_websocket_ends_with_the_visit(
    echo: None, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workloads.tools.app.CHECK_SECONDS", 0.05)
    browser.enter()

    async def scenario() -> None:
        socket = socket_to(browser, browser.origin)
        assert await socket.connect()
        await sync_to_async(browser.client.logout)()
        await socket.wait(5)  # the application is done with it

    async_to_sync(scenario)()


def test_websockets_need_the_tools_own_page_and_a_grant(echo: None, browser: Browser) -> None:
    async def is_let_in(origin: str) -> bool:
        socket = socket_to(browser, origin)
        connected = await asyncio.wait_for(socket.connect(), 5)
        await socket.disconnect()
        return connected

    assert not async_to_sync(is_let_in)(browser.origin)
    browser.enter()
    assert not async_to_sync(is_let_in)("http://localhost")
    assert not async_to_sync(is_let_in)("http://evil-00.localhost")
    assert async_to_sync(is_let_in)(browser.origin)
