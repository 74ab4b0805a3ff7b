"""The mail server: which one it is, how an email is sent by it, and in words why it was not taken.

Administrators save a mail server on its page or by REST. Until then the environment names one.
"""

import ssl
import threading
from dataclasses import dataclass
from email.utils import formataddr, parseaddr
from smtplib import (
    SMTPException,
    SMTPNotSupportedError,
    SMTPRecipientsRefused,
    SMTPResponseException,
)

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from notifications.models import Encryption, MailServer

ROW_ID = 1
UNREADABLE = "The password of the mail server is missing or cannot be read. Enter it again."


@dataclass(frozen=True)
class MailResult:
    """Why an email was not taken; empty if it was. ``is_final``: the server will refuse it
    again."""

    fault: str = ""
    is_final: bool = False


def find_server() -> MailServer | None:
    """Return the mail server, even if it is turned off: the saved one, or that of the
    environment."""
    return MailServer.objects.filter(pk=ROW_ID).first() or server_of_environment()


def find_active_server() -> MailServer | None:
    """Return the mail server by which emails are sent now."""
    server = find_server()
    return server if server and server.enabled else None


def server_of_environment() -> MailServer | None:
    """Return the mail server that the environment names, without saving it."""
    if not settings.EMAIL_HOST:
        return None
    encryption = Encryption.STARTTLS if settings.EMAIL_USE_TLS else Encryption.NONE
    name, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    return MailServer(
        host=settings.EMAIL_HOST,
        port=settings.EMAIL_PORT,
        encryption=Encryption.TLS if settings.EMAIL_USE_SSL else encryption,
        username=settings.EMAIL_HOST_USER,
        password=settings.EMAIL_HOST_PASSWORD,
        sender=address,
        sender_name=name,
    )


def send_email(email: EmailMessage, server: MailServer, seconds: float) -> MailResult:
    """Send an email, and give up after ``seconds``. A time limit of sockets is not enough: it
    begins again with each byte of a slow answer."""
    if server.lacks_password:
        return MailResult(UNREADABLE)
    email.from_email = formataddr((server.sender_name, server.sender))
    errors: list[Exception] = []
    thread = threading.Thread(target=_send, args=(email, server, errors), name="mail", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        return MailResult(f"The mail server did not take it within {seconds:g} s.")
    if not errors:
        return MailResult()
    return MailResult(_fault_in_words(errors[0], server), _is_final(errors[0]))


def _send(email: EmailMessage, server: MailServer, errors: list[Exception]) -> None:
    """Send an email, and add the error to ``errors`` if that fails."""
    connection = get_connection(
        host=server.host,
        port=server.port,
        username=server.username,
        password=server.password,
        use_tls=server.encryption == Encryption.STARTTLS,
        use_ssl=server.encryption == Encryption.TLS,
        timeout=settings.EMAIL_TIMEOUT,
    )
    try:
        connection.open()
        connection.send_messages([email])
    except (SMTPException, OSError, ValueError) as error:
        errors.append(error)
    finally:
        connection.close()  # Django leaves it open after a refused sign-in


def _is_final(error: Exception) -> bool:
    """Whether the server will refuse the mail again. A wrong password can be corrected."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, SMTPResponseException) and 550 <= error.smtp_code < 560


def _fault_in_words(error: Exception, server: MailServer) -> str:
    """Return why a mail was not taken, as the server says it."""
    match error:
        case SMTPRecipientsRefused():
            ((code, answer), *_) = error.recipients.values()
            return f"The mail server refused the address: {code} {_text(answer)}"
        case SMTPResponseException():
            return f"The mail server answered {error.smtp_code} {_text(error.smtp_error)}"
        case SMTPNotSupportedError() if server.encryption == Encryption.STARTTLS:
            return (
                f"The mail server cannot be used: {error} Choose TLS from the start, or another "
                "port."
            )
        case ssl.SSLCertVerificationError():
            reason = error.verify_message.rstrip(".")
            return (
                f"The certificate of the mail server {server.host} is not trusted: {reason}. Enter "
                "the host name of the certificate, or add its authority to those that Trainyard's "
                "machine trusts."
            )
        case ssl.SSLError():
            reason = (error.reason or str(error)).replace("_", " ").lower()
            return (
                f"TLS with the mail server {server} failed: {reason}. Check its port and whether "
                "it encrypts from the start or by STARTTLS."
            )
    return f"The mail server cannot be used: {error}"


def _text(answer: bytes | str) -> str:
    return answer.decode(errors="replace") if isinstance(answer, bytes) else answer
