"""The form of the mail server. The services validate its values."""

from dataclasses import replace
from typing import Any

from django.http import QueryDict

from core.forms.field import Field, Input
from core.forms.form import Form
from notifications.models import Encryption, MailServer, encryptions

FIELDS = (
    Field("host", "Host", placeholder="smtp.example.com", required=True, literal=True),
    Field("port", "Port", Input.WHOLE, required=True),
    Field("encryption", "Encryption", Input.RADIO, options=tuple(encryptions())),
    Field("username", "User", hint="Empty: Trainyard does not sign in.", literal=True),
    Field("password", "Password", Input.SECRET, literal=True),
    Field(
        "sender",
        "Sender address",
        hint="Emails come from this address.",
        placeholder="trainyard@example.com",
        required=True,
        literal=True,
    ),
    Field("sender_name", "Sender name"),
    Field("enabled", "Send emails", Input.FLAG, initial=True),
)
COLUMNS = tuple(field.key for field in FIELDS if field.key != "password")
KEPT = "Empty: the present one stays, for the same host and user."
DEFAULT_NAME = "Trainyard"


def mail_server_form(posted: QueryDict | None, server: MailServer | None) -> Form:
    """Return the form with the values of the present mail server, except its password."""
    server = server or MailServer(sender_name=DEFAULT_NAME)
    fields = [
        replace(field, hint=KEPT) if field.key == "password" and server.password else field
        for field in FIELDS
    ]
    return Form(fields, {name: getattr(server, name) for name in COLUMNS}, posted)


def submitted_server(form: Form) -> dict[str, Any]:
    """Return the values for ``services.build_mail_server``."""
    texts = ("host", "username", "password", "sender", "sender_name")
    return {
        **{name: str(form.values.get(name, "")) for name in texts},
        "encryption": str(form.values.get("encryption", Encryption.STARTTLS)),
        "port": form.values.get("port"),
    }
