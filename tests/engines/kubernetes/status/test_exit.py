"""Programs that cannot be started, and ranks that fail before the others are there. Pure."""

from datetime import UTC, datetime
from typing import Any

import pytest

from engines.kubernetes.status.exit import describe_exit, failure_reason
from spec.phases import Phase, Reason
from spec.problems.causes import CauseKind
from spec.workload import Role
from tests.engines.kubernetes.objects import MASTER, WAITS, ended, look, pod

RUNC = "OCI runtime create failed: runc create failed: unable to start container process: "
OLDER = "OCI runtime create failed: container_linux.go:380: starting container process caused: "
INIT = "error during container init: "
HOOK = "error running hook #0: error running hook: exit status 1, stdout: , stderr: "
SSHD = 'exec: "/usr/sbin/sshd": stat /usr/sbin/sshd: no such file or directory'
TYPO = 'exec: "trian": executable file not found in $PATH'
DRIVER = "nvidia-container-cli: initialization error: driver not loaded"
NOWHERE = 'chdir to cwd ("/none") set in config.json failed: no such file or directory'


def unstarted(message: str) -> dict[str, Any]:
    state = ended(128, 9, "StartError")["state"]
    state["terminated"] |= {"message": message, "startedAt": "1970-01-01T00:00:00Z"}
    return dict(state)


@pytest.mark.parametrize(
    ("message", "words", "title"),
    [
        (
            f"failed to create containerd task: {RUNC}{SSHD}: unknown",
            SSHD,
            "/usr/sbin/sshd cannot be started: no such file or directory",
        ),
        (
            f"{OLDER}{TYPO}: unknown",
            TYPO,
            "trian cannot be started: executable file not found in $PATH",
        ),
        (
            f"{RUNC}{INIT}{TYPO}: unknown",
            TYPO,
            "trian cannot be started: executable file not found in $PATH",
        ),
    ],
)
def test_a_program_that_cannot_be_started_is_named(message: str, words: str, title: str) -> None:
    seen = look(pod("worker", 0, phase="Failed", container={"state": unstarted(message)}))
    assert (seen.phase, seen.reason) == (Phase.PENDING, Reason.COMMAND_NOT_FOUND)
    assert seen.cause
    assert (seen.cause.kind, seen.cause.title, seen.cause.said) == (
        CauseKind.PROGRAM,
        title,
        words,
    )
    rank = seen.ranks[1]
    assert (rank.reason, rank.message) == (seen.reason, f"could not be started: {words}")
    assert (rank.exit_code, rank.started_at) == (None, None), "kubelet's 128, and 1970"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (f"{RUNC}{INIT}{HOOK}{DRIVER}: unknown", DRIVER),
        (f"{RUNC}{HOOK}Auto-detected mode as 'legacy'\n{DRIVER}: unknown", DRIVER),
        (f"{RUNC}{NOWHERE}: unknown", NOWHERE),
        ("something else", "something else"),
        ("", "the runtime does not say why"),
    ],
)
def test_a_container_that_cannot_be_started_is_not_blamed_on_the_command(
    message: str, words: str
) -> None:
    seen = look(MASTER, pod("worker", 0, phase="Failed", container={"state": unstarted(message)}))
    assert (seen.phase, seen.ranks[1].reason) == (Phase.DEGRADED, Reason.RANK_FAILED)
    assert seen.cause
    assert seen.cause.title == f"The container cannot be started: {words}"
    assert seen.cause.said.endswith(words)
    assert "ask the cluster's administrator" in seen.cause.todo


@pytest.mark.parametrize(
    "container",
    [
        {"state": {"waiting": {"reason": "RunContainerError", "message": f"{RUNC}{SSHD}"}}},
        {
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": unstarted(f"{RUNC}{SSHD}"),
            "restartCount": 2,
        },
    ],
)
def test_a_program_that_cannot_start_is_named_between_attempts(
    container: dict[str, Any],
) -> None:
    seen = look(MASTER, pod("worker", 0, container=container))
    assert seen.cause
    assert (seen.cause.kind, seen.cause.said) == (CauseKind.PROGRAM, SSHD)
    assert "Check the command" in seen.cause.todo
    assert seen.ranks[1].reason is Reason.COMMAND_NOT_FOUND


@pytest.mark.parametrize(
    ("others", "phase"),
    [
        ([], Phase.PENDING),
        ([pod("master", 0, phase="Pending", container=WAITS)], Phase.INITIALIZING),
        ([MASTER], Phase.DEGRADED),
    ],
)
def test_a_rank_that_failed_is_the_cause_while_others_are_not_there(
    others: list[dict[str, Any]], phase: Phase
) -> None:
    killed = ended(137, 9, "OOMKilled")
    seen = look(*others, pod("worker", 0, phase="Failed", container=killed))
    assert (seen.phase, seen.reason) == (phase, Reason.OUT_OF_MEMORY)
    assert seen.cause
    words = "exited with code 137: it used more memory than its limit"
    assert (seen.cause.title, seen.cause.said) == (f"The rank {words}", words)


def test_a_fetcher_that_cannot_be_started_is_not_the_commands_fault() -> None:
    said = f"{RUNC}{TYPO}: unknown"
    end = {"name": "fetch-git-0", "reason": "StartError", "exitCode": 128, "message": said}
    assert failure_reason(end) is Reason.RANK_FAILED
    assert describe_exit(end) == f"did not start: fetch-git-0 exited with code 128: {TYPO}"


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_rank_that_is_over_tells_when_it_started(phase: str) -> None:
    """A pod of a second is never seen running: its container's own times are all there is."""
    state = ended(0 if phase == "Succeeded" else 3, 9)
    state["state"]["terminated"]["startedAt"] = "2026-11-01T12:00:08Z"
    seen = look(pod("master", 0, phase=phase, container=state))
    (master,) = (rank for rank in seen.ranks if rank.role is Role.MASTER)
    assert master.started_at == datetime(2026, 11, 1, 12, 0, 8, tzinfo=UTC)
