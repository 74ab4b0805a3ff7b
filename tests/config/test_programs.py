"""How the web process is started: whom it believes about who asks."""

from typing import Any

import pytest
import uvicorn
from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from config.run.programs import table as programs
from config.run.programs.table import Address

FORWARDED = [(b"x-forwarded-for", b"203.0.113.9"), (b"x-forwarded-proto", b"https")]


def who_asks(sender: str) -> tuple[str, str]:
    """Address and protocol of a request with ``FORWARDED`` from ``sender``, by uvicorn's own
    reading of the command line."""
    argv = programs.web_program(Address("127.0.0.1", 8000)).argv
    options = uvicorn.main.make_context("uvicorn", argv[3:]).params
    scopes: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)

    app: Any = application
    if options["proxy_headers"]:
        app = ProxyHeadersMiddleware(application, options["forwarded_allow_ips"])
    scope = {"type": "http", "scheme": "http", "client": (sender, 1), "headers": FORWARDED}
    async_to_sync(app)(scope, None, None)
    return scopes[0]["client"][0], scopes[0]["scheme"]


@pytest.mark.parametrize("sender", ["127.0.0.1", "10.1.2.3"])
def test_without_a_named_proxy_forwarded_headers_are_believed_from_nobody(
    monkeypatch: pytest.MonkeyPatch, sender: str
) -> None:
    monkeypatch.delenv("TRUSTED_PROXIES", raising=False)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    assert who_asks(sender) == (sender, "http")


def test_forwarded_headers_are_believed_from_named_proxies_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8")
    assert who_asks("127.0.0.1") == ("203.0.113.9", "https")
    assert who_asks("10.1.2.3") == ("203.0.113.9", "https")
    assert who_asks("192.0.2.1") == ("192.0.2.1", "http")


@pytest.mark.parametrize("value", ["*", "proxy.example.com", "10.0.0.1/8"])
def test_a_proxy_that_is_no_address_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", f"127.0.0.1, {value}")
    with pytest.raises(ImproperlyConfigured, match="TRUSTED_PROXIES has"):
        programs.web_program(Address("127.0.0.1", 8000))
