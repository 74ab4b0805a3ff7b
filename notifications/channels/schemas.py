"""REST: the requests and answers about the channels of notifications, in Run:ai's words."""

from typing import Annotated, Literal

from pydantic import Field

from core.rest.api import StrictBody, Wire, enum_schema
from notifications.models import Encryption

ChannelType = Literal["email", "slack"]
EncryptionName = Annotated[str, enum_schema(*Encryption.values)]
AuthType = Literal["auth_login", "auth_plain", "auth_none", ""]


class ChannelMeta(Wire):
    """A way by which notifications are sent."""

    name: str = Field(description="The name")
    type: ChannelType = Field(description="The type")


class ChannelConfig(Wire):
    """The mail server, or how Slack is reached. Secrets are left out."""

    smtp_host: str | None = Field(default=None, description="The host of the mail server")
    smtp_port: int | None = Field(default=None, description="Its port")
    smtp_tls_enabled: bool | None = Field(
        default=None, description="Whether the connection is encrypted"
    )
    encryption: EncryptionName | None = Field(
        default=None, description="How the connection is encrypted"
    )
    auth_type: Literal["auth_login", "auth_none"] | None = Field(
        default=None, description="auth_none if there is no sign-in"
    )
    username: str | None = Field(default=None, description="The user who signs in")
    from_: str | None = Field(default=None, alias="from", description="The sender of emails")
    from_display_name: str | None = Field(default=None, description="The name of the sender")
    recipients: list[str] = Field(
        default=[], description="Empty: each person gets their own emails"
    )
    direct_notifications: bool = Field(
        description="True for emails, which each person gets; false for Slack"
    )


class ChannelOut(ChannelMeta):
    config: ChannelConfig = Field(description="How it is set up, without secrets")


class ChannelConfigIn(StrictBody):
    """The fields of a mail server, or for Slack ``apiToken`` alone: then the others are ignored,
    because Run:ai's client always sends their defaults."""

    smtp_host: str | None = Field(default=None, description="The host of the mail server")
    smtp_port: int | None = Field(default=None, description="Its port; 587 by default")
    smtp_tls_enabled: bool | None = Field(
        default=None,
        description="Whether it is encrypted: from the start at port 465, else by STARTTLS",
    )
    encryption: Encryption | None = Field(
        default=None, description="How it is encrypted, instead of smtpTlsEnabled"
    )
    auth_type: AuthType | None = Field(
        default=None,
        description="auth_none signs in as nobody; of the others, the server decides which is used",
    )
    username: str | None = Field(default=None, description="The user who signs in")
    password: str | None = Field(
        default=None, description="The password; without it that of the same host and user stays"
    )
    from_: str | None = Field(default=None, alias="from", description="The sender of emails")
    from_display_name: str | None = Field(default=None, description="The name of the sender")
    recipients: list[str] | None = Field(
        default=None,
        description="Who gets the test mail; else empty, because each person gets their own emails",
    )
    direct_notifications: bool | None = Field(
        default=None, description="Only true for emails, and only false for Slack"
    )
    use_attachments: bool | None = Field(default=None, description="Only false")
    subject: str | None = Field(
        default=None, description="Only Run:ai's default: the subject says what happened"
    )
    api_token: str | None = Field(
        default=None, description="The address of an incoming webhook of Slack"
    )


class ChannelIn(StrictBody):
    type: ChannelType = Field(description="The type, which is also the name of the channel")
    config: ChannelConfigIn = Field(description="How it is set up")


class ChannelChange(StrictBody):
    """Missing fields of ``config`` stay as they are."""

    type: ChannelType | None = Field(default=None, description="The type, which cannot change")
    config: ChannelConfigIn = Field(
        default_factory=ChannelConfigIn, description="The fields that change"
    )


class EmailState(Wire):
    enabled: bool = Field(description="Whether emails are sent")


class SlackState(Wire):
    enabled: bool = Field(description="Whether messages are sent to Slack")
    workspace_name: str = Field(default="", description="Empty: Slack does not tell it")


class NotificationStateOut(Wire):
    enabled: bool = Field(description="True: notifications are always on the pages")
    email: EmailState = Field(description="Emails")
    slack: SlackState = Field(description="Slack")


class EmailStateIn(StrictBody):
    enabled: bool | None = Field(default=None, description="Whether emails are sent")


class SlackStateIn(StrictBody):
    enabled: bool | None = Field(default=None, description="Whether messages are sent to Slack")
    workspace_name: str | None = Field(default=None, description="Ignored: Slack knows it")


class NotificationStateIn(StrictBody):
    """Missing channels stay as they are."""

    enabled: bool = Field(
        default=True, description="Only true: notifications are always on the pages"
    )
    email: EmailStateIn | None = Field(default=None, description="Emails")
    slack: SlackStateIn | None = Field(default=None, description="Slack")
