"""REST: tokens and access keys."""

from typing import Any, Literal

from allauth.account.adapter import get_adapter
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Field, Router, Status
from ninja.security import HttpBearer
from pydantic import AliasChoices

from accounts import tokens
from accounts.models import AccessKey, User
from audit import services as audit
from core.api import ApiError, Closed, Wire

router = Router(tags=["Access"])


class Bearer(HttpBearer):
    """``Authorization: Bearer <token>``. The request's user becomes the token's owner."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        user = tokens.owner(token)
        if user:
            request.user = user
        return user


class ApiRequest(HttpRequest):
    """What :class:`Bearer` guarantees."""

    user: User


RETRY_SECONDS = 60  # after too many wrong credentials from one address; of one name it takes longer
ID = AliasChoices("clientID", "clientId", "AppId", "appID")
SECRET = AliasChoices("clientSecret", "AppSecret", "appSecret")


class TokenRequest(Closed):
    """``password`` needs username and password, ``app_token`` an access key's ID and secret."""

    grant_type: Literal["password", "app_token", "client_credentials"]
    username: str = ""
    password: str = ""
    client_id: str = Field(
        "", validation_alias=AliasChoices("clientID", "clientId", "AppId", "appID")
    )
    client_secret: str = Field(
        "", validation_alias=AliasChoices("clientSecret", "AppSecret", "appSecret")
    )


class Token(Wire):
    access_token: str
    id_token: str = ""
    refresh_token: str = ""
    expires_in: int


@router.post("/token", response=Token, auth=None, by_alias=True)
def create_token(request: HttpRequest, body: TokenRequest) -> dict[str, Any]:
    """A token for the other calls, valid for 12 hours."""
    token = _token(request, body)
    if token is None:
        raise ApiError(
            401, "These credentials are wrong.", details="Check the name and the secret."
        )
    return {"access_token": token, "expires_in": int(tokens.LIFETIME.total_seconds())}


def _token(request: HttpRequest, body: TokenRequest) -> str | None:
    adapter = get_adapter(request)  # it counts failures, as it does for the sign-in page
    try:
        if body.grant_type == "password":
            user = adapter.authenticate(request, username=body.username, password=body.password)
            return _issued(user) if isinstance(user, User) and user.is_active else None
        key = adapter.key_of(request, body.client_id, body.client_secret)
    except ValidationError as limited:
        raise ApiError(429, limited.messages[0], retry_after=RETRY_SECONDS) from limited
    return _issued(key.user, key) if key else None


def _issued(user: User, key: AccessKey | None = None) -> str:
    audit.record(user, "sign in", key or user)
    return tokens.issue(user, key=key)


class KeyIn(Closed):
    name: str = Field(min_length=1, max_length=63)


class KeyOut(Wire):
    id: int
    name: str
    client_id: str


class NewKey(KeyOut):
    client_secret: str


@router.get("/access-keys", response=list[KeyOut], by_alias=True)
def list_keys(request: ApiRequest) -> list[AccessKey]:
    return list(request.user.access_keys.all())


@router.post("/access-keys", response={201: NewKey}, by_alias=True)
def create_key(request: ApiRequest, body: KeyIn) -> Status[dict[str, Any]]:
    """A new access key. Its secret is in this answer and never shown again."""
    key, secret = tokens.make_key(request.user, body.name)
    return Status(
        201,
        {
            "id": key.pk,
            "name": key.name,
            "client_id": key.client_id,
            "client_secret": secret,
        },
    )


@router.delete("/access-keys/{key_id}", response={204: None})
def delete_key(request: ApiRequest, key_id: int) -> Status[None]:
    key = request.user.access_keys.filter(pk=key_id).first()
    if key is None:
        raise ApiError(404, "This access key does not exist, or it belongs to another user.")
    tokens.delete_key(key, by=request.user)
    return Status(204, None)
