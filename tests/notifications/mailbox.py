"""A real mail server on this machine."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

TAKEN = "250 Message accepted for delivery"


@dataclass
class Mailbox:
    """A mail server. It takes what it is sent, unless ``answer`` is another answer, after
    ``seconds``. With a ``password`` it takes no other. With a ``certificate``, the path of one with
    its key, it demands STARTTLS, or encrypts ``from_start``."""

    answer: str = TAKEN
    seconds: float = 0
    password: str = ""
    certificate: Path | None = None
    from_start: bool = False
    port: int = 0
    received: list[EmailMessage] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if self.answer == TAKEN:
            content = envelope.content or b""
            assert isinstance(content, bytes)
            parsed = message_from_bytes(content, policy=policy.default)
            assert isinstance(parsed, EmailMessage)
            self.received.append(parsed)
        return self.answer

    def authenticate(
        self, server: object, session: object, envelope: object, mechanism: str, given: object
    ) -> AuthResult:
        is_right = isinstance(given, LoginPassword) and given.password == self.password.encode()
        return AuthResult(success=is_right, handled=False)


@contextmanager
def mail_server(mailbox: Mailbox) -> Iterator[Mailbox]:
    """Run the mail server while the block runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        mailbox.port = free.getsockname()[1]
    context: ssl.SSLContext | None = None
    if mailbox.certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(mailbox.certificate)
    by_command = context is not None and not mailbox.from_start
    controller = Controller(
        mailbox,
        hostname="127.0.0.1",
        server_hostname="localhost",
        port=mailbox.port,
        ssl_context=context if mailbox.from_start else None,
        tls_context=context if by_command else None,
        require_starttls=by_command,
        auth_require_tls=False,
        authenticator=mailbox.authenticate if mailbox.password else None,
    )
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop()


def text_of(email: EmailMessage, kind: str = "plain") -> str:
    """Return the text of an email, or its HTML."""
    part = email.get_body((kind,))
    assert part is not None
    return str(part.get_content())
