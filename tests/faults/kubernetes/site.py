"""A project on a real cluster, behind a proxy that tests break, and what must hold there."""

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

CLUSTER, PROJECT = "shaky", "faults"
NAMESPACE = f"trainyard-{PROJECT}"
ENDED = 120.0  # seconds until a gang is over, on a machine that is busy
TICKS = 40
COUNT = f"for i in $(seq {TICKS}); do echo tick $i; sleep 0.5; done"
ENDLESS = "trap 'exit 0' TERM; while :; do sleep 0.2; done"
#: How far each phase is. Degraded and Running take turns: a rank may be lost and come back.
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
    def __init__(
        self, trainyard: Trainyard, cluster: RealCluster, proxy: ApiProxy, rest: Rest
    ) -> None:
        self.trainyard, self.cluster, self.proxy, self.rest = trainyard, cluster, proxy, rest

    def submit(self, name: str, script: str, **spec: Any) -> str:
        """Two workers that run the script in a shell: a master's end would cut others short."""
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
        workload = self.submit(name, script, **spec)
        assert self.rest.wait(workload, "Running", *ENDS, timeout=ENDED) == "Running"
        return workload

    def ends_once(self, workload: str, phase: str) -> None:
        """It gets there, without having been started twice or having gone back on the way."""
        assert self.rest.wait(workload, *ENDS, timeout=ENDED) == phase
        self.is_sound(workload)

    def is_sound(self, workload: str) -> None:
        self.is_there_once(workload)
        self.never_went_back(workload)

    def is_there_once(self, workload: str) -> None:
        assert len(self.cluster.jobs(workload)) <= 1
        ranks = [pod["metadata"]["name"] for pod in self.cluster.pods(workload)]
        assert len(ranks) == len(set(ranks)) <= len(self.rest.pods(workload))

    def never_went_back(self, workload: str) -> None:
        """Within each run; a run begins with Creating or Resuming."""
        history = self.history(workload)
        places = [ORDER[phase] for phase in history]
        back = [i for i, (a, b) in enumerate(pairwise(places), 1) if a > b]
        assert not [i for i in back if history[i] is not Phase.RESUMING], history

    def history(self, workload: str) -> list[Phase]:
        """Every phase it was in, oldest first."""
        return [Phase(event["phase"]) for event in self.rest.events(workload) if event["phase"]]

    def counted(self, workload: str) -> None:
        """Every rank's log is here in full, and nothing in it twice."""
        expected = [f"tick {n}" for n in range(1, TICKS + 1)]
        for rank in range(2):
            whole = partial(self.has_lines, workload, rank, expected)
            wait_for(whole, 30, f"the whole log of rank {rank}", every=0.2)

    def has_lines(self, workload: str, rank: int, expected: list[str]) -> bool:
        return self.rest.log(workload, rank).splitlines() == expected

    def state(self) -> tuple[str, str]:
        """The cluster's state and message."""
        clusters = self.rest.send("GET", "/clusters")
        (status,) = [one["status"] for one in clusters if one["name"] == CLUSTER]
        return status["state"], status["message"]

    def nodes_page(self) -> str:
        """What an administrator sees of the cluster's nodes."""
        (one,) = [one for one in self.rest.send("GET", "/clusters") if one["name"] == CLUSTER]
        return self.page(f"/clusters/{one['uuid']}/nodes/")

    def page(self, path: str) -> str:
        """As an administrator sees it."""
        answer = httpx.get(self.trainyard.url + path, cookies=self.session, timeout=20)
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
        return answer.text

    @cached_property
    def session(self) -> dict[str, str]:
        return self.trainyard.sign_in()

    def connects(self, timeout: float = 90) -> None:
        wait_for(lambda: self.state()[0] == "Connected", timeout, "the cluster", every=0.2)

    def disconnects(self, words: str = "", timeout: float = 60) -> None:
        def told() -> bool:
            state, message = self.state()
            return state == "Disconnected" and words in message

        wait_for(told, timeout, f"the cluster to be called Disconnected: {words}", every=0.2)

    def clean(self) -> None:
        """Nothing is left of the workloads of a test."""
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
