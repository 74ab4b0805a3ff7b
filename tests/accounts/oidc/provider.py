"""A small identity provider of our own, since a real one cannot be had in a test, and who signs in
through it."""

import hashlib
import json
from base64 import urlsafe_b64encode
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from tests.product import Trainyard

MARA = {"sub": "1", "preferred_username": "mara", "email": "mara@example.org"}
TOKENS = {"access_token": "for-userinfo", "token_type": "Bearer"}
LATER = 32503680000  # the year 3000
LEFT_OUT: Any = object()  # a value of something that is not there


class Provider(BaseHTTPRequestHandler):
    """Discovery, authorization, token and userinfo of OpenID Connect, for one person at a time.

    Tests change what it says: bytes, or anything that becomes JSON. Of the ``configuration`` and an
    ID token, the usual claims are added.
    """

    person: ClassVar[Any] = MARA
    token: ClassVar[Any] = TOKENS
    configuration: ClassVar[Any] = {}
    is_away = False
    moves_token = False  # its token endpoint redirects to another address
    challenge: ClassVar[str] = ""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if self.is_away:
            self.send_error(503)
        elif address.path == "/authorize":
            asked = parse_qs(address.query)
            assert asked["code_challenge_method"] == ["S256"]
            Provider.challenge = asked["code_challenge"][0]
            answer = urlencode({"code": "once", "state": asked["state"][0]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri'][0]}?{answer}")
            self.end_headers()
        elif address.path == "/userinfo":
            is_mara = self.person is MARA
            self.say({**MARA, "groups": ["vision"]} if is_mara else self.person)
        else:
            self.say(self.discovered())

    def discovered(self) -> Any:
        if not isinstance(self.configuration, dict):
            return self.configuration
        names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        said = {f"{key}_endpoint": f"{self.address}/{path}" for key, path in names.items()}
        said |= {"issuer": self.address, "jwks_uri": f"{self.address}/keys", **self.configuration}
        return {key: value for key, value in said.items() if value is not LEFT_OUT}

    @property
    def address(self) -> str:
        return f"http://{self.headers['Host']}"

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if self.moves_token and self.path == "/token":
            self.send_response(307)
            self.send_header("Location", f"{self.address}/elsewhere")
            self.end_headers()
            return
        verifier = sent.get("code_verifier", [""])[0].encode()
        is_its = _encoded(hashlib.sha256(verifier).digest()) == self.challenge
        said = self.token if is_its else {"error": "invalid_grant"}
        if isinstance(said, dict) and isinstance(said.get("id_token"), dict):
            said = {**said, "id_token": id_token({"iss": self.address, **said["id_token"]})}
        self.say(said)

    def say(self, body: Any) -> None:
        self.send_response(400 if isinstance(body, dict) and "error" in body else 200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Quietly."""


def id_token(claims: dict[str, Any]) -> str:
    """An ID token. Who gets one from the provider itself need not check its signature."""
    return ".".join(map(_part, ({"alg": "RS256", "typ": "JWT"}, claims, "signature")))


def _part(value: Any) -> str:
    return _encoded(json.dumps(value).encode())


def _encoded(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


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
