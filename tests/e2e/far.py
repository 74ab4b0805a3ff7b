"""A Kubernetes and a Slurm cluster that nobody can reach. They have what the database says about
them."""

from collections.abc import Iterator

import pytest

from tests.product import Trainyard
from tests.workloads.nowhere import KUBECONFIG
from tests.workloads.wizard.sections.pod_fields import HUB

SEED = f"""
from accounts import general
from accounts.models import User
from assets.models import ComputeResource, Environment
from clusters.models import Cluster, Connection, NodePool
from projects.models import Project
from spec.framework import Framework
from tests.factories import CredentialFactory, add_members
known = dict(
    frameworks=[dict(framework=name, available=True) for name in Framework],
    queues=True,
    schedulers=["kai-scheduler"],
    storage_classes=["fast"],
    priority_classes=["low", "high"],
    kueue="v1beta2",
    local_queues=[
        dict(namespace="trainyard-vision", name="team", cluster_queue="all", quotas=None)
    ],
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
add_members(project, admin)
hpc = Cluster.objects.create(
    name="hpc",
    kind="slurm",
    capabilities_json=dict(
        frameworks=[dict(framework="PyTorch", available=True)],
        queues=True,
        priority_classes=["high"],
    ),
)
Connection.objects.create(cluster=hpc, secret_json="{{}}")
for name in ("a100", "h100"):
    NodePool.objects.create(cluster=hpc, name=name, label_key=f"slurm.partition/{{name}}")
labs = hpc.departments.create(name="labs")
speech = Project.objects.create(name="speech", cluster=hpc, department=labs, gpu_quota=8)
add_members(speech, admin)
CredentialFactory(
    pk={HUB!r}, home=None, in_account=True, name="hub", entered=dict(token="nobody reads it")
)
there = dict(scope="cluster", cluster=hpc)
Environment.objects.create(
    name="program",
    spec_json=dict(
        image="quay.io/team/train:1",
        command="python own.py",
        environmentVariables=[dict(name="LR", value="0.1")],
    ),
    **there,
)
ComputeResource.objects.create(
    name="tiny", spec_json=dict(cpuCoreRequest=0.1, cpuMemoryRequest="100M"), **there
)
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
general.update_settings(by=admin, tolerations=True, topology=True)
"""
CLEAR = """
from accounts.models import GeneralSettings
from assets.models import Credential
from clusters.models import Cluster
from projects.models import Project
from workloads.models import Draft, Workload
away = ["far", "hpc"]
Workload.objects.filter(cluster__name__in=away).delete()
Draft.objects.all().delete()
Project.objects.filter(cluster__name__in=away).delete()
Cluster.objects.filter(name__in=away).delete()
Credential.objects.filter(name="hub").delete()
GeneralSettings.objects.all().delete()
"""


@pytest.fixture(scope="module")
def far(running_trainyard: Trainyard) -> Iterator[str]:
    """The clusters, for the tests of one file. They are deleted afterwards, because other tests
    expect a single project."""
    try:
        running_trainyard.manage("shell", "--command", SEED)
        yield "far"
    finally:
        running_trainyard.manage("shell", "--command", CLEAR)
