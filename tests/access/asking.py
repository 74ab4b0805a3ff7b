"""Send every request as every user, and record one sign for each answer:

``+`` shown or done, ``?`` refused for what was sent (400, 409, 422), ``1`` sign in first (401, 429,
or a redirect to the page for it), ``3`` 403, ``4`` 404, ``5`` 405, ``!`` 503.
"""

import json
import re
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address
from itertools import count
from typing import Any

from django.db import connection, transaction
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLResolver, get_resolver

from accounts.access import ACCOUNT
from accounts.models import AccessRole, User
from accounts.permissions import PERMISSIONS
from accounts.views.sign_in import CLOSED_PAGES
from config.rest.api import api
from config.rest.examples import MANIFEST
from core.rest.api import API_PREFIXES
from tests.access.needs import ANYONE, NOBODY, OWNER, SIGNED_IN
from tests.access.population import SECRET, Population
from tests.factories import IMAGE, UserFactory, give
from tests.fuzz.bodies import bodies

SIGNS = {400: "?", 401: "1", 403: "3", 404: "4", 405: "5", 409: "?", 422: "?", 429: "1", 503: "!"}
CLOSED = {"1", "3", "4", "5"}
REFUSALS = ('INSERT INTO "audit_auditentry"',)  # a refused attempt is recorded
WRITES = ("INSERT INTO", "UPDATE", "DELETE FROM")
#: Callers who may see none of the objects.
OUTSIDE = {"nobody", "outsider", "stranger", "key of stranger", "foreign"}
#: The tables in which every caller may write rows of their own.
OWN = {
    "/workloads/new/": ("workloads_draft",),
    "/workloads/drafts/<uuid:pk>/<int:step>/": ("workloads_draft",),  # records which page was last
    "/accounts/logout/": ("django_session",),
    "/notifications/read/": ("notifications_notification",),
    "/notifications/<int:pk>/": ("notifications_notification",),  # who follows it has read it
    "/api/v1/access-keys": ("accounts_accesskey", "audit_auditentry"),
    "/api/v1/subscriptions": ("notifications_subscription", "audit_auditentry"),
    "/api/v1/device-sign-ins": ("accounts_devicesignin",),  # a program no one approved yet
}
#: Each call comes from another address: after wrong passwords, an address is refused for a while.
ADDRESSES = map(IPv4Address, count(int(IPv4Address("10.0.0.1"))))
METHODS = ("get", "post", "put", "patch", "delete")
WORKFLOW = f"""
workflow:
  name: a-flow
  tasks:
  - {{name: one, image: {IMAGE}, command: [train]}}
"""
#: Who has less than what an address takes, if that is no permission.
WITHOUT = {
    ANYONE: "nobody",
    SIGNED_IN: "outsider",
    OWNER: "administrator",
    NOBODY: "administrator",
}
#: What may differ in two answers that mean the same.
CHANCE = re.compile(r'nonce="[^"]*"|\w{64}|[0-9a-f-]{36}|\d+')


def pages() -> list[str]:
    """Return the routes of all pages: those of the URLconf without REST and without the closed
    pages of allauth. Of two equal routes, the first answers, so only that one is returned."""
    every = dict.fromkeys(_routes(get_resolver().url_patterns, ""))
    routes = (path for path in every if not re.match(CLOSED_PAGES, path.replace("/^", "/")))
    return [path for path in routes if not f"/{path}".startswith(API_PREFIXES)]


def _routes(patterns: Any, prefix: str) -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, path)
        else:
            yield path


def calls() -> list[tuple[str, str]]:
    """Return path and method of every operation in the OpenAPI document."""
    paths: dict[str, Any] = api.get_openapi_schema()["paths"]
    every = [(path, method) for path, methods in paths.items() for method in methods]
    return [(path, method.upper()) for path, method in every if method in METHODS]


class Asker:
    """Sends requests as every user. ``faults`` lists answers that reveal or change something that
    they must not. ``text`` is the last answer."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.faults = list[str]()
        self.text = ""
        self.sessions = {name: _session(user) for name, user in population.people.items() if user}
        self.bodies = bodies(population.project, population.workload) | _submissions(population)

    def add(self, who: str, user: User) -> None:
        """Add a user to those who can ask."""
        self.population.people[who] = user
        self.sessions[who] = _session(user)

    def without(self, need: str) -> str:
        """Return who has less than an address takes, but everything else."""
        if need in WITHOUT:
            return WITHOUT[need]
        who = f"without {need}"
        if who not in self.population.people:
            role = AccessRole.objects.create(name=who, permissions=sorted(PERMISSIONS - {need}))
            user: User = UserFactory.create()
            give(user, role.name, ACCOUNT)
            self.add(who, user)
        return who

    def page(self, who: str, method: str, path: str) -> str:
        """Return the sign of the answer that a browser gets."""
        form = {"content_type": "application/x-www-form-urlencoded"}
        return self._ask(who, method, f"/{path}", self.sessions.get(who, ""), **form)

    def call(self, who: str, method: str, path: str) -> str:
        """Return the sign of the answer that a program gets. As ``cookie``, it is sent by the
        author's browser."""
        session = self.sessions["author"] if who == "cookie" else ""
        headers = (
            {} if who in {"nobody", "cookie"} else {"Authorization": self.population.bearer(who)}
        )
        end = max((end for end in self.bodies if path.endswith(end)), key=len, default="")
        body = json.dumps(self.bodies.get(end, {})) if method in {"POST", "PUT", "PATCH"} else ""
        also = {"data": body, "content_type": "application/json", "headers": headers}
        return self._ask(who, method, path, session, **also)

    def _ask(self, who: str, method: str, path: str, session: str, **also: Any) -> str:
        request = f"{who}: {method} {path}"
        address = self.population.address(path, method)
        with CaptureQueriesContext(connection) as queries:
            answer = _send(session, method, address, **also)
        sign = _sign(answer)
        self.text = _text(answer)
        own = tuple(f'{verb} "{table}"' for verb in WRITES for table in OWN.get(path, ()))
        sent = _kept_writes(it["sql"] for it in queries)
        if sign in CLOSED or method == "GET" or who in OUTSIDE:
            allowed = (*own, *(REFUSALS if sign == "3" else ()))
            self.faults += [
                f"{request} writes {it:.60}" for it in sent if not it.startswith(allowed)
            ]
        if (sign in CLOSED or who in OUTSIDE) and SECRET in self.text:
            self.faults.append(f"{request} reveals a name to a user whom it refuses")
        # A policy is named by its project, which people besides outsiders may see without it.
        if sign == "4" and (who in OUTSIDE or "/policy/" not in path):
            absent = _send(
                session, method, self.population.address(path, method, absent=True), **also
            )
            if CHANCE.sub("", _text(absent)) != CHANCE.sub("", self.text):
                self.faults.append(f"{request} differs from the answer for an absent object")
        return sign


def _submissions(population: Population) -> dict[str, Any]:
    """Return bodies that a member of the project may submit, by the end of the path."""
    spec = {"image": IMAGE, "numWorkers": 1, "distributedFramework": "PyTorch"}
    ids = {"projectId": str(population.project.pk), "clusterId": str(population.project.cluster_id)}
    distributed = {"name": "a-run", **ids, "spec": spec}
    standard = distributed | {"spec": {"image": IMAGE}}
    return {
        "/workloads/distributed": distributed,
        "/workloads/from-sbatch": {"name": "a-script", **ids, "script": "#!/bin/sh\nsrun true\n"},
        "/workloads/manifests": {"metadata": ids, "manifest": MANIFEST},
        "/manifests/{workload_id}": {"manifest": MANIFEST},
        "/workloads/trainings": standard,
        "/workloads/workspaces": standard,
        "/distributed/batch-create": {"workloads": [distributed]},
        "/batch-create": {"workloads": [standard]},
        "/pool/{pool}/workflow": {"file": WORKFLOW},
    }


def _kept_writes(statements: Iterable[str]) -> list[str]:
    """Return the statements that write, without those that were rolled back."""
    kept: list[str] = []
    savepoints: dict[str, int] = {}
    for statement in statements:
        if statement.startswith("SAVEPOINT"):
            savepoints[statement.split()[1]] = len(kept)
        elif statement.startswith("ROLLBACK TO SAVEPOINT"):
            del kept[savepoints[statement.split()[3]] :]
        elif statement.startswith(WRITES):
            kept.append(statement)
    return kept


def _session(user: Any) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies.output(header="", sep=";").strip()


def _send(session: str, method: str, path: str, **also: Any) -> HttpResponseBase:
    """Send a request, and undo what it changed."""
    client = Client(REMOTE_ADDR=str(next(ADDRESSES)))
    client.cookies.load(session)
    with transaction.atomic():
        answer: Any = client.generic(method, path, **also)
        transaction.set_rollback(True)
    return answer


def _sign(answer: HttpResponseBase) -> str:
    to_sign_in = answer.status_code == 302 and answer["Location"].startswith("/accounts/login")
    if to_sign_in or answer.status_code < 400:
        return "1" if to_sign_in else "+"
    return SIGNS.get(answer.status_code, f"[{answer.status_code}]")


def _text(answer: Any) -> str:
    if not isinstance(answer, StreamingHttpResponse):
        return str(answer.content, errors="replace")
    return "" if answer.is_async else str(answer.getvalue(), errors="replace")


def is_refusal(sign: str, need: str, text: str) -> bool:
    """Whether an answer is right for someone who lacks what an address takes, as
    :meth:`Asker.without` returns them. What they may not see is absent. Other refusals name the
    permission."""
    if need in {ANYONE, SIGNED_IN}:
        return sign in {"+", "?", "!"}
    if need in {OWNER, NOBODY}:
        return sign in {"4", "1"}
    if sign == "3":
        return f"the permission {need} " in text
    return sign == "4" and need.endswith(".read")
