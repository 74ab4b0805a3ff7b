"""Where Slurm is easily misunderstood: what its releases print, as they print it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engines.base import EngineRefused, EngineUnavailable
from engines.findings import Level
from engines.slurm.client import files, programs
from engines.slurm.client.transport import CommandResult, LocalTransport
from engines.slurm.cluster.checks import check_connection
from engines.slurm.engine import SlurmEngine
from engines.slurm.queue.commands import answered, refusal
from engines.slurm.queue.jobs import BatchJob, from_sacct, from_squeue, job_of_run, jobs_by_name
from engines.slurm.script.render import BATCH
from engines.slurm.script.site import SlurmSite
from engines.slurm.status.causes import cause_of
from engines.slurm.status.facts import RankFact, launch_line, parse_facts
from engines.slurm.status.observation import observe
from engines.slurm.watch.poll import last_end
from spec.phases import Phase, Reason
from spec.problems.causes import CauseKind
from tests.engines.reading import printed
from tests.engines.slurm import cases
from tests.engines.slurm.rig import SlurmRig

NOW = datetime(2026, 11, 22, 20, 5, tzinfo=UTC)
NAME = "ty-00000000000040008000000000000001-1"
FAILED = "sbatch: error: Batch job submission failed: "
WAITING = parse_facts({"launch": launch_line(cases.training(), NOW), "job": "7"})


@pytest.mark.parametrize(
    ("reason", "kind", "never"),
    [
        (
            "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
            "partitions",
            CauseKind.NODES,
            False,
        ),
        (
            "Job's account not permitted to use this partition (private allows speech not vision)",
            CauseKind.REFUSED,
            True,
        ),
        ("AccountNotAllowed", CauseKind.REFUSED, True),  # the same to sacct
        ("PartitionConfig", CauseKind.REFUSED, True),  # the same to 24.11
        ("job requeued in held state", CauseKind.REFUSED, False),
        ("launch failed requeued held", CauseKind.REFUSED, False),
        ("PartitionNodeLimit", CauseKind.NODES, True),
        ("QOSMaxGRESPerUser", CauseKind.QUOTA, False),
        ("BeginTime", CauseKind.CAPACITY, False),
        ("JobHeldUser", CauseKind.REFUSED, False),
    ],
)
def test_a_reason_of_several_words_is_understood_and_kept(
    reason: str, kind: CauseKind, never: bool
) -> None:
    line = "\x1f".join(("", "7", NAME, "PENDING", "N/A", "N/A", "N/A", "", "1001", reason))
    (job,) = from_squeue(line, "")
    cause = cause_of(job.reason)
    assert (cause.kind, cause.said, cause.reason is Reason.NEVER_FITS) == (kind, reason, never)


def test_the_start_that_slurm_expects_is_told_while_it_lies_ahead() -> None:
    assert WAITING
    job = BatchJob("7", NAME, "PENDING", NOW, NOW + timedelta(hours=2), reason="Resources")
    said = observe(cases.UID, WAITING, job, NOW).cause
    assert said
    assert "Slurm expects it to start at 2026-11-22 22:05 UTC." in said.todo
    late = observe(cases.UID, WAITING, job, NOW + timedelta(hours=3)).cause
    assert late
    assert "expects" not in late.todo


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (f"{FAILED}Invalid partition name specified", "nodePools"),
        (f"{FAILED}Requested time limit is invalid (missing or exceeds some limit)", "timeLimit"),
        (f"{FAILED}Requested node configuration is not available", "worker.compute"),
        (f"{FAILED}Node count specification invalid", "numWorkers"),
        (f"{FAILED}Invalid feature specification", "worker.nodeType"),
        (
            f"sbatch: error: Memory specification can not be satisfied\n{FAILED}Requested node "
            "configuration is not available",
            "worker.compute.cpuMemory",
        ),
        (f"{FAILED}Invalid account or account/partition combination specified", ""),
        ("sbatch: error: Invalid --time specification", ""),
    ],
)
def test_a_refusal_is_one_and_names_its_field(said: str, field: str) -> None:
    error = refusal(said)
    assert isinstance(error, EngineRefused)
    assert (error.field or "").startswith(field)
    assert "sbatch" not in str(error)


@pytest.mark.parametrize(
    "said",
    [
        f"{FAILED}Socket timed out on send/recv operation",
        f"{FAILED}Unable to contact slurm controller (connect failure)",
        f"{FAILED}Zero Bytes were transmitted or received",
        f"{FAILED}Job violates accounting/QOS policy (job submit limit, user's size and/or time "
        "limits)",
    ],
)
def test_a_submission_that_may_succeed_later_is_not_refused(said: str) -> None:
    assert isinstance(refusal(said), EngineUnavailable)


def test_an_error_is_no_empty_queue() -> None:
    said = "slurm_load_jobs error: Invalid job id specified"
    with pytest.raises(EngineUnavailable, match="Invalid job id"):
        answered(CommandResult(1, b"", said), "squeue")


def test_no_stop_or_removal_is_done_while_the_directory_is_away(tmp_path: Path) -> None:
    engine = SlurmEngine(LocalTransport(), SlurmSite(str(tmp_path)))
    handle = cases.single().handle
    words = (str(tmp_path), "workloads/a", "changed/a")
    with pytest.raises(EngineUnavailable, match=r"cannot be stopped now: .*workloads"):
        engine.stop(handle, run=1)
    assert files.run_program(LocalTransport(), programs.REMOVE, *words).code == 4
    (tmp_path / "workloads").mkdir()
    engine.stop(handle, run=1)  # of a run that is gone nothing is left to stop
    assert files.run_program(LocalTransport(), programs.REMOVE, *words).code == 0


def test_another_job_under_the_number_of_ours_is_not_ours() -> None:
    theirs = BatchJob("7", "ty-ffffffffffff4fff8fffffffffffffff-1", "COMPLETED")
    assert job_of_run(jobs_by_name([theirs]).get(NAME, ()), "7") is None


def test_the_record_of_a_lost_job_is_not_its_end() -> None:
    """Accounting shows it as waiting, for ever, or by no name of ours."""
    text = f"7|{NAME}|PENDING|2026-11-22T20:05:00|Unknown|Unknown|None assigned|1001|0:0|None\n"
    assert WAITING
    assert last_end(from_sacct(text), WAITING) is None
    assert jobs_by_name(from_sacct(text.replace(NAME, "allocation"))).get(NAME) is None


def test_of_all_starts_in_accounting_the_last_end_counts() -> None:
    rows = [("NODE_FAIL", "n1", "0:0"), ("REQUEUED", "n2", "0:0"), ("COMPLETED", "n3", "0:0")]
    times = "2026-11-22T20:05:00|2026-11-22T20:05:01|2026-11-22T20:05:09"
    lines = [f"7|{NAME}|{state}|{times}|{node}|1001|{code}|None" for state, node, code in rows]
    assert WAITING
    job = last_end(from_sacct("\n".join(lines)), WAITING)
    assert job
    assert (job.state, job.nodes) == ("COMPLETED", "n3")


def test_the_number_that_a_refused_submission_burnt_is_no_end() -> None:
    line = f"6|{NAME}|FAILED|2026-11-22T20:05:00|Unknown|2026-11-22T20:05:00||1001|1:0|None\n"
    assert WAITING
    assert last_end(from_sacct(line), WAITING) is None


def test_a_job_that_an_operator_suspended_is_degraded() -> None:
    assert WAITING
    whole = replace(WAITING, attempt=0, is_script=True, ranks={0: RankFact("n1", NOW)})
    shown = observe(cases.UID, whole, BatchJob("7", NAME, "SUSPENDED"), NOW)
    assert shown.phase is Phase.DEGRADED
    assert "suspended" in shown.message


def test_a_client_of_another_release_is_told_from_an_outage_by_advice() -> None:
    report = {
        "user": ["trainyard"],
        "version": ["slurm-wlm 22.05.8"],
        "ping": ["Slurmctld(primary) at head is DOWN"],
    }
    findings = {it.name: it for it in check_connection("login", report)}
    assert findings["slurmctld"].level is Level.ISSUE
    assert "has the same release" in findings["slurmctld"].text


@pytest.mark.parametrize("name", cases.CASES)
def test_a_job_shares_nodes_and_keeps_its_log_after_a_restart(name: str) -> None:
    """``--exclusive`` would charge all GPUs of the nodes to the account."""
    text = cases.scripts(name).get(f"{name}-{BATCH}", "")
    directives = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    assert directives
    assert not any("exclusive" in line for line in directives)
    assert any("open-mode=append" in line for line in directives)


@pytest.mark.slurm
def test_nothing_of_the_login_session_comes_into_a_job(rig: SlurmRig) -> None:
    script = 'env | grep -c "^SSH_\\|^LC_ALL=C$\\|^TZ="; command -v srun > /dev/null && echo found'
    launched = rig.submit(rig.shell(script))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert printed(rig.engine, launched) == b"0\nfound\n"
