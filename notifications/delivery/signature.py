"""Sign messages, so that a receiver can verify that they come from Trainyard. This follows Standard
Webhooks:

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
from collections.abc import Iterable

from notifications.models import SECRET_PREFIX


def headers(message_id: str, at: int, body: str, secrets: Iterable[str]) -> dict[str, str]:
    """Return the headers of a message, with one signature for each secret. ``at`` is the time in
    seconds since 1970."""
    content = f"{message_id}.{at}.{body}".encode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(_signature(secret, content) for secret in secrets),
    }


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"
