"""Whatever an identity provider answers, a page says what is wrong with it and whom to tell. The
tables of ``test_answers.py``, once through the whole product."""

from typing import Any

import httpx
import pytest

from tests.accounts.oidc.provider import LATER, LEFT_OUT, MARA, TOKENS, Provider, sign_in
from tests.product import Trainyard

pytestmark = pytest.mark.faults  # it starts a product of its own

CLAIMS = {"sub": "1", "aud": "trainyard", "exp": LATER}


@pytest.mark.parametrize(
    ("attribute", "said", "words"),
    [
        ("configuration", b"<html>", "its configuration is not JSON"),
        ("configuration", {"authorization_endpoint": LEFT_OUT}, "has no authorization_endpoint"),
        ("configuration", {"token_endpoint": LEFT_OUT}, "has no token_endpoint"),
        (
            "configuration",
            {"userinfo_endpoint": 5},
            "in its configuration is not an address",
        ),
        ("token", "access_token", "its token response is not a JSON object"),
        ("token", {"error": "invalid_client"}, "it answered 400 (invalid_client) when asked for"),
        (
            "token",
            {**TOKENS, "id_token": {**CLAIMS, "exp": 1e400}},
            "the exp in its ID token is not a",
        ),
        ("token", {**TOKENS, "id_token": {**CLAIMS, "exp": 1}}, "not valid: Signature has expired"),
        ("token", {**TOKENS, "id_token": {"aud": "trainyard"}}, "its ID token has no exp"),
        ("token", {**TOKENS, "id_token": {**CLAIMS, "azp": "b"}}, "issued for another client"),
        ("token", {**TOKENS, "id_token": {**CLAIMS, "aud": "b"}}, "its ID token is not valid"),
        ("token", {**TOKENS, "id_token": {**CLAIMS, "iss": {}}}, "its ID token is not valid"),
        ("token", {**TOKENS, "id_token": {**CLAIMS, "sub": "2"}}, "have different subs"),
        ("person", {}, "its user info has no sub"),
        ("person", {**MARA, "sub": "1" * 192}, "the sub in its user info is longer than 191"),
    ],
)
def test_a_page_says_what_is_wrong_and_whom_to_tell(
    browser: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    trainyard: Trainyard,
    attribute: str,
    said: Any,
    words: str,
) -> None:
    monkeypatch.setattr(Provider, attribute, said)
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert "Signing in with Lab failed: " in answer.text
    assert words in answer.text
    assert "Tell your Trainyard administrator" in answer.text
    assert words in (trainyard.home / "run/web.log").read_text()


@pytest.mark.parametrize("missing", ["jwks_uri", "issuer"])
def test_a_provider_without_what_an_id_token_needs_is_told_of(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr(Provider, "configuration", {missing: LEFT_OUT})
    monkeypatch.setattr(Provider, "token", {**TOKENS, "id_token": CLAIMS})
    answer = sign_in(browser)
    assert (answer.status_code, f"has no {missing}" in answer.text) == (502, True)


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("token", {**TOKENS, "expires_in": "soon", "refresh_token": 5}),
        ("token", {**TOKENS, "id_token": {**CLAIMS, "jti": 5}}),
        ("configuration", {"jwks_uri": LEFT_OUT, "issuer": 5}),
        ("person", {**MARA, "email": "no address", "groups": [5, "\ud800", "a\0b"]}),
        ("person", {"sub": 31, "preferred_username": "m" * 300, "name": "n" * 5000}),
        ("person", {"sub": "32", "preferred_username": "%", "email": "m@" + "x" * 300 + ".org"}),
        ("person", {"sub": "33", "picture": "\0"}),
    ],
)
def test_odd_values_that_are_not_needed_keep_nobody_out(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, attribute: str, said: Any
) -> None:
    monkeypatch.setattr(Provider, attribute, said)
    answer = sign_in(browser)
    assert answer.status_code == 200
    assert "Sign out" in answer.text
