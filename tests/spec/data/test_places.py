"""Volumes, data sources and scheduling: what they accept, and what they say of the rest."""

from typing import Any

import pytest

from spec.formats import documents
from spec.framework import Framework
from spec.problems.errors import SpecError
from spec.workload import RestartPolicy

Document = dict[str, Any]
NEW = {"path": "/data", "claimInfo": {"size": "1G"}}
FULL: Document = {
    "image": "img:1",
    "imagePullSecrets": [{"name": "registry"}],
    "restartPolicy": "OnFailure",
    "probes": {"readiness": {"periodSeconds": 2, "handler": {"httpGet": {"port": 80}}}},
    "storage": {
        "pvc": [
            NEW | {"ephemeral": True},
            {"path": "/old", "existingPvc": True, "claimName": "old", "readOnly": True},
        ],
        "nfs": [{"server": "10.0.0.1", "path": "/export", "mountPath": "/nfs"}],
        "hostPath": [{"path": "/host", "mountPath": "/host"}],
        "s3": [{"bucket": "sets", "path": "/s3", "accessKeySecret": "keys"}],
        "git": [{"repository": "git@host:a/b.git", "path": "/src", "branch": "main"}],
        "configMapVolume": [{"configMap": "c", "mountPath": "/c/train.yaml", "subPath": "t.yaml"}],
        "secretVolume": [{"secret": "s", "mountPath": "/s", "defaultMode": "0400"}],
        "emptyDirVolume": [{"path": "/tmp", "medium": "Memory", "sizeLimit": "1Gi"}],
    },
    "nodeType": "dgx",
    "nodeAffinityRequired": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}
        ]
    },
    "podAffinity": {"type": "Required", "key": "rack"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoExecute", "seconds": 60}],
}
WHOLE: Document = {
    "distributedFramework": "PyTorch",
    "numWorkers": 2,
    "minReplicas": 1,
    "maxReplicas": 4,
    "processesPerPod": 2,
    "nodePools": ["a100", "default"],
    "topology": {"name": "dc", "required": "rack", "preferred": "host"},
    "priorityClass": "high",
    "preemptibility": "non-preemptible",
    "category": "Train",
    "relatedUrls": [{"url": "https://example.com/run/1", "type": "wandb"}],
}


def test_a_full_spec_survives_the_way_to_the_wire_and_back() -> None:
    spec = documents.load_spec({**WHOLE, "worker": FULL})
    assert documents.load_spec(documents.dump_spec(spec)) == spec
    assert spec.worker.restart_policy is RestartPolicy.ON_FAILURE
    flat = documents.to_wire(documents.dump_spec(spec))
    assert documents.load_spec(documents.from_wire(flat, no_master=False, master=None)) == spec


def test_mpi_has_its_own_fields() -> None:
    own = {"slotsPerWorker": 2, "sshAuthMountPath": "/home/mpi/.ssh"}
    own |= {"mpiLauncherCreationPolicy": "WaitForWorkersReady"}
    mpi = {"distributedFramework": "MPI", "worker": {"image": "i"}, **own}
    assert documents.load_spec(mpi).distributed_framework is Framework.MPI
    with pytest.raises(SpecError, match="slotsPerWorker: only MPI"):
        documents.load_spec(mpi | {"distributedFramework": "TF"})


def storage(kind: str, **item: Any) -> tuple[Document, str]:
    return {"worker": {"image": "i", "storage": {kind: [item]}}}, f"worker.storage.{kind}.0"


def expression(**item: Any) -> Document:
    terms = [{"matchExpressions": [item]}]
    return {"worker": {"image": "i", "nodeAffinityRequired": {"nodeSelectorTerms": terms}}}


def toleration(**item: Any) -> Document:
    return {"worker": {"image": "i", "tolerations": [item]}}


GIT = {"path": "/src"}
A = {"name": "a", "content": "x"}
B = {"name": "b", "content": "x"}
BIG = {"name": "big", "content": "x" * 499_999}
WRONG_STORAGE: list[tuple[tuple[Document, str], str, str]] = [
    (storage("pvc", path="data", claimInfo={"size": "1G"}), "path", "below /"),
    (storage("pvc", path="/", claimInfo={"size": "1G"}), "path", "below /"),
    (storage("pvc", path="/a/../b", claimInfo={"size": "1G"}), "path", ".."),
    (storage("pvc", path="/data"), "claimInfo", "needs a size"),
    (storage("pvc", path="/data", existingPvc=True), "claimName", "name of an existing claim"),
    (storage("pvc", path="/data", claimName="x"), "claimInfo", "or set existingPvc"),
    (storage("pvc", **NEW, claimName="x", ephemeral=True), "ephemeral", "stays"),
    (
        storage("pvc", path="/d", existingPvc=True, claimName="x", ephemeral=True),
        "ephemeral",
        "new",
    ),
    (storage("pvc", path="/data", claimInfo={"size": "much"}), "claimInfo.size", "amount"),
    (storage("nfs", server="-o bad", path="/e", mountPath="/n"), "server", "without a path"),
    (storage("git", **GIT, repository="--upload-pack=sh"), "repository", "not a repository"),
    (storage("git", **GIT, repository="ext::sh -c x"), "repository", "not a repository"),
    (storage("git", **GIT, repository="https://me:pw@host/x"), "repository", "secretRef"),
    (storage("git", **GIT, repository="https://h/x", branch="-b"), "branch", "not a branch"),
    (storage("s3", bucket="b", path="/s"), "bucket", "at least 3 characters long"),
    (storage("s3", bucket="sets", path="/s", url="https://me@s3"), "url", "without a user"),
    (storage("secretVolume", secret="s", mountPath="/s", defaultMode="777"), "defaultMode", ""),
    (storage("secretVolume", mountPath="/s"), "secret", "is required"),
    (
        storage("secretVolume", secret="s", credential={"name": "c"}, mountPath="/s"),
        "credential",
        "not both",
    ),
    (storage("configMapVolume", mountPath="/c"), "configMap", "is required"),
    (
        storage("configMapVolume", configMap="c", files=[A], mountPath="/c"),
        "configMap",
        "not both",
    ),
    (
        storage("configMapVolume", files=[{"name": "a/b", "content": ""}], mountPath="/c"),
        "files.0.name",
        "not a file name",
    ),
    (storage("configMapVolume", files=[A, A], mountPath="/c"), "files", "a is listed twice"),
    (storage("configMapVolume", files=[A, BIG, B], mountPath="/c"), "files", "500 KB"),
    (storage("configMapVolume", files=[A], subPath="b", mountPath="/c"), "subPath", "no file b"),
    (storage("emptyDirVolume", path="/t", medium="Tape"), "medium", "must be one of"),
    (
        storage("configMapVolume", configMap="c", mountPath="/c", subPath="../x"),
        "subPath",
        "inside",
    ),
]
WRONG: list[tuple[Document, str, str]] = [
    (toleration(key="a", operator="Exists", value="b"), "worker.tolerations.0.value", "Equal"),
    (
        toleration(key="a", operator="Exists", seconds=5),
        "worker.tolerations.0.seconds",
        "NoExecute",
    ),
    ({"nodePools": ["a", "a"]}, "nodePools", "once"),
    ({"nodePools": [f"a{i}" for i in range(33)]}, "nodePools", "at most 32 items"),
    ({"minReplicas": 3}, "minReplicas", "more than the number"),
    ({"maxReplicas": 1}, "maxReplicas", "less than the number"),
    ({"distributedFramework": "TF", "maxReplicas": 4}, "maxReplicas", "only PyTorch"),
    ({"priorityClass": "urgent"}, "priorityClass", "must be one of"),
    ({"topology": {"name": "dc"}}, "topology.required", "level"),
    (
        {"relatedUrls": [{"url": "javascript:x", "type": "t"}]},
        "relatedUrls.0.url",
        "https://host/path",
    ),
    (
        expression(key="a", operator="In"),
        "worker.nodeAffinityRequired.nodeSelectorTerms.0.matchExpressions.0.values",
        "at least one",
    ),
    (
        expression(key="a", operator="Gt", values=["b"]),
        "worker.nodeAffinityRequired.nodeSelectorTerms.0.matchExpressions.0.values",
        "whole number",
    ),
]
ALL = [(case, f"{place}.{field}", words) for (case, place), field, words in WRONG_STORAGE] + WRONG


@pytest.mark.parametrize(("wrong", "field", "words"), ALL, ids=lambda value: str(value)[-60:])
def test_each_wrong_volume_or_scheduling_value_is_addressed(
    wrong: Document, field: str, words: str
) -> None:
    base = {"distributedFramework": "PyTorch", "numWorkers": 2, "worker": {"image": "i"}}
    with pytest.raises(SpecError) as caught:
        documents.load_spec(base | wrong)
    messages = {problem.field: problem.message for problem in caught.value.problems}
    assert words in messages.get(field, "MISSING"), messages


def test_a_path_is_mounted_once() -> None:
    taken = {"emptyDirVolume": [{"path": "/data/"}], "pvc": [NEW]}
    with pytest.raises(SpecError, match="/data/ is mounted twice"):
        documents.load_spec({**WHOLE, "worker": {"image": "i", "storage": taken}})
