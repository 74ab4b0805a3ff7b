"""Where a manifest has the fields of a workload, for messages about them."""

from collections.abc import Mapping

from spec.imports.manifest.pods import PREEMPTIBILITY, QUEUE_NAME

CONTAINER = "spec.containers.0"
#: Fields of a pod → where its template has them. Longer paths come before those that begin them.
POD_PLACES = {
    **{
        field: f"{CONTAINER}.{field}"
        for field in ("image", "imagePullPolicy", "command", "args", "workingDir", "stdin", "tty")
    },
    "environmentVariables": f"{CONTAINER}.env",
    "compute": f"{CONTAINER}.resources",
    "probes.readiness": f"{CONTAINER}.readinessProbe",
    "probes.liveness": f"{CONTAINER}.livenessProbe",
    "probes.startup": f"{CONTAINER}.startupProbe",
    "security.hostIpc": "spec.hostIPC",
    "security.hostNetwork": "spec.hostNetwork",
    "security.supplementalGroups": "spec.securityContext.supplementalGroups",
    "security": f"{CONTAINER}.securityContext",
    "storage": "spec.volumes",
    "labels": "metadata.labels",
    "annotations": "metadata.annotations",
    "imagePullSecrets": "spec.imagePullSecrets",
    "nodeType": "spec.nodeSelector",
    "nodeAffinityRequired": "spec.affinity",
    "tolerations": "spec.tolerations",
    "priorityClass": "spec.priorityClassName",
    "preemptibility": f"metadata.labels.{PREEMPTIBILITY}",
    "terminationGracePeriodSeconds": "spec.terminationGracePeriodSeconds",
}
#: Fields of a job → where its manifest has them. ``{policy}`` is its run policy, ``{roles}`` the
#: mapping of its replicas.
JOB_PLACES = {
    "name": "metadata.name",
    "noMaster": "{roles}",
    "spec.distributedFramework": "kind",
    "spec.numWorkers": "{roles}.Worker.replicas",
    "spec.queue": f"metadata.labels.{QUEUE_NAME}",
    "spec.topology": "metadata.annotations",
    "spec.backoffLimit": "{policy}.backoffLimit",
    "spec.timeLimitSeconds": "{policy}.activeDeadlineSeconds",
    "spec.autoDeletionTimeAfterCompletionSeconds": "{policy}.ttlSecondsAfterFinished",
    "spec.cleanPodPolicy": "{policy}.cleanPodPolicy",
    "spec.minReplicas": "spec.elasticPolicy.minReplicas",
    "spec.maxReplicas": "spec.elasticPolicy.maxReplicas",
    "spec.processesPerPod": "spec.nprocPerNode",
    "spec.slotsPerWorker": "spec.slotsPerWorker",
    "spec.sshAuthMountPath": "spec.sshAuthMountPath",
    "spec.mpiLauncherCreationPolicy": "spec.launcherCreationPolicy",
}


def place_of_job_field(field: str, *, policy: str, roles: str) -> str:
    """Return where a manifest has a field of a request, such as ``spec.numWorkers``; empty if the
    field is not of the whole job."""
    found = JOB_PLACES.get(field) or _find_longest(field, JOB_PLACES)[0]
    return found.format(policy=policy, roles=roles)


def place_of_pod_field(field: str, *, replica: str, template: str) -> str:
    """Return where a replica has a field of its pods, such as ``image``; empty if nowhere.

    ``replica`` and ``template`` are its paths. The restart policy of a Job is in the template, and
    that of a replica is not: ``replica`` is then empty.
    """
    if field == "restartPolicy":
        return f"{replica}.restartPolicy" if replica else f"{template}.spec.restartPolicy"
    place, rest = _find_longest(field, POD_PLACES)
    if not place:
        return ""
    number = rest.partition(".")[0]
    return f"{template}.{place}" + (f".{number}" if number.isdecimal() else "")


def _find_longest(field: str, places: Mapping[str, str]) -> tuple[str, str]:
    """Return the place of a field or of one that contains it, and the rest of its path."""
    for known, place in places.items():
        if field == known or field.startswith(f"{known}."):
            return place, field[len(known) + 1 :]
    return "", ""
