"""The address of each tool: a host of its own, so that browsers keep tools apart."""

from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port

LOOPBACK = "localhost"  # browsers resolve every name below it to this machine
OWN_MACHINE = {"localhost", "127.0.0.1", "[::1]"}
HEX = 32


def tool_host(workload_id: UUID, slug: str) -> str:
    """Return the host of a tool, below the domain of all tools."""
    return f"{slug}-{workload_id.hex}.{settings.TOOLS_DOMAIN}"


def parse_tool_host(host: str) -> tuple[UUID, str] | None:
    """Return the workload and slug of a Host header; ``None`` if it is not the host of a tool."""
    domain, _ = split_domain_port(host.lower())
    label, dot, rest = domain.partition(".")
    slug, hyphen, digits = label.rpartition("-")
    if rest != settings.TOOLS_DOMAIN or not (dot and hyphen and len(digits) == HEX):
        return None
    try:
        return UUID(digits), slug
    except ValueError:
        return None


def is_tool_host(host: str) -> bool:
    """Whether the host belongs to tools, so that none of our pages may be served there."""
    domain, _ = split_domain_port(host.lower())
    return domain.endswith(f".{settings.TOOLS_DOMAIN}")


def tool_url(request: HttpRequest, workload_id: UUID, slug: str) -> str:
    """Return the URL of the tool for this browser; empty if the browser could not resolve it."""
    domain, port = split_domain_port(request.get_host())
    if settings.TOOLS_DOMAIN == LOOPBACK and domain not in OWN_MACHINE:
        return ""
    scheme = "https" if settings.SESSION_COOKIE_SECURE else request.scheme
    return f"{scheme}://{tool_host(workload_id, slug)}{f':{port}' if port else ''}"
