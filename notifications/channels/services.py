"""Save, remove, turn off and test the mail server. Each function checks permissions and writes to
the audit log."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import transaction

from accounts import access
from accounts.models import User
from audit import services as audit
from audit.words import Verb
from core.deletion import InUse
from notifications.delivery import mail_server
from notifications.models import MailServer

TEST_SECONDS = 20.0  # for a test, because a person waits for it
OF_ENVIRONMENT = (
    "The environment of Trainyard names this mail server, by EMAIL_HOST. Save a mail server to "
    "replace it, or have an operator change the environment."
)
NONE_YET = "There is no mail server. Save one first."
ENTER_AGAIN = "Enter the password again: it is only sent to the server that it was entered for."


def save_mail_server(server: MailServer, *, by: User, enabled: bool = True) -> None:
    """Save a mail server that ``build_mail_server`` checked, instead of the one before."""
    access.require(by, "settings.update")
    with transaction.atomic():
        earlier = MailServer.objects.select_for_update().filter(pk=mail_server.ROW_ID).first()
        server.pk = mail_server.ROW_ID
        server.enabled = enabled
        server.save()
        before = _facts(earlier) if earlier else None
        verb: Verb = "update" if earlier else "create"
        audit.record(by, verb, server, before=before, after=_facts(server))


def build_mail_server(
    *,
    host: str,
    port: int,
    encryption: str,
    username: str,
    password: str,
    sender: str,
    sender_name: str,
) -> MailServer:
    """Return a mail server with these values, which is not saved. An empty ``password`` is that of
    the present server, if host and user are the same. ``ValidationError`` names the fields that are
    wrong."""
    server = MailServer(
        host=host.strip(),
        port=port,
        encryption=encryption,
        username=username.strip(),
        password=password if username.strip() else "",
        sender=sender.strip(),
        sender_name=sender_name.strip(),
    )
    errors: dict[str, Any] = {}
    if server.lacks_password:
        present = mail_server.find_server()
        if present and (present.host, present.username) == (server.host, server.username):
            server.password = present.password
        if server.lacks_password:
            text = ENTER_AGAIN if present and present.password else "Enter the password."
            errors["password"] = ValidationError(text, code="required")
    try:
        server.full_clean(exclude=["id", "password"])
    except ValidationError as error:
        errors |= error.error_dict
    if errors:
        raise ValidationError(errors)
    return server


def delete_mail_server(*, by: User) -> None:
    """Delete the saved mail server. Then that of the environment holds, if there is one. ``InUse``
    if none is saved."""
    access.require(by, "settings.update")
    with transaction.atomic():
        server = _saved_server()
        audit.record(by, "delete", server, before=_facts(server))
        server.delete()


def turn_mail_server(*, by: User, on: bool) -> None:
    """Turn the sending of emails on or off. ``InUse`` says why that is impossible."""
    access.require(by, "settings.update")
    present = mail_server.find_server()
    if on == bool(present and present.enabled):
        return
    with transaction.atomic():
        server = _saved_server()
        before = _facts(server)
        server.enabled = on
        server.save(update_fields=["enabled"])
        audit.record(by, "update", server, before=before, after=_facts(server))


def send_test_mail(server: MailServer, *, by: User, to: list[str]) -> str:
    """Send a test mail by this server, and return why it was not taken; empty if it was."""
    access.require(by, "settings.update")
    if not to:
        raise ValidationError(
            {"recipients": "You have no email address. An administrator can add it under Users."}
        )
    email = EmailMessage(
        subject="[Trainyard] Test mail",
        body=f"{by} sent this from Trainyard to test its mail server, {server}.",
        to=to,
        headers={"Auto-Submitted": "auto-generated"},
    )
    result = mail_server.send_email(email, server, TEST_SECONDS)
    tested = MailServer(pk=mail_server.ROW_ID, host=server.host, port=server.port)
    audit.record(by, "test", tested, after={"to": to, "fault": result.fault})
    return result.fault


def _saved_server() -> MailServer:
    """Return the saved mail server, locked. ``InUse`` if none is saved."""
    server = MailServer.objects.select_for_update().filter(pk=mail_server.ROW_ID).first()
    if server is None:
        raise InUse(OF_ENVIRONMENT if mail_server.server_of_environment() else NONE_YET)
    return server


def _facts(server: MailServer) -> dict[str, Any]:
    return audit.facts(server) | {"enabled": server.enabled}
