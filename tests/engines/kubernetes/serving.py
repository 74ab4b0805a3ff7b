"""Runs pods that serve something to the pods of a workload."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engines.base import Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.manifests.pod.fetchers import Images
from spec.phases import Phase
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.launches import ONE, with_spec
from tests.engines.reading import printed
from tests.waiting import wait_for

PODS = "/api/v1/namespaces/default/pods"


@contextmanager
def serving(api: Api, name: str, spec: Manifest) -> Iterator[str]:
    """Run a pod while the block runs, and yield its address once it is ready."""
    name = f"trainyard-test-{name}"
    _remove(api, name)
    wait_for(lambda: api.find(f"{PODS}/{name}") is None, 60, f"an earlier {name} to be gone")
    api.create(PODS, {"kind": "Pod", "metadata": {"name": name}, "spec": spec})
    try:
        yield wait_for(lambda: _address(api, name), 120, f"{name} to answer", every=0.1)
    finally:
        _remove(api, name)


def _address(api: Api, name: str) -> str:
    status = api.get(f"{PODS}/{name}")["status"]
    assert status["phase"] != "Failed", status
    ready = {"type": "Ready", "status": "True"}.items()
    is_ready = any(ready <= condition.items() for condition in status.get("conditions", ()))
    return str(status["podIP"]) if is_ready else ""


def _remove(api: Api, name: str) -> None:
    api.delete(f"{PODS}/{name}", gracePeriodSeconds=0)


USER = {"uidGidSource": "custom", "runAsUid": 1000, "runAsGid": 1000}
#: One repository at two addresses; the second requires a password.
REPOSITORY = """\
set -eu
export HOME=/tmp
git init --quiet --initial-branch=main /tmp/work && cd /tmp/work
git config user.name t && git config user.email t@example.com
echo one >file && git add file && git commit --quiet -m one && git tag first
echo two >file && git commit --quiet -a -m two
mkdir /srv/www
git clone --quiet --bare . /srv/www/open.git
git -C /srv/www/open.git update-server-info
cp -r /srv/www/open.git /srv/www/private.git
echo '/private.git:ada:p@ss%1' >/srv/httpd.conf
"""


#: A bucket with something for everyone, and something for those who sign their requests.
BUCKET = r"""
import subprocess, time
from urllib.error import URLError
from urllib.request import Request, urlopen

server = subprocess.Popen(["moto_server", "-H", "0.0.0.0", "-p", "8080"])

def put(path, body, **headers):
    headers["Content-Type"] = "application/octet-stream"
    urlopen(Request("http://127.0.0.1:8080/" + path, body, headers, method="PUT"), timeout=10)

while True:
    try:
        put("sets", b"")
        break
    except URLError:
        time.sleep(0.1)
put("sets/private/file", b"theirs\n")
put("sets/public/file", b"everybody's\n", **{"x-amz-acl": "public-read"})
server.wait()
"""


def server(main: Manifest, *first: Manifest) -> Manifest:
    """Return a pod whose container ``main`` serves, after the containers ``first`` have run."""
    probe = {"tcpSocket": {"port": 8080}, "periodSeconds": 1}
    place = {"volumeMounts": [{"name": "srv", "mountPath": "/srv"}]}
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "volumes": [{"name": "srv", "emptyDir": {}}],
        "initContainers": [{"name": "make", **place, **one} for one in first],
        "containers": [{"name": "serve", "readinessProbe": probe, **place, **main}],
    }


def with_images(rig: KubernetesRig, images: Images) -> None:
    """Have the engine fetch data sources with these images."""
    rig.engine = KubernetesEngine(rig.account, prefix=PREFIX, images=images)


def fetched(rig: KubernetesRig, script: str, storage: dict[str, Any], **worker: Any) -> str:
    """Run a program with this storage, and return what it prints."""
    launched = rig.shell(script, **ONE)
    launched = rig.submit(with_spec(launched, worker={"storage": storage, **worker}))
    assert rig.over(launched).phase is Phase.COMPLETED
    return printed(rig.engine, launched).decode()
