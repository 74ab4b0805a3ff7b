"""REST: get bearer tokens, and find the user to whom one belongs."""

from typing import Any, Literal

from allauth.account.adapter import get_adapter
from allauth.core.ratelimit import consume
from asgiref.sync import sync_to_async
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Field, Router
from ninja.security import HttpBearer
from pydantic import AliasChoices

from accounts import tokens
from accounts.models import AccessKey, User
from accounts.tokens import TokenPair
from audit import services as audit
from core.database.connections import release_connection
from core.rest.api import ApiError, StrictBody, Wire

router = Router(tags=["Access"])


class Bearer(HttpBearer):
    """``Authorization: Bearer <token>``. The request's user becomes the token's owner."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        user = tokens.token_owner(token)
        if user:
            request.user = user
        return user


class AsyncBearer(Bearer):
    """The same for long calls, which run on the event loop."""

    async def __call__(self, request: HttpRequest) -> Any:
        return await sync_to_async(self._authenticate)(request)

    def _authenticate(self, request: HttpRequest) -> Any:
        try:
            return super().__call__(request)
        finally:  # the call may last for hours, and must not keep a database connection
            release_connection()


class ApiRequest(HttpRequest):
    """A request that :class:`Bearer` has authenticated, so it has a signed-in user."""

    user: User


REFRESH_RETRY_SECONDS = 60
TOO_MANY_REFRESHES = "Too many wrong refresh tokens were sent from this address."
RETRY_SECONDS = 300  # as long as wrong credentials count, for one name from one address
GRANTS = ("password", "app_token", "client_credentials", "refresh_token")


class TokenRequest(StrictBody):
    """``password`` needs a username and password, ``app_token`` and ``client_credentials`` an
    access key's ID and secret, ``refresh_token`` the one of an earlier answer."""

    grant_type: Literal["password", "app_token", "client_credentials", "refresh_token"] = Field(
        description="How the caller signs in"
    )
    username: str = Field(default="", description="The username, for the grant password")
    password: str = Field(default="", description="The password, for the grant password")
    client_id: str = Field(
        default="",
        validation_alias=AliasChoices("clientID", "clientId", "AppId", "appID", "appId"),
        description="The access key's clientId, for app_token and client_credentials",
    )
    client_secret: str = Field(
        default="",
        validation_alias=AliasChoices("clientSecret", "AppSecret", "appSecret"),
        description="The secret of the access key",
    )
    refresh_token: str = Field(
        default="",
        description="The refreshToken of the previous answer, for the grant refresh_token",
    )


class Token(Wire):
    """``expiresIn`` is in seconds. ``refreshToken`` can be exchanged for a new token until 30 days
    after the sign-in."""

    access_token: str = Field(
        description="Send it in the header Authorization: Bearer … of other calls"
    )
    id_token: str = Field(default="", description="The same as accessToken")
    refresh_token: str = Field(
        description="Exchange it for the next token until 30 days after the sign-in"
    )
    expires_in: int = Field(description="How long the token is valid, in seconds")


@router.post("/token", response=Token, auth=None, by_alias=True)
def create_token(request: HttpRequest, body: TokenRequest) -> Token:
    """A token for the other calls, valid for 12 hours."""
    granted = tokens_for_credentials(request, body)
    return Token(
        access_token=granted.access, refresh_token=granted.refresh, expires_in=granted.expires_in
    )


def tokens_for_credentials(request: HttpRequest, body: TokenRequest) -> TokenPair:
    """Return the tokens for valid credentials. ``ApiError`` 401 if they are wrong, 429 after too
    many attempts."""
    granted = _try_credentials(request, body)
    if granted is None:
        raise ApiError(401, "These credentials are wrong.", details=ADVICE[body.grant_type])
    return granted


ADVICE = dict.fromkeys(GRANTS, "Check the name and the secret.") | {
    "refresh_token": "The refresh token has ended. Sign in again."
}


def _try_credentials(request: HttpRequest, body: TokenRequest) -> TokenPair | None:
    if body.grant_type == "refresh_token":
        return _try_refresh_token(request, body.refresh_token)
    adapter = get_adapter(request)  # counts failures together with those of the sign-in page
    try:
        if body.grant_type == "password":
            user = adapter.authenticate(request, username=body.username, password=body.password)
            may_sign_in = isinstance(user, User) and user.is_active
            return _record_sign_in(user) if may_sign_in else None
        key = adapter.find_key(request, body.client_id, body.client_secret)
    except ValidationError as limited:
        raise ApiError(429, limited.messages[0], retry_after=RETRY_SECONDS) from limited
    return _record_sign_in(key.user, key) if key else None


def _try_refresh_token(request: HttpRequest, refresh: str) -> TokenPair | None:
    """Exchange a refresh token; ``None`` if it has ended. ``ApiError`` 429 after too many forged
    tokens from one address."""
    renewed = tokens.renew_tokens(refresh)
    if renewed:
        return renewed[1]
    # Only forged tokens count. A program whose token has ended always learns that, whatever else
    # its address sends.
    if not tokens.has_refresh_signature(refresh) and not consume(request, action="refresh_token"):
        raise ApiError(429, TOO_MANY_REFRESHES, retry_after=REFRESH_RETRY_SECONDS)
    return None


def _record_sign_in(user: User, key: AccessKey | None = None) -> TokenPair:
    audit.record(user, "sign in", key or user)
    return tokens.create_tokens(user, key=key)
