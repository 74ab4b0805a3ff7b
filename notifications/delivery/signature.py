"""Sign messages, so that a receiver knows that they are ours. Follows Standard Webhooks:

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
from collections.abc import Iterable

from notifications.models import SECRET_PREFIX


def headers(message_id: str, at: int, body: str, secrets: Iterable[str]) -> dict[str, str]:
    """The headers of a message sent ``at`` a time in seconds since 1970, with one signature for
    each valid secret."""
    signed = f"{message_id}.{at}.{body}".encode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(_signature(secret, signed) for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"
