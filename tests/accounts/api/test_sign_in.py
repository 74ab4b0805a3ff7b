"""REST: how people sign in, as the environment sets it."""

from pytest_django import Settings

from tests.caller import Caller
from tests.factories import UserFactory


def test_the_identity_provider_is_told_without_its_secret(db: None, settings: Settings) -> None:
    settings.OIDC_URL = "https://id.example.com"
    settings.PUBLIC_URL = "https://trainyard.example.com"
    app = {"provider_id": "sso", "client_id": "trainyard", "secret": "zanzibar"}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
    status, providers = Caller(UserFactory.create(administrator=True))("GET", "/idps")
    address = "https://trainyard.example.com/accounts/oidc/sso/login/callback/"
    assert (status, [it["redirectUri"] for it in providers]) == (200, [address])
    assert providers[0]["oidcData"] == {"clientId": "trainyard", "clientSecret": "***"}


def test_an_unknown_setting_is_not_found(db: None) -> None:
    call = Caller(UserFactory.create(administrator=True))
    assert call("GET", "/security/settings/colour")[0] == 404
