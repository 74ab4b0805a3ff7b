"""Installs Trainyard in a cluster, as ``docs/deploy.md`` says."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import SHELL_IMAGE
from tests.waiting import wait_for

NAMESPACE = "trainyard"
CLUSTER = "here"
PROJECT = "deployed"
START = 240  # seconds until everything must be there
Document = dict[str, Any]


@dataclass(frozen=True)
class Door:
    """The way to one web pod, for a caller of REST."""

    url: str
    password: str
    username: str = "admin"


class Installation:
    """Trainyard in a namespace, from a copy of the manifests that uses ``image``."""

    def __init__(self, kubectl: list[str], overlay: Path, image: str) -> None:
        self.kubectl = kubectl
        self.overlay = overlay
        name, _, tag = image.rpartition(":")
        path = overlay / "kustomization.yaml"
        document = yaml.safe_load(path.read_text())
        document["images"] = [{"name": "trainyard", "newName": name, "newTag": tag}]
        # Leaves the default storage class of the cluster, whatever its name is.
        document["patchesStrategicMerge"].remove("storage.yaml")
        path.write_text(yaml.safe_dump(document))
        self.password = (overlay / "secrets" / "TRAINYARD_ADMIN_PASSWORD").read_text()

    def run(self, *arguments: str, given: str | None = None) -> str:
        """Run ``kubectl`` in the namespace, and return what it prints. ``given`` is its input."""
        command = [*self.kubectl, "--namespace", NAMESPACE, *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def manifests(self) -> list[Document]:
        """Return the manifests that are applied."""
        made = self.run("kustomize", str(self.overlay))
        return list(yaml.safe_load_all(made))

    def install(self) -> None:
        """Apply the manifests, wait until all parts run, and add the cluster itself and a
        project."""
        self.open_volumes()
        self.run("apply", "-k", str(self.overlay))
        self.run(
            "wait", "--for=condition=complete", "job", "-l", "app=prepare", f"--timeout={START}s"
        )
        for name in ("web", "worker", "beat"):
            self.run("rollout", "status", f"deployment/{name}", f"--timeout={START}s")
        self.manage("add_cluster", CLUSTER, "--in-cluster")
        self.manage("add_project", PROJECT, "--cluster", CLUSTER)

    def manage(self, *arguments: str) -> str:
        """Run ``manage.py`` in the worker's pod."""
        return self.run("exec", "deployment/worker", "--", "python", "manage.py", *arguments)

    def open_volumes(self) -> None:
        """Create the claims before the pods that use them, and let everyone write to their
        folders."""
        manifests = self.manifests()
        claims = [one for one in manifests if one["kind"] == "PersistentVolumeClaim"]
        for one in manifests:
            for claim in one["spec"].get("volumeClaimTemplates", []) if "spec" in one else []:
                name = f"{claim['metadata']['name']}-{one['metadata']['name']}-0"
                kind = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
                claims.append({**kind, **claim, "metadata": {"name": name, "namespace": NAMESPACE}})
        spaces = [one for one in manifests if one["kind"] == "Namespace"]
        self.run("apply", "-f", "-", given=yaml.safe_dump_all([*spaces, *claims, opener(claims)]))
        wait_for(
            lambda: self.phase("opener") == "Succeeded", START, "volumes to be opened", every=1
        )
        self.run("delete", "pod", "opener")

    def phase(self, pod: str) -> str:
        """Return the phase of a pod."""
        return self.run("get", "pod", pod, "--output=jsonpath={.status.phase}")

    def pods(self, app: str) -> list[str]:
        """Return the names of an app's pods that are ready and not being deleted."""
        found = json.loads(self.run("get", "pods", "-l", f"app={app}", "--output=json"))["items"]
        return [
            pod["metadata"]["name"]
            for pod in found
            if "deletionTimestamp" not in pod["metadata"]
            and all(one["ready"] for one in pod["status"].get("containerStatuses", [{"ready": 0}]))
        ]

    @contextmanager
    def door(self, pod: str) -> Iterator[Door]:
        """Forward a port to a web pod while the block runs, with the administrator's sign-in."""
        command = [*self.kubectl, "--namespace", NAMESPACE, "port-forward", f"pod/{pod}", ":8000"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            try:
                port = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
                assert port, f"kubectl leads to no port of {pod}"
                yield Door(f"http://localhost:{port[1]}", self.password)
            finally:
                process.terminate()

    def remove(self) -> None:
        """Delete everything, including the namespace of its project."""
        spaces = ["namespace", NAMESPACE, f"trainyard-{PROJECT}"]
        self.run("delete", "--ignore-not-found", *spaces)
        self.run("delete", "--ignore-not-found", "clusterrole,clusterrolebinding", "trainyard")


def opener(claims: list[Document]) -> Document:
    """Return a pod that lets everyone write to the claims.

    Kubernetes does not give folders of a node to a pod's group, as it does with attached volumes.
    """
    names = [claim["metadata"]["name"] for claim in claims]
    container = {
        "name": "opener",
        "image": SHELL_IMAGE,
        "command": ["sh", "-c", "chmod 777 /claims/*"],
        "volumeMounts": [{"name": name, "mountPath": f"/claims/{name}"} for name in names],
    }
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "opener", "namespace": NAMESPACE},
        "spec": {"restartPolicy": "Never", "containers": [container], "volumes": volumes},
    }
