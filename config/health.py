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
    checks = {part: PARTS[part]()} if part else check_all()
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
    """What pages say while a part does not work.

    A full disk is the only thing they report, because then the processes cannot report either.
    """

    title: str
    text: str
    advice: str = ""  # for administrators


def find_notice(user: User | AnonymousUser) -> Notice | None:
    """Return the notice for this user, or ``None`` while every part works. Only users who may
    repair it get advice."""
    states, full = read_heartbeats()
    if full:
        may_fix = access.may(user, "clusters.create", access.ACCOUNT)
        return Notice(storage.TITLE, storage.TEXT, storage.advice(full) if may_fix else "")
    silent = [text for name, text in SILENCE.items() if states[name] == "down"]
    text = f"{' '.join(silent)} Running trainings continue."
    return Notice("Part of Trainyard is down", text) if silent else None


def add_health_notice(request: HttpRequest) -> dict[str, object]:
    """Context processor with a lazy notice, so that only templates which show it ask the broker."""
    user = getattr(request, "user", AnonymousUser())
    return {"health_notice": SimpleLazyObject(lambda: find_notice(user))}


@require_safe
@never_cache
def health_notice(request: HttpRequest) -> HttpResponse:
    """Answer the notice as a fragment, for pages that stay open. After a sign-out, the page keeps
    its state."""
    if not request.user.is_authenticated:
        return HttpResponse(status=204)
    return render(request, "layout/health.html")


def check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM django_migrations")
    except DatabaseError:
        return "down"
    return "ok"


PARTS = {"web": lambda: "ok", "database": check_database}


def check_all() -> dict[str, str]:
    states, full = read_heartbeats()
    return {"database": check_database(), "storage": "full" if full else "ok"} | states


def read_heartbeats() -> tuple[dict[str, str], str]:
    """Return the states of broker, worker and beat, and a folder whose disk is full, or ``""``.

    Worker and beat are ``unknown`` while the broker does not answer. The disk is that of this
    process, or one that worker or beat report with their heartbeats.
    """
    full = str(storage.full_folder() or "")
    processes = ["worker", "beat"]
    try:
        broker = heartbeat.heartbeat_client(settings.REDIS_URL)
        beats = broker.mget([heartbeat.heartbeat_key(process) for process in processes])
    except redis.RedisError:
        return {"broker": "down", **dict.fromkeys(processes, "unknown")}, full
    states = {"broker": "ok"}
    for process, value in zip(processes, beats, strict=True):
        states[process] = "ok" if value else "down"
        report = value.decode() if isinstance(value, bytes) else heartbeat.OK
        if report != heartbeat.OK:
            full = full or report
    return states, full
