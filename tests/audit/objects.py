"""The objects that the verbs act on. They contain one secret, which no record may keep."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from accounts.models import User
from assets.models import Environment
from clusters.kinds.kubernetes.settings import KubernetesSecret
from clusters.models import Cluster
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from tests.factories import (
    IMAGE,
    ClusterFactory,
    EnvironmentFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
)
from workloads.models import Workload

SECRET = "s3cr3t-Value-of-nobody"
OPENS = KubernetesSecret(kubeconfig=f"users: [{{name: u, user: {{token: {SECRET}}}}}]")
POOL = {"label_key": "gpu", "label_value": "a"}
VARIABLES = {"environmentVariables": [{"name": "HF_TOKEN", "value": SECRET}], "image": IMAGE}
DEPARTMENT: dict[str, Any] = {
    "gpu_quota": 1.0,
    "cpu_quota": None,
    "memory_quota": None,
    "over_quota": True,
}
PROJECT: dict[str, Any] = DEPARTMENT | {"department": "new", "description": "d"}


@dataclass(frozen=True)
class AuditedObjects:
    """Objects for the verbs, created when first used. ``admin`` is the user who acts."""

    admin: User

    @cached_property
    def project(self) -> Project:
        return ProjectFactory()

    @property
    def cluster(self) -> Cluster:
        return self.project.cluster

    @cached_property
    def kubernetes(self) -> Cluster:
        return ClusterFactory(kind="kubernetes")

    @cached_property
    def environment(self) -> Environment:
        return EnvironmentFactory(project=self.project)

    def workload(self, **phase: Any) -> Workload:
        return WorkloadFactory(project=self.project, **phase)

    def person(self) -> User:
        return UserFactory()

    def draft(self) -> WorkloadDraft:
        return WorkloadDraft(
            name="train",
            project=self.project.pk,
            cluster=self.cluster.pk,
            framework="PyTorch",
            architecture="workers_only",
            worker=ReplicaDraft(values=VARIABLES),
        )


#: Module and function → the words of the audit entry, and a call of the function.
Verbs = dict[str, tuple[str, Callable[[AuditedObjects], object]]]
