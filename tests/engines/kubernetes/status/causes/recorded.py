"""What clusters show of workloads that do not run: pods without a node, and pods that were never
created.

The messages are those of Kubernetes 1.20 to 1.37; names and numbers are made up.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from engines.base import Observation
from engines.kubernetes.status.causes.known_nodes import with_known_nodes
from engines.nodes import Gpu, NodeInfo
from spec.phases import Phase
from tests.engines.kubernetes.objects import (
    MASTER,
    START,
    WAITS,
    WORKER,
    event,
    look,
    pod,
)

GIB = 1024**3
TAINTED = "3 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate"
DEDICATED = "3 node(s) had untolerated taint {dedicated: infra}"
NO_MATCH = "1 node(s) didn't match Pod's node affinity/selector"
QUOTA = (
    'pods "demo-worker-0" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, '
    "limited: pods=1"
)
CLAIMED = {"volumes": [{"name": "pvc-0", "persistentVolumeClaim": {"claimName": "demo-volume-0"}}]}
CLAIM = {"kind": "PersistentVolumeClaim", "metadata": {"name": "demo-volume-0"}}
DGX = {"nodeSelector": {"run.ai/type": "dgx"}}
PULLS = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "a:1"'}}
KEYLESS = "couldn't find key token in Secret trainyard-team-a/bucket"
NO_PULL_SECRET = (
    "Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not "
    "succeed."
)


def node(name: str, gpus: int = 0, **labels: str) -> NodeInfo:
    have = tuple(Gpu(index, "H100", 80 * 10**9) for index in range(gpus))
    return NodeInfo(name, 8.0, 32 * GIB, have, labels=labels)


NODES = tuple(node(f"n{number}") for number in range(4))


def unplaced(said: str, requests: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    state = {"type": "PodScheduled", "status": "False", "message": said}
    containers = [{"name": "pytorch", "resources": {"requests": requests or {}}}]
    whole = {"containers": containers, **spec}
    status = {"conditions": [state]}
    return pod("worker", 0, phase="Pending", container=WAITS, spec=whole, status=status)


def nowhere(what: str, **also: Any) -> dict[str, Any]:
    return unplaced(f"0/4 nodes are available: {what}.", **also)


def starting(**state: Any) -> dict[str, Any]:
    return pod("worker", 0, phase="Pending", container={"state": state})


@dataclass(frozen=True)
class Recorded:
    title: str
    pods: tuple[dict[str, Any], ...]
    events: tuple[dict[str, Any], ...] = ()
    phase: Phase = Phase.PENDING
    now: float | None = None

    def seen(self) -> Observation:
        observation = look(*self.pods, events=self.events, now=self.now)
        return with_known_nodes(observation, self.pods, lambda: NODES)


OF_WORKER = pod("worker", 0)["metadata"]["labels"]


def unreported(**also: Any) -> dict[str, Any]:
    """Return a pod of which its scheduler says nothing."""
    spec = also.pop("spec", {})
    return pod("worker", 0, phase="Pending", container={}, spec=spec, **also)


PLACED = pod(
    "master",
    0,
    status={
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "True",
                "lastTransitionTime": (START + timedelta(seconds=2)).isoformat(),
            }
        ]
    },
)


def said(message: str) -> dict[str, Any]:
    return event("FailedCreatePod", message, second=5)


def of_worker(reason: str, message: str, *, second: float = 5) -> dict[str, Any]:
    return event(reason, message, about=WORKER, second=second)


PENDING = {
    "full": Recorded(
        "Not enough free CPU",
        (MASTER, nowhere(f"1 Insufficient cpu, {TAINTED}", requests={"cpu": "4"})),
    ),
    "too many cores": Recorded(
        "No node of the cluster has 50 CPU cores, the most is 8",
        (MASTER, nowhere(f"1 Insufficient cpu, {TAINTED}", requests={"cpu": "50"})),
    ),
    "too much memory": Recorded(
        "No node of the cluster has 900 GiB of memory, the most is 32 GiB",
        (MASTER, nowhere(f"1 Insufficient memory, {TAINTED}", requests={"memory": "900Gi"})),
    ),
    "its host's port": Recorded(
        "Its port on the host's network is in use on every node",
        (MASTER, nowhere("1 node(s) didn't have free ports for the requested pod ports")),
    ),
    "no GPU": Recorded(
        "No node of the cluster has GPUs",
        (MASTER, nowhere("4 Insufficient nvidia.com/gpu", requests={"nvidia.com/gpu": "1"})),
    ),
    "all tainted": Recorded(
        "Nodes are reserved for others by the taint dedicated", (MASTER, nowhere(DEDICATED))
    ),
    "control planes count last": Recorded(
        "No node is of the requested pool or type", (MASTER, nowhere(f"{TAINTED}, {NO_MATCH}"))
    ),
    "control planes only": Recorded(
        "Nodes are reserved for the control plane by the taint node-role.kubernetes.io/master",
        (MASTER, nowhere(TAINTED)),
    ),
    "a type that no node has, behind other taints": Recorded(
        "No node is of the requested pool or type",
        (MASTER, nowhere(f"{DEDICATED}, {NO_MATCH}", **DGX)),
    ),
    "gate": Recorded(
        "It waits behind a scheduling gate: team/quota",
        (
            MASTER,
            pod(
                "worker",
                0,
                phase="Pending",
                container=WAITS,
                spec={"schedulingGates": [{"name": "team/quota"}]},
                status={
                    "conditions": [
                        {
                            "type": "PodScheduled",
                            "status": "False",
                            "reason": "SchedulingGated",
                            "message": "Scheduling is blocked due to non-empty scheduling gates",
                        }
                    ]
                },
            ),
        ),
    ),
    "a volume that waits for its first pod": Recorded(
        "A volume does not exist yet",
        (MASTER, unreported(spec=CLAIMED)),
        (
            event(
                "ExternalProvisioning",
                "Waiting for a volume to be created either by the external provisioner "
                "'example.com/none' or manually by the system administrator.",
                about=CLAIM,
                warns=False,
            ),
        ),
        now=16,
    ),
    "a node that is not ready for it": Recorded(
        "The scheduler default-scheduler has chosen the node n2, which is not ready for it yet",
        (MASTER, unreported(status={"nominatedNodeName": "n2"})),
        now=16,
    ),
    "a scheduler that places other pods": Recorded(
        "The scheduler default-scheduler places other pods, and reports nothing about this one",
        (PLACED, unreported()),
        now=16,
    ),
    "no word of KAI": Recorded(
        "The scheduler kai-scheduler reports nothing about it",
        (
            MASTER,
            unreported(
                spec={"schedulerName": "kai-scheduler"},
                metadata={"labels": {**OF_WORKER, "kai.scheduler/queue": "team-a-1"}},
            ),
        ),
        now=16,
    ),
    "no scheduler": Recorded(
        "The scheduler kai-scheduler does not answer",
        (pod("worker", 0, phase="Pending", spec={"schedulerName": "kai-scheduler"}, container={}),),
        now=16,
    ),
    "storage class": Recorded(
        "The cluster has no storage class fast-nvme",
        (MASTER, nowhere("4 pod has unbound immediate PersistentVolumeClaims", **CLAIMED)),
        (
            event(
                "ProvisioningFailed",
                'storageclass.storage.k8s.io "fast-nvme" not found',
                about=CLAIM,
            ),
        ),
    ),
    "provisioner": Recorded(
        "A volume cannot be created",
        (MASTER, nowhere("4 pod has unbound immediate PersistentVolumeClaims", **CLAIMED)),
        (event("ProvisioningFailed", "no space in the pool", about=CLAIM),),
    ),
    "claim": Recorded(
        "The claim nothere is missing",
        (MASTER, unplaced('persistentvolumeclaim "nothere" not found')),
    ),
    "partly refused": Recorded(
        "Only 1 of 2 pods were created: the namespace's ResourceQuota q allows pods=1, and its "
        "pods together request more",
        (MASTER,),
        (said(QUOTA),),
    ),
    "all refused": Recorded("The namespace's ResourceQuota q is used up", (), (said(QUOTA),)),
    "limit range": Recorded(
        "The namespace's LimitRange allows at most 2 cpu for each container",
        (),
        (said("pods is forbidden: maximum cpu usage per Container is 2, but limit is 4"),),
    ),
    "pod security": Recorded(
        "The namespace's Pod Security level restricted refuses its pods",
        (),
        (said('violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false'),),
    ),
    "webhook": Recorded(
        "The admission webhook validate.kyverno.svc refuses its pods: no latest",
        (),
        (said('admission webhook "validate.kyverno.svc" denied the request: no latest'),),
    ),
    "silent webhook": Recorded(
        "The admission webhook mutate.istio.io does not answer",
        (),
        (said('Internal error occurred: failed calling webhook "mutate.istio.io": EOF'),),
    ),
    "no operator": Recorded("Waiting for the operator to create the pods", ()),
}
