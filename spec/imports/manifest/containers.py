"""Reads the container of a pod, with the names of our JSON."""

import shlex

from spec.imports.manifest.reading import Document, ManifestPart, parse_number, without_empty

GPU = "nvidia.com/gpu"
PROBE_NUMBERS = (
    *("initialDelaySeconds", "periodSeconds", "timeoutSeconds"),
    *("successThreshold", "failureThreshold"),
)
PROBES = {
    "readiness": "readinessProbe",
    "liveness": "livenessProbe",
    "startup": "startupProbe",
}


def read_container(container: ManifestPart, security: Document) -> Document:
    """Return the fields of a container. What it says about security overrides ``security``, which
    is the pod's."""
    # Ports of a container are only for people to read: they work without being listed.
    container.drop("name", "ports", "terminationMessagePath", "terminationMessagePolicy")
    _read_security(container.part("securityContext"), security)
    return {
        "image": container.text("image"),
        "imagePullPolicy": container.text("imagePullPolicy"),
        "command": shlex.join(container.texts("command")),
        "args": shlex.join(container.texts("args")),
        "workingDir": container.text("workingDir"),
        "environmentVariables": [_read_variable(it) for it in container.parts("env")],
        "compute": _read_compute(container.part("resources")),
        "probes": without_empty(
            {ours: _read_probe(container, theirs) for ours, theirs in PROBES.items()}
        ),
        "stdin": container.flag("stdin"),
        "tty": container.flag("tty"),
    }


def _read_security(rights: ManifestPart, security: Document) -> None:
    rights.require_one_of("privileged", False)
    own = {
        "runAsUid": rights.whole_number("runAsUser"),
        "runAsGid": rights.whole_number("runAsGroup"),
        "runAsNonRoot": rights.flag("runAsNonRoot"),
        "seccompProfileType": rights.part("seccompProfile").text("type"),
        "allowPrivilegeEscalation": rights.flag("allowPrivilegeEscalation"),
        "readOnlyRootFilesystem": rights.flag("readOnlyRootFilesystem"),
        "capabilities": rights.part("capabilities").texts("add"),
    }
    security |= without_empty(own)
    ids = (security["runAsUid"], security["runAsGid"])
    if security["supplementalGroups"] or any(it is not None for it in ids):
        security["uidGidSource"] = "custom"


def _read_variable(variable: ManifestPart) -> Document:
    name = variable.text("name")
    source = variable.part("valueFrom")
    if "secretKeyRef" in source:
        return {"name": name, "secret": _read_key(source.part("secretKeyRef"))}
    if "configMapKeyRef" in source:
        return {"name": name, "configMap": _read_key(source.part("configMapKeyRef"))}
    if "fieldRef" in source:
        at = source.part("fieldRef")
        at.drop("apiVersion")
        return {"name": name, "podFieldRef": {"path": at.text("fieldPath")}}
    return {"name": name, "value": variable.text("value")}


def _read_key(reference: ManifestPart) -> Document:
    reference.require_one_of("optional", False)
    return {"name": reference.text("name"), "key": reference.text("key")}


def _read_compute(resources: ManifestPart) -> Document:
    """Return the compute resources. A limit alone is a request, too, as on Kubernetes."""
    limits = resources.part("limits")
    requests = resources.part("requests")
    most = {name: limits.quantity(name) for name in limits.names()}
    asked = most | {name: requests.quantity(name) for name in requests.names()}
    compute: Document = {
        "cpuCoreRequest": _parse_cores(requests, asked.pop("cpu", "")),
        "cpuCoreLimit": _parse_cores(limits, most.pop("cpu", "")),
        "cpuMemoryRequest": asked.pop("memory", ""),
        "cpuMemoryLimit": most.pop("memory", ""),
    }
    extended = []
    for name, quantity in asked.items():
        if most.get(name, quantity) != quantity:
            limits.refuse(name, f"must be as in the requests, {quantity}")
        elif name == GPU and (gpus := parse_number(quantity)) is not None:
            compute["gpuDevicesRequest"] = gpus
        elif name == GPU:
            requests.refuse(name, f"{quantity!r} is not a number of GPUs")
        elif "/" in name or name.startswith("hugepages-"):
            extended.append({"resource": name, "quantity": quantity})
        else:
            requests.refuse(name, "can be cpu, memory or an extended resource")
    return without_empty(compute | {"extendedResources": extended})


def _parse_cores(part: ManifestPart, quantity: str) -> float | None:
    number = quantity.removesuffix("m")
    thousandths = quantity.endswith("m")
    if not quantity:
        return None
    try:
        cores = float(number) / (1000 if thousandths else 1)
    except ValueError:
        part.refuse("cpu", f"{quantity!r} is not a number of cores such as 2 or 500m")
        return None
    return int(cores) if cores.is_integer() else cores


def _read_probe(one: ManifestPart, key: str) -> Document:
    if key not in one:
        return {}
    probe = one.part(key)
    if "httpGet" not in probe:
        probe.refuse("httpGet", "is required: Trainyard's probes ask by HTTP")
        return {}
    get = probe.part("httpGet")
    where = {
        "path": get.text("path"),
        "port": get.whole_number("port"),
        "host": get.text("host"),
        "scheme": get.text("scheme"),
    }
    times = {name: probe.whole_number(name) for name in PROBE_NUMBERS}
    return {"handler": {"httpGet": without_empty(where)}, **without_empty(times)}
