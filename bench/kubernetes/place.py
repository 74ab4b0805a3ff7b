"""Starts a Trainyard that has one project, on the cluster that ``KUBECONFIG`` names."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx

from config.run.install import ROOT
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect
from tests.product import Trainyard
from tests.rest import Rest

PATIENCE = 120.0  # seconds for one call: there are thousands, and the machine may be busy
IMAGE = "local/busybox:1"  # never pulled: pods stay unscheduled, or run on simulated nodes


@dataclass(frozen=True)
class BenchSite:
    """The Trainyard and its cluster. Each run has a new ``project``, whose namespace is deleted at
    the end."""

    trainyard: Trainyard
    kubeconfig: Path
    api: Api
    project: str

    @property
    def namespace(self) -> str:
        return f"trainyard-{self.project}"

    @contextmanager
    def rest(self) -> Iterator[Rest]:
        """Yield a caller of the API that submits to the project."""
        with Rest(self.trainyard) as rest:
            rest.http.timeout = PATIENCE
            projects = rest.send("GET", "/org-unit/projects")["projects"]
            rest.project = next(each for each in projects if each["name"] == self.project)
            yield rest


@contextmanager
def place(kubeconfig: Path) -> Iterator[BenchSite]:
    """Start Trainyard with the cluster and a new project. After the block, stop it and delete the
    namespaces."""
    api = connect(kubeconfig.read_text())
    project = f"bench-{uuid4().hex[:6]}"
    with tempfile.TemporaryDirectory() as home:
        trainyard = Trainyard(Path(home), TRAINYARD_DEMO="0", TRAINYARD_LOCAL_ENGINE="off")
        trainyard.start()
        site = BenchSite(trainyard, kubeconfig, api, project)
        try:
            _manage(trainyard, "add_cluster", "bench", "--kubeconfig", str(kubeconfig))
            _manage(trainyard, "add_project", project, "--cluster", "bench")
            yield site
        finally:
            trainyard.stop()
            for space in api.items("/api/v1/namespaces"):
                if space["metadata"]["name"].startswith(site.namespace):
                    api.delete(f"/api/v1/namespaces/{space['metadata']['name']}")


def peer_namespace(place: BenchSite, turn: int) -> str:
    """Return the namespace of the peer's jobs in one turn."""
    return f"{place.namespace}-peer-{turn}"


def _manage(trainyard: Trainyard, *command: str) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=trainyard.environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def signed_in(trainyard: Trainyard) -> httpx.Client:
    """Return a client with the administrator's session, for pages. Raises ``RuntimeError``."""
    client = httpx.Client(base_url=trainyard.url, timeout=60, follow_redirects=True)
    form = client.get("/accounts/login/").text
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
    answer = client.post(
        "/accounts/login/",
        data={
            "login": trainyard.username,
            "password": trainyard.password,
            "csrfmiddlewaretoken": token[1] if token else "",
        },
        headers={"Referer": f"{trainyard.url}/accounts/login/"},
    )
    if answer.url.path != "/workloads/":
        raise RuntimeError(f"signing in led to {answer.url}")
    return client


def kubectl() -> str:
    """Return the path of kubectl: among the test tools of ``KUBEBUILDER_ASSETS``, or else the one
    on the PATH."""
    folder = os.environ.get("KUBEBUILDER_ASSETS", "")
    return str(Path(folder) / "kubectl") if folder else "kubectl"
