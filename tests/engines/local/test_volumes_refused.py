"""What of volumes and data sources this machine does not give, by the path of the field."""

from pathlib import Path
from typing import Any

import pytest

from engines.base import EngineRefused
from tests.engines.local.conftest import LocalRig
from tests.engines.local.volumes import allow, mounting

REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "pvc",
        {"path": "/x", "claimInfo": {"size": "1G", "volumeMode": "Block"}},
        "[0].claimInfo.volumeMode",
        "no block devices",
    ),
    (
        "pvc",
        {"path": "/x", "claimInfo": {"size": "1G", "storageClass": "nvme"}},
        "[0].claimInfo.storageClass",
        "no storage classes",
    ),
    ("configMapVolume", {"configMap": "c", "mountPath": "/x"}, "[0].configMap", "no ConfigMaps"),
    ("secretVolume", {"secret": "s", "mountPath": "/x"}, "[0].secret", "no Secrets"),
    ("hostPath", {"path": "/etc", "mountPath": "/x"}, "[0].path", "do not allow /etc"),
    (
        "nfs",
        {"server": "nas", "path": "/other", "mountPath": "/x"},
        "[0].path",
        "does not have nas:/other",
    ),
]


@pytest.mark.parametrize(("kind", "item", "field", "message"), REFUSED)
def test_a_volume_that_this_machine_lacks_is_refused_at_its_field(
    rig: LocalRig, tmp_path: Path, kind: str, item: dict[str, Any], field: str, message: str
) -> None:
    allow(rig, str(tmp_path), f"nas:/export={tmp_path}")
    storage: dict[str, Any] = {kind: [item]}
    with pytest.raises(EngineRefused) as refusal:
        rig.engine.submit(mounting(rig, "true", **storage))
    assert refusal.value.field == f"worker.storage.{kind}{field}"
    assert message in str(refusal.value)


def test_a_claim_of_no_storage_class_needs_none_here(rig: LocalRig) -> None:
    claim = {"path": "/x", "claimInfo": {"size": "1G", "storageClass": "runai-none"}}
    assert list(rig.engine.complaints(mounting(rig, "true", pvc=[claim]))) == []


def test_a_link_out_of_an_allowed_folder_is_refused(rig: LocalRig, tmp_path: Path) -> None:
    allowed = tmp_path / "sets"
    allowed.mkdir()
    (allowed / "out").symlink_to("/etc")
    allow(rig, str(allowed), f"nas:/export={allowed}")
    host = {"path": str(allowed / "out"), "mountPath": "/x"}
    share = {"server": "nas", "path": "/export/out", "mountPath": "/y"}
    problems = rig.engine.complaints(mounting(rig, "true", hostPath=[host], nfs=[share]))
    assert [problem.path[-1] for problem in problems] == ["path", "path"]


def test_a_folder_that_is_missing_says_so(rig: LocalRig, tmp_path: Path) -> None:
    allow(rig, str(tmp_path))
    host = {"path": str(tmp_path / "none"), "mountPath": "/x"}
    (problem,) = rig.engine.complaints(mounting(rig, "true", hostPath=[host]))
    assert "is not a folder on this machine" in problem.message


def test_without_a_list_no_folder_is_allowed(rig: LocalRig, tmp_path: Path) -> None:
    host = {"path": str(tmp_path), "mountPath": "/x"}
    (problem,) = rig.engine.complaints(mounting(rig, "true", hostPath=[host]))
    assert (
        "TRAINYARD_LOCAL_PATHS lists the folders that they allow (none so far)" in problem.message
    )
