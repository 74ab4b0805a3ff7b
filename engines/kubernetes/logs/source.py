"""Where the API has a container's log, and whether it is still that one."""

from urllib3.response import BaseHTTPResponse

from engines.base import EngineError, Manifest
from engines.kubernetes.client.api import Api, NotFound
from engines.kubernetes.logs import rotation

PATIENCE = 300.0  # seconds without a byte until the connection is made anew
FIRST = 64  # bytes of a line, with its time


def path(pod: Manifest) -> str:
    meta = pod["metadata"]
    return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"


def open_log(
    api: Api, pod: Manifest, container: str, *, follows: bool, previous: bool, since: str
) -> BaseHTTPResponse:
    """What it printed ``since`` a time, and what it prints where one ``follows``; ``previous`` is
    that of its last start but one."""
    query = _query(container, previous=previous)
    query |= {"follow": "true"} if follows else {}
    query |= {"sinceTime": since} if since else {}
    return api.follow(f"{path(pod)}/log", query, silence=PATIENCE)


def first_stretch(api: Api, pod: Manifest, container: str, *, previous: bool) -> bytes:
    """Of what its node has; nothing where it does not answer."""
    query = _query(container, previous=previous)
    return _text(api, pod, query, limit=rotation.STRETCH)


def newest(api: Api, pod: Manifest, container: str, *, previous: bool) -> bytes:
    """The first line that its node has, if only its time. Nothing says since when to look, for a
    node would read its file up to there."""
    return _text(api, pod, _query(container, previous=previous), limit=FIRST)


def _text(api: Api, pod: Manifest, query: dict[str, str], *, limit: int) -> bytes:
    try:
        return api.text(f"{path(pod)}/log", **query, limitBytes=limit)
    except EngineError:
        return b""


def _query(container: str, *, previous: bool) -> dict[str, str]:
    query = {"container": container, "timestamps": "true"}
    return query | ({"previous": "true"} if previous else {})


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
