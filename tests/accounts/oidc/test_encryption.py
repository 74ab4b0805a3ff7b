"""What an identity provider answers on its way here: nobody between may change it."""

from io import BytesIO
from typing import Any

import pytest
import requests

from accounts.oidc.answers import Configuration, asked
from tests.accounts.oidc.refusals import WELL_KNOWN, refusal

USER_INFO = "https://id.example.com/userinfo"


@pytest.mark.parametrize(
    ("url", "token_endpoint", "words"),
    [
        (WELL_KNOWN, "http://id.example.com/token", "the token_endpoint in its configuration is"),
        (WELL_KNOWN, "http://127.0.0.1.example.com/", "the token_endpoint in its configuration is"),
        (WELL_KNOWN, "http://10.0.0.1/token", "the token_endpoint in its configuration is"),
        (WELL_KNOWN.replace("https", "http"), "https://a.b/", "its configuration is not fetched"),
        (WELL_KNOWN, "https://id.example.com/token", ""),
        ("http://localhost:8080/", "http://[::1]:8080/token", ""),
        ("http://127.0.0.1:8080/", "HTTPS://id.example.com/token", ""),
    ],
)
def test_an_id_token_that_stands_alone_is_encrypted_or_of_this_machine(
    url: str, token_endpoint: str, words: str
) -> None:
    configuration = Configuration(token_endpoint=token_endpoint)
    configuration.url = url
    if not words:
        configuration.require_encryption()
        return
    assert words in refusal(configuration.require_encryption)


@pytest.mark.parametrize(
    ("first", "way", "is_refused"),
    [
        (USER_INFO, ["http://id.example.com/"], True),
        (USER_INFO, ["http://id.example.com/", USER_INFO], True),
        (USER_INFO, ["https://b.example.com/"], False),
        ("http://id.example.com/", ["http://b.example.com/"], False),
    ],
)
def test_no_redirect_leads_from_https_to_http(first: str, way: list[str], is_refused: bool) -> None:
    def ask(method: str, url: str, **how: Any) -> requests.Response:
        answers: list[requests.Response] = []
        for it in [url, *way]:
            answer = requests.Response()
            answer.url, answer.status_code, answer.raw = it, 200, BytesIO(b"{}")
            answer.history = list(answers)
            answers.append(answer)
        return answers[-1]

    bearer = {"Authorization": "Bearer for-userinfo"}
    if is_refused:
        words = "its user info is redirected from https to http"
        assert words in refusal(lambda: asked(ask, "GET", first, headers=bearer))
    else:
        assert asked(ask, "GET", first, headers=bearer).json() == {}


def test_the_token_endpoint_is_asked_without_redirects() -> None:
    def ask(method: str, url: str, **how: Any) -> requests.Response:
        assert how["allow_redirects"] is False
        answer = requests.Response()
        answer.status_code, answer.raw = 302, BytesIO(b"")
        return answer

    words = "it answered 302 when asked for its token response"
    assert words in refusal(lambda: asked(ask, "POST", "https://id.example.com/token"))
