"""allauth's provider, with our judgement of what it says about a person."""

from typing import Any

from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest

from accounts.oidc.answers import UnusableAnswer, check_id_token, is_safe_url, merge_claims


class ProviderAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth left it untyped
    def _fetch_user_info(self, access_token: str) -> Any:
        """Some providers have no user info: their ID tokens say everything."""
        has_user_info = self.openid_config.get("userinfo_endpoint")
        return super()._fetch_user_info(access_token) if has_user_info else {}


class IdentityProvider(OpenIDConnectProvider):  # type: ignore[misc]  # allauth left it untyped
    oauth2_adapter_class = ProviderAdapter

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        """allauth has checked the ID token's issuer and audience, but not its signature. So if it
        alone says who somebody is, it must come straight from the provider."""
        userinfo = response.get("userinfo") or {}
        id_token = response.get("id_token") or {}
        check_id_token(id_token, self.app.client_id)
        if userinfo.get("sub") is None:
            token_url = self.get_oauth2_adapter(request).access_token_url
            if not (is_safe_url(self.server_url) and is_safe_url(token_url)):
                raise UnusableAnswer(
                    "OIDC_URL and its token_endpoint must be https if no user info has the sub"
                )
        claims = merge_claims(userinfo, id_token, groups_claim=settings.OIDC_GROUPS_CLAIM)
        return super().sociallogin_from_response(request, claims)
