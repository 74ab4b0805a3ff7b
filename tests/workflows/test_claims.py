"""What tasks leave in their output folder stays in claims, which other tasks mount."""

from typing import Any

from tests.workflows.imports.files import PIPELINE, import_text
from workflows.claims import mount_claims, output_claim
from workflows.graph import WorkflowGroup


def pods(group: WorkflowGroup) -> list[dict[str, Any]]:
    document = mount_claims(group.document, group, "pipeline-4")
    return document["roles"] if "roles" in document else [document["worker"]]


def test_a_task_writes_the_claim_that_a_later_one_reads() -> None:
    training, evaluate = import_text(PIPELINE).graph.groups
    (train,) = pods(training)
    assert train["storage"]["pvc"] == [
        {
            "claimName": "pipeline-4-train-output",
            "claimInfo": {"size": "10G"},
            "path": "/osmo/data/output",
        }
    ]
    assert train["storage"]["emptyDirVolume"] == []
    first, second = pods(evaluate)
    assert [
        (claim["claimName"], claim["path"], claim["readOnly"]) for claim in first["storage"]["pvc"]
    ] == [
        ("pipeline-4-train-output", "/osmo/data/input/1", True),
        ("pipeline-3-train-output", "/osmo/data/input/2", True),
    ]
    assert "pvc" not in second["storage"]
    assert second["storage"]["emptyDirVolume"] == [{"path": "/osmo/data/output"}]


def test_names_of_claims_stay_apart() -> None:
    names = [output_claim("a-1", task) for task in ("x-y", "x_y", "X-y")]
    assert names[0] == "a-1-x-y-output"
    assert len(set(names)) == 3
    assert all(name == name.lower().replace("_", "-") for name in names)
