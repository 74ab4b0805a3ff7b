"""allauth's provider, with checks of what it says about a user."""

from typing import Any

from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest

from accounts.oidc.answers import UnusableAnswer, check_id_token, is_safe_url, merge_claims


class ProviderAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth left it untyped
    def _fetch_user_info(self, access_token: str) -> Any:
        """Return the user info. Some providers have none: their ID tokens contain all claims."""
        has_user_info = self.openid_config.get("userinfo_endpoint")
        return super()._fetch_user_info(access_token) if has_user_info else {}


class IdentityProvider(OpenIDConnectProvider):  # type: ignore[misc]  # allauth left it untyped
    oauth2_adapter_class = ProviderAdapter

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        """Return the sign-in of the user whom the provider names. ``UnusableAnswer`` if its answer
        cannot be trusted."""
        userinfo = response.get("userinfo") or {}
        id_token = response.get("id_token") or {}
        check_id_token(id_token, self.app.client_id)
        # allauth checks the issuer and the audience of an ID token, but not its signature. If the
        # token alone names the user, it must come from the provider by a safe connection.
        if userinfo.get("sub") is None:
            token_url = self.get_oauth2_adapter(request).access_token_url
            if not (is_safe_url(self.server_url) and is_safe_url(token_url)):
                raise UnusableAnswer(
                    "OIDC_URL and its token_endpoint must be https if no user info has the sub"
                )
        claims = merge_claims(userinfo, id_token, groups_claim=settings.OIDC_GROUPS_CLAIM)
        return super().sociallogin_from_response(request, claims)
