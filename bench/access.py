"""Compares the workloads table's first page among many people, projects and access rules with the
same page among ten people.

``python -m bench.access COUNT`` fills a database of its own for ``COUNT`` people, and prints
``ready``. For each line on its standard input, a viewer and a path, it then prints the seconds that
the page took, as :mod:`bench.table` does. In both databases the member sees the same workloads:
those of ten projects, half of them by a group.
"""

import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import django
from django.core.management import call_command
from django.test import Client

from bench.report import Measurement, percentile
from bench.table import REQUESTS, WARM_UP, Table, time_request

if TYPE_CHECKING:
    from accounts.models import User
    from projects.models import Project

FEW = 10
MANY = 10_000
WORKLOADS = 1_000  # that the member sees
PEOPLE_A_PROJECT = 5
RULES_A_PERSON = 2
WORKLOADS_A_PROJECT = 10
MEMBER = "member"
ADMINISTRATOR = "administrator"
VIEWERS = {MEMBER: "a member of ten projects", ADMINISTRATOR: "an administrator"}
PAGE = "/workloads/"
BATCH = 2_000


def rows() -> Iterator[Measurement]:
    with ExitStack() as stack:
        tables = [
            Table(count, stack.enter_context(tempfile.TemporaryDirectory()), module="bench.access")
            for count in (FEW, MANY)
        ]
        for table in tables:
            stack.callback(table.close)
            table.line()
        few, many = tables
        for who in VIEWERS:
            line = f"{who} {PAGE}"
            turns = [(many.time(line), few.time(line)) for _ in range(WARM_UP + REQUESTS)]
            here, fewer = (
                percentile(times, 0.95) * 1000 for times in zip(*turns[WARM_UP:], strict=True)
            )
            what = (
                f"Workloads table (50 a page), first page for {VIEWERS[who]}, p95 of {REQUESTS}, "
                f"{MANY:,} people, {MANY // PEOPLE_A_PROJECT:,} projects, "
                f"{MANY * RULES_A_PERSON:,} access rules"
            )
            yield Measurement(what, here, "ms", 1.5, fewer, f"among {FEW} people")


def serve(count: int) -> None:
    """Fill the database, then answer until the input ends."""
    from bench import fill

    call_command("collectstatic", verbosity=0, interactive=False)
    call_command("migrate", verbosity=0, interactive=False)
    users = {
        MEMBER: add_people(count, fill.fill(WORKLOADS)),
        ADMINISTRATOR: fill.administrator(),
    }
    clients = {who: Client(SERVER_NAME="localhost") for who in users}
    for who, user in users.items():
        clients[who].force_login(user)
    print("ready", flush=True)
    for line in sys.stdin:
        who, path = line.split()
        print(time_request(clients[who], path), flush=True)


def add_people(count: int, own: "list[Project]") -> "User":
    """Create the people, their rules, and projects with workloads besides ``own``. Return the
    member of ``own``: of half of them by a group that everyone is in."""
    from accounts.access import scope_key
    from accounts.models import AccessRole, AccessRule, GroupMembership, User, UserGroup
    from accounts.permissions import RESEARCHER
    from bench.fill import add_workloads
    from projects.models import Project

    role = AccessRole.objects.get(name=RESEARCHER.name)
    Project.objects.bulk_create(
        Project(name=f"other-{n}", cluster=own[0].cluster, department=own[0].department)
        for n in range(count // PEOPLE_A_PROJECT - len(own))
    )
    others = list(Project.objects.filter(name__startswith="other-"))
    if others:
        add_workloads(len(others) * WORKLOADS_A_PROJECT, others)
    people = User.objects.bulk_create(
        (User(username=f"person-{n}", password="!") for n in range(count)), batch_size=BATCH
    )
    group = UserGroup.objects.create(name="everyone")
    GroupMembership.objects.bulk_create(
        (GroupMembership(group=group, user=user) for user in people), batch_size=BATCH
    )
    half = len(own) // 2
    keys = [scope_key("project", project.pk) for project in own]
    rules = [AccessRule(user=people[0], role=role, scope=key) for key in keys[:half]]
    rules += [AccessRule(group=group, role=role, scope=key) for key in keys[half:]]
    chance = random.Random(count)  # noqa: S311 -- random rows, not secrets
    for user in people[1:] if others else []:
        rules += [
            AccessRule(user=user, role=role, scope=scope_key("project", project.pk))
            for project in chance.sample(others, RULES_A_PERSON)
        ]
    AccessRule.objects.bulk_create(rules, batch_size=BATCH)
    return people[0]


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    django.setup()
    serve(int(sys.argv[1]))
