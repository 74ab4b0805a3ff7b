"""Signing in through an identity provider, which configuration alone switches on.

The provider is a small one of our own: a real one cannot be had in a test.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from tests.product import Trainyard

pytestmark = pytest.mark.faults  # it starts a product of its own


MARA = {"sub": "1", "preferred_username": "mara", "email": "mara@example.org"}


class Provider(BaseHTTPRequestHandler):
    """Discovery, authorization, token and userinfo of OpenID Connect, for one person at a time."""

    person: ClassVar[dict[str, str]] = MARA
    token: ClassVar[dict[str, str]] = {"access_token": "for-userinfo", "token_type": "Bearer"}
    leaves_out = ""  # of its configuration
    is_away = False

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        here = f"http://{self.headers['Host']}"
        if self.is_away:
            self.send_error(503)
        elif address.path == "/authorize":
            asked = parse_qs(address.query)
            answer = urlencode({"code": "once", "state": asked["state"][0]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri'][0]}?{answer}")
            self.end_headers()
        elif address.path == "/userinfo":
            self.say({**self.person, "groups": ["vision"]})
        else:
            names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
            said = {f"{key}_endpoint": f"{here}/{path}" for key, path in names.items()}
            said |= {"issuer": here, "jwks_uri": f"{here}/keys"}
            self.say({key: value for key, value in said.items() if key != self.leaves_out})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.say(self.token)

    def say(self, body: Mapping[str, object]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Quietly."""


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def trainyard(tmp_path_factory: pytest.TempPathFactory, provider: str) -> Iterator[Trainyard]:
    trainyard = Trainyard(
        tmp_path_factory.mktemp("home"),
        OIDC_URL=provider,
        OIDC_NAME="Lab",
        OIDC_CLIENT_ID="trainyard",
        OIDC_CLIENT_SECRET="secret",
    )
    trainyard.start()
    yield trainyard
    trainyard.stop()


@pytest.fixture
def browser(trainyard: Trainyard) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=trainyard.url, follow_redirects=True, timeout=20) as client:
        yield client


def token_of(page: httpx.Response) -> str:
    return page.text.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]


def sign_in(browser: httpx.Client, query: str = "") -> httpx.Response:
    """By the button of the page."""
    form = {"csrfmiddlewaretoken": token_of(browser.get("/device/"))}
    return browser.post(f"/accounts/oidc/sso/login/{query}", data=form)


def asked(trainyard: Trainyard, expression: str) -> str:
    """What Python prints of it there."""
    ask = f"from accounts.models import *; print({expression})"
    return trainyard.manage("shell", "-v0", "-c", ask).strip()


def test_a_user_whom_the_identity_provider_knows_signs_in(
    trainyard: Trainyard, provider: str, browser: httpx.Client
) -> None:
    page = browser.get("/accounts/login/")
    assert "Sign in with Lab" in page.text
    assert f"form-action 'self' {provider}" in page.headers["Content-Security-Policy"]
    answer = sign_in(browser)
    assert answer.status_code == 200
    assert str(answer.url).startswith(trainyard.url)
    assert "mara" in browser.get("/workloads/").text
    rows = "*UserGroup.objects.values_list('name', 'people__username')"
    assert "('vision', 'mara')" in asked(trainyard, rows)


def test_an_address_that_another_user_has_lets_nobody_in_and_says_what_to_do(
    trainyard: Trainyard, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(trainyard, "User.objects.create_user('nora', email='Nora@example.org')")
    nora = {"sub": "2", "preferred_username": "nora.n", "email": "nora@example.org"}
    monkeypatch.setattr(Provider, "person", nora)
    answer = sign_in(browser)
    assert answer.status_code == 409
    assert "Lab says that your email address is" in answer.text
    assert "ask your Trainyard" in answer.text
    assert browser.get("/workloads/").url.path == "/accounts/login/"
    asked(trainyard, "User.objects.filter(username='nora').update(email='')")
    assert sign_in(browser).status_code == 200, "as the page said"
    assert "nora.n" in browser.get("/workloads/").text


def test_the_address_of_another_is_not_taken_for_a_username(
    trainyard: Trainyard, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve = {"sub": "3", "preferred_username": "mara@example.org", "email": "eve@example.org"}
    monkeypatch.setattr(Provider, "person", eve)
    assert sign_in(browser).status_code == 200
    username = "User.objects.get(email='eve@example.org').username"
    assert asked(trainyard, username) == "eve"


def test_a_provider_that_does_not_answer_is_told_of(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, trainyard: Trainyard
) -> None:
    monkeypatch.setattr(Provider, "is_away", True)
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert "Signing in with Lab failed" in answer.text
    assert "503 Server Error" in (trainyard.home / "run/web.log").read_text()


@pytest.mark.parametrize(
    "missing", ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "sub"]
)
def test_a_provider_that_leaves_out_what_is_needed_is_told_of(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, trainyard: Trainyard, missing: str
) -> None:
    monkeypatch.setattr(Provider, "leaves_out", missing)
    if missing == "jwks_uri":  # is needed where the provider says who it is in a token
        monkeypatch.setattr(Provider, "token", {**Provider.token, "id_token": "a.b.c"})
    if missing == "sub":
        monkeypatch.setattr(Provider, "person", {"preferred_username": "nobody"})
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert "Signing in with Lab failed" in answer.text
    assert f" has no {missing} [" in (trainyard.home / "run/web.log").read_text()


def test_a_local_account_gets_no_second_way_in(trainyard: Trainyard, browser: httpx.Client) -> None:
    """It would outlast a new password."""
    page = browser.get("/accounts/login/")
    form = {"login": trainyard.username, "password": trainyard.password}
    browser.post("/accounts/login/", data={**form, "csrfmiddlewaretoken": token_of(page)})
    assert sign_in(browser, "?process=connect").status_code == 401
    from_elsewhere = "User.objects.filter(username='admin', socialaccount__isnull=False).exists()"
    assert asked(trainyard, from_elsewhere) == "False"
