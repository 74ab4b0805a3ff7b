"""Signing in through an identity provider, which configuration alone switches on."""

import httpx
import pytest

from tests.accounts.oidc.provider import LATER, TOKENS, Provider, asked, sign_in, token_of
from tests.product import Trainyard

pytestmark = pytest.mark.faults  # it starts a product of its own


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


def test_a_provider_that_does_not_answer_is_told_of(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, trainyard: Trainyard
) -> None:
    monkeypatch.setattr(Provider, "is_away", True)
    answer = sign_in(browser)
    assert answer.status_code == 502
    assert "Signing in with Lab failed" in answer.text
    words = "it answered 503 when asked for its configuration"
    assert words in answer.text
    assert words in (trainyard.home / "run/web.log").read_text()


def test_a_local_account_gets_no_second_way_in(trainyard: Trainyard, browser: httpx.Client) -> None:
    """It would outlast a new password."""
    page = browser.get("/accounts/login/")
    form = {"login": trainyard.username, "password": trainyard.password}
    browser.post("/accounts/login/", data={**form, "csrfmiddlewaretoken": token_of(page)})
    assert sign_in(browser, "?process=connect").status_code == 401
    from_elsewhere = "User.objects.filter(username='admin', socialaccount__isnull=False).exists()"
    assert asked(trainyard, from_elsewhere) == "False"
