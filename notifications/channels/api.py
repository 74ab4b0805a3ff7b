"""REST: the channels by which notifications are sent, and whether they are on."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError
from django.db import transaction
from ninja import Router, Status

from accounts import access
from accounts.api.tokens import ApiRequest
from core.rest.api import ApiError, Issue, issues_of, not_found, refusal_error, translate_errors
from notifications.channels.kinds import CHANNELS, EmailChannel, SlackChannel
from notifications.channels.schemas import (
    ChannelChange,
    ChannelConfigIn,
    ChannelIn,
    ChannelMeta,
    ChannelOut,
    EmailState,
    NotificationStateIn,
    NotificationStateOut,
    SlackState,
)
from notifications.delivery import outbox

router = Router(tags=["Notifications"])
REFUSED = "The channel cannot be saved."
NOT_SENT = "The test was not delivered."
ALWAYS_ON = "Notifications are always on the pages. Turn off email and slack instead."


@router.get("/notification-channels", response=list[ChannelMeta], by_alias=True)
def get_notification_channels(request: ApiRequest) -> list[ChannelMeta]:
    """The channels besides the pages: ``email`` if there is a mail server, and ``slack`` if a
    webhook of the account posts there."""
    found = [kind.name for kind in CHANNELS.values() if kind.config()]
    return [ChannelMeta(name=name, type=name) for name in found]


@router.post("/notification-channels", response={201: ChannelOut}, by_alias=True)
def create_notification_channel(request: ApiRequest, body: ChannelIn) -> Status[ChannelOut]:
    """Save the mail server, or the address of an incoming webhook of Slack."""
    access.require(request.user, "settings.update")
    kind = CHANNELS[body.type]
    with transaction.atomic():
        outbox.begin()  # a lock: of two callers at once, the second finds the channel of the first
        if reason := kind.why_taken():
            raise ApiError(409, REFUSED, details=reason)
        return Status(201, _save(request, kind, body.config, is_partial=False))


@router.get("/notification-channels/{channel_name}", response=ChannelOut, by_alias=True)
def get_notification_channel(request: ApiRequest, channel_name: str) -> ChannelOut:
    """One channel, without its secrets."""
    access.require(request.user, "settings.read")
    return _answer(_find_channel(channel_name))


@router.put("/notification-channels/{channel_name}", response=ChannelOut, by_alias=True)
def update_notification_channel(
    request: ApiRequest, channel_name: str, body: ChannelIn
) -> ChannelOut:
    """Replace the configuration of a channel. Without ``password``, that of the same host and user
    stays."""
    access.require(request.user, "settings.update")
    kind = _find_channel(channel_name)
    _require_type(kind, body.type)
    return _save(request, kind, body.config, is_partial=False)


@router.patch("/notification-channels/{channel_name}", response=ChannelOut, by_alias=True)
def patch_notification_channel(
    request: ApiRequest, channel_name: str, body: ChannelChange
) -> ChannelOut:
    """Change the given fields of a channel."""
    access.require(request.user, "settings.update")
    kind = _find_channel(channel_name)
    _require_type(kind, body.type)
    return _save(request, kind, body.config, is_partial=True)


@router.delete("/notification-channels/{channel_name}", response={204: None})
def delete_notification_channel(request: ApiRequest, channel_name: str) -> Status[None]:
    """Delete the saved mail server, or the webhook that posts to Slack."""
    access.require(request.user, "settings.update")
    kind = _find_channel(channel_name)
    with translate_errors(REFUSED):
        kind.delete(by=request.user)
    return Status(204, None)


@router.post("/validate-notification-channel", response={204: None})
def validate_notification_channel(request: ApiRequest, body: ChannelIn) -> Status[None]:
    """Send a test with this configuration, without saving it: an email to its ``recipients`` or
    else to you, or a message to Slack. 400 says why it was not taken."""
    with _refuse_fields_of_config(NOT_SENT):
        fault = CHANNELS[body.type].test(body.config, by=request.user)
    if fault:
        raise refusal_error(NOT_SENT, [Issue(field="config", details=fault)], details=fault)
    return Status(204, None)


@router.get("/notification-state", response=NotificationStateOut, by_alias=True)
def get_notification_state(request: ApiRequest) -> NotificationStateOut:
    """Where notifications are sent besides the pages."""
    return NotificationStateOut(
        enabled=True,
        email=EmailState(enabled=CHANNELS["email"].is_on()),
        slack=SlackState(enabled=CHANNELS["slack"].is_on()),
    )


@router.patch("/notification-state", response=NotificationStateOut, by_alias=True)
def update_notification_state(
    request: ApiRequest, body: NotificationStateIn
) -> NotificationStateOut:
    """Turn the sending of emails, and the messages to Slack, on or off."""
    access.require(request.user, "settings.update")
    if not body.enabled:
        raise refusal_error(
            "The state cannot be saved.",
            [Issue(field="enabled", details=ALWAYS_ON, rule="options")],
        )
    for name, state in (("email", body.email), ("slack", body.slack)):
        if state and state.enabled is not None:
            with translate_errors("The state cannot be saved."):
                CHANNELS[name].turn(by=request.user, on=state.enabled)
    return get_notification_state(request)


def _find_channel(name: str) -> EmailChannel | SlackChannel:
    kind = CHANNELS.get(name)
    if kind is None or kind.config() is None:
        raise not_found("The channel")
    return kind


def _require_type(kind: EmailChannel | SlackChannel, requested: str | None) -> None:
    if requested not in (None, kind.name):
        text = f"The channel {kind.name} has its type for good."
        raise refusal_error(REFUSED, [Issue(field="type", details=text, rule="options")])


def _save(
    request: ApiRequest,
    kind: EmailChannel | SlackChannel,
    config: ChannelConfigIn,
    *,
    is_partial: bool,
) -> ChannelOut:
    with _refuse_fields_of_config(REFUSED):
        kind.save(config, by=request.user, is_partial=is_partial)
    return _answer(kind)


def _answer(kind: EmailChannel | SlackChannel) -> ChannelOut:
    config = kind.config()
    if config is None:
        raise not_found("The channel")
    return ChannelOut(name=kind.name, type=kind.name, config=config)


@contextmanager
def _refuse_fields_of_config(refusal: str) -> Iterator[None]:
    """Translate the exceptions of a verb, with the wrong fields at their paths in the request."""
    with translate_errors(refusal):
        try:
            yield
        except ValidationError as error:
            issues = [
                issue.model_copy(update={"field": f"config.{issue.field}"})
                for issue in issues_of(error)
            ]
            raise refusal_error(refusal, issues) from error
