"""The frame of every page: headers, errors, formats, messages."""

import gzip
import re
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Context, Template
from django.test import Client

from config.run.install import ROOT
from spec.phases import Phase, RankPhase
from tests.factories import EnvironmentFactory, UserFactory
from tests.repository import tracked
from tests.web import HTMX, signed_in
from workloads.templatetags.phases import RANK_TONES, TONES


@pytest.mark.django_db
def test_the_style_guide_shows_every_component() -> None:
    client = signed_in(UserFactory())
    response = client.get("/styleguide/")
    page = response.content.decode()
    used = {template.name for template in response.templates}
    folder = Path(settings.BASE_DIR) / "templates" / "components"
    elsewhere = {"drawer_close.html", "search.html", "inputs.html"}
    missing = (
        {path.name for path in folder.glob("*.html")}
        - elsewhere
        - {name.rsplit("/", 1)[-1] for name in used if name}
    )
    assert not missing
    assert all(phase in page for phase in Phase)


@pytest.mark.django_db
def test_pages_allow_no_foreign_and_no_inline_script() -> None:
    response = signed_in(UserFactory()).get("/styleguide/")
    policy = response["Content-Security-Policy"]
    assert "script-src 'self' 'nonce-" in policy
    page = response.content.decode()
    assert " onclick=" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script>" not in page


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/workloads/", "/workloads/export.csv", "/api/v1/nodes"])
def test_a_browser_keeps_no_page_with_data(address: str) -> None:
    assert signed_in(UserFactory()).get(address)["Cache-Control"] == "private, no-store"


@pytest.mark.django_db
def test_a_browser_keeps_static_files() -> None:
    answer = Client().get("/static/css/trainyard.css")
    assert answer.status_code == 200
    assert "max-age" in answer["Cache-Control"]


def test_a_browser_that_came_by_https_never_comes_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nor does it take our cookies from another host of the domain, such as that of a tool."""
    monkeypatch.setenv("HTTPS", "on")
    monkeypatch.setenv("TRAINYARD_HOME", str(tmp_path))
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "config.settings")
    code = (
        "import django; django.setup(); from django.test import Client;"
        "from django.conf import settings;"
        "ask = lambda **how: Client().get('/healthz?of=web', headers={'host': 'localhost'}, **how);"
        "print(*(ask(secure=yes).get('Strict-Transport-Security') for yes in (True, False)),"
        "settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *headers, session, csrf = said.stdout.split()
    assert headers == ["max-age=2592000", "None"]
    assert session.startswith("__Host-trainyard_session_")
    assert csrf.startswith("__Host-trainyard_csrf_")


def test_a_browser_may_come_without_https_unless_that_is_on() -> None:
    answer = Client().get("/healthz?of=web", secure=True)
    assert "Strict-Transport-Security" not in answer
    assert settings.SESSION_COOKIE_NAME.startswith("trainyard_session_")
    assert settings.CSRF_COOKIE_NAME.startswith("trainyard_csrf_")


@pytest.mark.django_db
def test_the_navigation_marks_where_one_is() -> None:
    page = signed_in(UserFactory()).get("/compute-resources/").content.decode()
    marked = page.split('aria-current="page"')[0].rsplit("<a", 1)[1]
    assert "/compute-resources/" in marked
    assert page.count('aria-current="page"') == 1
    assert 'href="/users/"' not in page


@pytest.mark.django_db
def test_a_page_that_is_not_there_or_not_allowed_answers_kindly() -> None:
    client = signed_in(UserFactory())
    assert "<h1>Page not found</h1>" in client.get("/nowhere/").content.decode()
    assert "<h1>You do not have access" in client.get("/users/").content.decode()


@pytest.mark.django_db
def test_messages_become_toasts_of_an_htmx_answer() -> None:
    environment = EnvironmentFactory()
    client = signed_in(UserFactory(administrator=True))
    response = client.post(f"/environments/{environment.pk}/delete/", **HTMX)
    assert "was deleted" in response["HX-Trigger"]
    environment = EnvironmentFactory()
    page = client.post(f"/environments/{environment.pk}/delete/", follow=True).content.decode()
    assert 'class="toast-card toast-success"' in page


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{% load core %}{{ 7512|duration }}", "2 h 5 min"),
        ("{% load core %}{{ 42.4|duration }}", "42 s"),
        ("{% load core %}{{ 0|duration }}{{ none|duration }}", "0 s–"),
        ("{% load core %}{{ 90000|duration }}", "1 d 1 h"),
        ("{% load quantities %}{{ 1500000000|memory }}", "1.5 GB"),
        ("{% load quantities %}{{ none|memory }}{{ none|amount }}", "––"),
        ("{% load quantities %}{{ 0.1|cores }}, {{ 1|cores }}", "0.1 cores, 1 core"),
        ("{% load quantities %}{{ 0.3|gpus }}, {{ 1|gpus }}, {{ 0|gpus }}", "0.3 GPUs, 1 GPU, –"),
    ],
)
def test_numbers_read_like_words(template: str, text: str) -> None:
    assert Template(template).render(Context({"none": None})) == text


def test_a_moment_carries_utc() -> None:
    at = datetime(2026, 11, 21, 13, 57, 5, tzinfo=UTC)
    shown = Template('{% load core %}{% when at "relative" %}').render(Context({"at": at}))
    assert shown == (
        '<time datetime="2026-11-21T13:57:05+00:00" title="2026-11-21 13:57:05 UTC" data-relative>'
        "2026-11-21 13:57:05 UTC</time>"
    )
    assert Template("{% load core %}{% when at %}").render(Context({"at": None})) == "–"


def test_every_phase_has_a_tone() -> None:
    assert set(TONES) == set(Phase)
    assert set(RANK_TONES) == set(RankPhase)
    badge = Template("{% load phases %}{% rank_badge 'Failed' %}").render(Context())
    assert "chip-danger" in badge


def test_every_template_fits_its_budget() -> None:
    folder = Path(settings.BASE_DIR) / "templates"
    long = [p.name for p in folder.rglob("*.html") if len(p.read_text().splitlines()) > 120]
    assert not long


@pytest.mark.django_db
def test_health_of_the_frame_without_a_session(client: Client) -> None:
    page = client.get("/accounts/login/").content.decode()
    assert "Sign in" in page
    assert "sidebar" not in page


def test_a_form_of_another_sign_in_is_refused_in_words() -> None:
    answer = Client(enforce_csrf_checks=True).post("/workloads/new/")
    assert answer.status_code == 403
    assert "This page is out of date" in answer.content.decode()


def test_no_template_writes_a_time_in_a_format_of_its_own() -> None:
    # ISO 8601 is for scripts; no person reads it.
    own = re.compile(r"\|(date(?!:\"c\")|time|timesince|timeuntil|naturaltime)\b")
    pages = tracked("templates/*.html")
    assert pages
    assert not [path for path in pages if own.search((ROOT / path).read_text())]


class Heirs(HTMLParser):
    """Collects the elements that ask the question of an element around them before they act.

    htmx inherits ``hx-confirm``, so that a link within a form whose button is confirmed asks the
    button's question as well, unless the form has ``hx-disinherit``.
    """

    ACTS = frozenset({"hx-get", "hx-post", "hx-put", "hx-patch", "hx-delete"})
    NEVER_CLOSED = frozenset({"br", "hr", "img", "input", "link", "meta", "source"})

    def __init__(self, template: str) -> None:
        super().__init__()
        self.around: list[tuple[str, bool]] = []  # the open elements: whether they pass it on
        self.heirs: list[str] = []
        self.feed(re.sub(r"{[%{#].*?[#}%]}", "", template, flags=re.DOTALL))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        if "hx-confirm" not in own and self.ACTS & own.keys() and any(it for _, it in self.around):
            self.heirs.append(self.get_starttag_text() or tag)
        if tag not in self.NEVER_CLOSED:
            kept = {"*", "hx-confirm"} & set((own.get("hx-disinherit") or "").split())
            self.around.append((tag, "hx-confirm" in own and not kept))

    def handle_endtag(self, tag: str) -> None:
        while self.around and self.around.pop()[0] != tag:
            pass


def test_an_action_does_not_ask_the_question_of_the_form_around_it() -> None:
    inner = '<a hx-get="/edit/">Edit</a>'
    question = '<form hx-post="/lock/" hx-confirm="Signs {{ name }} out."'
    assert len(Heirs(f"{question}>{inner}</form>{inner}").heirs) == 1
    assert not Heirs(f'{question} hx-disinherit="hx-confirm">{inner}</form>').heirs
    pages = {path: Heirs((ROOT / path).read_text()).heirs for path in tracked("templates/*.html")}
    assert not {path: heirs for path, heirs in pages.items() if heirs}


@pytest.mark.django_db
def test_a_page_is_compressed_for_browsers_that_ask_for_it() -> None:
    client = signed_in(UserFactory())
    plain = client.get("/styleguide/")
    packed = client.get("/styleguide/", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert len(packed.content) < len(plain.content) / 2
    assert b"<title>" in gzip.decompress(packed.content)


@pytest.mark.django_db
def test_a_rest_call_is_not_compressed() -> None:
    answer = Client().get("/api/v1/clusters", headers={"Accept-Encoding": "gzip"})
    assert len(answer.content) > 200  # a shorter answer would not be compressed anyway
    assert "Content-Encoding" not in answer
