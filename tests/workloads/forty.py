"""Forty requests as people send them: those of the quickstarts, and others with many fields, which
are the same in each run."""

from copy import deepcopy
from random import Random
from typing import Any

Spec = dict[str, Any]
IMAGE = "kubeflow/pytorch-dist-mnist:latest"
QUICKSTARTS: tuple[Spec, ...] = (
    {
        "image": IMAGE,
        "numWorkers": 2,
        "distributedFramework": "PyTorch",
        "compute": {
            "cpuCoreRequest": 0.1,
            "cpuMemoryRequest": "100M",
            "gpuDevicesRequest": 1,
            "gpuRequestType": "portion",
            "gpuPortionRequest": 0.1,
        },
    },
    {
        "image": "gcr.io/run-ai-demo/quickstart-distributed:v0.3.0",
        "numWorkers": 2,
        "distributedFramework": "MPI",
        "compute": {"gpuDevicesRequest": 1, "cpuCoreRequest": 0.1},
        "environmentVariables": [{"name": "RUNAI_SLEEP_SECS", "value": "60"}],
        "category": "Interactive",
        "args": "sh -c 'sleep infinity'",
    },
)
#: Dotted path → values that a request may have there. Every way to send a request can say each of
#: them.
VALUES: dict[str, tuple[Any, ...]] = {
    "numWorkers": (1, 3, 16),
    "image": (IMAGE, "example.com/team/train:1.2"),
    "imagePullPolicy": ("Always", "Never"),
    "imagePullSecrets": ([{"name": "registry"}],),
    "command": ("python train.py", "sh -c 'echo $RANK; exit 0'"),
    "args": ("--epochs 3", "--name 'a b' -v"),
    "workingDir": ("/work",),
    "environmentVariables": (
        [{"name": "A", "value": "1 2"}, {"name": "EMPTY", "value": ""}],
        [{"name": "KEY", "secret": {"name": "keys", "key": "k"}}],
        [{"name": "POD", "podFieldRef": {"path": "metadata.name"}}],
    ),
    "compute.cpuCoreRequest": (0.5, 4),
    "compute.cpuCoreLimit": (8,),
    "compute.cpuMemoryRequest": ("1G", "512Mi"),
    "compute.cpuMemoryLimit": ("2G",),
    "compute.largeShmRequest": (True,),
    "compute.gpuDevicesRequest": (1, 2),
    "compute.extendedResources": ([{"resource": "rdma/hca", "quantity": "1"}],),
    "labels": ([{"name": "team", "value": "a"}],),
    "annotations": ([{"name": "note", "value": "x"}],),
    "backoffLimit": (0, 3),
    "restartPolicy": ("Never", "OnFailure"),
    "cleanPodPolicy": ("All",),
    "nodePools": (["a100"],),
    "priorityClass": ("high",),
    "terminationGracePeriodSeconds": (45,),
    "autoDeletionTimeAfterCompletionSeconds": (3600, 86_400),
    "tolerations": (
        [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        [{"key": "a", "operator": "Equal", "value": "b"}],
    ),
    "storage.nfs": (
        [{"server": "nfs.example.com", "path": "/export", "mountPath": "/data"}],
        [{"server": "nfs", "path": "/e", "mountPath": "/d", "readOnly": False}],
    ),
    "storage.pvc": (
        [{"existingPvc": True, "claimName": "data", "path": "/claim"}],
        [{"path": "/new", "claimInfo": {"size": "5G", "accessModes": {"readWriteMany": True}}}],
    ),
    "storage.git": ([{"repository": "https://example.com/a.git", "path": "/code"}],),
    "storage.emptyDirVolume": ([{"path": "/scratch", "medium": "Memory", "sizeLimit": "1G"}],),
    "security.runAsNonRoot": (True,),
    "security.hostIpc": (True,),
    "security.capabilities": (["IPC_LOCK"],),
    "category": ("train",),
    "createHomeDir": (True,),
}
FRAMEWORKS = ("PyTorch", "TF", "XGBoost", "MPI")  # not JAX: runapy cannot say "workers only"
SIZE = 40


def forty() -> list[Spec]:
    """Return the forty requests."""
    return [*QUICKSTARTS, *(_made(number) for number in range(SIZE - len(QUICKSTARTS)))]


def _made(number: int) -> Spec:
    random = Random(number)  # noqa: S311 -- the same in each run
    framework = FRAMEWORKS[number % len(FRAMEWORKS)]
    spec: Spec = {"image": IMAGE, "distributedFramework": framework, "numWorkers": 2}
    for path in random.sample(sorted(VALUES), 12):
        *above, last = path.split(".")
        holder = spec
        for key in above:
            holder = holder.setdefault(key, {})
        holder[last] = deepcopy(random.choice(VALUES[path]))
    return spec
