"""What Slurm and the scripts say of a run, as an observation."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.base import Observation
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.status.causes import cause_of
from engines.slurm.status.facts import (
    RunFacts,
    format_verdict,
    launch_line,
    parse_facts,
    parse_verdict,
)
from engines.slurm.status.observation import observe
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import CauseKind
from tests.engines.slurm.cases import UID, as_written, training

NOW = datetime(2026, 11, 22, 20, 5, tzinfo=UTC)
JOB = BatchJob("7", "ty", "RUNNING", NOW, NOW, NOW, "n[1-4]", "None")
FILES = {"launch": launch_line(training(), NOW), "job": "7", "claim": "7"}


def facts(**more: str) -> RunFacts:
    names = {name.replace("__", "/").replace("_of_", "."): text for name, text in more.items()}
    whole = parse_facts(FILES | {name.replace("_", "-"): text for name, text in names.items()})
    assert whole
    return whole


def started(count: int = 4, **ended: str) -> RunFacts:
    files = {"attempt": "0"}
    files |= {f"attempt-0/rank-{rank}.started": f"n{rank} 1700000000" for rank in range(count)}
    files |= {f"attempt-0/rank-{rank[1:]}.ended": text for rank, text in ended.items()}
    whole = parse_facts(FILES | files)
    assert whole
    return whole


def seen_as(facts: RunFacts, job: BatchJob | None) -> tuple[Phase | None, Reason]:
    shown = observe(UID, facts, job, NOW)
    return shown.phase, shown.reason


def test_a_job_runs_when_all_its_ranks_have_started() -> None:
    assert seen_as(facts(), replace(JOB, state="CONFIGURING"))[0] is Phase.INITIALIZING
    assert seen_as(started(3), JOB)[0] is Phase.INITIALIZING
    shown = observe(UID, started(), JOB, NOW)
    assert shown.phase is Phase.RUNNING
    assert [rank.node for rank in shown.ranks] == ["n0", "n1", "n2", "n3"]


def test_a_fetch_is_told_and_its_failure_is_why_the_run_failed() -> None:
    shown = observe(UID, facts(attempt="0", stage="Fetching s3://sets for /data."), JOB, NOW)
    assert (shown.phase, shown.message) == (Phase.INITIALIZING, "Fetching s3://sets for /data.")
    over = facts(attempt="0", trouble="The bucket is away.", finished="7 1 1700000000 ")
    shown = observe(UID, over, JOB, NOW)
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.REFUSED)
    assert shown.message == "The bucket is away."


def test_the_first_rank_that_failed_by_itself_is_named() -> None:
    gone = started(r0="143 5 10", r1="3 9 10", r2="143 4 0")
    over = replace(gone, finished=(1, NOW))
    shown = observe(UID, over, replace(JOB, state="FAILED"), NOW)
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert shown.message == "worker-0 (rank 1) exited with code 3."
    assert [rank.exit_code for rank in shown.ranks] == [-15, 3, -15, None]


def test_a_stop_that_we_asked_for_is_one_whatever_the_exit_code() -> None:
    for code in (0, 1, -15):
        ended = replace(started(), stopped=True, finished=(code, NOW), was_asked=True)
        assert seen_as(ended, JOB) == (Phase.STOPPED, Reason.STOPPED_BY_USER)
    done = started(r0="0 5 0", r1="0 5 0", r2="0 5 0", r3="0 5 0")
    completed = replace(done, stopped=True, finished=(0, NOW))
    assert seen_as(completed, None) == (Phase.COMPLETED, Reason.NONE)


@pytest.mark.parametrize(
    ("state", "phase", "reason"),
    [
        ("TIMEOUT", Phase.FAILED, Reason.DEADLINE_EXCEEDED),
        ("NODE_FAIL", Phase.FAILED, Reason.LOST),
        ("OUT_OF_MEMORY", Phase.FAILED, Reason.OUT_OF_MEMORY),
        ("CANCELLED", Phase.STOPPED, Reason.NONE),
        ("COMPLETED", Phase.COMPLETED, Reason.NONE),
        ("FAILED", Phase.FAILED, Reason.RANK_FAILED),
    ],
)
def test_slurms_word_counts_where_the_script_could_not_say_its_own(
    state: str, phase: Phase, reason: Reason
) -> None:
    over = replace(JOB, state=state)
    assert seen_as(started(), over) == (phase, reason)
    kept = replace(started(), verdict=parse_verdict(format_verdict(over)))
    assert observe(UID, kept, None, NOW) == observe(UID, started(), over, NOW)


def test_an_absent_job_is_unknown_and_never_failed() -> None:
    assert seen_as(started(), None)[0] is Phase.UNKNOWN
    assert seen_as(replace(started(), stopped=True), None)[0] is Phase.STOPPED


def test_a_job_that_was_queued_again_waits_as_preempted() -> None:
    again = replace(JOB, state="PENDING", reason="BeginTime")
    shown = observe(UID, started(), again, NOW)
    assert (shown.phase, shown.reason) == (Phase.PENDING, Reason.PREEMPTED)
    assert {rank.phase for rank in shown.ranks} == {RankPhase.PENDING}


@pytest.mark.parametrize(
    ("state", "nodes", "says"),
    [
        ("NODE_FAIL", "n2", "n2 failed, so Slurm queued it again."),
        ("NODE_FAIL", "n[1-2]", "One of n[1-2] failed, so Slurm queued it again."),
        ("PREEMPTED", "n2", "Slurm gave its nodes to a job with a better claim and queued it"),
        ("REQUEUED", "n2", "It was queued again, by its script or by someone on the cluster."),
    ],
)
def test_a_job_that_was_queued_again_says_why(state: str, nodes: str, says: str) -> None:
    again = replace(JOB, state="PENDING", reason="BeginTime")
    earlier = replace(JOB, state=state, nodes=nodes)
    assert observe(UID, started(), again, NOW, earlier=earlier).message.startswith(says)


def test_a_time_limit_of_ours_is_told_with_its_length() -> None:
    shown = observe(
        UID, replace(started(), is_over_limit=True, finished=(143, NOW), was_asked=True), JOB, NOW
    )
    assert shown.message == "It reached its time limit of 1 h."


def test_a_missing_output_folder_is_explained() -> None:
    shown = observe(UID, facts(), replace(JOB, state="FAILED", exit="0:53"), NOW)
    assert "could not open its output file" in shown.message


def test_an_end_reads_the_same_whenever_it_is_looked_at() -> None:
    over = replace(started(), finished=(0, NOW))
    later = datetime(2026, 11, 23, tzinfo=UTC)
    assert observe(UID, over, JOB, NOW) == observe(UID, over, None, later)
    looks = [observe(UID, started(), JOB, at) for at in (NOW, later)]
    assert looks[0].sequence < looks[1].sequence < ended(over).sequence


def ended(over: RunFacts) -> Observation:
    return observe(UID, over, None, NOW)


@pytest.mark.parametrize(
    ("reason", "kind", "never"),
    [
        ("Resources", CauseKind.CAPACITY, False),
        ("ReqNodeNotAvail, UnavailableNodes:n4", CauseKind.NODES, False),
        ("Job's account not permitted to use this partition (x)", CauseKind.REFUSED, True),
        ("PartitionTimeLimit", CauseKind.NODES, True),
        ("QOSMaxWallDurationPerJobLimit", CauseKind.NODES, True),
        ("AssocGrpGRES", CauseKind.QUOTA, False),
        ("SomethingNobodyHeardOf", CauseKind.OTHER, False),
    ],
)
def test_reasons_are_told_by_how_they_begin(reason: str, kind: CauseKind, never: bool) -> None:
    cause = cause_of(reason)
    assert (cause.kind, cause.said) == (kind, reason)
    assert (cause.reason is Reason.NEVER_FITS) == never


def test_a_torn_file_is_no_run() -> None:
    assert parse_facts({"launch": '{"run": 1'}) is None
    nobody = json.loads(FILES["launch"]) | {"master": False, "ranks": 0}
    assert parse_facts({"launch": json.dumps(nobody)}) is None
    assert parse_facts({}) is None
    assert parse_verdict("{") is None


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=9),
    st.lists(st.integers(), max_size=2),
)
LAUNCHED = json.loads(FILES["launch"])
LAUNCHES = st.builds(
    lambda key, value: json.dumps(LAUNCHED | {key: value}), st.sampled_from([*LAUNCHED]), VALUES
)
VERDICTS = st.builds(
    lambda key, value: json.dumps(
        {"id": "7", "name": "ty", "state": "FAILED", "nodes": "", "reason": "", "exit": "1:0"}
        | {"start": 1.0, "end": None, "submitted": None, key: value}
    ),
    st.sampled_from(["id", "state", "start", "end", "exit", "other"]),
    VALUES,
)
NUMBERS = st.sampled_from(["0", "1", "-1", "137", "1e30", "nan", "inf", "9" * 400, "x", ""])
LINES = st.lists(NUMBERS, max_size=4).map(" ".join) | st.text(max_size=20)
RANKS = st.sampled_from(["0", "1", "-1", "99", "9" * 30, "x"])


@given(
    st.just(FILES["launch"]) | LAUNCHES | VALUES.map(json.dumps) | LINES,
    st.dictionaries(st.sampled_from(["job", "attempt", "finished", "stop", "limit"]), LINES),
    st.dictionaries(RANKS, st.tuples(LINES, LINES), max_size=3),
    VERDICTS | LINES,
)
def test_files_of_a_run_that_make_no_sense_are_left_alone(
    launch: str, lines: dict[str, str], ranks: dict[str, tuple[str, str]], verdict: str
) -> None:
    texts = {"launch": launch, "attempt": "0", "ended": verdict, **lines}
    for rank, (started, ended) in ranks.items():
        texts[f"attempt-0/rank-{rank}.started"] = started
        texts[f"attempt-0/rank-{rank}.ended"] = ended
    if facts := parse_facts(texts):
        assert len(observe(UID, facts, None, NOW).ranks) == len(facts.roles) <= 513


@pytest.mark.parametrize(
    ("reason", "title"),
    [
        ("QOSMaxGRESPerJob", "It asks for more than its QOS allows one job"),
        ("QOSMaxCpuPerJobLimit", "It asks for more than its QOS allows one job"),
        ("QOSMinGRES", "It asks for less than its QOS allows one job"),
        ("AssocMaxNodePerJobLimit", "It asks for more than its account allows one job"),
        ("AssocMaxMemPerNode", "It asks for more than its account allows one job"),
        ("DependencyNeverSatisfied", "The job that it waits for did not end as it has to"),
        ("InvalidQOS", "It may not use its QOS"),
        ("InvalidAccount", "Its account does not exist"),
    ],
)
def test_limits_of_a_single_job_never_pass(reason: str, title: str) -> None:
    cause = cause_of(reason)
    assert (cause.title, cause.reason) == (title, Reason.NEVER_FITS)
    assert "Wait" not in cause.todo


@pytest.mark.parametrize("reason", ["QOSMaxJobsPerUserLimit", "AssocGrpGRES", "Dependency"])
def test_limits_of_several_jobs_pass(reason: str) -> None:
    cause = cause_of(reason)
    assert cause.reason is not Reason.NEVER_FITS
    assert "Wait" in cause.todo


def test_a_job_beyond_the_limit_of_its_account_never_starts() -> None:
    excess = "the account vision allows 6 GPUs at once, and it asks for 7 GPUs"
    known = parse_facts(FILES | {"launch": launch_line(training(), NOW, excess=excess)})
    assert known
    pending = replace(JOB, state="PENDING", reason="AssocGrpGRES")
    shown = observe(UID, known, pending, NOW)
    assert shown.reason is Reason.NEVER_FITS
    assert shown.message == f"The{excess[3:]}"
    other = observe(UID, known, replace(pending, reason="Priority"), NOW)
    assert other.reason is not Reason.NEVER_FITS


def test_a_held_job_has_no_expected_start() -> None:
    assert "expects" not in cause_of("JobHeldUser", NOW).todo
    assert "expects" in cause_of("Priority", NOW).todo


def test_a_script_has_as_many_ranks_as_it_started() -> None:
    launched = as_written("#!/bin/bash\n#SBATCH --ntasks=2\nsrun -n 4 hostname\n")
    files = {"launch": launch_line(launched, NOW), "job": "7", "claim": "7", "attempt": "0"}
    files |= {f"attempt-0/rank-{rank}.started": f"n{rank} 1700000000" for rank in (0, 3)}
    whole = parse_facts(files)
    assert whole
    shown = observe(UID, whole, JOB, NOW)
    assert [(it.rank, it.role, it.index) for it in shown.ranks] == [
        (rank, "worker", rank) for rank in range(4)
    ]
    assert [it.phase for it in shown.ranks][2:] == [RankPhase.PENDING, RankPhase.RUNNING]
    assert shown.has_own_ranks
