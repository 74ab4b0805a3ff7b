"""Turn a replica into the template of its pods. Pure."""

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.manifests import owned_labels
from engines.kubernetes.manifests.pod import scheduling
from engines.kubernetes.manifests.pod.container import container, pod_security
from engines.kubernetes.manifests.pod.fetchers import Images, fetchers, passwd, ssh_volumes
from engines.kubernetes.manifests.pod.pulls import pull_secrets
from engines.kubernetes.manifests.pod.volumes import mounts
from engines.kubernetes.manifests.values import without_empty
from spec.workload import Replica

#: Keeps service meshes from adding a container to each pod: it would outlive the program, and keep
#: its pod and devices for ever. A workload that sets one of these decides for itself.
INJECT = "sidecar.istio.io/inject"
MESHES = {INJECT: "false", "linkerd.io/inject": "disabled"}
#: With the host's network, ranks resolve the cluster's names only with this policy.
HOST_DNS = "ClusterFirstWithHostNet"


def pod_template(
    launch: Launch,
    kind: JobKind,
    replica: Replica,
    role: str,
    images: Images,
    marks: dict[str, str],
) -> Manifest:
    """The template of a role's pods. ``marks`` are labels of all pods of the workload."""
    own = owned_labels.of_pods(replica.annotations, kind)
    chosen = owned_labels.of_pods(replica.labels, kind)
    alone = not (MESHES.keys() & (own.keys() | chosen.keys()))
    return {
        "metadata": without_empty(
            {
                "labels": ({INJECT: "false"} if alone else {}) | chosen | marks,
                "annotations": (MESHES if alone else {})
                | own
                | scheduling.gpu_share(replica.compute)
                | passwd(replica),
            }
        ),
        "spec": _pod(launch, kind, replica, role, images),
    }


def _pod(launch: Launch, kind: JobKind, replica: Replica, role: str, images: Images) -> Manifest:
    mounted = mounts(launch, replica, role)
    attached = {"volumeMounts": mounted.mounts, "volumeDevices": mounted.devices}
    manifest = without_empty(
        {
            "securityContext": pod_security(replica.security),
            "hostIPC": replica.security.host_ipc or None,
            "hostNetwork": replica.security.host_network or None,
            "dnsPolicy": HOST_DNS if replica.security.host_network else None,
            "imagePullSecrets": pull_secrets(launch, replica),
            **scheduling.placement(launch, replica),
            "volumes": mounted.volumes + ssh_volumes(launch, replica, role),
            "initContainers": fetchers(launch, replica, role, images),
            "containers": [container(launch, kind, replica, role) | without_empty(attached)],
        }
    )
    return {
        "terminationGracePeriodSeconds": launch.spec.termination_grace_period_seconds,
        **manifest,
    }
