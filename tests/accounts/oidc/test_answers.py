"""What Trainyard takes of the claims of an identity provider, and from where it takes answers."""

import json
from io import BytesIO
from typing import Any

import pytest
import requests
from pydantic import ValidationError

from accounts.oidc.answers import UnusableAnswer, is_safe_url, merge_claims, request_json_object
from tests.accounts.oidc.provider import MARA


def claims(userinfo: dict[str, Any], **id_token: Any) -> dict[str, Any]:
    return merge_claims(userinfo, id_token, groups_claim="groups")


def test_only_needed_claims_are_taken() -> None:
    answer = {**MARA, "sub": 1, "picture": "\0", "name": None}
    assert claims(answer) == {**MARA, "email_verified": False}


def test_the_user_info_takes_precedence_over_the_id_token() -> None:
    token = {"sub": "1", "email": "old@example.org", "email_verified": True}
    assert claims({}, **token) == token
    new = {"email": "new@example.org"}
    assert claims(new, **token) == {"sub": "1", "email_verified": False, **new}
    with pytest.raises(UnusableAnswer, match="different subs"):
        claims({"sub": "2"}, **token)


@pytest.mark.parametrize("sub", [None, " ", True, "1\0", "1" * 192])
def test_a_person_without_a_sub_is_refused(sub: Any) -> None:
    with pytest.raises(ValidationError, match="sub"):
        claims({**MARA, "sub": sub})


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        (["vision", 5, "a\0b", "\ud800", ["c"]], ["vision"]),
        ("vision", ["vision"]),
        ({"a": "b"}, []),
    ],
)
def test_groups_are_names_and_nothing_else(groups: Any, names: list[str]) -> None:
    assert claims({"sub": "1", "groups": groups})["groups"] == names


@pytest.mark.parametrize(("word", "is_verified"), [(True, True), ("true", True), ("no", False)])
def test_an_address_is_verified_by_one_of_two_words(word: Any, is_verified: bool) -> None:
    assert claims({"sub": "1", "email_verified": word})["email_verified"] is is_verified


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://id.example.com/token", True),
        ("http://localhost:8080/", True),
        ("http://[::1]:8080/token", True),
        ("http://127.0.0.1.example.com/", False),
        ("http://10.0.0.1/token", False),
    ],
)
def test_an_answer_is_safe_by_tls_or_on_this_machine(url: str, expected: bool) -> None:
    assert is_safe_url(url) is expected


def answer_of(url: str, status: int = 200, body: Any = None) -> requests.Response:
    answer = requests.Response()
    answer.url = url
    answer.status_code = status
    answer.raw = BytesIO(json.dumps(body or {}).encode())
    return answer


def test_no_redirect_leads_from_https_to_http() -> None:
    answer = answer_of("http://id.example.com/")
    with pytest.raises(UnusableAnswer, match="redirects from https to http"):
        request_json_object(lambda *_, **__: answer, "GET", "https://id.example.com/userinfo")


def test_the_token_endpoint_is_asked_without_redirects() -> None:
    def send(method: str, url: str, **options: Any) -> requests.Response:
        assert options["allow_redirects"] is False
        return answer_of(url, 302)

    with pytest.raises(UnusableAnswer, match="token answered 302"):
        request_json_object(send, "POST", "https://id.example.com/token")
