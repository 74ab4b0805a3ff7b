"""However many assets there are, the wizard asks the database the same number of things."""

from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.models import Project
from tests.factories import (
    ComputeResourceFactory,
    CredentialFactory,
    DataSourceFactory,
    EnvironmentFactory,
    TemplateFactory,
)
from tests.workloads.wizard.browser import Wizard

pytestmark = pytest.mark.django_db
ASSETS = (
    ComputeResourceFactory,
    CredentialFactory,
    DataSourceFactory,
    EnvironmentFactory,
    TemplateFactory,
)
FEW = 3
MANY = 30


def add(project: Project, first: int, last: int) -> None:
    for number in range(first, last):
        for factory in ASSETS:
            factory(home=project, name=f"more-{number}")


def costs(wizard: Wizard) -> list[int]:
    """Of each page, and of leaving a field."""
    steps: list[Callable[[], object]] = [partial(wizard.open, wizard.at(it)) for it in (1, 2, 3)]
    steps.append(partial(wizard.save, 2, numWorkers="3"))
    counted = []
    for step in steps:
        step()  # what is read once for a process
        with CaptureQueriesContext(connection) as queries:
            step()
        counted.append(len(queries))
    return counted


def test_the_wizard_asks_no_more_for_more_assets(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    add(project, 0, FEW)
    few = costs(wizard)
    add(project, FEW, MANY)
    assert costs(wizard) == few
