"""Compares verdicts on random gangs with what a real scheduler does with each of them.

The cluster needs the training operator and simulated nodes of several types (label
``run.ai/type``), without workloads. Pods of the benchmark take a part of each node. Each gang is
judged, then submitted by the engine; it has started when all its pods have a node. The benchmark
tries as many as fit in a fixed time, so that on a slow cluster the sample is smaller and the
benchmark no longer.

``python -m bench.kubernetes.verdicts`` fills a database of its own and prints its counts as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import django
from django.core.management import call_command

from bench.report import Measurement
from config.run.install import ROOT
from engines.base import EngineError
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect
from tests.waiting import wait_for

if TYPE_CHECKING:
    from clusters.models import Cluster, Node
    from projects.models import Project
    from spec.workload import WorkloadSpec

SECONDS = 720
SEED = 7
CALLERS = 8
IMAGE = "local/busybox:1"  # never pulled: simulated nodes pull nothing
TYPE = "run.ai/type"
SIMULATED = "trainyard-kube/fake"
FOREVER = [{"name": "fake/run-seconds", "value": "forever"}]
TAKEN = (1 / 2, 3 / 4, 7 / 8, 15 / 16, 31 / 32)  # shares of a node that are taken
# looks at which pods that have no node are the same; seconds between two
SETTLED = 8
LOOK = 0.25
LONGEST = 180.0
WRONG = "wrong"
NOT_STARTED = "not started"
LIMITS = {WRONG: 2.0, NOT_STARTED: 5.0}  # percent


def rows(kubeconfig: Path) -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "TRAINYARD_HOME": home,
            "DJANGO_SETTINGS_MODULE": "bench.settings",
            "DATABASE_URL": "",
            "LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "bench.kubernetes.verdicts", str(kubeconfig)]
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=-1, check=True, text=True)
    said = json.loads(done.stdout.splitlines()[-1])
    if skipped := said.get("skipped"):
        print(f"Skipped: {skipped}")
        return
    nodes = said["nodes"]
    counted = Counter[str](said["counted"])
    judged = counted["judged"]
    repaired = counted["repaired"]
    left = f"{counted['unknown']} more were left to the queue"
    what = f"Verdicts that were wrong, of {judged} random gangs on {nodes:,} nodes ({left})"
    yield Measurement(what, 100 * counted[WRONG] / max(judged, 1), "%", LIMITS[WRONG])
    what = f"Gangs that did not start with the first repair offered, of {repaired}"
    yield Measurement(what, 100 * counted[NOT_STARTED] / max(repaired, 1), "%", LIMITS[NOT_STARTED])


@dataclass(frozen=True)
class Trial:
    """A cluster, a project on it, and the benchmark's random numbers."""

    cluster: "Cluster"
    project: "Project"
    api: Api
    random: Random

    @property
    def space(self) -> str:
        """The path of the namespace of the gangs."""
        return f"/api/v1/namespaces/trainyard-{self.project.name}"

    @property
    def fillers(self) -> str:
        """The path of the namespace of the pods that take a part of each node."""
        return f"{self.space}-fillers"

    def starts(self, spec: "WorkloadSpec") -> bool:
        """Submit a gang, and return whether all its pods got a node. It is deleted before this
        returns."""
        from clusters.connections import engine_for
        from engines.base import Handle, Launch

        engine = engine_for(self.cluster)
        handle = Handle(uuid4(), "gang", self.project.name)
        engine.submit(Launch(handle, 1, spec))
        try:
            return self._settles(spec.num_pods)
        finally:
            engine.delete(handle)
            wait_for(lambda: not self._pods(), LONGEST, "the gang to be gone", every=LOOK)

    def _settles(self, wanted: int) -> bool:
        looks: list[int] = []

        def settled() -> bool:
            """Whether the scheduler has placed or refused each pod, and nothing changes any
            more."""
            pods = self._pods()
            looks.append(sum(bool(pod["spec"].get("nodeName")) for pod in pods))
            unchanged = len(looks) >= SETTLED and len(set(looks[-SETTLED:])) == 1
            refused = sum(_is_refused(pod) for pod in pods)
            return looks[-1] == wanted or (looks[-1] + refused == wanted and unchanged)

        wait_for(settled, LONGEST, "the pods of the gang to settle", every=LOOK)
        return looks[-1] == wanted

    def _pods(self) -> list[dict[str, Any]]:
        return self.api.items(f"{self.space}/pods")


def _is_refused(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", [])
    scheduled = next((it["status"] for it in conditions if it["type"] == "PodScheduled"), "")
    return scheduled == "False" and not pod["spec"].get("nodeName")


def measure(kubeconfig: str) -> dict[str, Any]:
    """Try gangs on the cluster, and return the counts, or why it cannot be used."""
    from clusters.models import Cluster
    from tests.factories import ProjectFactory

    call_command("migrate", verbosity=0, interactive=False)
    call_command("add_cluster", "bench", "--kubeconfig", kubeconfig, stdout=sys.stderr)
    cluster = Cluster.objects.get(name="bench")
    project = ProjectFactory(cluster=cluster, name=f"bench-{uuid4().hex[:6]}")
    random = Random(SEED)  # noqa: S311 -- no secret, and the same each time
    api = connect(Path(kubeconfig).read_text())
    trial = Trial(cluster, project, api, random)
    types = {node.labels_json.get(TYPE) for node in cluster.nodes.all()} - {None}
    if not types or not cluster.nodes.filter(labels_json__has_key=SIMULATED).exists():
        return {"skipped": f"the cluster has no simulated nodes with the label {TYPE}."}
    try:
        _fill(trial)
        counted = _tried(trial, sorted(types))
    finally:
        for space in (trial.space, trial.fillers):
            api.delete(space)
    return {"nodes": cluster.nodes.count(), "counted": counted}


def _tried(trial: Trial, types: list[str]) -> Counter[str]:
    from workloads.scheduling.fit.foresight import predict, working_repairs
    from workloads.scheduling.fit.judge import Answer

    counted: Counter[str] = Counter()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        spec = gang(trial.random, types)
        ahead = predict(trial.cluster, trial.project, spec)
        answer = ahead.fit.answer
        if answer is Answer.UNKNOWN:
            counted["unknown"] += 1
            continue
        started = trial.starts(spec)
        counted["judged"] += 1
        counted[WRONG] += started is not (answer is Answer.NOW)
        offered = working_repairs(trial.cluster, trial.project, spec, ahead)
        if first := next((it for it in offered if it.answer is Answer.NOW), None):
            counted["repaired"] += 1
            counted[NOT_STARTED] += not trial.starts(first.spec)
        print(f"{answer}, started: {started}, {dict(counted)}", file=sys.stderr)
    return counted


def gang(random: Random, types: list[str]) -> "WorkloadSpec":
    """Return a random gang of 1 to 64 pods. Some are only for one type of nodes, and some larger
    than any node."""
    from spec.formats import documents

    compute = {
        "gpuDevicesRequest": random.choice((0, 1, 2, 4, 8, 8)),
        "cpuCoreRequest": random.choice((1, 8, 16, 32)),
        "cpuMemoryRequest": f"{random.choice((2, 32, 128, 256))}Gi",
    }
    worker: dict[str, object] = {"image": IMAGE, "compute": compute, "annotations": FOREVER}
    if random.random() < 0.6:
        worker["nodeType"] = random.choice(types)
    return documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "architecture": random.choice(("workers_only", "workers_and_master")),
            "numWorkers": random.choice((1, 2, 4, 8, 16, 32, 63)),
            "terminationGracePeriodSeconds": 1,
            "worker": worker,
        }
    )


def _fill(trial: Trial) -> None:
    """Take a part of each node, as in a busy cluster: most of it, and hardly two have equal room
    left."""
    api = trial.api
    random = trial.random
    simulated = trial.cluster.nodes.filter(labels_json__has_key=SIMULATED)
    _wait_for_nodes(trial, lambda: not simulated.exclude(allocated_cpu=0).exists(), "are empty")
    name = trial.fillers.rpartition("/")[2]
    api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": {}}})
    pods = [_filler(random, node) for node in simulated]
    ready = partial(_takes, api, f"{trial.fillers}/pods", pods[0])
    wait_for(ready, LONGEST, "the new namespace to take pods", every=LOOK)
    with ThreadPoolExecutor(CALLERS) as pool:
        list(pool.map(lambda pod: api.create(f"{trial.fillers}/pods", pod), pods))
    _wait_for_nodes(trial, lambda: not simulated.filter(allocated_cpu=0).exists(), "are taken")


def _takes(api: Api, path: str, pod: dict[str, Any]) -> bool:
    """Whether a namespace accepts pods, which it does once its service account has a token."""
    try:
        api.create(path, pod, dryRun="All")
    except EngineError:
        return False
    return True


def _wait_for_nodes(trial: Trial, condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds for the nodes. What pods request is usually read twice a minute;
    here it is read for each check."""
    from clusters.connections import engine_for
    from clusters.nodes import store

    def holds() -> bool:
        store.store(trial.cluster, engine_for(trial.cluster).nodes())
        return condition()

    wait_for(holds, LONGEST, f"that the simulated nodes {what}", every=1.0)


def _filler(random: Random, node: "Node") -> dict[str, Any]:
    gpus = node.gpu_count
    taken = {
        "cpu": str(int(node.cpu * random.choice(TAKEN))),
        "memory": str(int(node.memory * random.choice(TAKEN))),
    }
    if gpus and (held := gpus - random.choice((*[0] * 12, 1, 2, gpus // 2, gpus))):
        taken["nvidia.com/gpu"] = str(held)
    resources = {"requests": taken, "limits": taken}
    return {
        "metadata": {
            "name": f"filler-{node.name}",
            "annotations": {it["name"]: it["value"] for it in FOREVER},
        },
        "spec": {
            "nodeName": node.name,
            "containers": [{"name": "main", "image": IMAGE, "resources": resources}],
        },
    }


if __name__ == "__main__":
    django.setup()
    print(json.dumps(measure(sys.argv[1])))
