"""A project on a real cluster, behind a proxy that tests interfere with, and what must hold for its
workloads."""

import shlex
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import httpx

from spec.phases import Phase
from tests.cluster import SHELL_IMAGE, RealCluster
from tests.product import Trainyard
from tests.proxy import ApiProxy
from tests.rest import ENDS, Rest
from tests.waiting import wait_for

CLUSTER = "shaky"
PROJECT = "faults"
NAMESPACE = f"trainyard-{PROJECT}"
ENDED = 120.0  # seconds until a gang has ended, on a busy machine
TICKS = 40
COUNT = f"for i in $(seq {TICKS}); do echo tick $i; sleep 0.5; done"
ENDLESS = "trap 'exit 0' TERM; while :; do sleep 0.2; done"
#: How far each phase is. Degraded and Running may alternate, because a lost rank can come back.
ORDER = {
    Phase.CREATING: 0,
    Phase.RESUMING: 0,
    Phase.PENDING: 1,
    Phase.INITIALIZING: 2,
    Phase.RUNNING: 3,
    Phase.DEGRADED: 3,
    Phase.STOPPING: 4,
    Phase.STOPPED: 5,
    Phase.COMPLETED: 6,
    Phase.FAILED: 6,
}


class Site:
    """The project, and checks of its workloads."""

    def __init__(
        self, trainyard: Trainyard, cluster: RealCluster, proxy: ApiProxy, rest: Rest
    ) -> None:
        self.trainyard = trainyard
        self.cluster = cluster
        self.proxy = proxy
        self.rest = rest

    def submit(self, name: str, script: str, **spec: Any) -> str:
        """Submit two workers that run a script in a shell. There is no master, because its end
        would cut the workers short."""
        whole: dict[str, Any] = {
            "workers": 2,
            "noMaster": True,
            "image": SHELL_IMAGE,
            "command": f"sh -c {shlex.quote(script)}",
            "compute": {"gpuDevicesRequest": 0, "cpuCoreRequest": 0.02, "cpuMemoryRequest": "20M"},
            "backoffLimit": 0,
            "terminationGracePeriodSeconds": 1,
        }
        return self.rest.submit(name, **whole | spec)

    def running(self, name: str, script: str, **spec: Any) -> str:
        """Submit a script, and wait until it runs."""
        workload = self.submit(name, script, **spec)
        phase = self.rest.wait(workload, "Running", *ENDS, timeout=ENDED)
        assert phase == "Running", self.rest.read(workload)
        return workload

    def ends_once(self, workload: str, phase: str) -> None:
        """Wait for the end of a workload in this phase. It must have had one job, and no phase may
        have gone back."""
        assert self.rest.wait(workload, *ENDS, timeout=ENDED) == phase
        self.is_sound(workload)

    def is_sound(self, workload: str) -> None:
        """Check that a workload has one job at most, and that no phase went back."""
        self.is_there_once(workload)
        self.never_went_back(workload)

    def is_there_once(self, workload: str) -> None:
        """Check that a workload has one job at most, and one pod for each rank."""
        assert len(self.cluster.jobs(workload)) <= 1
        ranks = [pod["metadata"]["name"] for pod in self.cluster.pods(workload)]
        assert len(ranks) == len(set(ranks)) <= len(self.rest.pods(workload))

    def never_went_back(self, workload: str) -> None:
        """Check that no phase went back within a run. A run begins with Creating or Resuming."""
        history = self.history(workload)
        places = [ORDER[phase] for phase in history]
        back = [i for i, (a, b) in enumerate(pairwise(places), 1) if a > b]
        assert not [i for i in back if history[i] is not Phase.RESUMING], history

    def history(self, workload: str) -> list[Phase]:
        """Return all phases of a workload, the oldest first."""
        return [Phase(event["phase"]) for event in self.rest.events(workload) if event["phase"]]

    def counted(self, workload: str) -> None:
        """Wait until each rank's log is complete, with every line once."""
        expected = [f"tick {n}" for n in range(1, TICKS + 1)]
        for rank in range(2):
            whole = partial(self.has_lines, workload, rank, expected)
            wait_for(whole, 30, f"the whole log of rank {rank}", every=0.2)

    def has_lines(self, workload: str, rank: int, expected: list[str]) -> bool:
        return self.rest.log(workload, rank).splitlines() == expected

    def state(self) -> tuple[str, str]:
        """Return the state of the cluster, and its message."""
        clusters = self.rest.send("GET", "/clusters")
        (status,) = [one["status"] for one in clusters if one["name"] == CLUSTER]
        return status["state"], status["message"]

    def nodes_page(self) -> str:
        """Return the page of the cluster's nodes, as an administrator sees it."""
        (one,) = [one for one in self.rest.send("GET", "/clusters") if one["name"] == CLUSTER]
        return self.page(f"/clusters/{one['uuid']}/nodes/")

    def page(self, path: str) -> str:
        """Return a page as an administrator sees it."""
        answer = httpx.get(self.trainyard.url + path, cookies=self.session, timeout=20)
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
        return answer.text

    @cached_property
    def session(self) -> dict[str, str]:
        return self.trainyard.sign_in()

    def connects(self, timeout: float = 90) -> None:
        """Wait until the cluster is connected."""
        wait_for(lambda: self.state()[0] == "Connected", timeout, "the cluster", every=0.2)

    def disconnects(self, words: str = "", timeout: float = 60) -> None:
        """Wait until the cluster is disconnected, with ``words`` in its message."""

        def told() -> bool:
            state, message = self.state()
            return state == "Disconnected" and words in message

        wait_for(told, timeout, f"the cluster to be called Disconnected: {words}", every=0.2)

    def clean(self) -> None:
        """End all interference, and delete all workloads of a test."""
        self.proxy.heal()
        wait_for(self.trainyard.is_healthy, 60, "health after the test")
        self.connects()
        for row in self.rest.send("GET", "/workloads")["workloads"]:
            self.rest.delete(row["id"])
        wait_for(self.is_empty, ENDED, "its pods to be gone", every=0.2)

    def is_empty(self) -> bool:
        rows = self.rest.send("GET", "/workloads")["workloads"]
        pods = self.cluster.api.items(f"/api/v1/namespaces/{NAMESPACE}/pods")
        return not rows and not pods
