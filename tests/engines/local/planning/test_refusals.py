"""What cannot be had on this machine is refused at submission, by the name of its field."""

import os
from dataclasses import replace
from typing import Any

import pytest

from engines.base import EngineRefused
from spec.formats.documents import load_spec
from spec.framework import Framework
from spec.parts.environment import ConnectionType, Security, ToolConnection, UidGidSource
from spec.phases import Phase, Reason
from spec.values.variable import EnvironmentVariable as Variable
from spec.values.variable import KeyOf
from spec.workload import Replica, WorkloadSpec
from tests.engines.local.conftest import LocalRig

KEY = KeyOf(name="store", key="k")
OTHER = os.getuid() + 1
REFUSED: list[tuple[dict[str, Any], Reason, str]] = [
    ({"image": "unknown/image", "command": None}, Reason.IMAGE_UNKNOWN, "image"),
    ({"command": "no-such-program --x"}, Reason.COMMAND_NOT_FOUND, "command"),
    ({"working_dir": "/no/such/folder"}, Reason.REFUSED, "workingDir"),
    ({"tty": True, "stdin": True}, Reason.REFUSED, "tty"),
    (
        {"environment_variables": (Variable(name="A", secret=KEY),)},
        Reason.REFUSED,
        "environmentVariables[0].secret",
    ),
    (
        {"environment_variables": (Variable(name="A"), Variable(name="B", config_map=KEY))},
        Reason.REFUSED,
        "environmentVariables[1].configMap",
    ),
    (
        {"security": Security(uid_gid_source=UidGidSource.CUSTOM, run_as_uid=OTHER)},
        Reason.REFUSED,
        "security.runAsUid",
    ),
    ({"security": Security(capabilities=("SYS_ADMIN",))}, Reason.REFUSED, "security.capabilities"),
    (
        {
            "connections": (
                ToolConnection(
                    name="t", connection_type=ConnectionType.NODE_PORT, container_port=80
                ),
            )
        },
        Reason.REFUSED,
        "connections[0].connectionType",
    ),
]

PROBE = {"readiness": {"handler": {"httpGet": {"port": 80}}}}
REPLICA_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"restartPolicy": "Never"}, "restartPolicy"),
    ({"probes": PROBE}, "probes.readiness"),
    (
        {"storage": {"secretVolume": [{"secret": "s", "mountPath": "/s"}]}},
        "storage.secretVolume[0].secret",
    ),
    ({"nodeType": "dgx"}, "nodeType"),
]
WHOLE_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"maxReplicas": 4}, "maxReplicas"),
    ({"nodePools": ["default", "a100"]}, "nodePools"),
    ({"topology": {"name": "dc", "preferred": "rack"}}, "topology"),
    ({"priorityClass": "high"}, "priorityClass"),
    ({"queue": "team"}, "queue"),
    ({"jobForm": "Indexed"}, "jobForm"),
    ({"jobLabels": [{"name": "team"}]}, "jobLabels"),
    ({"jobAnnotations": [{"name": "team"}]}, "jobAnnotations"),
]


def spec_of(worker: dict[str, Any], **whole: Any) -> WorkloadSpec:
    replica = {"image": "any", "command": "true"} | worker
    return load_spec({"distributedFramework": "PyTorch", "worker": replica, **whole})


@pytest.mark.parametrize(
    ("spec", "field"),
    [(spec_of(fields), f"worker.{field}") for fields, field in REPLICA_REFUSED]
    + [(spec_of({}, **fields), field) for fields, field in WHOLE_REFUSED],
)
def test_refuses_what_only_clusters_have(rig: LocalRig, spec: WorkloadSpec, field: str) -> None:
    with pytest.raises(EngineRefused) as caught:
        rig.engine.submit(replace(rig.shell("true"), spec=spec))
    assert caught.value.field == field
    assert str(caught.value).startswith(field)


def test_lets_through_what_one_machine_gives_anyway(rig: LocalRig) -> None:
    worker = {
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "podAffinity": {"type": "Required", "key": "rack"},
        "imagePullSecrets": [{"name": "registry"}],
    }
    spec = spec_of(worker, nodePools=["default"], preemptibility="non-preemptible")
    launched = rig.submit(replace(rig.shell("true"), spec=spec))
    assert rig.over(launched).phase is Phase.COMPLETED


@pytest.mark.parametrize(("fields", "reason", "field"), REFUSED)
def test_the_local_engine_refuses_what_this_machine_cannot_give(
    rig: LocalRig, fields: dict[str, Any], reason: Reason, field: str
) -> None:
    worker = Replica(**({"image": "any", "command": "true"} | fields))
    launched = rig.shell("", worker=worker)
    with pytest.raises(EngineRefused) as caught:
        rig.engine.submit(launched)
    assert (caught.value.reason, caught.value.field) == (reason, f"worker.{field}")
    assert field.partition("[")[0] in str(caught.value)
    assert rig.engine.observe(launched.handle) is None


def test_the_master_is_named_when_it_is_the_master(rig: LocalRig) -> None:
    with pytest.raises(EngineRefused, match=r"^master\.command"):
        rig.engine.submit(rig.shell("", master=Replica(image="any", command="no-such-program")))


def test_mpi_is_refused_with_a_way_out_where_there_is_no_mpirun(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EngineRefused, match="mpirun is not installed on this machine"):
        rig.engine.submit(rig.shell("true", distributed_framework=Framework.MPI))
    assert "openmpi-bin" in rig.engine.capabilities().framework(Framework.MPI).why


@pytest.mark.parametrize("image", ["known/image", "known/image:2", "known/image:latest"])
def test_the_catalogue_knows_what_to_run(rig: LocalRig, image: str) -> None:
    launched = rig.submit(rig.shell("", worker=Replica(image=image)))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert rig.log(launched) == "from the catalogue\n"


def test_an_own_command_wins_over_the_catalogue(rig: LocalRig) -> None:
    worker = Replica(image="known/image:1", command="echo own", args="'$(RANK) of' $(WORLD_SIZE)")
    launched = rig.submit(rig.shell("", worker=worker))
    rig.over(launched)
    assert rig.log(launched, 1) == "own 1 of 2\n"
