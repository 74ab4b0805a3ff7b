"""Pages answer whatever is sent to them: never with a mistake of their own."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.fuzz.choosing import rounds
from tests.fuzz.conftest import Place
from tests.fuzz.values import NUL, TEXTS, query_of
from tests.web import HTMX, signed_in
from workloads.wizard.sections.table import questions

ENDLESS = {"workload-stream", "api", "healthz"}  # the last is 503 without a worker
PARAMETERS = (
    *("q", "scope", "page", "cluster", "project", "template", "copy", "slot", "next", "all"),
    *("f", "fc", "fo", "fv", "sort", "columns", "after", "before", "ids", "new", "kind", "user"),
    *("rank", "try", "text", "run", "level", "of", "only", "rd", "pool", "only", "output"),
)
FIELDS = (
    *("name", "description", "query", "action", "verb", "id", "ids", "image", "variables-0-name"),
    *("variables-0-value", "variables-0-rest", "username", "password", "login", "email", "role"),
    *("scope", "cluster", "project", "department", "gpu_quota", "label_key", "label_value"),
    *("kubeconfig", "namespace_prefix", "tab", "sent", "typing", "active", "members", "\0"),
)


def routes(place: Place) -> list[tuple[str, dict[str, str]]]:
    """Path templates of our own pages, and the kind of each of their parameters."""
    return [it for it in _routes(get_resolver().url_patterns, "") if "api/" not in it[0]]


def _routes(patterns: Any, prefix: str) -> Iterator[tuple[str, dict[str, str]]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern) and pattern.name not in ENDLESS:
            converters = pattern.pattern.converters
            kinds = {name: type(it).__name__ for name, it in converters.items()}
            yield path, kinds


def address(random: Random, path: str, kinds: dict[str, str], place: Place) -> str:
    for name, kind in kinds.items():
        values = {"UUIDConverter": place.ids["uuid"], "IntConverter": place.ids["int"]}
        value = random.choice([*values.get(kind, ["name", "a"]), *values.get(kind, ["b"])])
        for written in (f"<uuid:{name}>", f"<int:{name}>", f"<str:{name}>", f"<slug:{name}>"):
            path = path.replace(written, value)
        path = path.replace(f"<{name}>", value)
    return "/" + path.replace("^", "").replace("$", "").replace("\\Z", "")


@pytest.mark.extended
@pytest.mark.parametrize("who", ["administrator", "researcher", ""])
def test_no_page_ends_in_a_mistake_of_ours(
    place: Place, nobody: Client, random: Random, who: str
) -> None:
    client = signed_in(getattr(place, who)) if who else nobody
    client.raise_request_exception = False
    every = routes(place)
    fields = (*FIELDS, *questions(), "worker-environmentVariables-0-name")
    for _ in rounds():
        here = address(random, *random.choice(every), place)
        if random.random() < 0.7:
            here += f"?{query_of(random, PARAMETERS)}"
        htmx = HTMX | _headers(random) if random.random() < 0.5 else {}
        posted: dict[str, str] | None = None
        if random.random() < 0.5:
            posted = {name: _sendable(random) for name in random.sample(fields, 3)}
        answer = client.get(here, **htmx) if posted is None else client.post(here, posted, **htmx)
        assert answer.status_code < 500, f"{here[:300]} {posted!r:.600}"
        if posted and any("signout" in part or "logout" in part for part in here.split("/")):
            client.force_login(getattr(place, who)) if who else None


HEADERS = ("HX_CURRENT_URL", "HX_TARGET", "HX_TRIGGER", "HX_PROMPT", "REFERER", "ACCEPT", "RANGE")
ADDRESSES = (
    "http://[",
    "http://testserver/workloads/?q=%00",
    "//evil",
    "javascript:x",
    "http://testserver:x/",
)


def _headers(random: Random) -> dict[str, str]:
    names = random.sample(HEADERS, 2)
    return {f"HTTP_{name}": random.choice((*ADDRESSES, _sendable(random))) for name in names}


def _sendable(random: Random) -> str:
    """A form is UTF-8, in which there is no half of a character."""
    return random.choice(TEXTS).encode(errors="replace").decode()


@pytest.mark.parametrize(
    ("path", "posted"),
    [
        ("/workloads/?q=%00", None),
        ("/workloads/views/", {"name": f"a{NUL}", "query": ""}),
        ("/access-keys/new/", {"name": f"a{NUL}"}),
        ("/accounts/login/", {"login": f"a{NUL}", "password": "x"}),
    ],
)
def test_a_page_refuses_a_nul_with_a_page(
    place: Place, path: str, posted: dict[str, str] | None
) -> None:
    client = signed_in(place.researcher)
    answer = client.get(path) if posted is None else client.post(path, posted)
    assert answer.status_code == 400
    assert "contains a NUL character" in answer.content.decode()


def test_a_cookie_with_a_nul_is_refused(place: Place) -> None:
    client = Client(headers={"Cookie": 'trainyard_session_8000="\\000aaaaaaaaaaaa"'})
    assert client.get("/workloads/").status_code == 400
