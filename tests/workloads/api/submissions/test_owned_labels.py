"""Labels that operators own are refused by every door on Kubernetes."""

from copy import deepcopy
from typing import Any

import pytest

from config.rest.examples import MANIFEST
from projects.models import Project
from tests.caller import Caller
from workloads.models import Workload

pytestmark = pytest.mark.django_db
OWNED = "training.kubeflow.org/job-name"
WHY = f"{OWNED!r} belongs to the operators of Kubeflow; leave it out"


@pytest.fixture
def project(project: Project) -> Project:
    project.cluster.kind = "kubernetes"
    offers = [{"framework": "PyTorch", "available": True}]
    project.cluster.capabilities_json = {"frameworks": offers, "queues": True}
    project.cluster.save()
    return project


def test_a_request_with_one_is_refused_by_its_field(call: Caller, project: Project) -> None:
    place = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    spec = {"image": "torch:2", "labels": [{"name": "team"}, {"name": OWNED, "value": "other"}]}
    status, answer = call("POST", "/workloads/trainings", {"name": "a", **place, "spec": spec})
    assert status == 400
    (issue,) = answer["complianceIssues"]
    assert (issue["field"], issue["details"]) == ("spec.labels.1.name", WHY)


def test_of_a_manifest_those_of_a_trainyard_are_left_out(call: Caller, project: Project) -> None:
    labels = {"trainyard.io/workload": "x", OWNED: "x", "team": "a"}
    labels |= {"kai.scheduler/queue": "other", "kai.scheduler/preemptibility": "preemptible"}
    manifest: Any = deepcopy(MANIFEST)
    template = manifest["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]
    template["metadata"] = {"labels": labels}
    place = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    status, answer = call("POST", "/workloads/manifests", {"metadata": place, "manifest": manifest})
    assert (status, WHY in str(answer)) == (400, True)
    del labels[OWNED]
    status, answer = call("POST", "/workloads/manifests", {"metadata": place, "manifest": manifest})
    assert status == 202, answer
    spec = Workload.objects.get().spec
    assert [it.name for it in spec.worker.labels] == ["team"]
    assert spec.preemptibility == "preemptible"
