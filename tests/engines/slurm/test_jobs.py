"""Jobs are read from what squeue and sacct print, whatever stands between."""

from datetime import UTC, datetime

from engines.slurm.layout import job_name, run_of
from engines.slurm.queue.commands import refusal
from engines.slurm.queue.jobs import BETWEEN, BatchJob, from_sacct, from_squeue, job_of_run
from tests.engines.slurm.cases import UID

NAME = job_name(UID, 3)
REASON = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher partitions"


def test_a_name_tells_workload_and_run() -> None:
    assert run_of(NAME) == (UID, 3)
    assert run_of("allocation") is None
    assert run_of(f"{NAME}-old") is None


def test_a_line_of_the_queue_becomes_a_job_unless_broken() -> None:
    fields = (
        "mark",
        "17",
        NAME,
        "PENDING",
        "2026-11-22T20:05:01",
        "N/A",
        "N/A",
        "",
        "1001",
        REASON,
    )
    forged = BETWEEN.join(("guessed", *fields[1:]))
    text = BETWEEN.join(fields) + f"\nsomebody's\n{forged}\nname\n"
    (job,) = from_squeue(text, "mark")
    assert job == BatchJob(
        *("17", NAME, "PENDING", datetime(2026, 11, 22, 20, 5, 1, tzinfo=UTC)),
        user="1001",
        reason=REASON,
    )
    assert job.is_queued


def test_states_of_accounting_lose_their_tail() -> None:
    text = f"4|{NAME}|CANCELLED by 1001|2026-11-22T20:05:00|Unknown|Unknown|n1|1001|0:15|None\n"
    (job,) = from_sacct(text)
    assert (job.state, job.start, job.exit, job.is_over) == ("CANCELLED", None, "0:15", True)


def test_a_heterogeneous_job_is_one_job_by_its_first_part() -> None:
    rows = [
        ("", f"52+{part}", NAME, "RUNNING", *["N/A"] * 3, f"n{part}", "1", "None")
        for part in (0, 1)
    ]
    (job,) = from_squeue("\n".join(BETWEEN.join(row) for row in rows), "")
    assert (job.id, job.nodes) == ("52", "n0")
    (job,) = from_sacct(f"52+0|{NAME}|COMPLETED||||n1|1|0:0|\n52+1|{NAME}|COMPLETED||||n2|1|0:0|\n")
    assert job.id == "52"


def test_of_several_jobs_with_a_name_the_claiming_one_counts() -> None:
    first = BatchJob("9", NAME, "COMPLETED")
    second = BatchJob("10", NAME, "RUNNING")
    assert job_of_run([first, second], "9") is first
    assert job_of_run([first, second], "") is second
    assert job_of_run([], "9") is None


def test_a_job_that_is_over_is_not_ours_by_its_name_alone() -> None:
    """A submission that was refused leaves one that failed, while the next has not come yet."""
    refused = BatchJob("9", NAME, "FAILED")
    assert job_of_run([refused], "") is None
    assert job_of_run([refused], "10") is None
    assert job_of_run([refused], "9") is refused


def test_a_refusal_names_the_field_and_an_outage_is_none() -> None:
    said = "sbatch: error: Batch job submission failed: Invalid qos specification"
    no = refusal(said)
    assert (str(no), getattr(no, "field", None)) == (
        "Slurm refuses it: Invalid qos specification",
        "priorityClass",
    )
    away = refusal("sbatch: error: Batch job submission failed: Socket timed out on send/recv")
    assert not hasattr(away, "field")
