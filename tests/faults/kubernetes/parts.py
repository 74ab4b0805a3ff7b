"""Parts of a cluster on this machine, whose API server and kubelet are processes that tests can
stop."""

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from engines.base import EngineError
from engines.kubernetes.client.api import Gone, watch_events
from engines.kubernetes.watch.watcher import PODS
from tests.cluster import RealCluster
from tests.waiting import wait_for

# a program whose ``up`` restarts what ended
TESTBED = os.environ.get("KUBERNETES_TESTBED", "")
ETCD = "--etcd-servers="


@contextmanager
def stopped(process: psutil.Process) -> Iterator[None]:
    """Suspend a process while the block runs. Its connections stay open."""
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def api_server(cluster: RealCluster) -> psutil.Process:
    """Return the process of the API server."""
    address = urlsplit(cluster.api.address)
    return _listening(address.hostname or "", address.port or 443, "the API server")


def kubelet(cluster: RealCluster) -> psutil.Process:
    """Return the kubelet of the one node that is not simulated."""
    nodes = cluster.api.items("/api/v1/nodes")
    (status,) = [n["status"] for n in nodes if n["status"]["nodeInfo"]["machineID"]]
    (host,) = [one["address"] for one in status["addresses"] if one["type"] == "InternalIP"]
    return _listening(host, status["daemonEndpoints"]["kubeletEndpoint"]["Port"], "kubelet")


def part(cluster: RealCluster, program: str) -> psutil.Process:
    """Return the process of another program of this cluster, by a word of its command line. The
    test is skipped if there is none on this machine."""
    parts = [
        process
        for process in psutil.process_iter(["cmdline"])
        if program in " ".join(process.info["cmdline"] or ()) and _belongs_to(cluster, process)
    ]
    if len(parts) != 1:
        pytest.skip(f"{program} is no process of this machine that may be stopped")
    return parts[0]


def _belongs_to(cluster: RealCluster, process: psutil.Process) -> bool:
    """Whether a process is the cluster's: it names the cluster's folder, or runs in a pod."""
    # The slash, because the folder of another cluster may begin alike.
    if f"{cluster.kubeconfig.parent}/" in " ".join(process.info["cmdline"]):
        return True
    port = urlsplit(cluster.api.address).port
    groups = Path(f"/proc/{process.pid}/cgroup").read_text()
    return f"/trainyard-k8s-{port}/" in groups


def _listening(host: str, port: int, name: str) -> psutil.Process:
    found = {
        connection.pid
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and tuple(connection.laddr) == (host, port)
    }
    pid = found.pop() if len(found) == 1 else None
    if pid is None:
        pytest.skip(f"{name} is no process of this machine that may be stopped")
    return psutil.Process(pid)


def forget_the_past(cluster: RealCluster) -> None:
    """Make the cluster forget old versions: compact etcd, and restart the API server, which caches
    some itself."""
    if not TESTBED:
        pytest.skip("KUBERNETES_TESTBED names no program that starts an API server again")
    server = api_server(cluster)
    (etcd,) = [word.removeprefix(ETCD) for word in server.cmdline() if word.startswith(ETCD)]
    now = int(cluster.api.get(PODS)["metadata"]["resourceVersion"])
    _ask(f"{etcd}/v3/kv/compaction", {"revision": str(now), "physical": True})
    server.kill()
    server.wait(10)
    _up(cluster)
    wait_for(lambda: _has_forgotten(cluster, now - 1), 30, "an answer of 410", every=0.2)


def _up(cluster: RealCluster) -> None:
    command = [TESTBED, "up", "--port", str(urlsplit(cluster.api.address).port)]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)


def _ask(url: str, body: dict[str, object]) -> None:
    data = json.dumps(body).encode()
    with urllib.request.urlopen(url, data, timeout=10) as answer:  # noqa: S310 -- etcd of the test
        answer.read()


def _has_forgotten(cluster: RealCluster, version: int) -> bool:
    try:
        with cluster.api.stream(
            PODS, watch="true", resourceVersion=str(version), timeoutSeconds=1
        ) as response:
            for _ in watch_events(response):
                pass
    except Gone:
        return True
    except EngineError:
        return False  # it is still starting
    return False
