"""Programs that cannot be started, and ranks that fail before the others are there. Pure."""

from typing import Any

import pytest

from engines.kubernetes import causes
from spec.causes import CauseKind
from spec.phases import Phase, Reason
from tests.engines.kubernetes.test_observing import MASTER, ended, look, pod

RUNC = "OCI runtime create failed: runc create failed: unable to start container process: "
OLDER = "OCI runtime create failed: container_linux.go:380: starting container process caused: "
SSHD = 'exec: "/usr/sbin/sshd": stat /usr/sbin/sshd: no such file or directory'


def unstarted(message: str) -> dict[str, Any]:
    state = ended(128, 9, "StartError")["state"]
    state["terminated"] |= {"message": message, "startedAt": "1970-01-01T00:00:00Z"}
    return dict(state)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (f"failed to create containerd task: {RUNC}{SSHD}: unknown", SSHD),
        (f"{OLDER}{SSHD}: unknown", SSHD),
        ("something else", "something else"),
        ("", "the runtime does not say why"),
    ],
)
def test_a_program_that_cannot_be_started_is_named(message: str, words: str) -> None:
    seen = look(pod("worker", 0, phase="Failed", container={"state": unstarted(message)}))
    assert (seen.phase, seen.reason) == (Phase.PENDING, Reason.RANK_FAILED)
    assert seen.cause
    assert (seen.cause.kind, seen.cause.said) == (CauseKind.PROGRAM, words)
    assert "cannot be started" in seen.cause.title
    rank = seen.ranks[1]
    assert rank.reason is Reason.COMMAND_NOT_FOUND
    assert (rank.exit_code, rank.started_at) == (None, None), "kubelet's 128, and 1970"
    assert rank.message == f"could not be started: {words}"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (SSHD, "/usr/sbin/sshd cannot be started: no such file or directory"),
        (
            'exec: "trian": executable file not found in $PATH',
            "trian cannot be started: executable file not found in $PATH",
        ),
        ("chdir to cwd (/none) set in config.json failed", "The program cannot be started"),
    ],
)
def test_the_program_stands_in_the_title(said: str, title: str) -> None:
    cause = causes.unstartable(said)
    assert (cause.title, cause.said) == (title, said)


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
def test_it_is_named_as_well_while_it_is_tried_again(container: dict[str, Any]) -> None:
    cause = look(MASTER, pod("worker", 0, container=container)).cause
    assert cause
    assert (cause.kind, cause.said) == (CauseKind.PROGRAM, SSHD)
    assert "Check the command" in cause.todo


def test_a_rank_that_fails_before_the_others_are_there_is_the_cause() -> None:
    cause = look(pod("worker", 0, phase="Failed", container=ended(3, 9))).cause
    assert cause
    assert (cause.title, cause.said) == (
        "The rank failed before all of them were there",
        "exited with code 3",
    )
