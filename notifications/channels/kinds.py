"""The channels of notifications in Run:ai's API, one class each: the mail server, and Slack.

The channel ``slack`` is the oldest webhook of the account with the format *Slack*, whose address is
its ``apiToken``.
"""

import json
from typing import Any

from django.core.exceptions import ValidationError

from accounts import access
from accounts.models import User
from core.deletion import InUse
from notifications import events
from notifications.channels import services
from notifications.channels.forms import DEFAULT_NAME
from notifications.channels.schemas import ChannelConfig, ChannelConfigIn, ChannelType
from notifications.delivery import mail_server
from notifications.delivery.post import post
from notifications.models import Encryption, MailServer, MessageFormat, Webhook
from notifications.webhooks import services as webhooks
from projects.scopes import OwningScope, Scope

TLS_PORT = 465  # where mail servers encrypt from the start
#: What Run:ai's client sends if its user chose no subject.
CLIENT_SUBJECT = "Run:ai notification - {{ .category }} {{ .reason }}"
#: The names of columns on the wire, where they differ.
WIRE_NAMES = {
    "host": "smtp_host",
    "port": "smtp_port",
    "sender": "from",
    "sender_name": "from_display_name",
}
ONE_CHANNEL = "An incoming webhook of Slack posts to one channel, which is chosen in Slack."
NO_SLACK = (
    "No webhook of the account posts to Slack. Create a channel of type slack with the address of "
    "an incoming webhook as apiToken."
)
OF_SLACK = "is of Slack; a mail server has a username and a password"
ADDRESS_NEEDED = (
    "Enter the address of an incoming webhook of Slack, such as "
    "https://hooks.slack.com/services/…. Trainyard has no app at Slack that a token could be for."
)


class EmailChannel:
    """The mail server."""

    name: ChannelType = "email"

    def config(self) -> ChannelConfig | None:
        """Return the configuration without secrets; ``None`` if there is no such channel."""
        server = mail_server.find_server()
        if server is None:
            return None
        values: dict[str, Any] = {
            "smtp_host": server.host,
            "smtp_port": server.port,
            "smtp_tls_enabled": server.encryption != Encryption.NONE,
            "encryption": server.encryption,
            "auth_type": "auth_login" if server.username else "auth_none",
            "username": server.username or None,
            "from": server.sender,
            "from_display_name": server.sender_name,
            "direct_notifications": True,
        }
        return ChannelConfig(**values)

    def is_on(self) -> bool:
        return mail_server.find_active_server() is not None

    def why_taken(self) -> str:
        """Return why no channel can be created; empty if one can."""
        server = mail_server.find_server()
        return "There is a mail server. Change it instead." if server and server.is_saved else ""

    def save(self, config: ChannelConfigIn, *, by: User, is_partial: bool) -> None:
        """Save the given values. ``is_partial``: missing ones stay as they are."""
        if config.recipients:
            text = "must be empty: each person gets their own emails"
            raise ValidationError({"recipients": ValidationError(text, code="invalid_choice")})
        present = mail_server.find_server()
        server = _build_server(config, present if is_partial else None)
        services.save_mail_server(server, by=by, enabled=present is None or present.enabled)

    def delete(self, *, by: User) -> None:
        services.delete_mail_server(by=by)

    def turn(self, *, by: User, on: bool) -> None:
        services.turn_mail_server(by=by, on=on)

    def test(self, config: ChannelConfigIn, *, by: User) -> str:
        """Send a test mail with this configuration, to its recipients or the user ``by``. Returns
        why it was not taken; empty if it was."""
        to = config.recipients or ([by.email] if by.email else [])
        return services.send_test_mail(_build_server(config, None), by=by, to=to)


class SlackChannel:
    """An incoming webhook of Slack, which posts about the whole account."""

    name: ChannelType = "slack"

    def find_webhook(self) -> Webhook | None:
        rows = Webhook.objects.filter(scope=Scope.ACCOUNT, format=MessageFormat.SLACK)
        return rows.order_by("created_at", "pk").first()

    def config(self) -> ChannelConfig | None:
        return ChannelConfig(direct_notifications=False) if self.find_webhook() else None

    def is_on(self) -> bool:
        webhook = self.find_webhook()
        return webhook is not None and webhook.enabled

    def why_taken(self) -> str:
        webhook = self.find_webhook()
        return f"The webhook {webhook} posts to Slack. Change it instead." if webhook else ""

    def save(self, config: ChannelConfigIn, *, by: User, is_partial: bool) -> None:
        webhook = self.find_webhook()
        address = _slack_address(config, is_required=not (is_partial and webhook))
        if webhook is None:
            webhooks.create(
                by=by,
                place=OwningScope(),
                name="Slack",
                url=address,
                events=[name for names in events.PERSONAL_TYPES.values() for name in names],
                format=MessageFormat.SLACK,
            )
            return
        webhooks.update(
            webhook,
            by=by,
            name=webhook.name,
            url=address or webhook.masked_url,
            events=webhook.events,
            pending_minutes=webhook.pending_minutes,
            enabled=webhook.enabled,
        )

    def delete(self, *, by: User) -> None:
        webhook = self.find_webhook()
        if webhook:
            webhooks.delete(webhook, by=by)

    def turn(self, *, by: User, on: bool) -> None:
        webhook = self.find_webhook()
        if on == bool(webhook and webhook.enabled):
            return
        if webhook is None:
            raise InUse(NO_SLACK)
        webhooks.update(
            webhook,
            by=by,
            name=webhook.name,
            url=webhook.masked_url,
            events=webhook.events,
            pending_minutes=webhook.pending_minutes,
            enabled=on,
        )

    def test(self, config: ChannelConfigIn, *, by: User) -> str:
        """Post a test message to this address. Returns why it was not taken; empty if it was."""
        access.require(by, "settings.update")
        address = _slack_address(config, is_required=True)
        return post(address, json.dumps({"text": "A test of Trainyard's notifications."}), {}).fault


CHANNELS: dict[str, EmailChannel | SlackChannel] = {
    kind.name: kind for kind in (EmailChannel(), SlackChannel())
}


def _build_server(config: ChannelConfigIn, present: MailServer | None) -> MailServer:
    """Return the mail server with these values. Missing ones are those of the ``present`` server,
    or the defaults. ``ValidationError`` names the wrong ones as REST does."""
    _refuse_what_emails_lack(config)
    base = present or MailServer(sender_name=DEFAULT_NAME)
    port = base.port if config.smtp_port is None else config.smtp_port
    username = base.username if config.username is None else config.username
    try:
        return services.build_mail_server(
            host=base.host if config.smtp_host is None else config.smtp_host,
            port=port,
            encryption=_encryption(config, port, base),
            username="" if config.auth_type == "auth_none" else username,
            password=config.password or "",
            sender=base.sender if config.from_ is None else config.from_,
            sender_name=(
                base.sender_name if config.from_display_name is None else config.from_display_name
            ),
        )
    except ValidationError as error:
        raise ValidationError(
            {WIRE_NAMES.get(name, name): texts for name, texts in error.error_dict.items()}
        ) from error


def _encryption(config: ChannelConfigIn, port: int, base: MailServer) -> str:
    if config.encryption is not None:
        return config.encryption
    if config.smtp_tls_enabled is None and base.host:
        return base.encryption
    if config.smtp_tls_enabled is False:
        return Encryption.NONE
    return Encryption.TLS if port == TLS_PORT else Encryption.STARTTLS


def _refuse_what_emails_lack(config: ChannelConfigIn) -> None:
    """Refuse choices of Run:ai that Trainyard's emails do not have."""
    errors = {}
    if config.direct_notifications is False:
        errors["direct_notifications"] = "must be true: each person gets their own emails"
    if config.use_attachments:
        errors["use_attachments"] = "must be false: an email has the last lines in its text"
    if config.subject not in (None, "", CLIENT_SUBJECT):
        errors["subject"] = "cannot be chosen: it says what happened, and to which workload"
    if config.api_token:
        errors["api_token"] = OF_SLACK
    if errors:
        raise ValidationError(
            {name: ValidationError(text, code="invalid_choice") for name, text in errors.items()}
        )


def _slack_address(config: ChannelConfigIn, *, is_required: bool) -> str:
    """Return the address of the incoming webhook; empty if it is missing, and not required.
    ``ValidationError`` says what is wrong with it."""
    address = (config.api_token or "").strip()
    errors = {}
    if config.recipients:
        errors["recipients"] = ONE_CHANNEL
    if config.direct_notifications:
        errors["direct_notifications"] = ONE_CHANNEL
    is_address = address.startswith(("https://", "http://"))
    if not is_address and (address or is_required):
        errors["api_token"] = ADDRESS_NEEDED
    if errors:
        raise ValidationError(
            {name: ValidationError(text, code="invalid") for name, text in errors.items()}
        )
    return address
