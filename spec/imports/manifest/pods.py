"""Reads the template of a pod: what the pods of a workload run and request, with the names of our
JSON."""

from spec.imports.manifest.containers import container_of
from spec.imports.manifest.reading import Document, ManifestPart, filled
from spec.imports.manifest.volumes import storage_of
from spec.parts.scheduling import NODE_TYPE

ADDED_BY_SERVERS = ("creationTimestamp", "name", "namespace")
OF_TRAINYARD = "trainyard.io/"
#: KAI's labels. Where a workload waits, its project says.
QUEUE, PREEMPTIBILITY, PRIORITY = (
    *("kai.scheduler/queue", "kai.scheduler/preemptibility"),
    "priorityClassName",
)
# annotations for parts of a GPU
FRACTION = "gpu-fraction"
GPU_MEMORY = "gpu-memory"
SCHEDULERS = ("default-scheduler", "kai-scheduler", "runai-scheduler")
ALL_AT_ONCE = "Trainyard runs one container in a pod; build one image of them"
#: Fields of the whole workload → where a pod's template has them.
OF_THE_WHOLE = {
    "priorityClass": "spec.priorityClassName",
    "preemptibility": f"metadata.labels.{PREEMPTIBILITY}",
    "terminationGracePeriodSeconds": "spec.terminationGracePeriodSeconds",
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_of(template: ManifestPart) -> tuple[Document, Document]:
    """Return the fields of the pods, and the fields of the whole workload that are in their
    template."""
    meta = template.part("metadata")
    spec = template.part("spec")
    meta.drop(*ADDED_BY_SERVERS)
    marks = meta.part("labels")
    notes = meta.part("annotations")
    marks.drop(QUEUE)
    whole = {
        "preemptibility": marks.text(PREEMPTIBILITY),
        "priorityClass": spec.text("priorityClassName") or marks.text(PRIORITY),
        "terminationGracePeriodSeconds": spec.whole("terminationGracePeriodSeconds"),
    }
    replica: Document = {"compute": _shares(notes)}
    security = _security(spec)
    one = _container(spec)
    inner = container_of(one, security)
    replica["compute"] |= inner.pop("compute")
    volumes, shared_memory = storage_of(spec, one)
    if shared_memory:
        replica["compute"]["largeShmRequest"] = True
    replica |= inner | {
        "security": filled(security),
        "storage": volumes,
        "labels": _named(marks),
        "annotations": _named(notes),
        "imagePullSecrets": [{"name": it.text("name")} for it in spec.parts("imagePullSecrets")],
        "restartPolicy": spec.text("restartPolicy"),
        **_placement(spec),
    }
    spec.one_of("schedulerName", *SCHEDULERS)
    spec.one_of("dnsPolicy", "ClusterFirst", "ClusterFirstWithHostNet")
    return filled(replica), filled(whole)


def _container(spec: ManifestPart) -> ManifestPart:
    first, *others = spec.parts("containers") or [spec.part("containers")]
    for other in others:
        other.drop(*other.names())
        spec.refuse(other.path.removeprefix(f"{spec.path}."), ALL_AT_ONCE)
    return first


def _named(part: ManifestPart) -> list[Document]:
    """Labels or annotations, without those of the Trainyard that wrote the manifest."""
    part.drop(*(key for key in part.names() if key.startswith(OF_TRAINYARD)))
    return [{"name": key, "value": part.text(key)} for key in part.names()]


def _shares(notes: ManifestPart) -> Document:
    """Return the part of a GPU, which KAI reads from annotations."""
    if FRACTION in notes:
        portion = notes.text(FRACTION)
        try:
            asked = {"gpuRequestType": "portion", "gpuPortionRequest": float(portion)}
        except ValueError:
            notes.refuse(FRACTION, f"{portion!r} is not a number")
            return {}
    elif GPU_MEMORY in notes:
        asked = {"gpuRequestType": "memory", "gpuMemoryRequest": f"{notes.text(GPU_MEMORY)}Mi"}
    else:
        return {}
    return {"gpuDevicesRequest": 1, **asked}


def _security(spec: ManifestPart) -> Document:
    """Return the security settings of the pod; those of its container are added later."""
    rights = spec.part("securityContext")
    groups = ",".join(map(str, rights.wholes("supplementalGroups")))
    return {
        "runAsUid": rights.whole("runAsUser"),
        "runAsGid": rights.whole("runAsGroup"),
        "supplementalGroups": groups,
        "runAsNonRoot": rights.flag("runAsNonRoot"),
        "seccompProfileType": rights.part("seccompProfile").text("type"),
        "hostIpc": spec.flag("hostIPC"),
        "hostNetwork": spec.flag("hostNetwork"),
    }


def _placement(spec: ManifestPart) -> Document:
    chosen = spec.part("nodeSelector")
    kind = chosen.text(NODE_TYPE)
    wanted = [
        {"key": key, "operator": "In", "values": [chosen.text(key)]} for key in chosen.names()
    ]
    required = spec.part("affinity").part("nodeAffinity").part(REQUIRED)
    terms = [
        [
            filled(
                {
                    "key": it.text("key"),
                    "operator": it.text("operator"),
                    "values": it.texts("values"),
                }
            )
            for it in term.parts("matchExpressions")
        ]
        for term in required.parts("nodeSelectorTerms")
    ]
    if wanted:  # every node needs these, whichever term it matches
        terms = [[*term, *wanted] for term in terms or [[]]]
    affinity = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {
        "nodeType": kind,
        "nodeAffinityRequired": affinity if terms else None,
        "tolerations": [_toleration(it) for it in spec.parts("tolerations")],
    }


def _toleration(taint: ManifestPart) -> Document:
    if "key" not in taint:
        taint.refuse("key", "is required: a taint is named by its key")
    return filled(
        {
            "key": taint.text("key"),
            "operator": taint.text("operator"),
            "value": taint.text("value"),
            "effect": taint.text("effect"),
            "seconds": taint.whole("tolerationSeconds"),
        }
    )
