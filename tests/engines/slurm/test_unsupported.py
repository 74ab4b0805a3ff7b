"""What Slurm cannot honour is said by its place, all at once, and nothing else is refused."""

from dataclasses import replace
from typing import Any

import pytest

from engines.base import Launch, Site
from engines.slurm.script.rank.variables import RENDEZVOUS
from engines.slurm.unsupported import complaints
from spec.data.files import ConfigMapVolume
from spec.data.storage import (
    S3,
    ClaimInfo,
    EmptyDirVolume,
    Git,
    GitSecret,
    Pvc,
    Storage,
    VolumeMode,
)
from spec.formats.documents import load_spec
from spec.framework import Framework
from spec.parts.compute import Compute, GpuRequestType
from spec.parts.labels import Annotation, Label
from spec.parts.scheduling import Preemptibility, PriorityClass
from spec.problems.errors import path_text
from spec.values.variable import EnvironmentVariable, KeyOf
from spec.workload import Architecture, JobForm, Replica
from tests.engines.contract import launch
from tests.engines.slurm.cases import CASES, SITE

WORKERS_ONLY = Architecture.WORKERS_ONLY
ONE_GPU = Compute(gpu_devices_request=1)
NO_STORAGE = Storage()
EMPTY_FOLDER = Storage(empty_dir_volume=(EmptyDirVolume(path="/a"),))
BLOCK_DEVICE = Pvc(path="/d", claim_info=ClaimInfo(size="1G", volume_mode=VolumeMode.BLOCK))
NAMED_CLAIM = Pvc(path="/d", claim_name="shared", existing_pvc=True)
CONFIG_MAP = ConfigMapVolume(config_map="c", mount_path="/c")
LAUNCHER_GPU = "master.compute.gpuDevicesRequest"


def of_worker(**fields: Any) -> Launch:
    launched = launch("true")
    worker = launched.spec.worker.model_copy(update=fields)
    return replace(launched, spec=launched.spec.model_copy(update={"worker": worker}))


def mpi(
    gpus: int, command: str | None = "mpirun a", storage: Storage = NO_STORAGE, **fields: Any
) -> Launch:
    compute = Compute(gpu_devices_request=gpus)
    worker = Replica(image="some/image", command=command, compute=compute, storage=storage)
    return launch(distributed_framework=Framework.MPI, worker=worker, **fields)


def roles(*described: dict[str, Any], **fields: Any) -> Launch:
    return replace(launch("true"), spec=load_spec({"roles": described, **fields}))


def places(launched: Launch) -> list[str]:
    return [path_text(it.path) for it in complaints(launched, SITE)]


@pytest.mark.parametrize("name", CASES)
def test_a_launch_that_slurm_can_run_has_no_complaints(name: str) -> None:
    assert places(CASES[name]()) == []


@pytest.mark.parametrize(
    ("launched", "place"),
    [
        (launch(None), "worker.command"),
        (
            launch("true", distributed_framework=Framework.MPI, architecture=WORKERS_ONLY),
            "architecture",
        ),
        (mpi(3, slots_per_worker=2), "worker.compute.gpuDevicesRequest"),
        (mpi(0, None, master=Replica(command="mpirun a", compute=ONE_GPU)), LAUNCHER_GPU),
        (mpi(0, "python a.py", master=Replica(command="mpirun a")), "worker.command"),
        (launch("true", max_replicas=3), "maxReplicas"),
        (launch("true", priority_class=PriorityClass.LOW), "priorityClass"),
        (launch("true", queue="team"), "queue"),
        (launch("true", job_form=JobForm.INDEXED), "jobForm"),
        (launch("true", job_labels=(Label(name="a"),)), "jobLabels"),
        (launch("true", job_annotations=(Annotation(name="a"),)), "jobAnnotations"),
        (launch("true", preemptibility=Preemptibility.PREEMPTIBLE), "preemptibility"),
        (launch("true", node_pools=("nowhere",)), "nodePools"),
        (of_worker(stdin=True), "worker.stdin"),
        (
            of_worker(
                compute=Compute(
                    gpu_devices_request=1,
                    gpu_request_type=GpuRequestType.PORTION,
                    gpu_portion_request=0.5,
                )
            ),
            "worker.compute.gpuRequestType",
        ),
        (
            mpi(0, None, master=Replica(command="mpirun a"), storage=EMPTY_FOLDER),
            "worker.storage.emptyDirVolume",
        ),
        (
            of_worker(storage=Storage(pvc=(BLOCK_DEVICE,))),
            "worker.storage.pvc[0].claimInfo.volumeMode",
        ),
        (
            of_worker(storage=Storage(config_map_volume=(CONFIG_MAP,))),
            "worker.storage.configMapVolume[0].configMap",
        ),
        (roles({"name": "chief", "command": "true"}, distributedFramework="TF"), "roles"),
        (roles({"name": "head", "image": "some/image"}), "roles[0].command"),
        (
            of_worker(
                storage=Storage(
                    git=(Git(repository="https://h/x", path="/x", secret_ref=GitSecret(name="s")),)
                )
            ),
            "worker.storage.git[0].secretRef",
        ),
        (
            of_worker(storage=Storage(s3=(S3(bucket="abc", path="/x", access_key_secret="s"),))),
            "worker.storage.s3[0].accessKeySecret",
        ),
        (
            of_worker(environment_variables=(EnvironmentVariable(name="a.b", value="x"),)),
            "worker.environmentVariables[0].name",
        ),
        (
            of_worker(
                environment_variables=(
                    EnvironmentVariable(name="A", secret=KeyOf(name="s", key="k")),
                )
            ),
            "worker.environmentVariables[0].secret",
        ),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_each_refusal_names_its_place(launched: Launch, place: str) -> None:
    assert places(launched) == [place]


def test_workers_that_a_launcher_starts_need_no_command_of_their_own() -> None:
    for command in (None, "/usr/sbin/sshd -De"):
        assert places(mpi(0, command, master=Replica(command="mpirun a"))) == []


def test_a_framework_whose_ranks_cannot_meet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(RENDEZVOUS, Framework.XGBOOST)
    launched = launch("true", distributed_framework=Framework.XGBOOST)
    assert places(launched) == ["distributedFramework"]


def test_a_pool_is_a_partition_or_a_feature() -> None:
    pools = {"odd": ("example.com/rack", "7"), "gpu": ("slurm.partition/gpu", "")}
    launched = replace(launch("true", node_pools=("gpu", "odd")), site=Site(pools=pools))
    (said,) = complaints(launched, SITE)
    assert "slurm.partition/NAME" in said.message


def test_claims_of_a_project_need_jobs_of_one_user() -> None:
    launched = of_worker(storage=Storage(pvc=(NAMED_CLAIM,)))
    own_names = replace(SITE, own_names=True)
    assert places(launched) == []
    (problem,) = complaints(launched, own_names)
    assert path_text(problem.path) == "worker.storage.pvc[0].claimName"


def test_pyxis_mounts_no_volumes() -> None:
    launched = of_worker(storage=EMPTY_FOLDER)
    in_images = replace(launched, site=Site(containers="pyxis"))
    assert places(in_images) == ["worker.storage"]
    assert places(replace(launched, site=Site(containers="apptainer"))) == []
