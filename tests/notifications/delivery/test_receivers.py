"""Where messages may go."""

import pytest
from pytest_django import Settings

from notifications.delivery.receivers import AddressRefused, resolve_receiver, url_fault


@pytest.mark.parametrize(
    "ip",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),  # noqa: S104
        *("100.100.100.200", "168.63.129.16", "224.0.0.1", "255.255.255.255", "192.0.0.192"),
        *("::1", "::", "fe80::1%eth0", "fd00:ec2::254", "::ffff:127.0.0.1", "ff02::1", "fec0::1"),
        *("64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:0:0:0:0:80ff:fffe"),
    ],
)
def test_a_name_that_points_to_an_inner_address_is_refused(ip: str) -> None:
    with pytest.raises(AddressRefused, match="not a public address"):
        resolve_receiver("https://hooks.example.com/a", lambda host, port: [ip])


def test_an_inner_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1"):
        resolve_receiver("https://a.example.com/", lambda host, port: ["93.184.216.34", "10.0.0.1"])


def test_a_message_goes_to_the_resolved_address_under_the_name() -> None:
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["93.184.216.34"]

    receiver = resolve_receiver("https://Hooks.example.com:8443/a?b=c", resolve)
    assert asked == [("hooks.example.com", 8443)], "asked once"
    assert (receiver.ip, receiver.authority) == ("93.184.216.34", "hooks.example.com:8443")
    assert receiver.target == "/a?b=c"
    assert resolve_receiver("https://[2606:2800::1]", lambda *_: ["2606:2800::1"]).authority == (
        "[2606:2800::1]"
    )


def test_networks_that_are_named_are_open(settings: Settings) -> None:
    settings.WEBHOOK_NETWORKS = ["10.0.0.0/8", "fd00::/8"]
    inner = ["10.1.2.3", "::ffff:10.1.2.3", "fd00::7"]
    assert resolve_receiver("http://inner/", lambda host, port: inner).ip == "10.1.2.3"
    with pytest.raises(AddressRefused):
        resolve_receiver("http://inner/", lambda host, port: ["192.168.0.1"])


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("ftp://example.com/", "must begin with https://"),
        ("https://", "must begin with https://"),
        ("example.com/hook", "must begin with https://"),
        ("https://user:pw@example.com/", "user name or password"),
        ("https://example.com/#part", "after #"),
        ("https://example.com:99999/", "is not an address"),
        ("https://[::1/", "is not an address"),
        ("https://example.com/a b", "neither spaces"),
        ("https://exämple.com/", "beyond ASCII"),
        ("https://example.com/\r\nX: y", "neither spaces"),
        ("https://example.com/" + "a" * 500, "at most 500"),
        ("http://127.0.0.1:8000/", "not a public address"),
        ("http://[::1]:8000/", "not a public address"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_before_it_is_saved(url: str, fault: str) -> None:
    assert fault in url_fault(url)


def test_odd_spellings_of_this_machine_are_refused_when_they_are_resolved() -> None:
    for url in ("http://2130706433/", "http://0x7f.1/", "http://localhost:6379/"):
        assert url_fault(url) == ""
        with pytest.raises(AddressRefused):
            resolve_receiver(url)
