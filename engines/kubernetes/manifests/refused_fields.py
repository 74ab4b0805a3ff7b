"""Map the field in an API server's refusal of a job to the field of the spec."""

import re

from engines.kubernetes.jobs import JobKind

REPLICA = r"(?:\.|\[)(?P<role>\w+)\]?"
#: End of a path below a replica → our field; the first match wins.
REPLICA_FIELDS = (
    (r"containers(?:\[0\])?\.image\b", "image"),
    (r"containers(?:\[0\])?\.imagePullPolicy", "imagePullPolicy"),
    (r"containers(?:\[0\])?\.env", "environmentVariables"),
    (r"containers(?:\[0\])?\.(command|args|workingDir)", r"\1"),
    (r"containers(?:\[0\])?\.resources", "compute"),
    (r"containers(?:\[0\])?\.securityContext|\.securityContext", "security"),
    (r"containers(?:\[0\])?\.(readiness|liveness|startup)Probe", r"probes.\1"),
    (r"containers(?:\[0\])?\.volume(Mounts|Devices)|\.volumes|initContainers", "storage"),
    (r"\.tolerations", "tolerations"),
    (r"\.affinity", "nodeAffinityRequired"),
    (r"\.imagePullSecrets", "imagePullSecrets"),
    (r"metadata\.labels", "labels"),
    (r"metadata\.annotations", "annotations"),
    (r"\.restartPolicy", "restartPolicy"),
)
JOB_FIELDS = (
    (r"^metadata\.name\b", "name"),
    (r"^metadata\.labels\b.*kueue\.x-k8s\.io/queue-name", "queue"),
    (r"^metadata\.labels\b", "jobLabels"),
    (r"^metadata\.annotations\b", "jobAnnotations"),
    (r"\.elasticPolicy", "minReplicas"),
    (r"\.slotsPerWorker", "slotsPerWorker"),
    (r"\.sshAuthMountPath", "sshAuthMountPath"),
    (r"\.launcherCreationPolicy", "mpiLauncherCreationPolicy"),
    (r"\.backoffLimit", "backoffLimit"),
    (r"\.cleanPodPolicy", "cleanPodPolicy"),
)
IN_TEXT = re.compile(r"\b(?:spec|metadata)(?:\.\w+|\[[\w./-]+\])+")


def spec_field(
    kind: JobKind, field: str, message: str, *, own_master: bool, lead: str = "worker"
) -> str:
    """The spec's field: ``worker.image`` for
    ``spec.pytorchReplicaSpecs.Worker…containers[0].image``.

    Webhooks name the field only in their message. Empty if the field is not from the spec.
    ``lead`` is the part of the spec that a plain Job is made of.
    """
    named = field or next(iter(IN_TEXT.findall(message)), "")
    for pattern, whole in JOB_FIELDS:
        if re.search(pattern, named):
            return whole
    if kind.is_plain:
        template = re.match(r"spec(?P<below>\.template\..*)", named)
        return _replica_field(lead, template["below"]) if template else ""
    in_replica = re.match(rf"spec\.{kind.replicas}{REPLICA}(?P<below>.*)", named)
    if not in_replica:
        return ""
    leads = in_replica["role"] == kind.master
    part = "master" if leads and own_master else "worker"
    return _replica_field(part, in_replica["below"])


def _replica_field(part: str, named: str) -> str:
    for pattern, below in REPLICA_FIELDS:
        if match := re.search(pattern, named):
            return f"{part}.{match.expand(below)}"
    return "numWorkers" if named.startswith(".replicas") else part
