"""The headers that pass between a browser and a tool, and those that do not."""

from collections.abc import Iterable

Headers = list[tuple[bytes, bytes]]

COOKIE = "trainyard_tool"  # the grant, at the tool's own address
OWN_PREFIX = b"trainyard_"  # the prefix of all our cookies
HOST_PREFIX = b"__Host-"  # which may precede it, for cookies of our own host
#: Headers of a single connection (RFC 9110, 7.6.1); the next connection has its own.
CONNECTION_HEADERS = {
    b"connection",
    b"keep-alive",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"upgrade",
}
FORWARDED = {b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto"}
HANDSHAKE_PREFIX = b"sec-websocket-"
#: A header that makes a browser delete all cookies of the domain, which signs out of Trainyard too.
CLEAR_SITE_DATA = b"clear-site-data"


def headers_for_tool(headers: Iterable[tuple[bytes, bytes]], *, scheme: str) -> Headers:
    """Return the headers for the tool: without our cookies, and with the scheme and host that the
    browser used."""
    passed: Headers = []
    for name, value in headers:
        if name in CONNECTION_HEADERS or name in FORWARDED or name.startswith(HANDSHAKE_PREFIX):
            continue
        if name == b"cookie":
            value = without_own_cookies(value)
        if value:
            passed.append((name, value))
    host = header_value(headers, b"host")
    return [
        *passed,
        (b"x-forwarded-proto", scheme.encode()),
        (b"x-forwarded-host", host),
    ]


def headers_for_browser(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers for the browser. A tool cannot set or delete our cookies, nor set any for
    a domain wider than its own host."""
    passed: Headers = []
    for name, value in headers:
        if name.lower() in CONNECTION_HEADERS | {b"transfer-encoding", CLEAR_SITE_DATA}:
            continue
        if name.lower() == b"set-cookie":
            if _is_own_cookie(value):
                continue
            parts = (part for part in value.split(b";") if not _is_domain(part))
            passed.append((name, b";".join(parts)))
        else:
            passed.append((name, value))
    return passed


def header_value(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> bytes:
    """Return the value of the first such header; empty if there is none."""
    return next((value for name, value in headers if name.lower() == wanted), b"")


def grant_secret(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the secret of the grant, from the cookies; empty if there is none."""
    pairs = (part.strip().split("=", 1) for part in _cookie_parts(headers))
    return next((pair[1] for pair in pairs if len(pair) == 2 and pair[0] == COOKIE), "")


def _cookie_parts(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[str]:
    for name, value in headers:
        if name.lower() == b"cookie":
            yield from value.decode("latin-1").split(";")


def without_own_cookies(cookies: bytes) -> bytes:
    """Return the cookies that are not ours."""
    parts = (part.strip() for part in cookies.split(b";"))
    return b"; ".join(part for part in parts if part and not _is_own_cookie(part))


def _is_own_cookie(cookie: bytes) -> bool:
    return cookie.strip().removeprefix(HOST_PREFIX).startswith(OWN_PREFIX)


def _is_domain(attribute: bytes) -> bool:
    return attribute.strip().lower().startswith(b"domain")
