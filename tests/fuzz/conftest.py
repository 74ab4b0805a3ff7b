"""A place with one of everything, and those who ask: an administrator, a researcher, and nobody."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.models import User
from projects.models import Project
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
    WorkloadFactory,
)
from tests.fuzz.choosing import seed
from workloads import logs
from workloads.models import Draft, SavedView, Workload
from workloads.wizard import drafts


@dataclass
class Place:
    """What is there. ``ids`` are those that addresses contain, by the name of their converter."""

    project: Project
    workload: Workload
    draft: Draft
    ids: dict[str, list[str]]
    administrator: User
    researcher: User


@pytest.fixture
def random() -> Random:
    """Random numbers of a seed, which a failed test prints: ``FUZZ_SEED=`` then repeats it."""
    chosen = seed()
    print(f"FUZZ_SEED={chosen}")  # noqa: T201 -- shown with a failure
    return Random(chosen)  # noqa: S311 -- the same seed repeats it


@pytest.fixture
def place(db: None, valkey: object, sent: list[Any]) -> Iterator[Place]:
    researcher = UserFactory.create()
    administrator = UserFactory.create(administrator=True)
    project = ProjectFactory.create(members=[researcher])
    workload = WorkloadFactory.create(project=project, created_by=researcher, running=True)
    logs.append(logs.Stream(workload.pk, 1, 0, 0), b"first\nsecond\n")
    assets = [
        factory.create(home=project)
        for factory in (EnvironmentFactory, ComputeResourceFactory, TemplateFactory)
    ]
    draft = drafts.begin(researcher, project=str(project.pk))
    view = SavedView.objects.create(owner=researcher, name="mine")
    key, _ = tokens.make_key(researcher, "ci")
    uuids = [str(it.pk) for it in (workload, draft, project.cluster, *assets)]
    numbers = [str(it.pk) for it in (project, project.department, view, key, researcher)]
    ids = {"uuid": uuids, "int": numbers}
    yield Place(project, workload, draft, ids, administrator, researcher)
    logs.remove(workload.pk)


@pytest.fixture
def nobody() -> Client:
    """A browser in which nobody is signed in. It gets errors as responses."""
    return Client(raise_request_exception=False)
