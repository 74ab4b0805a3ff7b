"""``GET /healthz``: whether each part of Trainyard works, for people and for load balancers."""

import logging

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config import heartbeat


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when all work, else 503; ``checks`` says which one is down. Asks no cluster.

    ``?of=web`` and ``?of=database`` ask for that alone: a web process whose worker is away still
    shows pages, so nothing must end it or keep people from it.
    """
    part = request.GET.get("of", "")
    if part not in {"", *PARTS}:
        return JsonResponse({"message": f"of is {part!r}; use web or database."}, status=400)
    checks = {part: PARTS[part]()} if part else {"database": database(), **processes()}
    healthy = set(checks.values()) == {"ok"}
    body = {"status": "ok" if healthy else "down", "checks": checks}
    return JsonResponse(body, status=200 if healthy else 503)


# What people notice while a process is silent; the broker's silence hides the others'.
SILENCE = {
    "broker": "The broker does not answer. Nothing starts, stops or changes until it is back.",
    "worker": "The worker does not answer. Nothing starts, stops or changes until it is back.",
    "beat": "The clock (beat) does not run. Queues, time limits and deletions wait for it.",
}


def notice() -> str:
    """What to tell everyone who looks at a page; empty while all processes work."""
    states = processes()
    silent = [text for name, text in SILENCE.items() if states[name] == "down"]
    return f"{' '.join(silent)} Trainings that run go on." if silent else ""


def page(request: HttpRequest) -> dict[str, object]:
    """For every page, and asked of the broker only by those that show it."""
    return {"health_notice": SimpleLazyObject(notice)}


@require_safe
@never_cache
def health_notice(request: HttpRequest) -> HttpResponse:
    """The notice alone, for pages that stay open. Who is signed out keeps the page as it is."""
    if not request.user.is_authenticated:
        return HttpResponse(status=204)
    return render(request, "layout/health.html")


class WithoutHealth(logging.Filter):
    """Keeps the answers of ``/healthz`` out of the log: whoever asks gets to know."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return getattr(request, "path", "") != "/healthz"


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "down"
    return "ok"


PARTS = {"web": lambda: "ok", "database": database}


def processes() -> dict[str, str]:
    """The broker, and those that leave signs of life in it. Without it nobody knows of them."""
    names = ["worker", "beat"]
    try:
        broker = heartbeat.broker(settings.REDIS_URL)
        signs = broker.mget([heartbeat.key(name) for name in names])
    except redis.RedisError:
        return {"broker": "down", **dict.fromkeys(names, "unknown")}
    return {"broker": "ok"} | {
        name: "ok" if sign else "down" for name, sign in zip(names, signs, strict=True)
    }
