"""Containers that do not start on their node, and why. Pure."""

from typing import Any

import pytest

from engines.kubernetes.status.causes.startup import mount_cause, waiting_cause
from spec.problems.causes import CauseKind


def event(reason: str, message: str) -> dict[str, Any]:
    return {"reason": reason, "message": message, "type": "Warning"}


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
        (
            {"reason": "CreateContainerError", "message": "odd"},
            "The container cannot be created: odd",
        ),
    ],
)
def test_a_container_that_cannot_start_says_why(waiting: dict[str, str], title: str) -> None:
    cause = waiting_cause(waiting, "train:2", [])
    assert cause
    assert cause.title == title
    assert waiting["message"] in cause.said


def test_the_registrys_own_words_are_shown() -> None:
    said = 'Failed to pull image "train:2": manifest unknown'
    waiting = {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}
    warnings = [event("Failed", said), event("Failed", "Error: ImagePullBackOff")]
    cause = waiting_cause(waiting, "train:2", warnings)
    assert cause
    assert cause.said == said


def test_an_image_of_trainyard_is_for_administrators_to_change() -> None:
    waiting = {"reason": "ErrImagePull", "message": "no such host"}
    own, other = (waiting_cause(waiting, "git:2", [], fetches=it) for it in (False, True))
    assert own
    assert other
    assert "Copy & edit" in own.todo
    assert "TRAINYARD_GIT_IMAGE" in other.todo


def test_a_container_that_takes_its_time_is_not_stuck() -> None:
    assert waiting_cause({"reason": "ContainerCreating"}, "train:2", []) is None


def test_a_volume_that_cannot_be_mounted_names_what_is_missing() -> None:
    warnings = [
        event("FailedMount", 'MountVolume.SetUp failed for volume "v" : secret "keys" not found'),
        event("FailedMount", "Unable to attach or mount volumes: timed out"),
    ]
    cause = mount_cause(warnings)
    assert cause
    assert cause.title == "The Secret keys is missing"
    other = mount_cause(warnings[1:])
    assert other
    assert (other.kind, other.title) == (CauseKind.STORAGE, "A volume cannot be mounted")
    assert mount_cause([]) is None


def test_each_attempt_to_create_a_container_has_the_same_cause() -> None:
    causes = {
        waiting_cause(
            {
                "reason": "CreateContainerError",
                "message": f'failed to generate container "{digit * 64}" spec: failed to generate '
                "spec: no command specified",
            },
            "train:2",
            [],
        )
        for digit in "1f"
    }
    (cause,) = causes
    assert cause
    assert cause.said == (
        "CreateContainerError: failed to generate container spec: failed to generate spec: no "
        "command specified"
    )
