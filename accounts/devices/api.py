"""REST: the calls by which a program without a token is signed in by a user."""

from datetime import datetime
from typing import Literal

from allauth.core.ratelimit import consume
from django.http import HttpRequest
from django.urls import reverse
from ninja import Field, Router, Status

from accounts.api.keys import NewKey, new_key_fields
from accounts.devices import sign_ins
from accounts.models import DeviceAnswer
from core.rest.api import ApiError, ErrorBody, StrictBody, Wire, translate_errors

router = Router(tags=["Access"])

EVERY_SECONDS = 2
RETRY_SECONDS = 60
GONE = "This sign-in was used, or has expired."


class DeviceSignInIn(StrictBody):
    """``name`` becomes that of the access key: it says which program on which machine."""

    name: str = Field(min_length=1, max_length=63, description="The name")


class DeviceSignInOut(Wire):
    """A person opens ``verificationUri``, types ``userCode`` and approves. ``deviceCode`` is a
    secret: it gets the key. ``interval`` and ``expiresIn`` are in seconds."""

    device_code: str = Field(
        description="The secret with which the program that began the sign-in requests the result"
    )
    user_code: str = Field(description="What the person types on the page")
    verification_uri: str = Field(description="The page on which a person approves")
    verification_uri_complete: str = Field(description="The same, with the code filled in")
    expires_at: datetime = Field(description="When the code expires")
    expires_in: int = Field(description="How long the code is valid, in seconds")
    interval: int = Field(
        default=EVERY_SECONDS, description="How many seconds to wait between two requests"
    )


class CollectIn(StrictBody):
    device_code: str = Field(
        min_length=1,
        max_length=128,
        description="The secret with which the program that began the sign-in requests the result",
    )


class DeviceKey(NewKey):
    """An access key of the person who approved; only this answer has its secret."""

    username: str = Field(description="The username")


class WaitingOut(Wire):
    status: Literal["waiting"] = Field(default="waiting", description="Its status")


@router.post("/device-sign-ins", response={201: DeviceSignInOut}, auth=None, by_alias=True)
def create_device_sign_in(request: HttpRequest, body: DeviceSignInIn) -> Status[DeviceSignInOut]:
    """Begin to sign in a program without a password. It ends after ten minutes."""
    if not consume(request, action="device_sign_in"):
        message = "Too many sign-ins were started from this address."
        raise ApiError(429, message, retry_after=RETRY_SECONDS)
    with translate_errors("The sign-in cannot be started."):
        sign_in, secret = sign_ins.begin(body.name)
    page = request.build_absolute_uri(reverse("device"))
    return Status(
        201,
        DeviceSignInOut(
            device_code=secret,
            user_code=sign_in.code,
            verification_uri=page,
            verification_uri_complete=f"{page}?code={sign_in.code}",
            expires_at=sign_in.expires_at,
            expires_in=int(sign_ins.LIFETIME.total_seconds()),
        ),
    )


@router.post(
    "/device-sign-ins/key",
    response={200: DeviceKey, 202: WaitingOut, 403: ErrorBody, 404: ErrorBody},
    auth=None,
    by_alias=True,
)
def collect_device_key(
    request: HttpRequest, body: CollectIn
) -> Status[DeviceKey] | Status[WaitingOut]:
    """The access key, once a person has approved; 202 until then, 403 if they denied it, 404 if it
    was used or has expired."""
    sign_in = sign_ins.find_by_secret(body.device_code)
    if sign_in is None:
        raise ApiError(404, GONE, details="Begin again.")
    if sign_in.answer == DeviceAnswer.WAITING:
        return Status(202, WaitingOut())
    if sign_in.answer == DeviceAnswer.DENIED:
        raise ApiError(403, "The sign-in was denied.")
    collected = sign_ins.collect_key(sign_in)
    if collected is None or sign_in.user is None:
        raise ApiError(404, GONE, details="Begin again.")
    return Status(200, DeviceKey(username=sign_in.user.username, **new_key_fields(*collected)))
