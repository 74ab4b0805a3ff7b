"""Answers of an identity provider: what is odd is refused in words, and the rest is left out."""

import json
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

import pytest
import requests

from accounts.oidc.answers import ProviderAnswer, asked
from accounts.oidc.claims import OddAnswer, claims_of, merged
from tests.accounts.oidc.provider import LATER, LEFT_OUT, MARA, TOKENS, id_token
from tests.accounts.oidc.refusals import WELL_KNOWN, refusal

CLAIMS = {"sub": "1", "aud": "trainyard", "exp": LATER}
DEEP = b"[" * 100_000 + b"]" * 100_000
HUGE = b'{"sub": "' + b"1" * 2**21 + b'"}'
NO_TIME = "the exp in its ID token is not a time"
NO_ADDRESS = "in its configuration is not an address"

NEEDED = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "issuer")

#: What the provider says, by what is asked for, and what the page says of it.
CONFIGURATIONS: list[tuple[Any, str]] = [
    (b"<html>", "its configuration is not JSON"),
    (b"", "its configuration is not JSON"),
    (b"\xff\xfe\xfd", "its configuration is not JSON"),
    (DEEP, "its configuration is not JSON"),
    (HUGE, "its configuration is larger than 1 MiB"),
    ([], "its configuration is not a JSON object"),
    (None, "its configuration is not a JSON object"),
    ({"authorization_endpoint": LEFT_OUT}, "its configuration has no authorization_endpoint"),
    ({"authorization_endpoint": 5}, f"the authorization_endpoint {NO_ADDRESS}"),
    ({"authorization_endpoint": "javascript:alert(1)"}, f"the authorization_endpoint {NO_ADDRESS}"),
    ({"authorization_endpoint": "https://a.b/\nx: y"}, f"the authorization_endpoint {NO_ADDRESS}"),
    ({"token_endpoint": LEFT_OUT}, "its configuration has no token_endpoint"),
    ({"token_endpoint": ["https://a.b/"]}, f"the token_endpoint {NO_ADDRESS}"),
    ({"token_endpoint": "http://127.0.0.1:99999/"}, f"the token_endpoint {NO_ADDRESS}"),
    ({"token_endpoint": "file:///etc/passwd"}, f"the token_endpoint {NO_ADDRESS}"),
    (
        {"token_endpoint_auth_methods_supported": 5},
        "in its configuration are not a list",
    ),
    ({"userinfo_endpoint": {}}, f"the userinfo_endpoint {NO_ADDRESS}"),
]
TOKEN_ANSWERS: list[tuple[Any, str]] = [
    (b"<html>", "its token response is not JSON"),
    (DEEP, "its token response is not JSON"),
    (HUGE, "its token response is larger than 1 MiB"),
    ("access_token", "its token response is not a JSON object"),
    (5, "its token response is not a JSON object"),
    ({}, "its token response has no access_token"),
    ({"access_token": None}, "its token response has no access_token"),
    ({"access_token": 5}, "the access_token in its token response is not a token"),
    ({"access_token": "a\nb"}, "the access_token in its token response is not a token"),
    ({**TOKENS, "id_token": 5}, "the id_token in its token response is not a token"),
    ({**TOKENS, "id_token": "a.b.c"}, "its ID token cannot be read"),
    ({**TOKENS, "id_token": "e30"}, "its ID token cannot be read"),
    ({**TOKENS, "id_token": "NQ.NQ.NQ"}, "its ID token cannot be read"),
    ({**TOKENS, "id_token": id_token({**CLAIMS, "exp": "soon"})}, NO_TIME),
    ({**TOKENS, "id_token": id_token({**CLAIMS, "exp": []})}, NO_TIME),
    ({**TOKENS, "id_token": id_token({**CLAIMS, "exp": 1e400})}, NO_TIME),
    ({**TOKENS, "id_token": id_token({**CLAIMS, "exp": 10**300})}, NO_TIME),
]
PEOPLE: list[tuple[Any, str]] = [
    (b"eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "its user info is not JSON"),
    (HUGE, "its user info is larger than 1 MiB"),
    (["mara"], "its user info is not a JSON object"),
    ({**MARA, "sub": " "}, "the sub in its user info is empty"),
    ({**MARA, "sub": True}, "the sub in its user info is not text"),
    ({**MARA, "sub": "1" * 192}, "the sub in its user info is longer than 191 characters"),
    ({**MARA, "sub": "1\0"}, "the sub in its user info contains a NUL character"),
    ({**MARA, "email": ["mara@example.org"]}, "the email in its user info is not text"),
    ({**MARA, "preferred_username": 5}, "the preferred_username in its user info is not"),
    ({**MARA, "name": {"first": "Mara"}}, "the name in its user info is not text"),
    ({**MARA, "given_name": "\ud800"}, "the given_name in its user info contains half of a"),
]

Ask = Callable[..., ProviderAnswer]


def session(said: Any, status: int = 200) -> Ask:
    """Asks a provider that says this, as allauth does."""

    def ask(method: str, url: str, **how: Any) -> requests.Response:
        answer = requests.Response()
        answer.status_code = status
        answer.raw = BytesIO(said if isinstance(said, bytes) else json.dumps(said).encode())
        return answer

    return partial(asked, ask)


def configuration(said: Any) -> Any:
    document = said
    if isinstance(said, dict):
        usual = dict.fromkeys(NEEDED, "https://id.example.com/") | said
        document = {key: value for key, value in usual.items() if value is not LEFT_OUT}
    answer: Any = session(document)("GET", WELL_KNOWN).json()
    return [answer[name] for name in NEEDED]


def tokens(said: Any) -> Any:
    return session(said)("POST", "https://id.example.com/token").json()


def person(said: Any) -> Any:
    bearer = {"Authorization": "Bearer for-userinfo"}
    return session(said)("GET", "https://id.example.com/userinfo", headers=bearer).json()


@pytest.mark.parametrize(
    ("read", "said", "words"),
    [
        *((configuration, *row) for row in CONFIGURATIONS),
        *((tokens, *row) for row in TOKEN_ANSWERS),
        *((person, *row) for row in PEOPLE),
    ],
)
def test_an_odd_answer_is_refused_in_words_on_the_page_and_in_the_log(
    read: Callable[[Any], Any], said: Any, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert words in refusal(lambda: read(said))
    assert words in caplog.text
    assert len(caplog.text) < 1000


def test_only_what_is_needed_is_passed_on() -> None:
    said = {**TOKENS, "expires_in": "soon", "refresh_token": 5, "id_token": None}
    assert tokens(said) == {"access_token": "for-userinfo"}
    assert person({**MARA, "sub": 1, "picture": "\0", "name": None}) == MARA
    assert person({}) == {}, "the ID token may have all"


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (["vision", 5, "a\0b", "\ud800", ["c"]], ["vision"]),
        ("vision", ["vision"]),
        ({"a": "b"}, []),
    ],
)
def test_groups_are_names_and_nothing_else(said: Any, names: list[str]) -> None:
    assert claims_of({"groups": said}, "ID token", "groups") == {"groups": names}


@pytest.mark.parametrize(("said", "is_verified"), [(True, True), ("true", True), ("no", False)])
def test_an_address_is_verified_by_one_of_two_words(said: Any, is_verified: bool) -> None:
    """allauth stores whatever else there is, which its column refuses."""
    assert claims_of({"email_verified": said}, "", "") == {"email_verified": is_verified}


def test_the_user_info_goes_before_the_id_token() -> None:
    token = {"sub": "1", "email": "old@example.org", "groups": ["speech"]}
    assert merged({}, token) == token
    assert merged({"email": "new@example.org"}, token) == token | {"email": "new@example.org"}
    with pytest.raises(OddAnswer, match="user info and its ID token have different subs"):
        merged({"sub": "2"}, token)
    with pytest.raises(OddAnswer, match="its user info has no sub"):
        merged({}, {})
    with pytest.raises(OddAnswer, match="its user info and ID token have no sub"):
        merged({}, {"email": "new@example.org"})


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            {"error": "invalid_client"},
            "it answered 400 (invalid_client) when asked for its token response",
        ),
        ({"error": "<b>"}, "it answered 400 when asked for its token response"),
        (["error"], "it answered 400 when asked for its token response"),
        (b"<html>", "it answered 400 when asked for its token response"),
    ],
)
def test_a_refusal_is_told_with_its_code(said: Any, words: str) -> None:
    assert words in refusal(lambda: session(said, 400)("POST", "https://id.example.com/token"))


@pytest.mark.parametrize("error", [requests.ConnectTimeout("5 s"), UnicodeError("label too long")])
def test_no_answer_at_all_is_told(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    def ask(method: str, url: str, **how: Any) -> requests.Response:
        raise error

    page = refusal(lambda: asked(ask, "GET", WELL_KNOWN))
    assert "its configuration cannot be fetched." in page
    assert f"at {WELL_KNOWN}: its configuration cannot be fetched ({error})" in caplog.text
