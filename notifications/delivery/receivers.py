"""Decide where messages may be sent: to public addresses, and to networks that are allowed in the
configuration.

A host name is resolved once, and the message is sent to the address that was checked, even if the
name has another address a moment later.
"""

import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from spec.values.variable import MASK

IPAddress = IPv4Address | IPv6Address
#: Resolves a name and a port into addresses. ``OSError`` if there are none.
Resolve = Callable[[str, int], Iterable[str]]

PORTS = {"http": 80, "https": 443}
LONGEST_URL = 500
#: Internal addresses that look public, such as those at which clouds provide credentials.
INTERNAL_NETWORKS = tuple(
    ip_network(name) for name in ("168.63.129.16", "192.0.0.0/24", "fec0::/10")
)
NAT64 = ip_network("64:ff9b::/96")


class AddressRefused(Exception):
    """No message may be sent to this address."""


@dataclass(frozen=True)
class Receiver:
    """A checked receiver. ``host`` is the name in the URL, and ``ip`` its address."""

    scheme: str
    host: str
    port: int
    target: str
    ip: str

    @property
    def authority(self) -> str:
        """The value of the ``Host`` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def resolve(host: str, port: int) -> Iterator[str]:
    """Yield the addresses of a host name, as this machine resolves it."""
    for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        yield str(address[0])


def url_fault(url: str) -> str:
    """Return what is wrong with a URL, without resolving its name; empty if nothing is."""
    try:
        parts, _ = _split_url(url)
    except ValueError as error:
        return str(error)
    try:
        literal = ip_address(str(parts.hostname))
    except ValueError:
        return ""
    return _address_fault(literal)


def resolve_receiver(url: str, resolve: Resolve = resolve) -> Receiver:
    """Return the receiver of a URL, with its address. ``AddressRefused`` if nothing may be sent to
    one of its addresses, ``OSError`` if the name has none."""
    try:
        parts, port = _split_url(url)
    except ValueError as error:
        raise AddressRefused(str(error)) from error
    host = str(parts.hostname)
    addresses = [ip_address(text.partition("%")[0]) for text in resolve(host, port)]
    for address in addresses:
        fault = _address_fault(address)
        if fault:
            raise AddressRefused(fault)
    if not addresses:
        raise OSError(f"{host} has no address.")
    target = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return Receiver(parts.scheme, host, port, f"{target}{query}", str(addresses[0]))


def _split_url(url: str) -> tuple[SplitResult, int]:
    """Return the parts and the port of a URL. ``ValueError`` says what is wrong with it."""
    if len(url) > LONGEST_URL:
        raise ValueError(f"must have at most {LONGEST_URL} characters")
    if not (url.isascii() and url.isprintable()) or " " in url:
        raise ValueError("must have neither spaces nor characters beyond ASCII; encode them")
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise ValueError("is not an address; enter one such as https://example.com/hook") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError("must begin with https:// or http:// and a host")
    if "@" in parts.netloc:
        raise ValueError("must have no user name or password; check the signature instead")
    if parts.path == f"/{MASK}":
        raise ValueError(f"must be complete; {MASK} stands for a path that is not shown")
    if parts.fragment:
        raise ValueError("must have no part after #, which is never sent")
    return parts, port


def _address_fault(address: IPAddress) -> str:
    """Return why nothing may be sent to an address; empty if messages may."""
    inner = _embedded_ipv4(address)
    for network in map(ip_network, _allowed_networks()):
        if inner in network or address in network:
            return ""
    is_internal = any(inner in network for network in INTERNAL_NETWORKS)
    if inner.is_global and not inner.is_multicast and not is_internal:
        return ""
    return (
        f"points to {address}, which is not a public address; an operator of Trainyard can allow "
        "it in TRAINYARD_WEBHOOK_NETWORKS"
    )


def _embedded_ipv4(address: IPAddress) -> IPAddress:
    """Return the IPv4 address inside an IPv6 address, or the address itself if it contains none."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour or address
    if address.teredo:
        return address.teredo[1]
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in NAT64 else address


def _allowed_networks() -> list[str]:
    names: list[str] = settings.WEBHOOK_NETWORKS
    return names
