"""REST: the caller's own access keys, and all access keys for administrators."""

from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from ninja import Field, Query, Router, Status
from pydantic import AfterValidator, AwareDatetime

from accounts import access, tokens
from accounts.api.tokens import ApiRequest
from accounts.models import AccessKey
from core.rest.api import ApiError, StrictBody, Wire, not_found, translate_errors
from core.rest.filters import DATE, TEXT, Fields, Filtered, filter_queryset, sort_queryset
from core.rest.rows import OptionalPages, OptionalSort
from core.text import in_utc

router = Router(tags=["Access"])

REFUSED = "The access key cannot be saved."
REFUSED_TO_KEYS = "An access key cannot create or change keys. Use a token from a password."
Permission = Annotated[str, Field(max_length=64)]
FIELDS: Fields = {
    "name": ("name", TEXT),
    "clientId": ("client_id", TEXT),
    "createdAt": ("created_at", DATE),
    "expiresAt": ("expires_at", DATE),
    "lastLogin": ("last_used_at", DATE),
    "createdBy": ("user__username", TEXT),
}


class KeyIn(StrictBody):
    """``scopes`` are those of your permissions that the key gets, such as ``workloads.read``.
    Without any it gets all of them. The key never expires unless ``expiresAt`` is given."""

    name: str = Field(min_length=1, max_length=63, description="The name")
    expires_at: Annotated[AwareDatetime, AfterValidator(in_utc)] | None = Field(
        default=None, description="When it expires; null for never"
    )
    scopes: list[Permission] = Field(
        default=[],
        max_length=100,
        description="The permissions of its owner that it has; empty for all of them",
    )


class KeyOut(Wire):
    """``lastLogin`` is when the key was last used to get a token."""

    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    client_id: str = Field(description="The name of the access key in token requests")
    created_at: datetime = Field(description="When it was created")
    expires_at: datetime | None = Field(description="When it expires; null for never")
    last_login: datetime | None = Field(description="When it last got a token; null before that")
    scopes: list[str] = Field(
        description="The permissions of its owner that it has; empty for all of them"
    )

    @classmethod
    def of(cls, key: AccessKey) -> "KeyOut":
        return cls(**_key_fields(key))


class NewKey(KeyOut):
    """The only answer that contains the secret."""

    client_secret: str = Field(description="The secret of the access key")


class KeyList(Wire):
    access_keys: list[KeyOut] = Field(description="Your access keys")


class KeyListing(OptionalPages, OptionalSort, Filtered):
    def matching_page(self, rows: QuerySet[AccessKey]) -> list[AccessKey]:
        """Return the page of matching keys, newest first unless the request has another order."""
        rows = filter_queryset(rows, self.filter_by, FIELDS)
        rows = rows.filter(name__icontains=self.search) if self.search else rows
        return self.cut(sort_queryset(rows, self, FIELDS))


@router.get("/access-keys", response=KeyList, by_alias=True)
def list_access_keys(request: ApiRequest, listing: Query[KeyListing]) -> KeyList:
    """Your own access keys, newest first."""
    keys = listing.matching_page(request.user.access_keys.all())
    return KeyList(access_keys=[KeyOut.of(key) for key in keys])


@router.post("/access-keys", response={201: NewKey}, by_alias=True)
def create_access_key(request: ApiRequest, body: KeyIn) -> Status[NewKey]:
    """Create an access key. Its secret is in this answer and never shown again."""
    _refuse_access_keys(request)
    with translate_errors(REFUSED):
        key, secret = tokens.make_key(
            request.user, body.name, expires_at=body.expires_at, scopes=body.scopes
        )
    return Status(201, NewKey(**new_key_fields(key, secret)))


@router.get("/access-keys/{key_id}", response=KeyOut, by_alias=True)
def get_access_key(request: ApiRequest, key_id: int) -> KeyOut:
    """One of your own access keys, without its secret."""
    return KeyOut.of(_find_key(request, key_id))


@router.delete("/access-keys/{key_id}", response={204: None})
def delete_access_key(request: ApiRequest, key_id: int) -> Status[None]:
    """Delete one of your access keys. Programs that use it lose access immediately. A key may
    delete itself, but no other."""
    key = _find_key(request, key_id)
    if key != request.user.acting_key:
        _refuse_access_keys(request)
    tokens.delete_key(key, by=request.user)
    return Status(204, None)


@router.post("/access-keys/{key_id}/secret", response=NewKey, by_alias=True)
def renew_access_key_secret(request: ApiRequest, key_id: int) -> NewKey:
    """Create a new secret for an access key. The old one and its tokens stop working
    immediately."""
    key = _find_key(request, key_id)
    _refuse_access_keys(request)
    return NewKey(**new_key_fields(key, tokens.renew_secret(key, by=request.user)))


class OwnedKey(KeyOut):
    created_by: str = Field(description="The username of the person who created it")


class OwnedKeyList(Wire):
    access_keys: list[OwnedKey] = Field(description="Your access keys")


class KeysOf(KeyListing):
    client_id: str | None = Field(
        default=None, description="The name of the access key in token requests"
    )
    created_by: str | None = Field(
        default=None, description="Only those of the user with this name"
    )

    def rows(self) -> QuerySet[AccessKey]:
        columns = {"client_id": self.client_id, "user__username": self.created_by}
        wanted = {column: value for column, value in columns.items() if value is not None}
        return AccessKey.objects.filter(**wanted).select_related("user")


@router.get("/administration/access-keys", response=OwnedKeyList, by_alias=True)
def list_keys_of_all(request: ApiRequest, listing: Query[KeysOf]) -> OwnedKeyList:
    """Everyone's access keys, for those who may change users."""
    access.require(request.user, "users.update")
    keys = listing.matching_page(listing.rows())
    owned = [OwnedKey(**_key_fields(key), created_by=key.user.username) for key in keys]
    return OwnedKeyList(access_keys=owned)


@router.delete("/administration/access-keys/{int:key_id}", response={204: None})
def delete_key_of_someone(request: ApiRequest, key_id: int) -> Status[None]:
    """Delete anyone's access key. Programs that use it lose access immediately."""
    access.require(request.user, "users.update")
    key = AccessKey.objects.filter(pk=key_id).first()
    if key is None:
        raise not_found("The access key")
    tokens.delete_key(key, by=request.user)
    return Status(204, None)


def _find_key(request: ApiRequest, pk: int) -> AccessKey:
    key: AccessKey | None = request.user.access_keys.filter(pk=pk).first()
    if key is None:
        raise ApiError(404, "This access key does not exist, or it belongs to another user.")
    return key


def _refuse_access_keys(request: ApiRequest) -> None:
    """Refuse requests made with an access key. Otherwise someone with a leaked key could create
    others, which would remain after the leaked one was deleted."""
    if request.user.acting_key:
        raise ApiError(403, REFUSED_TO_KEYS)


def new_key_fields(key: AccessKey, secret: str) -> dict[str, Any]:
    """Return the fields of a new key, including its secret."""
    return {"client_secret": secret, **_key_fields(key)}


def _key_fields(key: AccessKey) -> dict[str, Any]:
    return {
        "id": str(key.pk),
        "name": key.name,
        "client_id": key.client_id,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "last_login": key.last_used_at,
        "scopes": key.scopes,
    }
