"""Demo data: a project and a few assets, created by the same services that people use."""

from typing import Any

from accounts import access
from accounts.models import User
from assets import services as assets
from assets.compute.kind import COMPUTE
from assets.environment.kind import ENVIRONMENT
from assets.template.kind import TEMPLATE
from clusters.models import Cluster
from projects.models import Department, Project
from projects.scopes import OwningScope
from spec.draft import ReplicaDraft, WorkloadDraft

TEAM = "team-a"
MNIST_IMAGE = "kubeflow/pytorch-dist-mnist:latest"
NOTEBOOK_IMAGE = "quay.io/jupyter/pytorch-notebook:latest"
#: No token: Trainyard itself controls who may open the notebook.
NOTEBOOK: dict[str, Any] = {
    "image": NOTEBOOK_IMAGE,
    "args": "start-notebook.py --IdentityProvider.token=",
    "connections": [
        {
            "name": "JupyterLab",
            "toolType": "jupyter-notebook",
            "connectionType": "ClusterIP",
            "containerPort": 8888,
        }
    ],
}
BOARD_IMAGE = "quay.io/jupyter/tensorflow-notebook:latest"
BOARD: dict[str, Any] = {
    "image": BOARD_IMAGE,
    "args": "tensorboard --logdir=/logs",
    "connections": [
        {
            "name": "TensorBoard",
            "toolType": "tensorboard",
            "connectionType": "ClusterIP",
            "containerPort": 6006,
        }
    ],
}
#: Without ``model_storage_type`` Kubeflow's image would store its model in a bucket.
XGBOOST: dict[str, Any] = {
    "image": "kubeflow/xgboost-dist-iris:latest",
    "args": "--job_type=Train --xgboost_parameter=objective:multi:softprob,num_class:3 "
    "--n_estimators=100 --learning_rate=0.1 --model_storage_type=local",
}
#: The image has no entry point. Without a number, mpirun starts a rank in each slot.
MPI: dict[str, Any] = {
    "image": "mpioperator/mpi-pi:openmpi",
    "args": "mpirun /home/mpiuser/pi",
    "environmentVariables": [
        {"name": "OMPI_ALLOW_RUN_AS_ROOT", "value": "1"},
        {"name": "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "value": "1"},
    ],
}
PYTORCH = "pytorch"
#: Description, framework and document of each environment, by name.
IMAGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    PYTORCH: (
        "Trains a small network on handwritten digits.",
        "PyTorch",
        {"image": MNIST_IMAGE},
    ),
    "tensorflow": (
        "Trains a small network on handwritten digits by MultiWorkerMirroredStrategy.",
        "TF",
        {"image": "kubeflow/tf-multi-worker-strategy:latest"},
    ),
    "xgboost": ("Boosts trees that tell irises apart.", "XGBoost", XGBOOST),
    "mpi": ("Estimates π on all slots of its workers.", "MPI", MPI),
    "jax": (
        "Trains a small network on handwritten digits, one array over all ranks.",
        "JAX",
        {"image": "kubeflow/jaxjob-dist-spmd-mnist:latest"},
    ),
    "jupyter-lab": ("JupyterLab, for a workspace; opened by Connect.", "", NOTEBOOK),
    "tensorboard": ("TensorBoard over what is mounted at /logs; opened by Connect.", "", BOARD),
}
GPUS = 2.0

SIZES: dict[str, tuple[str, dict[str, Any]]] = {
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
    """Create the demo project, unless there is any project: one that was deleted does not come
    back."""
    author = _author()
    if author is None or Project.objects.exists():
        return
    Project.objects.create(
        name=TEAM,
        description="A project to try things in.",
        cluster=cluster,
        department=department,
        gpu_quota=GPUS,
    )
    _assets(author)


def _author() -> User | None:
    """Return the first user who may create all of the demo's assets; ``None`` if nobody may."""
    permissions = [kind.model.permission("create") for kind in (ENVIRONMENT, COMPUTE, TEMPLATE)]
    for user in access.permitted_users(permissions[0]):
        if all(access.may(user, permission) for permission in permissions):
            return user
    return None


def _assets(author: User) -> None:
    """Assets of the whole account, so that they are also available on clusters added later."""
    scope = OwningScope()
    images = {
        name: assets.create(
            ENVIRONMENT,
            by=author,
            name=name,
            scope=scope,
            description=description,
            framework=framework,
            document=document,
        )
        for name, (description, framework, document) in IMAGES.items()
    }
    sizes = {
        name: assets.create(
            COMPUTE, by=author, name=name, scope=scope, description=description, document=document
        )
        for name, (description, document) in SIZES.items()
    }
    draft = WorkloadDraft(
        worker=ReplicaDraft(
            assets={"environment": images[PYTORCH].pk, "compute": sizes["small-fraction"].pk}
        ),
        values={"numWorkers": 2},
    )
    assets.create(
        TEMPLATE,
        by=author,
        name="mnist-two-workers",
        scope=scope,
        description="One master and two workers learn to read digits.",
        document=draft.model_dump(mode="json", by_alias=True),
    )
