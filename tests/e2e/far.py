"""A Kubernetes cluster that nobody asks: it has what is written down of it."""

from collections.abc import Iterator

import pytest

from tests.product import Trainyard
from tests.workloads.nowhere import KUBECONFIG

SEED = f"""
from accounts import general
from accounts.models import User
from assets.models import ComputeResource, Environment
from clusters.models import Cluster, Connection, NodePool
from projects.models import Project
from spec.framework import Framework
known = dict(
    frameworks=[dict(framework=name, available=True) for name in Framework],
    queues=True,
    schedulers=["kai-scheduler"],
    storage_classes=["fast"],
)
settings = dict(ingress_domain="apps.example.com")
cluster = Cluster.objects.create(
    name="far", kind="kubernetes", capabilities_json=known, settings_json=settings
)
Connection.objects.create(cluster=cluster, secret_json={KUBECONFIG!r})
for name in ("a100", "h100"):
    NodePool.objects.create(cluster=cluster, name=name, label_key="gpu", label_value=name)
department = cluster.departments.create(name="research")
project = Project.objects.create(
    name="vision", cluster=cluster, department=department, gpu_quota=8
)
admin = User.objects.get(username="admin")
project.members.add(admin)
whole = dict(scope="cluster", cluster=cluster)
Environment.objects.create(
    name="own-ids",
    override_uid_gid=True,
    spec_json=dict(
        image="quay.io/team/train:1",
        security=dict(uidGidSource="custom", runAsUid=1000),
        environmentVariables=[dict(name="LR", value="0.1")],
    ),
    **whole,
)
compute = dict(cpuCoreRequest=0.1, cpuMemoryRequest="100M")
ComputeResource.objects.create(name="tiny", spec_json=compute, **whole)
general.update(by=admin, tolerations=True, topology=True)
"""
CLEAR = """
from accounts.models import GeneralSettings
from clusters.models import Cluster
from projects.models import Project
from workloads.models import Draft, Workload
Workload.objects.filter(cluster__name="far").delete()
Draft.objects.all().delete()
Project.objects.filter(cluster__name="far").delete()
Cluster.objects.filter(name="far").delete()
GeneralSettings.objects.all().delete()
"""


@pytest.fixture
def far(running_trainyard: Trainyard) -> Iterator[str]:
    """It goes with the test: others begin with the only project that there is."""
    running_trainyard.manage("shell", "--command", SEED)
    yield "far"
    running_trainyard.manage("shell", "--command", CLEAR)
