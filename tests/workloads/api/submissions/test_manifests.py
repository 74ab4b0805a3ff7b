"""A manifest of Kubernetes over REST, at both addresses: it becomes a workload, can be read,
applied again and deleted; what cannot be is named."""

import json
from base64 import b64encode
from copy import deepcopy
from typing import Any

import pytest
import yaml
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import tokens
from config.rest.examples import MANIFEST
from core.rest.api import Issue
from projects.models import Project
from spec.phases import Phase
from tests.caller import Body, Caller
from tests.factories import WorkloadFactory
from workloads.models import Workload

pytestmark = pytest.mark.django_db
PATH = "/workloads/manifests"
REPLICAS = ("spec", "pytorchReplicaSpecs")
POD = (*REPLICAS, "Worker", "template", "spec")
CONTAINER = (*POD, "containers")


@pytest.fixture
def metadata(project: Project) -> dict[str, str]:
    return {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}


def changed(value: Any, *path: str | int) -> dict[str, Any]:
    manifest = deepcopy(MANIFEST)
    at: Any = manifest
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return manifest


def fields(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [Issue.model_validate(it).field for it in answer["complianceIssues"]]


def test_a_manifest_becomes_a_workload_with_all_that_it_says(
    call: Caller, metadata: dict[str, str]
) -> None:
    given = metadata | {"category": "Nightly"}
    status, answer = call("POST", PATH, {"metadata": given, "manifest": MANIFEST})
    assert status == 202, answer
    shown = answer["workload"]["metadata"]
    workload = Workload.objects.get(pk=shown["id"])
    assert (workload.name, workload.num_pods, workload.gpus) == ("mnist-manifest", 3, 3)
    assert workload.spec.master is None
    assert workload.spec.category == "Nightly"
    assert (shown["gvk"]["kind"], shown["category"]) == ("PyTorchJob", "Nightly")
    assert answer["workload"]["rawManifest"] == MANIFEST
    assert answer["syncInfo"]["status"] == "Queued"


def test_the_address_of_the_second_version_is_the_same(
    call: Caller, metadata: dict[str, str]
) -> None:
    headers = {"Authorization": f"Bearer {tokens.access_token_for(call.user)}"}
    kind = "application/json"
    body = json.dumps({"metadata": metadata, "manifest": MANIFEST})
    made = Client().post("/api/v2/workloads", body, content_type=kind, headers=headers)
    assert made.status_code == 202
    one = made.json()["workload"]["metadata"]["id"]
    read = Client().get(f"/api/v2/workloads/{one}", headers=headers)
    assert read.json() == call("GET", f"{PATH}/{one}")[1]
    gone = Client().delete(f"/api/v2/workloads/{one}", headers=headers)
    assert gone.status_code == 202
    assert Workload.objects.get(pk=one).phase == Phase.DELETING


def test_yaml_in_base64_says_the_same(call: Caller, metadata: dict[str, str]) -> None:
    text = yaml.safe_dump(json.loads(json.dumps(MANIFEST)))  # without anchors
    encoded = b64encode(text.encode()).decode()
    body = {"metadata": metadata, "manifestBase64Encoded": encoded}
    status, answer = call("POST", PATH, body)
    assert (status, answer["workload"]["rawManifest"]) == (202, MANIFEST)


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({}, "manifest", "give either"),
        ({"manifestBase64Encoded": "%"}, "manifestBase64Encoded", "Base64"),
        (
            {"manifestBase64Encoded": b64encode(b"kind: [").decode()},
            "manifestBase64Encoded",
            "line 1",
        ),
        ({"manifestBase64Encoded": "é"}, "manifestBase64Encoded", "Base64"),
        (
            {"manifestBase64Encoded": b64encode(b"kind: 0x" + b"f" * 5000).decode()},
            "manifestBase64Encoded",
            "not a number that can be used",
        ),
        (
            {"manifest": changed({"note": "é" * 200_000}, "status")},
            "manifest",
            "longer than 200,000 characters",
        ),
        (
            {"manifest": changed("a" * 5000, "metadata", "name")},
            "manifest.metadata.name",
            "longer than 253 characters",
        ),
        ({"manifest": changed("Mnist_", "metadata", "name")}, "manifest.metadata.name", "name"),
        (
            {"manifest": changed("urgent", *POD, "priorityClassName")},
            "manifest.spec.pytorchReplicaSpecs.Worker.template.spec.priorityClassName",
            "must be one of",
        ),
        ({"manifest": {"kind": "Deployment"}}, "manifest.kind", "PyTorchJob"),
        (
            {"manifest": changed([], *CONTAINER)},
            "manifest.spec.pytorchReplicaSpecs.Worker.template.spec.containers.0.image",
            "is required",
        ),
        (
            {"manifest": changed("ExitCode", *REPLICAS, "Worker", "restartPolicy")},
            "manifest.spec.pytorchReplicaSpecs.Worker.restartPolicy",
            "must be one of",
        ),
        (
            {"manifest": changed("repo/{{ tag }}", *CONTAINER, 0, "image")},
            "manifest.spec.pytorchReplicaSpecs.Worker.template.spec.containers.0.image",
            "{{ tag }} has to be filled in first",
        ),
        ({"manifest": {"workflow": {"name": "a"}}}, "manifest.workflow", "OSMO workflow"),
    ],
    ids=[
        *("none", "no Base64", "no YAML", "no ASCII", "a number without end", "too large"),
        *("a long name", "a wrong name", "a priority", "of another kind", "no image"),
        *("a restart policy", "a template", "a workflow"),
    ],
)
def test_a_manifest_that_is_no_workload_is_refused_by_its_field(
    call: Caller, metadata: dict[str, str], body: dict[str, Any], field: str, words: str
) -> None:
    status, answer = call("POST", PATH, {"metadata": metadata, **body})
    assert status == 400
    assert field in fields(answer)
    assert words in str(answer)
    assert not Workload.objects.exists()


def test_what_describes_another_cluster_is_left_out_with_notes(
    call: Caller, metadata: dict[str, str]
) -> None:
    heading = {
        "generateName": "mnist-",
        "namespace": "kubeflow",
        "labels": {"kueue.x-k8s.io/queue-name": "team", "app": "mnist"},
        "annotations": {"note": "x"},
    }
    manifest = changed(
        {"minReplicas": 1, "metrics": [{"type": "Resource"}]}, "spec", "elasticPolicy"
    )
    body = {"metadata": metadata, "manifest": manifest | {"metadata": heading}}
    status, answer = call("POST", PATH, body)
    assert status == 202, answer
    notes = {it["field"]: it["details"] for it in answer["warnings"]}
    assert "the project says where it runs" in notes["manifest.metadata.namespace"]
    queue = notes["manifest.metadata.labels.kueue.x-k8s.io/queue-name"]
    assert queue == "is left out: there is no Kueue on one machine"
    assert "jobs have no labels" in notes["manifest.metadata.labels"]
    assert "start and end together" in notes["manifest.spec.elasticPolicy.minReplicas"]
    assert "does not follow metrics" in notes["manifest.spec.elasticPolicy.metrics"]
    image = "manifest.spec.pytorchReplicaSpecs.Worker.template.spec.containers.0.image"
    assert image in notes, "other warnings have places in the manifest, too"
    workload = Workload.objects.get()
    assert workload.name.startswith("mnist-")
    assert workload.name != "mnist-"
    assert (workload.spec.queue, workload.spec.job_labels) == (None, ())
    _, dry = call("POST", f"{PATH}?dryRun=true", body)
    assert {it["field"] for it in dry["warnings"]} == set(notes)


def test_replicas_that_never_restart_fail_with_their_first_pod(
    call: Caller, metadata: dict[str, str]
) -> None:
    replicas = {
        name: {"replicas": 1, "restartPolicy": "Never", "template": it["template"]}
        for name, it in MANIFEST["spec"]["pytorchReplicaSpecs"].items()
    }
    manifest = changed(replicas, *REPLICAS)
    assert call("POST", PATH, {"metadata": metadata, "manifest": manifest})[0] == 202
    assert Workload.objects.get().spec.backoff_limit == 0
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}}
    template = {"spec": {**replicas["Worker"]["template"]["spec"], "restartPolicy": "Never"}}
    body = {"metadata": metadata, "manifest": job | {"spec": {"template": template}}}
    assert call("POST", PATH, body)[0] == 202
    assert Workload.objects.get(name="one").spec.backoff_limit == 6


def test_a_wrong_place_is_named_as_the_request_has_it(
    call: Caller, metadata: dict[str, str]
) -> None:
    wrong = metadata | {"projectId": "99999", "priority": "urgent"}
    status, answer = call("POST", PATH, {"metadata": wrong, "manifest": MANIFEST})
    assert status == 400
    assert {"metadata.projectId", "metadata.priority"} <= set(fields(answer))


def test_a_dry_run_says_what_would_be(call: Caller, metadata: dict[str, str]) -> None:
    body = {"metadata": metadata, "manifest": MANIFEST}
    status, answer = call("POST", f"{PATH}?dryRun=true", body)
    assert (status, answer["valid"], answer["spec"]["numWorkers"]) == (200, True, 2)
    assert not Workload.objects.exists()


def test_a_value_that_looks_secret_is_kept_and_not_told(
    call: Caller, metadata: dict[str, str]
) -> None:
    secret = [{"name": "API_KEY", "value": "zanzibar"}]
    manifest = changed(secret, *CONTAINER, 0, "env")
    status, answer = call("POST", PATH, {"metadata": metadata, "manifest": manifest})
    assert status == 202
    assert "zanzibar" not in str(answer)
    (variable,) = Workload.objects.get().spec.worker.environment_variables
    assert variable.value == "zanzibar"


def test_a_manifest_is_applied_again_where_nothing_differs(
    call: Caller, metadata: dict[str, str]
) -> None:
    _, made = call("POST", PATH, {"metadata": metadata, "manifest": MANIFEST})
    one = f"{PATH}/{made['workload']['metadata']['id']}"
    assert call("PUT", one, {"manifest": made["workload"]["rawManifest"]})[0] == 200
    assert call("PUT", one, {})[0] == 200
    more = changed(5, "spec", "pytorchReplicaSpecs", "Worker", "replicas")
    status, answer = call("PUT", one, {"manifest": more, "metadata": {"priority": "high"}})
    assert status == 409
    replicas = "manifest.spec.pytorchReplicaSpecs.Worker.replicas"
    assert fields(answer) == ["metadata.priority", replicas]
    assert Workload.objects.get().num_pods == 3


def test_another_value_that_looks_secret_differs_and_a_masked_one_does_not(
    call: Caller, metadata: dict[str, str]
) -> None:
    def keyed(value: str) -> dict[str, Any]:
        return changed([{"name": "API_KEY", "value": value}], *CONTAINER, 0, "env")

    _, made = call("POST", PATH, {"metadata": metadata, "manifest": keyed("zanzibar")})
    one = f"{PATH}/{made['workload']['metadata']['id']}"
    assert call("PUT", one, {"manifest": keyed("***")})[0] == 200
    assert call("PUT", one, {"manifest": keyed("zanzibar")})[0] == 200
    status, answer = call("PUT", one, {"manifest": keyed("mombasa")})
    assert status == 409
    assert fields(answer)[-1] == ".".join(map(str, ("manifest", *CONTAINER, 0, "env", 0, "value")))
    assert "zanzibar" not in str(answer)


def test_a_list_does_not_load_the_manifests(call: Caller, project: Project) -> None:
    WorkloadFactory(project=project, manifest_json=MANIFEST)
    with CaptureQueriesContext(connection) as asked:
        assert call("GET", "/workloads")[0] == 200
    assert "manifest_json" not in str(asked.captured_queries)


def test_a_kept_deleted_workload_is_found_on_request(call: Caller, project: Project) -> None:
    workload = WorkloadFactory(project=project, manifest_json=MANIFEST, phase=Phase.DELETING)
    Workload.objects.update(deleted_at=timezone.now())
    assert call("GET", f"{PATH}/{workload.pk}")[0] == 404
    status, answer = call("GET", f"{PATH}/{workload.pk}?deleted=true")
    assert (status, answer["syncInfo"]["status"]) == (200, "Deleted")
    assert answer["workload"]["metadata"]["deletedAt"]


def test_a_workload_that_came_another_way_is_not_there(
    call: Caller, project: Project, seed_body: Body
) -> None:
    workload = WorkloadFactory(project=project)
    assert call("GET", f"{PATH}/{workload.pk}")[0] == 404


@pytest.mark.parametrize(
    ("has", "status"),
    [
        ({"phase": Phase.PENDING}, "Queued"),
        ({"running": True}, "Synced"),
        ({"phase": Phase.FAILED}, "Failed"),
        ({"phase": Phase.DELETING}, "Deleting"),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_the_answer_says_whether_the_cluster_has_the_workload(
    call: Caller, project: Project, has: dict[str, Any], status: str
) -> None:
    workload = WorkloadFactory(project=project, manifest_json=MANIFEST, **has)
    _, answer = call("GET", f"{PATH}/{workload.pk}")
    assert answer["syncInfo"]["status"] == status


def test_a_suspended_manifest_needs_a_queue_its_own_or_the_projects(
    call: Caller, metadata: dict[str, str], project: Project
) -> None:
    suspended = changed(MANIFEST["spec"] | {"runPolicy": {"suspend": True}}, "spec")
    body = {"metadata": metadata, "manifest": suspended}
    status, answer = call("POST", PATH, body)
    assert (status, fields(answer)) == (400, ["manifest.spec.runPolicy.suspend"])
    assert "kueue.x-k8s.io/queue-name" in answer["complianceIssues"][0]["details"]
    project.cluster.kind = "kubernetes"
    project.cluster.capabilities_json |= {"kueue": "v1beta2", "queues": True}
    project.cluster.save()
    project.default_queue = "team"
    project.save()
    status, answer = call("POST", PATH, body)
    assert status == 202, answer
    assert Workload.objects.get().spec.queue == "team"
