"""Signing in through an identity provider, which configuration alone switches on."""

import httpx
import pytest

from tests.accounts.oidc.provider import (
    LATER,
    LEFT_OUT,
    TOKENS,
    Provider,
    asked,
    sign_in,
    token_of,
)
from tests.product import Trainyard

pytestmark = pytest.mark.faults  # it starts a product of its own
VALID = {"sub": "22", "aud": "trainyard", "exp": LATER}


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


def test_an_address_of_another_user_lets_nobody_in_and_gives_advice(
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


@pytest.mark.parametrize(("userinfo", "sub"), [({}, "11"), ({"groups": ["vision"]}, "12")])
def test_an_id_token_fills_in_what_the_user_info_leaves_out(
    trainyard: Trainyard,
    browser: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    userinfo: dict[str, object],
    sub: str,
) -> None:
    name = f"ida{sub}"
    claims = {"sub": sub, "aud": "trainyard", "exp": LATER, "preferred_username": name}
    claims |= {"groups": ["speech"], "email": f"{name}@example.org", "email_verified": "true"}
    monkeypatch.setattr(Provider, "person", userinfo)
    monkeypatch.setattr(Provider, "token", {**TOKENS, "id_token": claims})
    answer = sign_in(browser)
    assert answer.status_code == 200, answer.text
    row = f"User.objects.filter(username='{name}').values_list('email', 'user_groups__name').get()"
    group = userinfo.get("groups", ["speech"])
    assert asked(trainyard, row) == str((f"{name}@example.org", *group))  # type: ignore[misc]


def test_an_id_token_is_enough_where_there_is_no_user_info(
    trainyard: Trainyard, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = {**VALID, "sub": "21", "azp": "trainyard", "preferred_username": "lin"}
    claims |= {"groups": ["robots"], "email": "lin@example.org"}
    monkeypatch.setattr(Provider, "configuration", {"userinfo_endpoint": LEFT_OUT})
    monkeypatch.setattr(Provider, "token", {**TOKENS, "id_token": claims})
    answer = sign_in(browser)
    assert answer.status_code == 200, answer.text
    row = "User.objects.filter(username='lin').values_list('email', 'user_groups__name').get()"
    assert asked(trainyard, row) == str(("lin@example.org", "robots"))


@pytest.mark.parametrize(
    ("token", "words"),
    [
        (LEFT_OUT, "sub: Field required"),
        ({"sub": "22", "aud": "trainyard"}, "its ID token has no exp"),
        ({"aud": "trainyard", "exp": LATER}, "sub: Field required"),
        ({"sub": "22", "aud": "trainyard", "exp": 1}, "not valid: Signature has expired"),
        ({"sub": "22", "aud": "another", "exp": LATER}, "its ID token is not valid"),
        ({**VALID, "azp": "another"}, "was issued for another client"),
        ({"sub": "22", "aud": "trainyard", "exp": LATER, "iss": "https://b/"}, "is not valid"),
    ],
)
def test_an_incomplete_or_invalid_id_token_lets_nobody_in(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, token: object, words: str
) -> None:
    said = TOKENS if token is LEFT_OUT else {**TOKENS, "id_token": token}
    monkeypatch.setattr(Provider, "configuration", {"userinfo_endpoint": LEFT_OUT})
    monkeypatch.setattr(Provider, "token", said)
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert words in answer.text
    assert browser.get("/workloads/").url.path == "/accounts/login/"


@pytest.mark.parametrize("person", [LEFT_OUT, {"groups": ["vision"]}])
def test_an_id_token_without_user_info_has_to_come_encrypted(
    provider: str, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, person: object
) -> None:
    """This machine's other address stands for another machine."""
    endpoint = f"{provider.replace('127.0.0.1', '127.1')}/token"
    userinfo = {"userinfo_endpoint": LEFT_OUT} if person is LEFT_OUT else {}
    monkeypatch.setattr(Provider, "configuration", {"token_endpoint": endpoint, **userinfo})
    monkeypatch.setattr(Provider, "person", person)
    monkeypatch.setattr(Provider, "token", {**TOKENS, "id_token": {**VALID, "iss": provider}})
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert "must be https if no user info has the sub" in answer.text
    assert browser.get("/workloads/").url.path == "/accounts/login/"


def test_tokens_come_from_the_token_endpoint_and_nowhere_else(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Provider, "moves_token", True)
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert "/token answered 307" in answer.text


def test_an_unreachable_provider_is_named_on_the_page_and_in_the_log(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, trainyard: Trainyard
) -> None:
    monkeypatch.setattr(Provider, "is_away", True)
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert "Signing in with Lab failed. The identity provider's answer" in answer.text
    words = "openid-configuration answered 503"
    assert words in answer.text
    assert words in (trainyard.home / "run/web.log").read_text()


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("configuration", b"<html>"),
        ("configuration", {"token_endpoint": LEFT_OUT}),
        ("token", {"error": "invalid_client"}),
        ("token", {**TOKENS, "id_token": {**VALID, "exp": 1e400}}),
    ],
)
def test_an_unusable_answer_is_no_error_of_trainyard(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, attribute: str, said: object
) -> None:
    monkeypatch.setattr(Provider, attribute, said)
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert "answer cannot be used: " in answer.text
    assert "Tell your Trainyard administrator" in answer.text


@pytest.mark.parametrize(
    "person",
    [
        {"sub": 31, "preferred_username": "m" * 300, "name": "n" * 5000},
        {"sub": "32", "preferred_username": "%", "email": "m@" + "x" * 300 + ".org"},
    ],
)
def test_odd_values_that_are_not_needed_keep_nobody_out(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, person: object
) -> None:
    monkeypatch.setattr(Provider, "person", person)
    answer = sign_in(browser)
    assert (answer.status_code, "Sign out" in answer.text) == (200, True)


def test_a_local_account_gets_no_second_way_in(trainyard: Trainyard, browser: httpx.Client) -> None:
    """It would outlast a new password."""
    page = browser.get("/accounts/login/")
    form = {"login": trainyard.username, "password": trainyard.password}
    browser.post("/accounts/login/", data={**form, "csrfmiddlewaretoken": token_of(page)})
    assert sign_in(browser, "?process=connect").status_code == 401
    from_elsewhere = "User.objects.filter(username='admin', socialaccount__isnull=False).exists()"
    assert asked(trainyard, from_elsewhere) == "False"
