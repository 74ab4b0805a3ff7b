"""Documents are stored with their version, and read at the current one."""

import json
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from pydantic import BaseModel

from assets import services
from assets.environment.kind import ENVIRONMENT
from assets.models import Environment
from assets.versions import history
from projects.scopes import OwningScope
from spec import versions
from spec.parts.environment import Container
from tests.caller import Caller
from tests.factories import ProjectFactory, TemplateFactory, UserFactory, WorkloadFactory
from workloads.models import Draft, Workload

pytestmark = pytest.mark.django_db


CURRENT = versions.current_version()


def to_next(document: dict[str, Any], model: type[BaseModel]) -> None:
    """An invented next version: containers have a working directory."""
    for container in versions.parts(document, model, Container):
        container["workingDir"] = "/then"


def stored(model: type[Model], column: str) -> Any:
    """The column of the only row, as it is in the database."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM {model._meta.db_table}")  # noqa: S608 -- our names
        (text,) = cursor.fetchone()
    return json.loads(text)


def test_stored_documents_contain_their_version_and_nobody_else_sees_it() -> None:
    workload = WorkloadFactory()
    Draft.objects.create(owner=workload.created_by, document={"name": "a"})
    template = TemplateFactory()
    for row, column in ((workload, "spec_json"), (workload, "draft_json")):
        assert stored(type(row), column)[versions.KEY] == CURRENT
    assert stored(Draft, "document") == {"name": "a", versions.KEY: CURRENT}
    assert stored(type(template), "draft_json")[versions.KEY] == CURRENT
    assert versions.KEY not in Workload.objects.get().spec_json
    answer = Caller(UserFactory(administrator=True))("GET", f"/workloads/distributed/{workload.pk}")
    assert versions.KEY not in json.dumps(answer)
    assert Workload.objects.values_list("spec_json__worker__image", flat=True).get()


def test_a_stored_spec_is_lifted_when_read_and_only_stored_when_saved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    WorkloadFactory()
    monkeypatch.setitem(versions.UPGRADES, CURRENT, to_next)
    workload = Workload.objects.get()
    assert workload.spec.worker.working_dir == "/then"
    assert stored(Workload, "spec_json")[versions.KEY] == CURRENT
    workload.save()
    whole = stored(Workload, "spec_json")
    assert (whole[versions.KEY], whole["worker"]["workingDir"]) == (CURRENT + 1, "/then")


def test_an_update_of_many_rows_stores_the_version() -> None:
    workload = WorkloadFactory()
    rows = Workload.objects.filter(pk=workload.pk)
    rows.update(spec_json={"worker": {}})
    assert stored(Workload, "spec_json") == {"worker": {}, versions.KEY: CURRENT}
    rows.bulk_update([workload], ["spec_json"])
    assert stored(Workload, "spec_json") == {**workload.spec_json, versions.KEY: CURRENT}


def test_an_earlier_version_of_an_asset_is_lifted_when_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by = UserFactory(administrator=True)
    home = ProjectFactory()
    asset = services.create(
        ENVIRONMENT, by=by, name="base", scope=OwningScope(home), document={"image": "a:1"}
    )
    services.update(ENVIRONMENT, asset, by=by, document={"image": "b:1", "workingDir": "/now"})
    monkeypatch.setitem(versions.UPGRADES, CURRENT, to_next)
    first = history.versions_of(ENVIRONMENT, asset).get(number=1)
    assert first.columns["spec_json"][versions.KEY] == CURRENT
    services.restore(ENVIRONMENT, asset, first, by=by)
    spec = Environment.objects.get().spec
    assert (spec.image, spec.working_dir) == ("a:1", "/then")
