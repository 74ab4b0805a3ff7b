"""A job that Trainyard hands to a cluster is, read as anybody's manifest, its workload again."""

from typing import Any

import pytest

from engines.kubernetes.manifests.job import manifests
from spec.formats import documents
from spec.imports.manifest.jobs import import_manifest
from spec.kind import WorkloadKind
from tests.engines.kubernetes.cases import CASES, case

#: Cases that say nothing but what a manifest can.
READABLE = (
    *("pytorch", "pytorch-workers-only", "pytorch-processes", "pytorch-elastic", "mpi"),
    "pytorch-kueue",
)
#: What Trainyard adds to each pod, whatever is asked for.
ADDED = ("environmentVariables", "labels", "annotations")
#: Where a manifest says what a workload has by default.
FIELDS = (
    *("distributedFramework", "architecture", "numWorkers", "processesPerPod", "slotsPerWorker"),
    *("minReplicas", "maxReplicas", "sshAuthMountPath", "mpiLauncherCreationPolicy"),
    *("backoffLimit", "terminationGracePeriodSeconds"),
    *("queue", "jobAnnotations"),
)


@pytest.mark.parametrize("name", READABLE)
def test_a_job_that_trainyard_wrote_is_read_as_its_workload(name: str) -> None:
    assert name in CASES
    launch = case(name)
    *_, written = manifests(launch, prefix="runai-")
    job = import_manifest(written)
    assert job.faults == []
    assert job.kind is WorkloadKind.DISTRIBUTED
    document = documents.from_wire(job.spec, no_master=job.no_master, master=job.master)
    read = documents.dump_spec(documents.load_spec(document))
    meant = documents.dump_spec(launch.spec)
    for document in (read, meant):
        document["processesPerPod"] = document.get("processesPerPod") or 1  # as a job says
    assert {it: read.get(it) for it in FIELDS} == {it: meant.get(it) for it in FIELDS}
    assert bare(read["worker"]) == bare(meant["worker"])
    assert by_name(read["jobLabels"]) == by_name(meant["jobLabels"])


def by_name(labels: list[dict[str, str]]) -> dict[str, str]:
    return {label["name"]: label["value"] for label in labels}


def bare(replica: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in replica.items() if key not in ADDED}
    return rest | {"restartPolicy": None}  # a job says it, a spec need not
