"""The command that submits the same workload from a terminal."""

import shlex
from typing import Any

from spec.documents import Document
from workloads import commandplace
from workloads.commandplace import Flags

COMPUTE = {
    "gpuRequestType": "gpu-request-type",
    "gpuPortionRequest": "gpu-portion-request",
    "gpuPortionLimit": "gpu-portion-limit",
    "gpuMemoryRequest": "gpu-memory-request",
    "gpuMemoryLimit": "gpu-memory-limit",
    "gpuDevicesRequest": "gpu-devices-request",
    "cpuCoreRequest": "cpu-core-request",
    "cpuCoreLimit": "cpu-core-limit",
    "cpuMemoryRequest": "cpu-memory-request",
    "cpuMemoryLimit": "cpu-memory-limit",
}
SECURITY = {
    "uidGidSource": "user-group-source",
    "runAsUid": "run-as-uid",
    "runAsGid": "run-as-gid",
    "supplementalGroups": "supplemental-groups",
    "seccompProfileType": "seccomp-profile",
}
SWITCHES = {"createHomeDir": "create-home-dir", "stdin": "stdin", "tty": "tty"}


def render(name: str, project: str, document: Document) -> str:
    """One command over several lines; ``document`` is that of a plan, complete or not."""
    head = ["trainyard", "distributed", "submit", name or "NAME"]
    lines = [shlex.join(head), *(_line(flag) for flag in _flags(project, document))]
    worker = document.get("worker", {})
    tail = [worker[key] for key in ("command", "args") if worker.get(key)]
    if tail:
        switch = "--command -- " if worker.get("command") else "-- "
        lines.append(switch + " ".join(_words(str(part)) for part in tail))
    return " \\\n  ".join(lines)


def _words(command: str) -> str:
    """The words of a command, quoted for a shell; one that has no words is one word."""
    try:
        return shlex.join(shlex.split(command))
    except ValueError:
        return shlex.quote(command)


def _line(flag: tuple[str, ...]) -> str:
    return " ".join([flag[0], *(shlex.quote(part) for part in flag[1:])])


def _flags(project: str, document: Document) -> Flags:
    if project:
        yield "--project", project
    yield "--framework", str(document.get("distributedFramework", ""))
    yield from _replica(document.get("worker", {}), "")
    yield "--workers", str(document.get("numWorkers", 1))
    if document.get("architecture") == "workers_only":
        yield ("--no-master",)
    yield from _whole(document)
    yield from commandplace.whole(document)
    master = document.get("master")
    if master:
        yield from _replica(master, "master-")
        for key in ("command", "args"):
            if master.get(key):
                yield f"--master-{key}", str(master[key])


def _whole(document: Document) -> Flags:
    seconds = {
        "terminationGracePeriodSeconds": "--termination-grace-period",
        "autoDeletionTimeAfterCompletionSeconds": "--auto-deletion-time-after-completion",
    }
    if "backoffLimit" in document:
        yield "--backoff-limit", str(document["backoffLimit"])
    for key, flag in seconds.items():
        if key in document:
            yield flag, f"{document[key]}s"
    if document.get("cleanPodPolicy"):
        yield "--clean-pod-policy", str(document["cleanPodPolicy"])


def _replica(replica: Document, prefix: str) -> Flags:
    """``prefix`` is ``master-`` for the flags that are about the master alone."""
    if replica.get("image"):
        yield f"--{prefix}image", str(replica["image"])
    if replica.get("imagePullPolicy"):
        yield f"--{prefix}image-pull-policy", str(replica["imagePullPolicy"])
    yield from _named(replica.get("compute", {}), COMPUTE, prefix)
    if replica.get("compute", {}).get("largeShmRequest"):
        yield (f"--{prefix}large-shm",)
    for item in replica.get("compute", {}).get("extendedResources", []):
        yield f"--{prefix}extended-resource", f"{item.get('resource')}={item.get('quantity')}"
    for item in replica.get("environmentVariables", []):
        yield _variable(item, prefix)
    for key in ("label", "annotation"):
        for item in replica.get(f"{key}s", []):
            yield f"--{prefix}{key}", f"{item.get('name')}={item.get('value', '')}"
    if replica.get("workingDir"):
        yield f"--{prefix}working-dir", str(replica["workingDir"])
    yield from _named(replica.get("security", {}), SECURITY, prefix)
    yield from commandplace.placement(replica, prefix)
    yield from commandplace.storage(replica, prefix)
    for key, flag in SWITCHES.items():
        if replica.get(key):
            yield (f"--{prefix}{flag}",)


def _variable(item: Any, prefix: str) -> tuple[str, str]:
    for source, flag in (("secret", "env-secret"), ("configMap", "env-config-map")):
        if of := item.get(source):
            return f"--{prefix}{flag}", f"{item.get('name')}={of.get('name')},key={of.get('key')}"
    if of := item.get("podFieldRef"):
        return f"--{prefix}env-pod-field-ref", f"{item.get('name')}={of.get('path')}"
    return f"--{prefix}environment-variable", f"{item.get('name')}={item.get('value') or ''}"


def _named(values: Any, names: dict[str, str], prefix: str) -> Flags:
    for key, flag in names.items():
        if values.get(key) not in (None, ""):
            yield f"--{prefix}{flag}", str(values[key])
