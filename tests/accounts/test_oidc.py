"""Signing in through an identity provider, which configuration alone switches on.

The provider is a small one of our own: a real one cannot be had in a test.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from tests.product import Trainyard

pytestmark = pytest.mark.faults  # it starts a product of its own


class Provider(BaseHTTPRequestHandler):
    """Discovery, authorization, token and userinfo of OpenID Connect, for one person: mara."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        here = f"http://{self.headers['Host']}"
        if address.path == "/authorize":
            asked = parse_qs(address.query)
            answer = urlencode({"code": "once", "state": asked["state"][0]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri'][0]}?{answer}")
            self.end_headers()
        elif address.path == "/userinfo":
            person = {"preferred_username": "mara", "email": "mara@example.org"}
            self.say({"sub": "1", **person, "groups": ["vision"]})
        else:
            names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
            self.say({f"{key}_endpoint": f"{here}/{path}" for key, path in names.items()})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.say({"access_token": "for-userinfo", "token_type": "Bearer"})

    def say(self, body: dict[str, object]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Quietly."""


@pytest.fixture
def provider() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def trainyard(tmp_path: Path, provider: str) -> Iterator[Trainyard]:
    trainyard = Trainyard(
        tmp_path,
        OIDC_URL=provider,
        OIDC_NAME="Lab",
        OIDC_CLIENT_ID="trainyard",
        OIDC_CLIENT_SECRET="secret",
    )
    trainyard.start()
    yield trainyard
    trainyard.stop()


def test_a_user_whom_the_identity_provider_knows_signs_in(
    trainyard: Trainyard, provider: str
) -> None:
    with httpx.Client(base_url=trainyard.url, follow_redirects=True, timeout=20) as browser:
        page = browser.get("/accounts/login/")
        assert "Sign in with Lab" in page.text
        assert f"form-action 'self' {provider}" in page.headers["Content-Security-Policy"]
        token = page.text.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {"csrfmiddlewaretoken": token}
        answer = browser.post("/accounts/oidc/sso/login/", data=form)
        assert answer.status_code == 200
        assert str(answer.url).endswith("/workloads/")
        assert "mara" in answer.text
    ask = (
        "from accounts.models import UserGroup;"
        "print(*UserGroup.objects.values_list('name', 'people__username'))"
    )
    assert "('vision', 'mara')" in trainyard.manage("shell", "-v0", "-c", ask)
