"""A spec becomes the objects that its golden file shows, and a real API server takes them."""

from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest
import yaml

from engines.base import EngineRefused
from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster.discovery import existing_job_kinds
from engines.kubernetes.jobs import KINDS, PLAIN_JOB
from engines.kubernetes.manifests.job import manifests, mask_secrets
from engines.kubernetes.manifests.pod.container import resources
from engines.kubernetes.manifests.pod.scheduling import gpu_share
from engines.kubernetes.objects import collection_path
from spec.parts.compute import Compute, GpuRequestType
from spec.workload import MAX_WORKERS
from tests.engines.kubernetes.cases import CASES, GOLDEN, MEMORY, ONLY, SIMPLE, case, text
from tests.engines.kubernetes.launches import loaded

PRIORITY = "priorityClassName"  # the admission looks whether the class exists
KIND_NAMES = {kind.name: kind for kind in (*KINDS.values(), PLAIN_JOB)}


@pytest.mark.parametrize("name", CASES)
def test_a_manifest_is_as_its_golden_file(name: str) -> None:
    assert text(name) == (GOLDEN / f"{name}.yaml").read_text()


def template(**worker: Any) -> dict[str, Any]:
    job = manifests(loaded(worker=SIMPLE | worker), prefix="t-")[-1]
    return dict(job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"])


def test_ranks_on_the_network_of_their_nodes_ask_the_clusters_names() -> None:
    assert (
        template(security={"hostNetwork": True})["spec"]["dnsPolicy"] == "ClusterFirstWithHostNet"
    )
    assert "dnsPolicy" not in template()["spec"]


INJECT = "sidecar.istio.io/inject"


def test_no_mesh_adds_containers_to_pods_unless_the_workload_says_so() -> None:
    meta = template()["metadata"]
    assert meta["labels"][INJECT] == "false"
    assert meta["annotations"] == {INJECT: "false", "linkerd.io/inject": "disabled"}
    asked = template(labels=[{"name": INJECT, "value": "true"}])["metadata"]
    assert asked["labels"][INJECT] == "true"
    assert "annotations" not in asked
    asked = template(annotations=[{"name": INJECT, "value": "true"}])["metadata"]
    assert asked["annotations"] == {INJECT: "true"}
    assert INJECT not in asked["labels"]


def test_every_golden_file_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


def path_of(item: dict[str, Any]) -> str:
    """Return the path of the collection that an object besides the job is created in."""
    if item["kind"] == PLAIN_JOB.name:
        return PLAIN_JOB.path("default", "").rstrip("/")
    return collection_path(item["kind"], "default")


@pytest.mark.kubernetes
@pytest.mark.parametrize("name", CASES)
def test_the_api_server_accepts_a_golden_file(name: str, api: Api) -> None:
    space, *others, job = yaml.safe_load_all((GOLDEN / f"{name}.yaml").read_text())
    kind = KIND_NAMES[job["kind"]]
    if kind is not PLAIN_JOB and kind not in existing_job_kinds(api):
        pytest.skip(f"this cluster has no {kind.name}")
    api.create("/api/v1/namespaces", space | {"metadata": {"name": f"dry-{name}"}}, dryRun="All")
    for item in (*others, job):
        item["metadata"]["namespace"] = "default"
    for item in others:
        api.create(path_of(item), item, dryRun="All")
    path = kind.path("default", job["metadata"]["name"])
    accepted = api.apply(path, job, dryRun="All")
    for each in (accepted["spec"], job["spec"]):
        each.get("runPolicy", {}).pop(
            "suspend", None
        )  # Kueue, where it is, suspends what it queues
    assert without_defaults(accepted["spec"], job["spec"]) == job["spec"]


@pytest.mark.kubernetes
@pytest.mark.parametrize("name", CASES)
def test_the_api_server_accepts_its_pods(name: str, api: Api) -> None:
    """What the schema of a job lets through may still be no pod."""
    *_, job = yaml.safe_load_all((GOLDEN / f"{name}.yaml").read_text())
    kind = KIND_NAMES[job["kind"]]
    replicas = [job["spec"]] if kind.is_plain else job["spec"][kind.replicas].values()
    for replica in replicas:
        template = replica["template"]
        meta = template["metadata"] | {"name": "dry", "namespace": "default"}
        spec = {key: value for key, value in template["spec"].items() if key != PRIORITY}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        accepted = api.create("/api/v1/namespaces/default/pods", pod, dryRun="All")
        assert without_defaults(accepted["spec"], spec) == spec


def without_defaults(found: Any, wanted: Any) -> Any:
    """Only what was asked for: a server that does not know a field drops it in silence, and many
    a one leaves out what is false."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        told = {key: False for key, value in wanted.items() if value is False} | found
        return {key: without_defaults(told[key], wanted[key]) for key in wanted if key in told}
    if isinstance(wanted, list) and isinstance(found, list):
        return [without_defaults(a, b) for a, b in zip(found, wanted, strict=False)]
    return found


@pytest.mark.parametrize(("kind", "policy"), [("training", "Never"), ("workspace", "OnFailure")])
def test_a_workspace_restarts_in_its_pod_and_keeps_its_files(kind: str, policy: str) -> None:
    launch = loaded(kind=kind, distributedFramework=None)
    job = manifests(launch, prefix="trainyard-")[-1]
    assert job["spec"]["template"]["spec"]["restartPolicy"] == policy
    assert ("podFailurePolicy" in job["spec"]) is (policy == "Never")


def test_names_of_jobs_leave_room_for_the_last_rank() -> None:
    launch = loaded(numWorkers=MAX_WORKERS)
    long = replace(launch, handle=replace(launch.handle, name="n" * 52))
    name = manifests(long, prefix="")[-1]["metadata"]["name"]
    assert len(f"{name}-worker-{MAX_WORKERS - 1}") <= 63


@pytest.mark.parametrize("name", CASES)
def test_a_value_that_looks_secret_is_in_a_secret_alone(name: str) -> None:
    *others, _ = made = manifests(case(name), prefix="")
    hidden = [item for item in others if item["kind"] == "Secret"]
    assert "not to be read" not in str(made)
    values = [b64decode(value).decode() for item in hidden for value in item["data"].values()]
    wanted = ["the master's", "not to be read"] if name.endswith("every-option") else []
    if case(name).spec.master is None:
        wanted = wanted[1:]
    if "the server's" in str(CASES[name]):
        wanted = ["the server's"]
    assert values == wanted
    assert all(
        value not in str(mask_secrets(made)) for item in hidden for value in item["data"].values()
    )


@pytest.mark.parametrize("name", CASES)
def test_the_manifest_of_a_job_has_no_time_to_live(name: str) -> None:
    """The time to live of an MPIJob would remove its launcher's Job and leave the rest."""
    spec = manifests(case(name), prefix="")[-1]["spec"]
    assert "ttlSecondsAfterFinished" not in {*spec, *spec.get("runPolicy", ())}


def test_a_part_of_a_gpu_is_asked_of_kai_on_the_pods() -> None:
    job = manifests(case("pytorch-kai"), prefix="")[-1]
    roles = job["spec"]["pytorchReplicaSpecs"]
    parts = {
        name: {key: value for key, value in annotations.items() if key.startswith("gpu-")}
        for name, annotations in (
            (name, it["template"]["metadata"]["annotations"]) for name, it in roles.items()
        )
    }
    assert parts == {"Worker": {"gpu-fraction": "0.1"}, "Master": {"gpu-memory": "1908"}}
    assert "nvidia.com/gpu" not in str(roles)


def test_all_of_a_gpu_is_asked_of_kubernetes_also_as_a_portion() -> None:
    compute = Compute(
        gpu_devices_request=1, gpu_request_type=GpuRequestType.PORTION, gpu_portion_request=1.0
    )
    assert gpu_share(compute) == {}
    assert resources(compute)["limits"]["nvidia.com/gpu"] == "1"


def test_a_launcher_that_inherits_takes_no_gpus() -> None:
    """As do the sums of the spec, or the quota would pay for devices that nobody asked for."""
    launch = loaded(
        distributedFramework="MPI",
        numWorkers=2,
        worker=SIMPLE | {"command": "mpirun x", "compute": {"gpuDevicesRequest": 4}},
    )
    roles = manifests(launch, prefix="")[-1]["spec"]["mpiReplicaSpecs"]
    main = {name: it["template"]["spec"]["containers"][0] for name, it in roles.items()}
    assert launch.spec.gpus() == 8
    assert main["Launcher"]["command"] == ["mpirun", "x"]
    assert "command" not in main["Worker"]
    assert "nvidia.com/gpu" in str(main["Worker"])
    assert "nvidia.com/gpu" not in str(main["Launcher"])


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"distributedFramework": "MPI", **ONLY}, "architecture"),
        ({"distributedFramework": "JAX"}, "architecture"),
        ({"minReplicas": 1}, "minReplicas"),
        ({"setup": ["module load cuda"]}, "setup"),
        ({"nodePools": ["b200"]}, "nodePools"),
        ({"priorityClass": "low"}, "priorityClass"),
        ({"topology": {"name": "dc", "required": "rack"}}, "topology"),
        ({"preemptibility": "non-preemptible"}, "preemptibility"),
        ({"preemptibility": "semi-preemptible", "minReplicas": 1, **ONLY}, "preemptibility"),
        ({"terminateAfterPreemption": True}, "terminateAfterPreemption"),
        ({"worker": SIMPLE | {"restartPolicy": "Always"}}, "worker.restartPolicy"),
        ({"distributedFramework": "XGBoost", **ONLY}, "architecture"),
        ({"worker": SIMPLE | {"compute": MEMORY}}, "worker.compute.gpuRequestType"),
        ({"master": SIMPLE | {"compute": MEMORY}}, "master.compute.gpuRequestType"),
        (
            {"worker": SIMPLE | {"security": {"uidGidSource": "fromIdpToken"}}},
            "worker.security.uidGidSource",
        ),
    ],
)
def test_a_spec_that_kubernetes_cannot_honour_is_refused_with_its_field(
    document: dict[str, Any], field: str
) -> None:
    with pytest.raises(EngineRefused) as refusal:
        manifests(loaded(**document), prefix="")
    assert refusal.value.field == field
    assert str(refusal.value).startswith(field)
