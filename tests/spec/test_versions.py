"""A stored document of an older version is read as one of the current version."""

from typing import Any

import pytest
from pydantic import BaseModel

from spec import versions
from spec.parts.environment import Container, Environment
from spec.workload import WorkloadSpec

REPLICA = {"image": "a:1"}
SPEC = {"distributedFramework": "PyTorch", "grace": 7, "worker": REPLICA, "master": REPLICA}


def to_second(document: dict[str, Any], model: type[BaseModel]) -> None:
    """An invented version 2: a new field of all containers, and a new name for ``grace``."""
    for container in versions.parts(document, model, Container):
        container.setdefault("workingDir", "/then")
    if "grace" in document:
        document["terminationGracePeriodSeconds"] = document.pop("grace")


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(versions.UPGRADES, 1, to_second)


@pytest.mark.usefixtures("second")
def test_a_document_of_version_1_is_lifted_to_version_2() -> None:
    stored = {**SPEC, versions.KEY: 1}
    spec = WorkloadSpec.model_validate(versions.upgrade_document(stored, WorkloadSpec))
    assert spec.termination_grace_period_seconds == 7
    assert spec.worker.working_dir == "/then"
    assert spec.master is not None
    assert spec.master.working_dir == "/then"
    environment = versions.upgrade_document({**REPLICA, versions.KEY: 1}, Environment)
    assert environment == {**REPLICA, "workingDir": "/then"}


@pytest.mark.usefixtures("second")
def test_a_document_of_the_current_version_is_read_as_it_is() -> None:
    stored = versions.with_version(SPEC)
    assert stored == {**SPEC, versions.KEY: 2}
    assert versions.upgrade_document(stored, WorkloadSpec) == SPEC


@pytest.mark.usefixtures("second")
def test_a_later_version_applies_every_lift_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def to_third(document: dict[str, Any], model: type[BaseModel]) -> None:
        document["workingDir"] += "/later"

    monkeypatch.setitem(versions.UPGRADES, 2, to_third)
    lifted = versions.upgrade_document({**REPLICA, versions.KEY: 1}, Environment)
    assert lifted["workingDir"] == "/then/later"


@pytest.mark.usefixtures("second")
@pytest.mark.parametrize("document", [None, [], "text", {"worker": 3}, {"worker": [None, 5]}])
def test_an_invalid_document_is_left_for_validation_to_refuse(document: object) -> None:
    assert versions.upgrade_document(document, WorkloadSpec) == document
    assert versions.upgrade_document(versions.with_version(document), WorkloadSpec) == document


def test_a_spec_of_0_1_0_is_lifted_without_a_queue() -> None:
    stored = {"distributedFramework": "PyTorch", "worker": REPLICA, versions.KEY: 1}
    lifted = versions.upgrade_document(stored, WorkloadSpec)
    assert lifted == {
        "distributedFramework": "PyTorch",
        "worker": REPLICA,
        "queue": None,
        "jobForm": None,
        "jobLabels": [],
        "jobAnnotations": [],
    }
    assert versions.upgrade_document({**REPLICA, versions.KEY: 1}, Environment) == REPLICA
