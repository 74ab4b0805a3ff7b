"""Accounting in JSON is read in the shapes of both releases."""

import json
from pathlib import Path

import pytest

from engines.slurm.queue.records import from_json
from engines.slurm.status.events import events_of
from tests.engines.slurm import cases
from tests.engines.slurm.accounted import record

RECORDED = Path(__file__).parent / "recorded"


@pytest.mark.parametrize("release", ["22.05", "24.11"])
def test_accounting_of_both_releases_is_read_as_it_was_recorded(release: str) -> None:
    jobs = from_json((RECORDED / f"{release}-sacct.json").read_text()) or ()
    events = [event for job in jobs for event in events_of(cases.UID, job)]
    said = [f"{it.reason}: {it.message} ({it.about})" for it in events]
    named = "; partition gpu; account vision; QOS normal"
    assert said[::2] == [
        f"Started: on n[1-2]; 2 GPUs, 2 CPUs, 1.05 GB of memory{named} (job 1)",
        f"Started: on n1; 2 CPUs, 1.05 GB of memory{named} (job 2)",
        f"Started: on n1; 1 CPU, 524 MB of memory{named} (job 3)",
        f"Started: on n1; 1 CPU, 524 MB of memory{named} (job 4+0)",
        f"Started: on n2; 1 GPU, 2 CPUs, 1.05 GB of memory{named} (job 4+1)",
    ]
    code = "; exit code 3; step 0 exit code 3"
    killed = "; exit code 139"
    if release == "22.05":  # which says success of what failed
        code = killed = ""
    ends = [
        ("Completed: after 0:00:02; a task used up to 3.", "MB of memory on n1 (job 1)"),
        (f"Failed: after 0:00:01{code}; a task used up to 3.", "MB of memory on n1 (job 2)"),
        ("Canceled: after 0:00:04; by alice; step 0 ended by signal 15 (SIGTERM)", "(job 3)"),
        ("Failed: after 0:00:0", f"{killed}; a task used up to 1.", "(job 4+0)"),
        ("Failed: after 0:00:0", f"{killed}; step 0 ended by signal 11 (SIGSEGV)", "(job 4+1)"),
    ]
    for line, parts in zip(said[1::2], ends, strict=True):
        assert line.startswith(parts[0])
        assert all(part in line for part in parts), line


def test_an_odd_job_hides_no_other_job() -> None:
    assert from_json("sacct: error: no JSON here") is None
    assert from_json('["jobs"]') is None
    odd = [{"job_id": 7}, record() | {"time": {"start": "soon", "end": {}}}]
    assert [it.id for it in from_json(json.dumps({"jobs": [*odd, record()]})) or ()] == ["52"]


def test_gpus_forgotten_by_a_restarted_controller_are_those_requested() -> None:
    job = record() | {
        "tres": {
            "requested": [
                {"type": "cpu", "name": None, "count": 1},
                {"type": "gres", "name": "gpu", "count": 2},
            ],
            "allocated": [{"type": "cpu", "name": None, "count": 4}],
        }
    }
    records = from_json(json.dumps({"jobs": [job]})) or []
    assert [it.allocated for it in records] == [{"cpu": 4, "gres/gpu": 2}]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("NODE_FAIL", "NodeFailed"),
        ("BOOT_FAIL", "BootFailed"),
        ("LAUNCH_FAILED", "LaunchFailed"),
        ("DEADLINE", "Deadline"),
    ],
)
def test_an_end_is_named_in_one_word_as_other_reasons_are(state: str, reason: str) -> None:
    (job,) = from_json(json.dumps({"jobs": [record(state)]})) or []
    assert [it.reason for it in events_of(cases.UID, job)] == ["Started", reason]
