"""Kueue's names: its group, the labels by which a job asks for a queue, the versions of its API."""

from collections.abc import Iterable

from engines.base import Manifest

KUEUE = "kueue.x-k8s.io"
VISIBILITY = f"visibility.{KUEUE}"  # the group of its view of what waits
QUEUE_NAME = f"{KUEUE}/queue-name"  # label of a job: the LocalQueue that lets it start
PRIORITY_CLASS = f"{KUEUE}/priority-class"  # label of a job: its WorkloadPriorityClass
JOB_UID = f"{KUEUE}/job-uid"  # label of Kueue's Workload: the job that it is about
MANAGED = f"{KUEUE}/managed"  # label and finalizer of pods that Kueue starts without their job
#: Those that Trainyard speaks, the preferred one first. Kueue 0.20 no longer serves v1beta1.
VERSIONS = ("v1beta2", "v1beta1")


def served_version(groups: Iterable[Manifest], name: str = KUEUE) -> str:
    """The version of a group of Kueue's to speak, given the groups of ``/apis``. Empty if that is
    not served."""
    served = {
        version["version"]
        for group in groups
        if group["name"] == name
        for version in group["versions"]
    }
    return next((version for version in VERSIONS if version in served), "")


def workloads_path(version: str, namespace: str = "", name: str = "") -> str:
    """The path of Kueue's Workloads: of the cluster, of a namespace, or of a single one."""
    place = f"namespaces/{namespace}/" if namespace else ""
    single = f"/{name}" if name else ""
    return f"/apis/{KUEUE}/{version}/{place}workloads{single}"
