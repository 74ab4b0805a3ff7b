"""Reads the container of a pod, with the names of our JSON."""

import shlex

from spec.imports.manifest.reading import Document, ManifestPart, filled, number_in

GPU = "nvidia.com/gpu"
TIMES = (
    *("initialDelaySeconds", "periodSeconds", "timeoutSeconds"),
    *("successThreshold", "failureThreshold"),
)
PROBES = {
    "readiness": "readinessProbe",
    "liveness": "livenessProbe",
    "startup": "startupProbe",
}


def container_of(one: ManifestPart, security: Document) -> Document:
    """Return the fields of a container. What it says about security overrides ``security``, which
    is the pod's."""
    # Ports of a container are only for people to read: they work without being listed.
    one.drop("name", "ports", "terminationMessagePath", "terminationMessagePolicy")
    _rights(one.part("securityContext"), security)
    return {
        "image": one.text("image"),
        "imagePullPolicy": one.text("imagePullPolicy"),
        "command": shlex.join(one.texts("command")),
        "args": shlex.join(one.texts("args")),
        "workingDir": one.text("workingDir"),
        "environmentVariables": [_variable(it) for it in one.parts("env")],
        "compute": _compute(one.part("resources")),
        "probes": filled({ours: _probe(one, theirs) for ours, theirs in PROBES.items()}),
        "stdin": one.flag("stdin"),
        "tty": one.flag("tty"),
    }


def _rights(rights: ManifestPart, security: Document) -> None:
    rights.one_of("privileged", False)
    own = {
        "runAsUid": rights.whole("runAsUser"),
        "runAsGid": rights.whole("runAsGroup"),
        "runAsNonRoot": rights.flag("runAsNonRoot"),
        "seccompProfileType": rights.part("seccompProfile").text("type"),
        "allowPrivilegeEscalation": rights.flag("allowPrivilegeEscalation"),
        "readOnlyRootFilesystem": rights.flag("readOnlyRootFilesystem"),
        "capabilities": rights.part("capabilities").texts("add"),
    }
    security |= filled(own)
    ids = (security["runAsUid"], security["runAsGid"])
    if security["supplementalGroups"] or any(it is not None for it in ids):
        security["uidGidSource"] = "custom"


def _variable(variable: ManifestPart) -> Document:
    name = variable.text("name")
    source = variable.part("valueFrom")
    if "secretKeyRef" in source:
        return {"name": name, "secret": _key_of(source.part("secretKeyRef"))}
    if "configMapKeyRef" in source:
        return {"name": name, "configMap": _key_of(source.part("configMapKeyRef"))}
    if "fieldRef" in source:
        at = source.part("fieldRef")
        at.drop("apiVersion")
        return {"name": name, "podFieldRef": {"path": at.text("fieldPath")}}
    return {"name": name, "value": variable.text("value")}


def _key_of(reference: ManifestPart) -> Document:
    reference.one_of("optional", False)
    return {"name": reference.text("name"), "key": reference.text("key")}


def _compute(resources: ManifestPart) -> Document:
    """Return the compute resources. A limit alone is a request, too, as on Kubernetes."""
    limits = resources.part("limits")
    requests = resources.part("requests")
    most = {name: limits.quantity(name) for name in limits.names()}
    asked = most | {name: requests.quantity(name) for name in requests.names()}
    compute: Document = {
        "cpuCoreRequest": _cores(requests, asked.pop("cpu", "")),
        "cpuCoreLimit": _cores(limits, most.pop("cpu", "")),
        "cpuMemoryRequest": asked.pop("memory", ""),
        "cpuMemoryLimit": most.pop("memory", ""),
    }
    extended = []
    for name, quantity in asked.items():
        if most.get(name, quantity) != quantity:
            limits.refuse(name, f"must be as in the requests, {quantity}")
        elif name == GPU and (gpus := number_in(quantity)) is not None:
            compute["gpuDevicesRequest"] = gpus
        elif name == GPU:
            requests.refuse(name, f"{quantity!r} is not a number of GPUs")
        elif "/" in name or name.startswith("hugepages-"):
            extended.append({"resource": name, "quantity": quantity})
        else:
            requests.refuse(name, "can be cpu, memory or an extended resource")
    return filled(compute | {"extendedResources": extended})


def _cores(part: ManifestPart, quantity: str) -> float | None:
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


def _probe(one: ManifestPart, key: str) -> Document:
    if key not in one:
        return {}
    probe = one.part(key)
    if "httpGet" not in probe:
        probe.refuse("httpGet", "is required: Trainyard's probes ask by HTTP")
        return {}
    get = probe.part("httpGet")
    where = {
        "path": get.text("path"),
        "port": get.whole("port"),
        "host": get.text("host"),
        "scheme": get.text("scheme"),
    }
    times = {name: probe.whole(name) for name in TIMES}
    return {"handler": {"httpGet": filled(where)}, **filled(times)}
