"""Something to start with: a project and a few assets, made by the services that people use."""

from typing import Any

from accounts.models import Role, User
from assets import services as assets
from assets.scopes import Place
from clusters.models import Cluster
from projects.models import Department, Project
from spec.draft import ReplicaDraft, WorkloadDraft

TEAM = "team-a"
MNIST_IMAGE = "kubeflow/pytorch-dist-mnist:latest"
GPUS = 2.0

COMPUTE: dict[str, tuple[str, dict[str, Any]]] = {
    "small-fraction": (
        "A tenth of one GPU",
        {
            "gpuDevicesRequest": 1,
            "gpuRequestType": "portion",
            "gpuPortionRequest": 0.1,
            "cpuCoreRequest": 0.1,
            "cpuMemoryRequest": "100M",
        },
    ),
    "half-gpu": (
        "Half of one GPU",
        {
            "gpuDevicesRequest": 1,
            "gpuRequestType": "portion",
            "gpuPortionRequest": 0.5,
            "cpuCoreRequest": 0.1,
            "cpuMemoryRequest": "100M",
        },
    ),
    "one-gpu": ("One whole GPU", {"gpuDevicesRequest": 1}),
    "cpu-only": ("No GPU", {"gpuDevicesRequest": 0}),
}


def make(cluster: Cluster, department: Department) -> None:
    """The demo project, once: whoever deletes it does not get it back."""
    author = User.objects.filter(role=Role.ADMINISTRATOR).order_by("pk").first()
    if author is None or Project.objects.exists():
        return
    project = Project.objects.create(
        name=TEAM,
        description="A project to try things in.",
        cluster=cluster,
        department=department,
        gpu_quota=GPUS,
    )
    place = Place(project)
    mnist = assets.create_environment(
        by=author,
        name="pytorch-mnist",
        place=place,
        description="Trains a small network on handwritten digits.",
        framework="PyTorch",
        document={"image": MNIST_IMAGE},
    )
    made = {
        name: assets.create_compute(
            by=author, name=name, place=place, description=description, document=document
        )
        for name, (description, document) in COMPUTE.items()
    }
    assets.create_template(
        by=author,
        name="mnist-two-workers",
        place=place,
        description="One master and two workers learn to read digits.",
        draft=WorkloadDraft(
            cluster=cluster.pk,
            worker=ReplicaDraft(environment=mnist.pk, compute=made["small-fraction"].pk),
            values={"numWorkers": 2},
        ),
    )
