"""Measures how long it takes to judge whether a gang would start on 2,000 nodes, for random gangs.

A time includes the queries and the packing. ``python -m bench.fit`` fills a database of its own and
prints two lists of milliseconds as JSON: of each verdict, and of each verdict with its repairs.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import django
from django.core.management import call_command

from bench.report import Measurement, percentile
from config.run.install import ROOT
from core import garbage

if TYPE_CHECKING:
    from projects.models import Project
    from spec.workload import WorkloadSpec

NODES = 2_000
GANGS = 300
SEED = 11
GIB = 1024**3
TYPES = {"a100": 8, "h100": 8, "l4": 4, "cpu": 0}
LIMIT = 50  # milliseconds


def rows() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "TRAINYARD_HOME": home,
            "DJANGO_SETTINGS_MODULE": "bench.settings",
            "DATABASE_URL": "",
            "LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "bench.fit"]
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=-1, check=True, text=True)
    measured = json.loads(done.stdout.splitlines()[-1])
    for what, times in measured.items():
        name = f"{what} on {NODES:,} nodes, p95 of {GANGS} random gangs"
        yield Measurement(name, percentile(times, 0.95), "ms", LIMIT)


def measure() -> dict[str, list[float]]:
    """Return the milliseconds of each verdict, and of each verdict with its repairs."""
    from workloads.scheduling.fit.ground import supply_of_cluster
    from workloads.scheduling.fit.judge import predict_fit
    from workloads.scheduling.fit.repairs import find_repairs

    random = Random(SEED)  # noqa: S311 -- no secret, and the same each time
    project = _fill()
    garbage.tune_collector()  # as the web process does
    verdicts = []
    repaired = []
    for _ in range(GANGS):
        spec = gang(random)
        began = time.perf_counter()
        ground = supply_of_cluster(project.cluster, spec, project)
        fit = predict_fit(spec, ground)
        verdicts.append((time.perf_counter() - began) * 1000)
        find_repairs(spec, ground, fit)
        repaired.append((time.perf_counter() - began) * 1000)
    return {"Verdict": verdicts, "Verdict and repairs": repaired}


def gang(random: Random) -> "WorkloadSpec":
    """Return a random gang of 1 to 513 pods. Some are only for one type or pool of nodes, and some
    are larger than the cluster."""
    from spec.formats import documents

    gpus = random.choice((0, 1, 1, 2, 4, 8))
    compute = {
        "gpuDevicesRequest": gpus,
        "cpuCoreRequest": random.choice((1, 4, 8, 16)),
        "cpuMemoryRequest": f"{random.choice((2, 8, 32, 64))}Gi",
    }
    worker: dict[str, object] = {"image": "x:1", "compute": compute}
    if random.random() < 0.4:
        worker["nodeType"] = random.choice(list(TYPES))
    whole = {"nodePools": ["reserved"]} if random.random() < 0.2 else {}
    return documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "architecture": random.choice(("workers_only", "workers_and_master")),
            "numWorkers": random.choice((1, 2, 4, 8, 16, 64, 512)),
            "worker": worker,
            **whole,
        }
    )


def _fill() -> "Project":
    """Create nodes as in a busy cluster: of few types, and hardly two with equal room left."""
    from clusters.models import NodePool
    from tests.factories import ClusterFactory, NodeFactory, ProjectFactory

    call_command("migrate", verbosity=0, interactive=False)
    random = Random(SEED)  # noqa: S311 -- see above
    cluster = ClusterFactory(nodes=0, kind="kubernetes")
    cluster.capabilities_json["queues"] = True
    cluster.save()
    pool = NodePool.objects.create(cluster=cluster, name="reserved", label_key="r", label_value="")
    rows = []
    for number in range(NODES):
        name = random.choice(list(TYPES))
        gpus = TYPES[name]
        rows.append(
            NodeFactory.build(
                cluster=cluster,
                name=f"node-{number}",
                cpu=128,
                memory=1024 * GIB,
                gpu_count=gpus,
                labels_json={f"key-{n}": "value" for n in range(15)} | {"run.ai/type": name},
                pool=pool if random.random() < 0.1 else None,
                allocated_cpu=random.choice((0.5, 4.5, 32.5, 64.5, 127.5)),
                allocated_memory=random.randrange(0, 1024, 8) * GIB,
                allocated_gpus=random.randint(0, gpus),
            )
        )
    type(rows[0]).objects.bulk_create(rows, batch_size=500)
    return ProjectFactory(cluster=cluster)


if __name__ == "__main__":
    django.setup()
    print(json.dumps(measure()))
