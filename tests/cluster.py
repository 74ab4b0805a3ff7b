"""The cluster that ``KUBECONFIG`` names, for tests of the whole product."""

import os
from pathlib import Path

from engines.base import Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect
from engines.kubernetes.cluster.discovery import existing_job_kinds, served_resources
from engines.kubernetes.cluster.queues import API, QUEUES
from engines.kubernetes.labels import INSTALLATION, WORKLOAD
from engines.kubernetes.objects import NAMESPACES
from engines.kubernetes.watch.watcher import PODS
from tests.product import Trainyard
from tests.waiting import wait_for

KUBECONFIG = os.environ.get("KUBECONFIG", "")
SHELL_IMAGE = os.environ.get("TRAINYARD_TEST_IMAGE", "local/busybox:1")
TRAINER_IMAGE = os.environ.get("TRAINYARD_TEST_TRAINER", "")
NO_CLUSTER = "no cluster to test on: make test-kubernetes starts one; see docs/kubernetes.md"
NO_NODE = "this cluster has no node, so nothing runs there"


class RealCluster:
    """A cluster: what it has of a workload, and ways to prepare it and to interfere."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self.api: Api = connect(kubeconfig.read_text())

    @property
    def has_nodes(self) -> bool:
        return bool(self.api.items("/api/v1/nodes"))

    def disown(self) -> None:
        """Take the label of their installation from namespaces and queues: their Trainyard was that
        of an earlier run."""
        kinds = [NAMESPACES, *([QUEUES] if "queues" in served_resources(self.api, API) else [])]
        for kind in kinds:
            for item in self.api.items(kind, labelSelector=INSTALLATION):
                path = f"{kind}/{item['metadata']['name']}"
                self.api.merge(path, {"metadata": {"labels": {INSTALLATION: None}}})

    def join(
        self, trainyard: Trainyard, name: str, project: str, kubeconfig: Path | None = None
    ) -> None:
        """Add it to the product as a cluster, with one project."""
        path = kubeconfig or self.kubeconfig
        trainyard.manage("add_cluster", name, "--kubeconfig", str(path))
        trainyard.manage("add_project", project, "--cluster", name)

    def jobs(self, workload: str) -> list[Manifest]:
        """Return the jobs of a workload, of all kinds."""
        return [
            job
            for kind in existing_job_kinds(self.api)
            for job in self.of(workload, kind.cluster_path)
        ]

    def pods(self, workload: str) -> list[Manifest]:
        """Return the pods of a workload."""
        return self.of(workload, PODS)

    def secrets(self, workload: str) -> list[Manifest]:
        """Return the Secrets of a workload."""
        return self.of(workload, "/api/v1/secrets")

    def wipe(self, namespace: str) -> None:
        """Delete what an interrupted test left in a namespace, and wait until it is empty."""
        for kind in existing_job_kinds(self.api):
            for job in self.api.items(kind.path(namespace, "").removesuffix("/")):
                path = kind.path(namespace, job["metadata"]["name"])
                self.api.delete(path, propagationPolicy="Background")
        pods = f"/api/v1/namespaces/{namespace}/pods"
        wait_for(lambda: not self.api.items(pods), 120, f"{namespace} to be empty", every=0.2)

    def delete_pods(self, workload: str) -> None:
        """Delete the pods of a workload without a grace period, as if their node had forgotten
        them."""
        for pod in self.pods(workload):
            self.delete_pod(pod)

    def delete_pod(self, pod: Manifest) -> None:
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        self.api.delete(path, gracePeriodSeconds=0)

    def of(self, workload: str, path: str) -> list[Manifest]:
        """Return the objects at a path that have the workload's label."""
        return self.api.items(path, labelSelector=f"{WORKLOAD}={workload}")
