"""Programs that fail, and data that cannot be fetched. Pure."""

import pytest

from engines.kubernetes.status.causes.program import init_failure_cause
from spec.phases import Phase, Reason
from tests.engines.kubernetes.objects import MASTER, RUNNING, ended, pod
from tests.engines.kubernetes.objects import look as looked


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Host key verification failed.", "Host key verification failed"),
        (
            "ssh: Could not resolve hostname x: Unknown",
            "ssh: Could not resolve hostname x: Unknown",
        ),
        (
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key ...",
            "a different key than",
        ),
        (
            'Load key "/tmp/key": error in libcrypto\na@b: Permission denied (publickey).',
            "Load key",
        ),
        ("git@x: Permission denied (publickey).", "does not accept the key"),
    ],
)
def test_words_of_ssh_come_before_the_advice_of_git(said: str, words: str) -> None:
    advice = (
        "fatal: Could not read from remote repository.\n\n"
        "Please make sure you have the correct access rights\nand the repository exists.\n"
    )
    ended = {"name": "fetch-git-0", "exitCode": 128, "message": f"{said}\n{advice}"}
    told = init_failure_cause(ended).said
    assert words in told
    assert "access rights" not in told


def test_a_program_that_fails_again_and_again_comes_with_a_next_step() -> None:
    pause = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3}
    seen = looked(MASTER, pod("worker", 0, container=pause | {"lastState": ended(3, 9)["state"]}))
    assert (seen.phase, seen.reason) == (Phase.DEGRADED, Reason.RANK_FAILED)
    assert seen.message == "worker-0 (rank 1): exited with code 3"
    assert seen.cause
    assert (seen.cause.who, seen.cause.said) == ("worker-0 (rank 1)", "exited with code 3")
    assert "The rank's log says why" in seen.cause.todo
    again = pod("worker", 0, container=RUNNING | {"restartCount": 3})
    assert looked(MASTER, again).cause is None
