"""A real API server for the tests of this folder. Without one, they are skipped and say why.

``KUBECONFIG`` names a cluster with the Kubeflow training operator and without workloads of
Trainyard. Its nodes have the image ``TRAINYARD_TEST_IMAGE`` (busybox). If it has no nodes, tests
that run something are skipped.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.base import EngineRefused, Launch, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect
from engines.kubernetes.cluster.discovery import existing_job_kinds
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.labels import PROJECT, WORKLOAD
from engines.kubernetes.watch.watcher import PODS
from spec.parts.scheduling import PriorityClass
from spec.workload import Architecture
from tests.account import Account
from tests.cluster import KUBECONFIG, NO_CLUSTER, NO_NODE, SHELL_IMAGE
from tests.engines.contract import Rig, launch
from tests.waiting import wait_for

PREFIX = "trainyard-test-"
CLAIMS = "/api/v1/persistentvolumeclaims"
SPACE = f"/api/v1/namespaces/{PREFIX}team-a"


class KubernetesRig(Rig):
    """The engine on a real cluster. It uses ``account``; ``api`` may do everything."""

    def __init__(self, api: Api, account: Api) -> None:
        self.api = api
        self.account = account
        self.engine = KubernetesEngine(account, prefix=PREFIX)
        self.kinds = existing_job_kinds(api)

    def prints(self) -> Launch:
        """Only workers, because workers are cut short when a master ends."""
        return self.shell("echo hello", architecture=Architecture.WORKERS_ONLY, num_workers=2)

    def fails(self) -> Launch:
        return self.shell("[ $RANK = 0 ] && exec sleep 60; exit 3")

    def endless(self) -> Launch:
        return self.shell("exec sleep 600")

    def asks_too_much(self) -> Launch:
        return self.shell("true", max_replicas=4, priority_class=PriorityClass.HIGH)

    def shell(self, script: str, **fields: Any) -> Launch:
        """Return a launch whose ranks run a shell script."""
        fields = {"termination_grace_period_seconds": 1} | fields
        return launch(f"/bin/sh -c {shlex.quote(script)}", image=SHELL_IMAGE, **fields)

    def keep(self, plural: str, name: str, item: Manifest) -> None:
        """Create an object that is not Trainyard's in the project's namespace, and the namespace if
        it is missing."""
        if self.api.find(SPACE) is None:
            space = {"kind": "Namespace", "metadata": {"name": f"{PREFIX}team-a"}}
            self.api.create("/api/v1/namespaces", space)
        self.api.delete(f"{SPACE}/{plural}/{name}")
        self.api.create(f"{SPACE}/{plural}", item | {"metadata": {"name": name}})

    def clean(self) -> None:
        """Delete what earlier tests left, and wait until it is gone."""
        for kind in self.kinds:
            for job in self.mine(kind.cluster_path):
                path = kind.path(job["metadata"]["namespace"], job["metadata"]["name"])
                self.api.delete(path, propagationPolicy="Background")
        for claim in self.mine(CLAIMS):
            meta = claim["metadata"]
            space = f"/api/v1/namespaces/{meta['namespace']}"
            self.api.delete(f"{space}/persistentvolumeclaims/{meta['name']}")
        for pod in self.mine(PODS):
            meta = pod["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
            self.api.delete(path, gracePeriodSeconds=0)
        wait_for(self.is_clean, 60, "the test namespaces to be empty")

    def is_clean(self) -> bool:
        paths = [PODS, CLAIMS, *(kind.cluster_path for kind in self.kinds)]
        return not any(self.mine(path) for path in paths)

    def mine(self, path: str) -> list[dict[str, Any]]:
        """Return the objects at a path that are in namespaces of these tests."""
        found = self.api.items(path, labelSelector=WORKLOAD)
        return [item for item in found if item["metadata"]["namespace"].startswith(PREFIX)]


def projects(api: Api) -> list[dict[str, Any]]:
    """Return the namespaces of these tests' projects. Other tests have namespaces with other
    prefixes."""
    found = api.items("/api/v1/namespaces", labelSelector=PROJECT)
    return [space for space in found if space["metadata"]["name"].startswith(PREFIX)]


@pytest.fixture(scope="session")
def api() -> Iterator[Api]:
    """An API that may do everything.

    Namespaces of the tests are deleted at the end. Those that an earlier run left are waited for,
    because they may still be terminating.
    """
    if not KUBECONFIG:
        pytest.skip(NO_CLUSTER)
    api = connect(Path(KUBECONFIG).read_text())

    def is_going() -> bool:
        return any("deletionTimestamp" in space["metadata"] for space in projects(api))

    wait_for(lambda: not is_going(), 120, "the namespaces of an earlier run to be gone")
    yield api
    for space in projects(api):
        api.delete(f"/api/v1/namespaces/{space['metadata']['name']}")


@pytest.fixture(scope="session")
def account(api: Api) -> Iterator[Api]:
    """An API with exactly the permissions in the manifest."""
    account = Account(api)
    limited = connect(account.kubeconfig(Path(KUBECONFIG).read_text()))
    wait_for(lambda: _may(limited), 30, "the rights to hold", every=0.1)
    yield limited
    account.remove()


def _may(api: Api) -> bool:
    try:
        return bool(api.items(PODS, limit=1)) or True
    except EngineRefused:
        return False


@pytest.fixture
def rig(api: Api, account: Api) -> Iterator[KubernetesRig]:
    if not api.items("/api/v1/nodes"):
        pytest.skip(NO_NODE)
    found = KubernetesRig(api, account)
    found.clean()
    yield found
    found.clean()
