"""Workloads in a queue of Kueue: what people do with them, and what they go through."""

import json
import shlex
from itertools import groupby
from typing import Any

from spec.phases import Phase
from tests.cluster import SHELL_IMAGE
from tests.engines.kubernetes.kueue.real_queue import Queue
from tests.faults.kubernetes.site import Site
from tests.proxy import ApiProxy
from tests.waiting import wait_for


def submit(site: Site, name: str, script: str, *, kind: str = "trainings", **spec: Any) -> str:
    """Submit a workload with one pod, or two if it is distributed."""
    if kind == "distributed":
        return site.submit(name, script, **spec)
    small = {"gpuDevicesRequest": 0, "cpuCoreRequest": 0.02, "cpuMemoryRequest": "20M"}
    body = site.rest.document(name)
    del body["noMaster"]
    body["spec"] = {
        "image": SHELL_IMAGE,
        "command": f"sh -c {shlex.quote(script)}",
        "compute": small,
        "backoffLimit": 0,
        "terminationGracePeriodSeconds": 1,
    } | spec
    return str(site.rest.send("POST", f"/workloads/{kind}", body)["workloadId"])


def act(site: Site, workload: str, verb: str, kind: str) -> None:
    """Call a verb of a workload, such as ``suspend``."""
    site.rest.send("POST", f"/workloads/{kind}/{workload}/{verb}")


def waits(site: Site, workload: str, words: str) -> None:
    """Wait until the workload is Pending with these words in its message."""

    def is_told() -> bool:
        row = site.rest.read(workload)
        return row.get("phase") == "Pending" and words in str(row.get("phaseMessage"))

    wait_for(is_told, 60, f"{workload} to wait: {words}", every=0.1)


def main_phases(site: Site, workload: str) -> list[Phase]:
    """Return the phases that a workload went through, without those on the way to running."""
    on_the_way = {Phase.CREATING, Phase.RESUMING, Phase.INITIALIZING}
    phases = [phase for phase in site.history(workload) if phase not in on_the_way]
    changes = [phase for phase, _ in groupby(phases)]  # Pending again after it was admitted
    return changes[1:] if changes and changes[0] is Phase.PENDING else changes


def fought_writes(proxy: ApiProxy) -> list[str]:
    """Return the writes to jobs that set what belongs to Kueue, besides their creation."""
    found = []
    for write in proxy.writes:
        if write.method not in {"PATCH", "PUT"} or b"{" not in write.body:
            continue
        spec = json.loads(write.body).get("spec") or {}
        policy = spec.get("runPolicy") or {}
        if not {"suspend", "parallelism"}.isdisjoint({*spec, *policy}):
            found.append(f"{write.method} {write.path}")
    return found


def is_ending(site: Site, workload: str) -> bool:
    """Whether a pod of the workload was asked to end, and has not ended yet."""
    return any(pod["metadata"].get("deletionTimestamp") for pod in site.cluster.pods(workload))


def is_free(queue: Queue) -> bool:
    return queue.taken() == 0
