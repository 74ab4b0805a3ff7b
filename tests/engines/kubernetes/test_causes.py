"""Pod groups, events and containers that wait, as one cause. Pure."""

from typing import Any

import pytest

from engines.kubernetes import causes
from spec.causes import CauseKind
from spec.phases import Phase, Reason
from tests.engines.kubernetes.test_observing import MASTER, RUNNING, ended, pod
from tests.engines.kubernetes.test_observing import look as looked
from tests.engines.kubernetes.test_preempted import at, look

QUOTA = (
    'Error creating: pods "a-worker-0" is forbidden: exceeded quota: team, requested: '
    "requests.nvidia.com/gpu=4, used: requests.nvidia.com/gpu=6, limited: requests.nvidia.com/gpu=8"
)


def event(reason: str, message: str) -> dict[str, Any]:
    return {"reason": reason, "message": message, "type": "Warning"}


def group(*reasons: dict[str, Any], status: str = "True") -> dict[str, Any]:
    kind = "UnschedulableOnNodePool"
    return {
        "status": {
            "schedulingConditions": [{"type": kind, "status": status, "reasons": list(reasons)}]
        }
    }


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("NonPreemptibleOverQuota", CauseKind.QUOTA),
        ("OverLimit", CauseKind.QUOTA),
        ("QueueDoesNotExist", CauseKind.QUEUE),
    ],
)
def test_what_kai_says_comes_with_a_next_step(reason: str, kind: CauseKind) -> None:
    cause = causes.grouped(group({"reason": reason, "message": "team-a has 2 of 4 GPUs"}))
    assert cause
    assert (cause.kind, cause.said) == (kind, "team-a has 2 of 4 GPUs")
    assert cause.todo


def test_what_kai_says_freely_is_kept() -> None:
    said = "Not enough resources for the workload"
    cause = causes.grouped(group({"reason": "", "message": said}))
    assert cause
    assert (cause.kind, cause.said) == (CauseKind.GANG, said)


@pytest.mark.parametrize("said", [None, {}, group(status="False"), group()])
def test_a_group_without_a_word_is_no_cause(said: dict[str, Any] | None) -> None:
    assert causes.grouped(said) is None


def test_a_used_up_quota_is_named_with_its_numbers() -> None:
    cause = causes.not_made([event("FailedCreatePod", QUOTA)])
    assert cause
    assert cause.reason is Reason.WAITING_FOR_QUOTA
    assert cause.title == "The namespace's ResourceQuota team is used up"
    assert "requests.nvidia.com/gpu=8" in cause.todo


def test_pods_that_are_refused_are_told_in_the_servers_words() -> None:
    cause = causes.not_made([event("FailedCreate", "pods is forbidden: no host network")])
    assert cause
    assert (cause.kind, cause.said) == (CauseKind.REFUSED, "pods is forbidden: no host network")
    assert causes.not_made([event("BackOff", "again")]) is None


@pytest.mark.parametrize(
    "said",
    [
        'Error creating: No API token found for service account "default", retry after the token',
        'pods "demo-master-0" is forbidden: error looking up service account team/default: '
        'serviceaccount "default" not found',
    ],
)
def test_pods_that_come_before_the_service_account_are_not_called_refused(said: str) -> None:
    cause = causes.not_made([event("FailedCreatePod", said)])
    assert cause
    assert (cause.reason, cause.title) == (
        Reason.NONE,
        "The namespace has no service account yet",
    )


def test_what_kept_an_earlier_run_from_its_pods_is_not_told_of_this_one() -> None:
    refused = event("FailedCreatePod", "pods is forbidden: no host network") | {
        "involvedObject": {"uid": "job"},
        "lastTimestamp": at(10),
    }
    cause = look(events=[refused], resumed=10).cause
    assert cause
    assert cause.kind is CauseKind.REFUSED
    cause = look(events=[refused], resumed=30).cause
    assert cause
    assert cause.kind is CauseKind.OPERATOR


@pytest.mark.parametrize(
    ("waiting", "title"),
    [
        (
            {"reason": "ErrImagePull", "message": "not found"},
            "The image train:2 cannot be pulled",
        ),
        (
            {"reason": "CreateContainerConfigError", "message": 'secret "bucket" not found'},
            "The Secret bucket is missing",
        ),
        (
            {"reason": "CreateContainerConfigError", "message": 'configmap "site" not found'},
            "The ConfigMap site is missing",
        ),
        ({"reason": "CreateContainerError", "message": "odd"}, "The container cannot be made"),
    ],
)
def test_a_container_that_cannot_start_says_why(waiting: dict[str, str], title: str) -> None:
    cause = causes.stuck(waiting, "train:2", [])
    assert cause
    assert cause.title == title
    assert waiting["message"] in cause.said


def test_the_registrys_own_words_are_shown() -> None:
    said = 'Failed to pull image "train:2": manifest unknown'
    waiting = {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}
    warnings = [event("Failed", said), event("Failed", "Error: ImagePullBackOff")]
    cause = causes.stuck(waiting, "train:2", warnings)
    assert cause
    assert cause.said == said


def test_an_image_that_is_not_the_workloads_own_is_the_administrators_to_change() -> None:
    waiting = {"reason": "ErrImagePull", "message": "no such host"}
    own, other = (causes.stuck(waiting, "git:2", [], fetches=it) for it in (False, True))
    assert own
    assert other
    assert "Copy & edit" in own.todo
    assert "TRAINYARD_GIT_IMAGE" in other.todo


def test_a_container_that_takes_its_time_is_not_stuck() -> None:
    assert causes.stuck({"reason": "ContainerCreating"}, "train:2", []) is None


def test_a_volume_that_cannot_be_mounted_names_what_is_missing() -> None:
    warnings = [
        event("FailedMount", 'MountVolume.SetUp failed for volume "v" : secret "keys" not found'),
        event("FailedMount", "Unable to attach or mount volumes: timed out"),
    ]
    cause = causes.unmounted(warnings)
    assert cause
    assert cause.title == "The Secret keys is missing"
    other = causes.unmounted(warnings[1:])
    assert other
    assert (other.kind, other.title) == (CauseKind.STORAGE, "A volume cannot be mounted")
    assert causes.unmounted([]) is None


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Host key verification failed.", "Host key verification failed"),
        (
            "ssh: Could not resolve hostname x: Unknown",
            "ssh: Could not resolve hostname x: Unknown",
        ),
        ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key ...", "another key than"),
        (
            'Load key "/tmp/key": error in libcrypto\na@b: Permission denied (publickey).',
            "Load key",
        ),
        ("git@x: Permission denied (publickey).", "does not take the key"),
    ],
)
def test_what_ssh_said_comes_before_gits_advice(said: str, words: str) -> None:
    advice = (
        "fatal: Could not read from remote repository.\n\n"
        "Please make sure you have the correct access rights\nand the repository exists.\n"
    )
    ended = {"name": "fetch-git-0", "exitCode": 128, "message": f"{said}\n{advice}"}
    told = causes.unprepared(ended).said
    assert words in told
    assert "access rights" not in told


def test_a_program_that_fails_again_and_again_comes_with_a_next_step() -> None:
    pause = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3}
    seen = looked(MASTER, pod("worker", 0, container=pause | {"lastState": ended(3, 9)["state"]}))
    assert (seen.phase, seen.reason) == (Phase.DEGRADED, Reason.RANK_FAILED)
    assert seen.message == "worker-0 (rank 1): exited with code 3"
    assert seen.cause
    assert (seen.cause.who, seen.cause.said) == ("worker-0 (rank 1)", "exited with code 3")
    assert "Read the rank's log" in seen.cause.todo
    again = pod("worker", 0, container=RUNNING | {"restartCount": 3})
    assert looked(MASTER, again).cause is None
