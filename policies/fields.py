"""The fields that a policy may rule, and which rules each may have.

Names, types and attributes are those of Run:ai's policies, with further fields of our own. A policy
of a distributed training has them for its workers and for its master; a policy of another kind has
them once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from policies.rules import Enforcement
from spec.formats.connections import PORTS, URLS
from spec.formats.merge import KEYS
from spec.kind import WorkloadKind

WORKER = "worker"
MASTER = "master"


class ValueType(StrEnum):
    """The type of a field's value, in the words of messages."""

    FLAG = "true or false"
    TEXT = "text"
    WHOLE = "a whole number"
    NUMBER = "a number"
    MEMORY = "an amount of memory, such as 500M or 2Gi"
    AMOUNT = "an amount, such as 1 or 2Gi"
    WORDS = "a list of texts"
    ITEMS = "a list of objects"
    OBJECT = "an object"


ANY_VALUE = (Enforcement.REQUIRED, Enforcement.CAN_EDIT)
CHOICE = (*ANY_VALUE, Enforcement.OPTIONS)
RANGE = (*ANY_VALUE, Enforcement.MIN, Enforcement.MAX, Enforcement.DEFAULT_FROM)
ENFORCEMENTS: Mapping[ValueType, tuple[Enforcement, ...]] = {
    ValueType.FLAG: ANY_VALUE,
    ValueType.TEXT: (*CHOICE, Enforcement.STARTS_WITH),
    ValueType.WHOLE: (*RANGE, Enforcement.STEP),
    ValueType.NUMBER: (*RANGE, Enforcement.STEP),
    ValueType.MEMORY: RANGE,
    ValueType.AMOUNT: CHOICE,
    ValueType.WORDS: CHOICE,
    ValueType.OBJECT: ANY_VALUE,
}


@dataclass(frozen=True)
class RuledField:
    """A field that a policy may rule. The items of a list have ``keys``, of which the first that an
    item has names it, and ``attributes`` that may have rules of their own."""

    type: ValueType
    attributes: Mapping[str, ValueType] = field(default_factory=dict)
    keys: tuple[str, ...] = ()


def _items(path: str, /, **attributes: ValueType) -> RuledField:
    names = {name.replace("__", "."): type_ for name, type_ in attributes.items()}
    return RuledField(ValueType.ITEMS, names, KEYS.get(path, ("name",)))


FLAG = ValueType.FLAG
TEXT = ValueType.TEXT
WHOLE = ValueType.WHOLE
_TOOL = {"container": WHOLE, "toolType": TEXT, "toolName": TEXT}

#: What each pod has, by dotted path.
POD_FIELDS: Mapping[str, RuledField] = {
    **dict.fromkeys(("annotations", "labels", "environmentVariables"), _items("labels")),
    **{
        name: RuledField(TEXT)
        for name in (
            *("args", "command", "image", "imagePullPolicy", "nodeType", "restartPolicy"),
            "workingDir",
        )
    },
    **{name: RuledField(FLAG) for name in ("createHomeDir", "stdin", "tty")},
    **{
        name: RuledField(ValueType.OBJECT)
        for name in ("nodeAffinityRequired", "podAffinity", "probes")
    },
    **{
        f"compute.{name}": RuledField(ValueType.NUMBER)
        for name in ("cpuCoreLimit", "cpuCoreRequest", "gpuPortionLimit", "gpuPortionRequest")
    },
    **{
        f"compute.{name}": RuledField(ValueType.MEMORY)
        for name in ("cpuMemoryLimit", "cpuMemoryRequest", "gpuMemoryLimit", "gpuMemoryRequest")
    },
    "compute.gpuDevicesRequest": RuledField(WHOLE),
    "compute.gpuRequestType": RuledField(TEXT),
    "compute.largeShmRequest": RuledField(FLAG),
    "compute.extendedResources": _items(
        "compute.extendedResources", resource=TEXT, quantity=ValueType.AMOUNT
    ),
    **{f"security.{name}": RuledField(WHOLE) for name in ("runAsUid", "runAsGid")},
    **{
        f"security.{name}": RuledField(TEXT)
        for name in ("uidGidSource", "supplementalGroups", "seccompProfileType")
    },
    **{
        f"security.{name}": RuledField(FLAG)
        for name in (
            *("runAsNonRoot", "allowPrivilegeEscalation", "readOnlyRootFilesystem"),
            *("hostIpc", "hostNetwork"),
        )
    },
    "security.capabilities": RuledField(ValueType.WORDS),
    PORTS: _items(
        PORTS,
        **_TOOL,
        serviceType=TEXT,
        external=WHOLE,
        customExternalPort=FLAG,
    ),
    URLS: _items(
        URLS,
        **_TOOL,
        url=TEXT,
        customUrl=FLAG,
        authorizedUsers=ValueType.WORDS,
        authorizedGroups=ValueType.WORDS,
    ),
    "imagePullSecrets": _items("imagePullSecrets", name=TEXT, userCredentials=FLAG),
    "tolerations": _items(
        "tolerations",
        **dict.fromkeys(("key", "operator", "value", "effect"), TEXT),
        seconds=WHOLE,
    ),
    "storage.pvc": _items(
        "storage.pvc",
        claimName=TEXT,
        path=TEXT,
        readOnly=FLAG,
        claimInfo__size=ValueType.AMOUNT,
        claimInfo__storageClass=TEXT,
        claimInfo__accessModes__readWriteOnce=FLAG,
        claimInfo__accessModes__readOnlyMany=FLAG,
        claimInfo__accessModes__readWriteMany=FLAG,
    ),
    "storage.nfs": _items("storage.nfs", server=TEXT, path=TEXT, mountPath=TEXT, readOnly=FLAG),
    "storage.hostPath": _items(
        "storage.hostPath", path=TEXT, mountPath=TEXT, readOnly=FLAG, mountPropagation=TEXT
    ),
    "storage.git": _items(
        "storage.git", **dict.fromkeys(("repository", "branch", "revision", "path"), TEXT)
    ),
    "storage.s3": _items("storage.s3", bucket=TEXT, path=TEXT, url=TEXT),
    "storage.configMapVolume": _items(
        "storage.configMapVolume",
        **dict.fromkeys(("configMap", "mountPath", "subPath", "defaultMode"), TEXT),
    ),
    "storage.secretVolume": _items(
        "storage.secretVolume", **dict.fromkeys(("secret", "mountPath", "defaultMode"), TEXT)
    ),
    "storage.emptyDirVolume": _items(
        "storage.emptyDirVolume", path=TEXT, medium=TEXT, sizeLimit=ValueType.AMOUNT
    ),
    "storage.dataVolume": _items("storage.dataVolume", id=TEXT, mountPath=TEXT),
}
#: What a workload has once.
WORKLOAD_FIELDS: Mapping[str, RuledField] = {
    **{
        name: RuledField(WHOLE)
        for name in (
            *("autoDeletionTimeAfterCompletionSeconds", "backoffLimit", "numWorkers"),
            *("minReplicas", "maxReplicas", "slotsPerWorker", "terminationGracePeriodSeconds"),
            *("timeLimitSeconds", "idleLimitSeconds", "processesPerPod"),
        )
    },
    **{
        name: RuledField(TEXT)
        for name in (
            *("category", "cleanPodPolicy", "distributedFramework", "mpiLauncherCreationPolicy"),
            *("preemptibility", "priorityClass", "sshAuthMountPath", "queue"),
        )
    },
    "terminateAfterPreemption": RuledField(FLAG),
    "nodePools": RuledField(ValueType.WORDS),
    "relatedUrls": _items("relatedUrls", url=TEXT, type=TEXT, name=TEXT),
}
#: Fields that Run:ai's policies have only for the workers.
WORKER_ONLY = frozenset(
    {
        *("cleanPodPolicy", "distributedFramework", "numWorkers", "minReplicas", "maxReplicas"),
        *("mpiLauncherCreationPolicy", "slotsPerWorker", "sshAuthMountPath", "processesPerPod"),
    }
)


def ruled_fields(kind: WorkloadKind, role: str) -> dict[str, RuledField]:
    """Return the fields that the rules of a role may name, as its part of a policy writes them."""
    workload_fields = {
        name: ruled
        for name, ruled in WORKLOAD_FIELDS.items()
        if kind.traits.may_have(name) and not (role == MASTER and name in WORKER_ONLY)
    }
    return {**POD_FIELDS, **workload_fields}


def find_field(address: str) -> RuledField | None:
    """Return what a rule's field is, by the address of the field in the document."""
    head, _, inner = address.partition(".")
    if head in (WORKER, MASTER):
        return POD_FIELDS.get(inner) or WORKLOAD_FIELDS.get(inner)
    return WORKLOAD_FIELDS.get(address)


def address_of(role: str, name: str) -> str:
    """Return the address in rules of a field that a role's part of a policy names.

    A field of the whole workload stands beside the roles. In the master's part it keeps the name of
    the master, so that a policy is written as it was read.
    """
    return name if role == WORKER and name in WORKLOAD_FIELDS else f"{role}.{name}"


def role_and_name(address: str) -> tuple[str, str]:
    """The inverse of :func:`address_of`."""
    head, _, inner = address.partition(".")
    return (head, inner) if head in (WORKER, MASTER) else (WORKER, address)
