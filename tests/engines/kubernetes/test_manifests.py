"""A spec becomes the objects that its golden file shows, and a real API server takes them."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from engines.base import EngineRefused, Launch
from engines.kubernetes.api import Api
from engines.kubernetes.kinds import KINDS
from engines.kubernetes.manifests import manifests
from engines.kubernetes.rendering import masked
from spec import documents
from spec.workload import MAX_WORKERS
from tests.engines.kubernetes.cases import CASES, GOLDEN, ONLY, SIMPLE, case, text

KIND_NAMES = {kind.name: kind for kind in KINDS.values()}


def loaded(**document: Any) -> Launch:
    full = {"distributedFramework": "PyTorch", "worker": SIMPLE} | document
    return replace(case("pytorch"), spec=documents.load(full))


@pytest.mark.parametrize("name", CASES)
def test_a_manifest_is_as_its_golden_file(name: str) -> None:
    assert text(name) == (GOLDEN / f"{name}.yaml").read_text()


def test_every_golden_file_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


@pytest.mark.kubernetes
@pytest.mark.parametrize("name", CASES)
def test_the_api_server_accepts_a_golden_file(name: str, api: Api) -> None:
    space, job = yaml.safe_load_all((GOLDEN / f"{name}.yaml").read_text())
    api.create("/api/v1/namespaces", space | {"metadata": {"name": f"dry-{name}"}}, dryRun="All")
    job["metadata"]["namespace"] = "default"
    path = KIND_NAMES[job["kind"]].path("default", job["metadata"]["name"])
    accepted = api.apply(path, job, dryRun="All")
    assert without_defaults(accepted["spec"], job["spec"]) == job["spec"]


def without_defaults(found: Any, wanted: Any) -> Any:
    """Only what was asked for: a schema that does not know a field drops it in silence."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return {key: without_defaults(found[key], wanted[key]) for key in wanted if key in found}
    if isinstance(wanted, list) and isinstance(found, list):
        return [without_defaults(a, b) for a, b in zip(found, wanted, strict=True)]
    return found


def test_names_leave_room_for_the_last_rank() -> None:
    launch = loaded(numWorkers=MAX_WORKERS)
    long = replace(launch, handle=replace(launch.handle, name="n" * 52))
    name = manifests(long, prefix="")[1]["metadata"]["name"]
    assert len(f"{name}-worker-{MAX_WORKERS - 1}") <= 63


def test_a_preview_hides_what_looks_secret() -> None:
    launch = loaded(
        worker=SIMPLE | {"environmentVariables": [{"name": "WANDB_API_KEY", "value": "abc"}]}
    )
    made = manifests(launch, prefix="")
    assert "abc" not in str(masked(made))
    assert "abc" in str(made)


GPU_MEMORY = {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "1G"}
JUPYTER = {"name": "lab", "toolType": "jupyter-notebook", "containerPort": 8888}


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"distributedFramework": "MPI"}, "distributedFramework"),
        ({"distributedFramework": "XGBoost", **ONLY}, "architecture"),
        ({"worker": SIMPLE | {"compute": GPU_MEMORY}}, "worker.compute.gpuRequestType"),
        ({"master": SIMPLE | {"compute": GPU_MEMORY}}, "master.compute.gpuRequestType"),
        ({"worker": SIMPLE | {"connections": [JUPYTER]}}, "worker.connections"),
        (
            {"worker": SIMPLE | {"security": {"uidGidSource": "fromIdpToken"}}},
            "worker.security.uidGidSource",
        ),
    ],
)
def test_what_cannot_be_had_is_refused_with_its_field(document: dict[str, Any], field: str) -> None:
    with pytest.raises(EngineRefused) as refusal:
        manifests(loaded(**document), prefix="")
    assert refusal.value.field == field
    assert str(refusal.value).startswith(field)
