"""allauth's provider, except for whom it says that it is."""

from typing import Any

from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.conf import settings
from django.http import HttpRequest

from accounts.oidc.claims import OddAnswer, claims_of, judge_alone, judge_validity, merged
from accounts.oidc.failures import failed


class IdentityProvider(OpenIDConnectProvider):  # type: ignore[misc]  # allauth left it untyped
    package = OpenIDConnectProvider.get_package()  # where its URLs are

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        """Take the claims of the user info, and those of the ID token that it leaves out: of some
        providers it is empty, and some have none. allauth has judged the ID token's issuer and
        audience, and that it has not expired, and not its signature."""
        id_token, userinfo = response.get("id_token") or {}, response.get("userinfo")
        try:
            if userinfo is None:
                judge_alone(id_token)
            if id_token:
                judge_validity(id_token, self.app.client_id)
            said = claims_of(id_token, "ID token", settings.OIDC_GROUPS_CLAIM)
            claims = merged(userinfo or {}, said)
        except OddAnswer as error:
            raise failed(str(error)) from error
        if not (userinfo and "sub" in userinfo):
            self.get_oauth2_adapter(request).openid_config.require_encryption()
        return super().sociallogin_from_response(request, claims)
