"""Websockets are for our own pages: browsers let any site open one, with our cookies."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def own_pages_only(app: App) -> App:
    """Refuse whoever does not come from a page of this host, or of a trusted origin."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if is_own_page(scope):
            await app(scope, receive, send)
        else:
            await refuse(scope, receive, send)

    return checked


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Before the handshake: the browser sees a 403."""
    await receive()
    await send({"type": "websocket.close"})


def is_own_page(scope: Scope) -> bool:
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    origin, host = headers.get(b"origin", ""), headers.get(b"host", "")
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    domain, _ = split_domain_port(host)
    return urlsplit(origin).netloc == host and validate_host(domain, settings.ALLOWED_HOSTS)
