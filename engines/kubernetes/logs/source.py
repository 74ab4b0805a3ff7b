"""Where the API has a container's log, and whether it is still that one."""

from urllib3.response import BaseHTTPResponse

from engines.base import Manifest
from engines.kubernetes.client.api import Api, NotFound

PATIENCE = 300.0  # seconds without a byte until the connection is made anew


def path(pod: Manifest) -> str:
    meta = pod["metadata"]
    return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"


def open_log(
    api: Api, pod: Manifest, container: str, *, follows: bool, previous: bool, since: str
) -> BaseHTTPResponse:
    """What it printed ``since`` a time, and what it prints where one ``follows``; ``previous`` is
    that of its last start but one."""
    query = {"container": container, "timestamps": "true"}
    query |= {"follow": "true"} if follows else {}
    query |= {"previous": "true"} if previous else {}
    query |= {"sinceTime": since} if since else {}
    return api.follow(f"{path(pod)}/log", query, silence=PATIENCE)


def restarts(api: Api, pod: Manifest, container: str) -> int | None:
    """Of a container by now; ``None`` where its pod is gone. The API knows a pod by its name, which
    another one may bear by now: ``NotFound``."""
    now = api.find(path(pod))
    if now is None:
        return None
    if now["metadata"]["uid"] != pod["metadata"]["uid"]:
        raise NotFound("Another pod has its name.")
    states = (now.get("status") or {}).get("containerStatuses") or []
    return next((int(each["restartCount"]) for each in states if each["name"] == container), 0)
