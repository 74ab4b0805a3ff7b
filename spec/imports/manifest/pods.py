"""Reads the template of a pod: what the pods of a workload run and request, with the names of our
JSON."""

from spec.imports.manifest.containers import read_container
from spec.imports.manifest.reading import Document, ManifestPart, without_empty
from spec.imports.manifest.volumes import read_storage
from spec.parts.scheduling import NODE_TYPE

ADDED_BY_SERVERS = ("creationTimestamp", "name", "namespace")
TRAINYARD_PREFIX = "trainyard.io/"
#: KAI's labels. Where a workload waits, its project says.
KAI_QUEUE, PREEMPTIBILITY, PRIORITY = (
    *("kai.scheduler/queue", "kai.scheduler/preemptibility"),
    "priorityClassName",
)
#: Label of a job: the LocalQueue of Kueue that starts it.
QUEUE_NAME = "kueue.x-k8s.io/queue-name"
# annotations for parts of a GPU
FRACTION = "gpu-fraction"
GPU_MEMORY = "gpu-memory"
SCHEDULERS = ("default-scheduler", "kai-scheduler", "runai-scheduler")
ONE_CONTAINER = "Trainyard runs one container in a pod; build one image of them"
#: Fields of the whole workload → where a pod's template has them.
WORKLOAD_FIELDS = {
    "priorityClass": "spec.priorityClassName",
    "preemptibility": f"metadata.labels.{PREEMPTIBILITY}",
    "terminationGracePeriodSeconds": "spec.terminationGracePeriodSeconds",
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def read_pod(template: ManifestPart) -> tuple[Document, Document]:
    """Return the fields of the pods, and the fields of the whole workload that are in their
    template."""
    meta = template.part("metadata")
    spec = template.part("spec")
    meta.drop(*ADDED_BY_SERVERS)
    marks = meta.part("labels")
    notes = meta.part("annotations")
    marks.drop(KAI_QUEUE)
    whole = {
        "preemptibility": marks.text(PREEMPTIBILITY),
        "priorityClass": spec.text("priorityClassName") or marks.text(PRIORITY),
        "terminationGracePeriodSeconds": spec.whole_number("terminationGracePeriodSeconds"),
    }
    replica: Document = {"compute": _read_gpu_fraction(notes)}
    security = _read_security(spec)
    one = _first_container(spec)
    inner = read_container(one, security)
    replica["compute"] |= inner.pop("compute")
    volumes, shared_memory = read_storage(spec, one)
    if shared_memory:
        replica["compute"]["largeShmRequest"] = True
    replica |= inner | {
        "security": without_empty(security),
        "storage": volumes,
        "labels": read_labels(marks),
        "annotations": read_labels(notes),
        "imagePullSecrets": [{"name": it.text("name")} for it in spec.parts("imagePullSecrets")],
        "restartPolicy": spec.text("restartPolicy"),
        **_read_placement(spec),
    }
    spec.require_one_of("schedulerName", *SCHEDULERS)
    spec.require_one_of("dnsPolicy", "ClusterFirst", "ClusterFirstWithHostNet")
    return without_empty(replica), without_empty(whole)


def _first_container(spec: ManifestPart) -> ManifestPart:
    first, *others = spec.parts("containers") or [spec.part("containers")]
    for other in others:
        other.drop(*other.names())
        spec.refuse(other.path.removeprefix(f"{spec.path}."), ONE_CONTAINER)
    return first


def read_labels(part: ManifestPart) -> list[Document]:
    """Labels or annotations, without those of the Trainyard that wrote the manifest."""
    part.drop(*(key for key in part.names() if key.startswith(TRAINYARD_PREFIX)))
    return [{"name": key, "value": part.text(key)} for key in part.names()]


def _read_gpu_fraction(notes: ManifestPart) -> Document:
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


def _read_security(spec: ManifestPart) -> Document:
    """Return the security settings of the pod; those of its container are added later."""
    rights = spec.part("securityContext")
    groups = ",".join(map(str, rights.whole_numbers("supplementalGroups")))
    return {
        "runAsUid": rights.whole_number("runAsUser"),
        "runAsGid": rights.whole_number("runAsGroup"),
        "supplementalGroups": groups,
        "runAsNonRoot": rights.flag("runAsNonRoot"),
        "seccompProfileType": rights.part("seccompProfile").text("type"),
        "hostIpc": spec.flag("hostIPC"),
        "hostNetwork": spec.flag("hostNetwork"),
    }


def _read_placement(spec: ManifestPart) -> Document:
    chosen = spec.part("nodeSelector")
    kind = chosen.text(NODE_TYPE)
    wanted = [
        {"key": key, "operator": "In", "values": [chosen.text(key)]} for key in chosen.names()
    ]
    required = spec.part("affinity").part("nodeAffinity").part(REQUIRED)
    terms = [
        [
            without_empty(
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
        "tolerations": [_read_toleration(it) for it in spec.parts("tolerations")],
    }


def _read_toleration(taint: ManifestPart) -> Document:
    if "key" not in taint:
        taint.refuse("key", "is required: a taint is named by its key")
    return without_empty(
        {
            "key": taint.text("key"),
            "operator": taint.text("operator"),
            "value": taint.text("value"),
            "effect": taint.text("effect"),
            "seconds": taint.whole_number("tolerationSeconds"),
        }
    )
