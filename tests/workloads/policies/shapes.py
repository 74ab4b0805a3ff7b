"""A hundred workloads of many shapes, as people submitted them, and policies that meet some."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import User
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.kind import WorkloadKind
from tests.factories import (
    ComputeResourceFactory,
    DataSourceFactory,
    EnvironmentFactory,
    TemplateFactory,
)
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


#: The same for pods of another kind, which have no parts.
POLICY_OF_ONE_POD: Tree = {
    "defaults": {
        "environmentVariables": POLICY["defaults"]["worker"]["environmentVariables"],
        "labels": {"instances": [{"name": "kind", "value": "one-pod"}]},
    },
    "rules": {
        "compute": {"gpuDevicesRequest": {"max": 3}},
        "image": {"startsWith": "reg.example.com/"},
    },
}
POLICY_OF_TRAININGS: Tree = {"rules": POLICY_OF_ONE_POD["rules"]}


@dataclass(frozen=True)
class ShapeAssets:
    """The assets of a project that drafts name."""

    environment: UUID
    compute: UUID
    data_source: UUID
    template: UUID

    @classmethod
    def make(cls, project: Project) -> "ShapeAssets":
        image = {"image": "docker.io/env:1"}
        code = {"repository": "https://example.com/train.git", "path": "/code"}
        rules = [{"field": "worker.workingDir", "required": True}]
        return cls(
            environment=EnvironmentFactory(home=project, spec_json=image).pk,
            compute=ComputeResourceFactory(home=project, spec_json={"gpuDevicesRequest": 2}).pk,
            data_source=DataSourceFactory(home=project, spec_json={"kind": "git", "git": code}).pk,
            template=TemplateFactory(home=project, draft_json={"rules": rules}).pk,
        )


def submit_shapes(project: Project, by: User, count: int = 100) -> list[Workload]:
    """Submit distributed trainings."""
    drafts = (shape_draft(project, number) for number in range(count))
    return [services.submit(draft, by=by) for draft in drafts]


def submit_all_kinds(project: Project, by: User) -> list[Workload]:
    """Submit a hundred workloads of all kinds, of which some have assets and templates."""
    assets = ShapeAssets.make(project)
    drafts = [shape_draft(project, number) for number in range(50)]
    for number in range(50, 100):
        kind = list(WorkloadKind)[number % len(WorkloadKind)]
        drafts.append(shape_draft(project, number, kind=kind, assets=assets))
    return [services.submit(draft, by=by) for draft in drafts]


def shape_draft(
    project: Project,
    number: int,
    *,
    kind: WorkloadKind = WorkloadKind.DISTRIBUTED,
    assets: ShapeAssets | None = None,
) -> WorkloadDraft:
    """Return a draft whose shape depends on a number. With ``assets`` it has some of them."""
    values: dict[str, Any] = {
        "image": IMAGES[number % len(IMAGES)],
        "environmentVariables": VARIABLES[number % len(VARIABLES)],
    }
    if gpus := GPUS[number % len(GPUS)]:
        values["compute"] = {"gpuDevicesRequest": gpus}
    content: dict[str, Any] = {
        "kind": kind,
        "name": f"shape-{number}",
        "project": project.pk,
        "cluster": project.cluster_id,
        "worker": {"values": values},
    }
    if kind.is_gang:
        content |= MASTERS[number // 4 % len(MASTERS)]
        workers = {"numWorkers": WORKERS[number % len(WORKERS)]}
        content["values"] = workers | ({"backoffLimit": 4} if number % 2 else {})
    if assets:
        _add_assets(content, number, assets)
    return WorkloadDraft.model_validate(content)


def _add_assets(content: dict[str, Any], number: int, assets: ShapeAssets) -> None:
    worker = content["worker"]
    values = worker["values"]
    if number % 2:
        values["dataSources"] = [{"id": str(assets.data_source), "path": "/mine"}]
    if number % 5 < 2:
        worker["assets"] = {"environment": assets.environment, "compute": assets.compute}
        values.pop("compute", None)
    if number % 5 == 0:
        del values["image"]
    if number % 7 == 0 and content["kind"] is WorkloadKind.DISTRIBUTED:
        content["template"] = assets.template
        values["workingDir"] = "/work"
