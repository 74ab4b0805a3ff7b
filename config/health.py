"""``GET /healthz`` and the health notice on pages: whether each part of Trainyard works."""

from dataclasses import dataclass

import redis
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import access
from accounts.models import User
from config import heartbeat
from core import storage


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if every part works, else 503. ``checks`` names each part. No cluster is asked.

    ``?of=web`` and ``?of=database`` check that part alone. They are for probes and load balancers:
    a web process whose worker is down still serves pages, so it must not be restarted or taken out.
    """
    part = request.GET.get("of", "")
    if part not in {"", *PARTS}:
        return JsonResponse({"message": f"of is {part!r}; use web or database."}, status=400)
    checks = {part: PARTS[part]()} if part else everything()
    healthy = set(checks.values()) == {"ok"}
    body = {"status": "ok" if healthy else "down", "checks": checks}
    return JsonResponse(body, status=200 if healthy else 503)


# What people notice while a process is silent. The worker and beat report through the broker, so
# without it their state is unknown.
SILENCE = {
    "broker": "The broker does not answer. Until it is back, nothing starts, stops or changes.",
    "worker": "The worker does not answer. Until it is back, nothing starts, stops or changes.",
    "beat": "The scheduler of periodic tasks (beat) is not running. Until it is back, "
    "queues, time limits and deletions wait.",
}


@dataclass(frozen=True)
class Notice:
    """The one notice shown for everything that is wrong.

    A full disk hides its consequences: the processes cannot report either.
    """

    title: str
    text: str
    advice: str = ""  # for administrators


def notice(user: User | AnonymousUser) -> Notice | None:
    """The notice for this user, or ``None`` while all is well. Only those who may fix it get
    advice."""
    states, full = look()
    if full:
        may_fix = access.may(user, "clusters.create", access.ACCOUNT)
        return Notice(storage.TITLE, storage.TEXT, storage.advice(full) if may_fix else "")
    silent = [text for name, text in SILENCE.items() if states[name] == "down"]
    text = f"{' '.join(silent)} Running trainings continue."
    return Notice("Part of Trainyard is down", text) if silent else None


def page(request: HttpRequest) -> dict[str, object]:
    """Context processor. The notice is lazy, so only templates that show it ask the broker."""
    user = getattr(request, "user", AnonymousUser())
    return {"health_notice": SimpleLazyObject(lambda: notice(user))}


@require_safe
@never_cache
def health_notice(request: HttpRequest) -> HttpResponse:
    """The notice as a fragment, for pages that stay open. After a sign-out the page stays
    as it is."""
    if not request.user.is_authenticated:
        return HttpResponse(status=204)
    return render(request, "layout/health.html")


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM django_migrations")
    except DatabaseError:
        return "down"
    return "ok"


PARTS = {"web": lambda: "ok", "database": database}


def everything() -> dict[str, str]:
    states, full = look()
    return {"database": database(), "storage": "full" if full else "ok"} | states


def look() -> tuple[dict[str, str], str]:
    """The state of broker, worker and beat, and a folder whose disk is full, or an empty string.

    Worker and beat are ``unknown`` when the broker cannot be asked. The disk is this process's own,
    or one that worker or beat report with their heartbeats.
    """
    full = str(storage.full_folder() or "")
    processes = ["worker", "beat"]
    try:
        broker = heartbeat.broker(settings.REDIS_URL)
        beats = broker.mget([heartbeat.key(process) for process in processes])
    except redis.RedisError:
        return {"broker": "down", **dict.fromkeys(processes, "unknown")}, full
    states = {"broker": "ok"}
    for process, value in zip(processes, beats, strict=True):
        states[process] = "ok" if value else "down"
        report = value.decode() if isinstance(value, bytes) else heartbeat.OK
        if report != heartbeat.OK:
            full = full or report
    return states, full
