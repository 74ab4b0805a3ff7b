"""Access checks for websockets: browsers let any site open one, and send our cookies along."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.http import parse_cookie
from django.http.request import split_domain_port, validate_host

from core.text import text_fault

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
API = "/api/"
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def refuse_foreign_pages(app: App) -> App:
    """Wrap an application to refuse websockets from pages of other sites, and those with unfit text
    in their address or cookies."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if is_own_page(scope) and not has_unfit_text(scope):
            await app(scope, receive, send)
        else:
            await refuse_handshake(scope, receive, send)

    return checked


def route_by_path(pages: App, programs: App) -> App:
    """Route paths below ``/api/`` to ``programs``, which check tokens instead of cookies and
    origin."""

    async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith(API):
            await pages(scope, receive, send)
        elif has_unfit_text(scope):
            await refuse_handshake(scope, receive, send)
        else:
            await programs(scope, receive, send)

    return chosen


async def refuse_handshake(scope: Scope, receive: Receive, send: Send) -> None:
    """Close before the handshake, so that the client sees a 403."""
    await receive()
    await send({"type": "websocket.close"})


def has_unfit_text(scope: Scope) -> bool:
    query = scope["query_string"].decode("latin-1")
    headers = dict(scope["headers"])
    cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    texts = [scope["path"], *(text for pair in cookies.items() for text in pair)]
    return any(map(text_fault, (*texts, unquote(query))))


def is_own_page(scope: Scope) -> bool:
    """Whether the page that opens the websocket is from the same host, or from a trusted origin."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    origin = headers.get(b"origin", "")
    host = headers.get(b"host", "")
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    domain, _ = split_domain_port(host)
    return origin == origin_of(scope, host) and validate_host(domain, settings.ALLOWED_HOSTS)


def origin_of(scope: Scope, host: str) -> str:
    """Return the Origin header that pages of this host send. With HTTPS=on it is always https, even
    if the proxy in front uses HTTP."""
    encrypted = settings.HTTPS or scope.get("scheme") == "wss"
    return f"{'https' if encrypted else 'http'}://{host}"
