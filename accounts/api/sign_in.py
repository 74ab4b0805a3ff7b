"""REST: how people sign in, as the environment sets it, in the form of Run:ai's security settings
and identity providers."""

from typing import Any, Literal

from django.conf import settings
from ninja import Field, Router

from accounts import access
from accounts.api.tokens import ApiRequest
from core.rest.api import Wire, not_found

router = Router(tags=["Access"], by_alias=True)

CALLBACK = "/accounts/oidc/sso/login/callback/"


class AutoRedirect(Wire):
    enabled: bool = Field(description="False: people choose how they sign in")


class SessionTimeout(Wire):
    idle_timeout: int | None = Field(
        description="Null: a session ends two weeks after the sign-in, however it is used"
    )


class LogoutRedirect(Wire):
    uri: str | None = Field(description="Null: the page for signing in follows")


class SecuritySettings(Wire):
    auto_redirect_sso: AutoRedirect | None = Field(
        default=None,
        alias="autoRedirectSSO",
        description="Whether people are sent to the identity provider at once",
    )
    browser_session_timeout: SessionTimeout | None = Field(
        default=None, description="When an idle session ends"
    )
    logout_redirect_uri: LogoutRedirect | None = Field(
        default=None, description="Where signing out leads"
    )


class OidcOut(Wire):
    client_id: str = Field(description="Trainyard's ID there")
    client_secret: Literal["***"] = Field(default="***", description="Never shown")


class IdentityProviderOut(Wire):
    alias: str = Field(description="Its name in addresses")
    type: Literal["oidc"] = Field(default="oidc", description="OpenID Connect")
    redirect_uri: str = Field(description="Where it sends people back to")
    oidc_data: OidcOut = Field(description="How Trainyard talks to it")


@router.get("/security/settings", response=SecuritySettings)
def get_security_settings(request: ApiRequest) -> SecuritySettings:
    """How people sign in and out. The environment sets it, so it cannot be changed here."""
    access.require(request.user, "settings.read")
    values = {
        "autoRedirectSSO": {"enabled": False},
        "browserSessionTimeout": {"idleTimeout": None},
        "logoutRedirectUri": {"uri": None},
    }
    return SecuritySettings.model_validate(values)


@router.get("/security/settings/{security_key}", response=SecuritySettings)
def get_security_setting(request: ApiRequest, security_key: str) -> SecuritySettings:
    """One of these settings; the others are null."""
    settings_by_key = get_security_settings(request).model_dump(by_alias=True)
    if security_key not in settings_by_key:
        raise not_found("This setting")
    return SecuritySettings.model_validate({security_key: settings_by_key[security_key]})


@router.get("/idps", response=list[IdentityProviderOut])
def get_identity_providers(request: ApiRequest) -> list[IdentityProviderOut]:
    """The identity provider that the environment names, if it names one."""
    access.require(request.user, "settings.read")
    if not settings.OIDC_URL:
        return []
    providers: dict[str, Any] = settings.SOCIALACCOUNT_PROVIDERS
    (app,) = providers["openid_connect"]["APPS"]
    provider = IdentityProviderOut(
        alias=app["provider_id"],
        redirect_uri=f"{settings.PUBLIC_URL}{CALLBACK}",
        oidc_data=OidcOut(client_id=app["client_id"]),
    )
    return [provider]
