"""A hundred workloads of many shapes, as people submitted them, and a policy that meets some."""

from typing import Any

from accounts.models import User
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.kind import WorkloadKind
from tests.policies.examples import Tree
from workloads import services
from workloads.models import Workload

#: Values that the drafts take in turn. Their numbers have no common divisor, so that the
#: combinations differ.
IMAGES = ("reg.example.com/torch:2.5", "docker.io/torch:2.4", "reg.example.com/jax:1")
GPUS = (0, 1, 2, 4)
VARIABLES: tuple[list[dict[str, Any]], ...] = (
    [],
    [{"name": "NCCL_DEBUG", "value": "INFO"}],
    [{"name": "SEED", "value": "1"}, {"name": "API_TOKEN", "value": "abracadabra"}],
    [{"name": "OMP_NUM_THREADS", "value": "4"}],
    [{"name": "NCCL_DEBUG", "value": "WARN"}],
)
WORKERS = (1, 2, 3, 4, 5, 6, 7)
MASTERS: tuple[dict[str, Any], ...] = (
    {"architecture": "workers_only"},
    {"architecture": "workers_and_master"},
    {
        "architecture": "workers_and_master",
        "master": {"values": {"image": "docker.io/m:1", "compute": {"gpuDevicesRequest": 1}}},
    },
)
POLICY: Tree = {
    "defaults": {
        "worker": {
            "backoffLimit": 2,
            "environmentVariables": {"instances": [{"name": "NCCL_DEBUG", "value": "WARN"}]},
        }
    },
    "rules": {
        "worker": {
            "numWorkers": {"max": 6, "why": "One rack"},
            "compute": {"gpuDevicesRequest": {"max": 3}},
            "image": {"startsWith": "reg.example.com/"},
        }
    },
}


def submit_shapes(project: Project, by: User, count: int = 100) -> list[Workload]:
    return [submit_shape(shape_draft(project, number), by) for number in range(count)]


def submit_shape(draft: WorkloadDraft, by: User) -> Workload:
    return services.submit(draft, by=by)


def shape_draft(project: Project, number: int) -> WorkloadDraft:
    """Return a draft of a distributed training whose shape depends on a number."""
    values: dict[str, Any] = {
        "image": IMAGES[number % len(IMAGES)],
        "environmentVariables": VARIABLES[number % len(VARIABLES)],
    }
    if gpus := GPUS[number % len(GPUS)]:
        values["compute"] = {"gpuDevicesRequest": gpus}
    content: dict[str, Any] = {
        "kind": WorkloadKind.DISTRIBUTED,
        "name": f"shape-{number}",
        "project": project.pk,
        "cluster": project.cluster_id,
        "values": {"numWorkers": WORKERS[number % len(WORKERS)]}
        | ({"backoffLimit": 4} if number % 2 else {}),
        "worker": {"values": values},
        **MASTERS[number // 4 % len(MASTERS)],
    }
    return WorkloadDraft.model_validate(content)
