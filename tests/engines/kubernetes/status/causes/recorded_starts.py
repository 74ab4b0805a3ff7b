"""What clusters show of pods that have a node, and do not run yet or no longer."""

from typing import Any

from spec.phases import Phase
from tests.engines.kubernetes.objects import MASTER, RUNNING, START, UNREADY, WAITS, ended, pod
from tests.engines.kubernetes.status.causes.recorded import (
    KEYLESS,
    PULLS,
    Recorded,
    of_worker,
    starting,
)


def waits_for_master(state: dict[str, Any]) -> dict[str, Any]:
    """Return a worker whose init container is in this state."""
    before = {"name": "init-pytorch", "restartCount": 0, "state": state}
    initialized = {
        "type": "Initialized",
        "status": "False",
        "reason": "ContainersNotInitialized",
        "message": "containers with incomplete status: [init-pytorch]",
    }
    status = {"initContainerStatuses": [before], "conditions": [initialized]}
    return pod("worker", 0, phase="Pending", container=WAITS, status=status)


STARTED = {
    "image": Recorded(
        "The image train:2 cannot be pulled",
        (MASTER, pod("worker", 0, container={"state": PULLS, "image": "train:2"})),
        phase=Phase.INITIALIZING,
    ),
    "ConfigMap": Recorded(
        "The ConfigMap absent is missing",
        (
            MASTER,
            starting(
                waiting={
                    "reason": "CreateContainerConfigError",
                    "message": 'configmap "absent" not found',
                }
            ),
        ),
        phase=Phase.INITIALIZING,
    ),
    "key": Recorded(
        "The Secret bucket has no key token",
        (MASTER, starting(waiting={"reason": "CreateContainerConfigError", "message": KEYLESS})),
        phase=Phase.INITIALIZING,
    ),
    "key of a volume": Recorded(
        "The Secret of the volume secret-0 has no key ca",
        (MASTER, starting(**WAITS["state"])),
        (
            of_worker(
                "FailedMount",
                'MountVolume.SetUp failed for volume "secret-0" : references non-existent secret '
                "key: ca",
            ),
        ),
        phase=Phase.INITIALIZING,
    ),
    "volume in use": Recorded(
        "A volume is in use on another node",
        (MASTER, starting(**WAITS["state"])),
        (
            of_worker(
                "FailedAttachVolume",
                'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) a-master-0',
            ),
        ),
        phase=Phase.INITIALIZING,
    ),
    "crash loop": Recorded(
        "The program failed and is waiting to be restarted",
        (
            MASTER,
            pod(
                "worker",
                0,
                container={
                    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": ended(3, 9)["state"],
                    "restartCount": 1,
                },
            ),
        ),
        phase=Phase.DEGRADED,
    ),
    "not ready": Recorded(
        "The program is running, but its readiness probe fails",
        (MASTER, UNREADY),
        (of_worker("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 500"),),
        phase=Phase.INITIALIZING,
    ),
    "liveness": Recorded(
        "The node ended the program because its liveness probe failed",
        (
            MASTER,
            pod(
                "worker",
                0,
                container={
                    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {
                        "terminated": ended(137, 9)["state"]["terminated"]
                        | {"startedAt": START.isoformat()}
                    },
                    "restartCount": 1,
                },
            ),
        ),
        (of_worker("Unhealthy", "Liveness probe failed: connection refused"),),
        phase=Phase.DEGRADED,
    ),
    "slow start": Recorded(
        "The node n1 has been preparing its container for minutes",
        (
            MASTER,
            pod(
                "worker",
                0,
                phase="Pending",
                container={"state": {"waiting": {"reason": "ContainerCreating"}}},
                status={
                    "conditions": [
                        {
                            "type": "PodScheduled",
                            "status": "True",
                            "lastTransitionTime": START.isoformat(),
                        }
                    ]
                },
            ),
        ),
        phase=Phase.INITIALIZING,
        now=121,
    ),
    "the name of the master": Recorded(
        "It waits for the name of the master to resolve",
        (MASTER, waits_for_master({"running": {"startedAt": START.isoformat()}})),
        phase=Phase.INITIALIZING,
        now=121,
    ),
    "the name of the master, in vain": Recorded(
        "It waits for the name of the master to resolve",
        (MASTER, waits_for_master(ended(1, 201)["state"])),
        phase=Phase.INITIALIZING,
        now=202,
    ),
    "sidecar": Recorded(
        "The program has ended, and the container istio-proxy keeps its pod alive",
        (
            MASTER,
            pod(
                "worker",
                0,
                status={
                    "containerStatuses": [
                        {"name": "pytorch", **ended(0, 9, "Completed")},
                        {"name": "istio-proxy", **RUNNING},
                    ]
                },
            ),
        ),
        phase=Phase.RUNNING,
    ),
    "node lost": Recorded(
        "The node n1 does not answer",
        (
            MASTER,
            pod(
                "worker",
                0,
                status={
                    "conditions": [
                        {"type": "Ready", "status": "False"},
                        {"type": "ContainersReady", "status": "True"},
                    ]
                },
            ),
        ),
        phase=Phase.INITIALIZING,
    ),
}
