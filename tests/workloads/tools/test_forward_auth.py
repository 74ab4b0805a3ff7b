"""What an ingress controller asks of us, and where it sends visitors."""

import pytest
from django.test import Client

from accounts.models import User
from engines.fake import FakeEngine
from tests.factories import UserFactory, add_members
from tests.web import signed_in
from tests.workloads.tools.conftest import serve
from workloads.models import Event, Workload

pytestmark = pytest.mark.django_db
HOME = "https://digits-team-a.train.example.com"


@pytest.fixture(autouse=True)
def outside(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool has an external URL."""
    monkeypatch.setattr(engine, "address", lambda handle, tool: HOME)


def asked(
    workload: Workload, *, url: str = f"{HOME}/lab", cookie: str = "", **headers: str
) -> tuple[int, str]:
    """The answer to the controller, and the cookie that it passes on."""
    visitor = Client(headers={"X-Original-URL": url, **headers})
    visitor.cookies["trainyard_tool"] = cookie
    answer = visitor.get(f"/tools/auth/{workload.pk}/my-notebook/")
    made = answer.cookies.get("trainyard_tool") or answer.headers.get("Set-Cookie", "")
    return answer.status_code, str(made)


def test_connect_leads_to_the_external_url_and_in(served: Workload, member: User) -> None:
    client = signed_in(member)
    leads = client.get(f"/workloads/{served.pk}/connect/my-notebook/")["Location"]
    assert leads.startswith(f"{HOME}/?trainyard_code=")
    status, cookie = asked(served, url=leads)
    assert status == 200
    assert "HttpOnly" in cookie
    secret = cookie.split("trainyard_tool=")[1].split(";")[0]
    assert asked(served, cookie=secret)[0] == 200
    assert asked(served, url=leads)[0] == 401, "a code is good once"
    assert asked(served, url=leads, cookie=secret)[0] == 200, "as after a reload"
    client.logout()
    assert asked(served, cookie=secret)[0] == 401
    assert Event.objects.filter(workload=served, verb="connect").count() == 1


@pytest.mark.parametrize("kind", ["NodePort", "LoadBalancer"])
def test_connect_leads_past_us_where_nobody_asks(
    served: Workload, member: User, kind: str, monkeypatch: pytest.MonkeyPatch, engine: FakeEngine
) -> None:
    """A code would be shown to the tool, and open nothing there."""
    tool = {"name": "My Notebook", "containerPort": 8888, "connectionType": kind}
    serve(served, tool)
    monkeypatch.setattr(engine, "address", lambda handle, tool: "http://10.0.0.1:30217")
    client = signed_in(member)
    leads = client.get(f"/workloads/{served.pk}/connect/my-notebook/")["Location"]
    assert leads == "http://10.0.0.1:30217"
    assert Event.objects.filter(workload=served, verb="connect").count() == 1


def test_the_controller_is_given_the_cookies_that_are_not_ours(
    served: Workload, member: User
) -> None:
    visitor = Client(headers={"X-Original-URL": f"{HOME}/lab"})
    address = f"/tools/auth/{served.pk}/my-notebook/"
    ours = admitted(served, member)
    for others in ("_xsrf=a|b; theme=dark", ""):
        cookies = f"trainyard_tool={ours}; {others}; __Host-trainyard_session_8000=x"
        answer = visitor.get(address, headers={"Cookie": cookies})
        assert (answer.status_code, answer.get("Cookie", "")) == (200, others)


def test_strangers_are_not_let_through_to_a_tool(served: Workload, stranger: User) -> None:
    assert asked(served)[0] == 401
    assert asked(served, cookie="guessed")[0] == 401
    signin = f"/tools/signin/{served.pk}/my-notebook/?rd={HOME}/lab"
    assert signed_in(stranger).get(signin).status_code == 404
    assert Client().get(signin)["Location"].startswith("/accounts/login/?next=/tools/signin/")


def test_a_visitor_of_a_tool_signs_in_and_continues(served: Workload, member: User) -> None:
    signin = f"/tools/signin/{served.pk}/my-notebook/"
    client = signed_in(member)
    leads = client.get(signin, {"rd": f"{HOME}/lab?a=b"})["Location"]
    assert leads.startswith(f"{HOME}/lab?a=b&trainyard_code=")
    assert asked(served, url=leads)[0] == 200
    assert Event.objects.filter(workload=served, verb="connect").count() == 1


def admitted(workload: Workload, member: User) -> str:
    """The secret of a visitor who came in."""
    signin = f"/tools/signin/{workload.pk}/my-notebook/"
    leads = signed_in(member).get(signin, {"rd": f"{HOME}/"})["Location"]
    return asked(workload, url=leads)[1].split("trainyard_tool=")[1].split(";")[0]


def test_a_spent_code_is_replaced(served: Workload, member: User) -> None:
    signin = f"/tools/signin/{served.pk}/my-notebook/"
    leads = signed_in(member).get(signin, {"rd": f"{HOME}/?trainyard_code=old&a=b"})["Location"]
    assert leads.startswith(f"{HOME}/?a=b&trainyard_code=")
    assert "old" not in leads


def test_a_websocket_is_opened_from_the_tools_own_pages(served: Workload, member: User) -> None:
    """Those of another tool below the same domain would bring the visitor's cookie."""
    secret = admitted(served, member)
    key = {"Sec-WebSocket-Key": "x"}
    assert asked(served, cookie=secret, Origin=HOME, **key)[0] == 200
    for origin in ("https://mallory.train.example.com", "null", ""):
        assert asked(served, cookie=secret, Origin=origin, **key)[0] == 403


def test_a_tool_that_does_not_run_says_so_at_sign_in(served: Workload, member: User) -> None:
    secret = admitted(served, member)
    served.ranks.update(phase="Pending")
    assert asked(served, cookie=secret)[0] == 401
    answer = signed_in(member).get(f"/tools/signin/{served.pk}/my-notebook/", {"rd": f"{HOME}/"})
    assert answer.status_code == 409
    assert "can be opened while master-0 runs" in answer.content.decode()


def test_a_member_who_may_not_open_a_tool_is_told_who_may(served: Workload, member: User) -> None:
    colleague = UserFactory()
    add_members(served.project, colleague)
    rule = {"authorizationType": "authorizedUsers", "authorizedUsers": ["maria"]}
    serve(served, {"name": "My Notebook", "containerPort": 8888} | rule)
    answer = signed_in(colleague).get(f"/tools/signin/{served.pk}/my-notebook/")
    assert answer.status_code == 403
    assert "Access: maria." in answer.content.decode()


@pytest.mark.parametrize(
    "back", ["", "https://evil.example/", f"{HOME}.evil.example/", "//evil.example", HOME]
)
def test_sign_in_to_a_tool_sends_no_code_to_another_site(
    served: Workload, member: User, back: str
) -> None:
    signin = f"/tools/signin/{served.pk}/my-notebook/"
    answer = signed_in(member).get(signin, {"rd": back})
    assert answer.status_code == 400
