"""REST: users, for callers who may manage them, and the caller's own password."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Literal

from allauth.account.adapter import get_adapter
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from ninja import Field, Query, Router, Status

from accounts import access, services
from accounts.api.tokens import RETRY_SECONDS, ApiRequest
from accounts.models import AccessRole, User
from audit.models import AuditEntry
from core.rest.api import (
    ApiError,
    Count,
    ErrorBody,
    Issue,
    Pages,
    StrictBody,
    Wire,
    not_found,
    refusal_error,
    translate_errors,
)
from core.rest.filters import (
    DATE,
    TEXT,
    Fields,
    Filtered,
    SortBy,
    SortParameters,
    filter_queryset,
    sort_queryset,
)

router = Router(tags=["Access"])

REFUSED = "The user cannot be saved."
NOT_CHANGED = "The password cannot be changed."
FIELDS: Fields = {
    "username": ("username", TEXT),
    "email": ("email", TEXT),
    "lastLogin": ("last_login", DATE),
    "createdAt": ("date_joined", DATE),
}


class UserOut(Wire):
    """``createdBy`` is empty for the first administrator. ``isLocal`` is false for users who can
    only sign in through an identity provider. ``updatedAt`` is always null: the audit log has the
    changes."""

    id: str = Field(description="Its ID")
    username: str = Field(description="The username")
    email: str = Field(description="The email address")
    name: str = Field(description="The name")
    role: str = Field(description="The role in the whole account; empty if there is none")
    is_active: bool = Field(description="Whether the user may sign in")
    is_local: bool = Field(description="Whether the user has a password in Trainyard")
    groups: list[str] = Field(description="The groups, by name")
    created_by: str = Field(description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime | None = Field(default=None, description="When it last changed")
    last_login: datetime | None = Field(description="When it last got a token; null before that")


class UserNarrowing(Filtered):
    def rows(self) -> QuerySet[User]:
        rows = filter_queryset(User.objects.people(), self.filter_by, FIELDS)
        text = self.search
        names = Q(first_name__icontains=text) | Q(last_name__icontains=text)
        matches = Q(username__icontains=text) | Q(email__icontains=text) | names
        return rows.filter(matches) if text else rows


class UserListing(Pages, SortParameters, UserNarrowing):
    sort_by: SortBy = "username"


class UserIn(StrictBody):
    """``email`` is also the username. Run:ai's ``resetPassword`` and ``notify`` can only be false:
    Trainyard sends no mail."""

    email: str = Field(min_length=1, max_length=150, description="The email address")
    role: str | None = Field(
        default=None, description="The name of a role that the user gets in the whole account"
    )
    reset_password: Literal[False] | None = Field(
        default=None, description="Can only be false: nobody is forced to change the password"
    )
    notify: Literal[False] | None = Field(
        default=None, description="Can only be false: Trainyard sends no mail"
    )


class NewUser(Wire):
    """The only answer that contains the password."""

    id: str = Field(description="Its ID")
    username: str = Field(description="The username")
    temp_password: str = Field(description="The password, in this answer alone")


class NewPassword(Wire):
    temp_password: str = Field(description="The password, in this answer alone")


@router.get("/users", response=list[UserOut], by_alias=True)
def list_users(request: ApiRequest, listing: Query[UserListing]) -> list[UserOut]:
    """All users, page by page."""
    access.require(request.user, "users.read")
    page, _ = listing.cut(
        sort_queryset(listing.rows(), listing, FIELDS).prefetch_related("user_groups")
    )
    return _describe_users(page)


@router.get("/users/count", response=Count, by_alias=True)
def count_users(request: ApiRequest, narrowing: Query[UserNarrowing]) -> Count:
    """The number of users that match the filters."""
    access.require(request.user, "users.read")
    return Count(count=narrowing.rows().count())


@router.get("/users/{int:user_id}", response=UserOut, by_alias=True)
def get_user(request: ApiRequest, user_id: int) -> UserOut:
    """One user, by their id."""
    user = _find_user(request, user_id, "users.read")
    return _describe_users([user])[0]


@router.post("/users", response={201: NewUser}, by_alias=True)
def create_user(request: ApiRequest, body: UserIn) -> Status[NewUser]:
    """Create a user with a password that only this answer contains."""
    password = secrets.token_urlsafe(16)
    role = AccessRole.objects.filter(name=body.role).first() if body.role else None
    if body.role and role is None:
        names = ", ".join(AccessRole.objects.values_list("name", flat=True))
        unknown = Issue(field="role", details=f"must be one of {names}", rule="options")
        raise refusal_error(REFUSED, [unknown])
    with translate_errors(REFUSED):
        user = services.create_user(
            by=request.user, username=body.email, email=body.email, password=password, role=role
        )
    return Status(201, NewUser(id=str(user.pk), username=user.username, temp_password=password))


@router.post(
    "/users/{int:user_id}/password",
    response=NewPassword,
    by_alias=True,
    operation_id="reset_user_password",
)
def reset_password(request: ApiRequest, user_id: int) -> NewPassword:
    """Set a new password, which only this answer contains. It ends every session and token of the
    user."""
    user = _find_user(request, user_id, "users.update")
    password = secrets.token_urlsafe(16)
    with translate_errors(REFUSED):
        services.reset_password(user, password, by=request.user)
    return NewPassword(temp_password=password)


@router.post("/users/{int:user_id}/logout", response={204: None}, operation_id="sign_out_user")
def sign_out(request: ApiRequest, user_id: int) -> Status[None]:
    """End every session and token of the user, who may sign in again. Access keys stay valid."""
    services.sign_out(_find_user(request, user_id, "users.update"), by=request.user)
    return Status(204, None)


class OwnPasswordIn(StrictBody):
    current_password: str = Field(description="The password as it is now")
    new_password: str = Field(description="The password as it will be")


@router.post("/me/password", response={204: None, 429: ErrorBody}, by_alias=True)
def change_password(request: ApiRequest, body: OwnPasswordIn) -> Status[None]:
    """Change your own password. It ends all your sessions and tokens. An access key cannot change
    it."""
    user = request.user
    adapter = get_adapter(request)  # counts failures together with those of the sign-in page
    if user.acting_key:
        raise ApiError(403, "An access key cannot change the password of its owner.")
    try:
        signed_in = adapter.authenticate(
            request, username=user.username, password=body.current_password
        )
    except ValidationError as limited:
        raise ApiError(429, limited.messages[0], retry_after=RETRY_SECONDS) from limited
    if signed_in != user:
        wrong = Issue(field="currentPassword", details="is not your password")
        raise refusal_error(NOT_CHANGED, [wrong])
    with translate_errors(NOT_CHANGED), _errors_of_field("newPassword"):
        validate_password(body.new_password, user)
    adapter.set_password(user, body.new_password)
    return Status(204, None)


@contextmanager
def _errors_of_field(field: str) -> Iterator[None]:
    """Attribute a ``ValidationError`` inside to this field."""
    try:
        yield
    except ValidationError as error:
        raise ValidationError({field: error.messages}) from error


def _find_user(request: ApiRequest, pk: int, action: str) -> User:
    access.require(request.user, action)
    user = User.objects.people().filter(pk=pk).first()
    if user is None:
        raise not_found("The user")
    return user


def _describe_users(users: list[User]) -> list[UserOut]:
    ids = [str(user.pk) for user in users]
    creations = AuditEntry.objects.filter(verb="create", target_kind="user", target_id__in=ids)
    roles = access.account_roles_of(users)
    creators = dict(creations.order_by("at").values_list("target_id", "by_name"))
    return [
        UserOut(
            id=str(user.pk),
            username=user.username,
            email=user.email,
            name=user.get_full_name(),
            role=", ".join(roles[user.pk]),
            is_active=user.is_active,
            is_local=user.has_usable_password(),
            groups=sorted(group.name for group in user.user_groups.all()),
            created_by=creators.get(str(user.pk), ""),
            created_at=user.date_joined,
            last_login=user.last_login,
        )
        for user in users
    ]
