"""What KAI says of a whole gang, as one cause. Pure."""

from typing import Any

import pytest

from engines.kubernetes.status.causes.podgroup import podgroup_cause
from spec.problems.causes import CauseKind


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
def test_a_reason_that_kai_gives_is_a_cause_with_a_next_step(reason: str, kind: CauseKind) -> None:
    cause = podgroup_cause(group({"reason": reason, "message": "team-a has 2 of 4 GPUs"}))
    assert cause
    assert (cause.kind, cause.said) == (kind, "team-a has 2 of 4 GPUs")
    assert cause.todo


def test_a_message_of_kai_without_a_reason_is_kept_as_the_cause() -> None:
    said = "Not enough resources for the workload"
    cause = podgroup_cause(group({"reason": "", "message": said}))
    assert cause
    assert (cause.kind, cause.said) == (CauseKind.GANG, said)


@pytest.mark.parametrize("said", [None, {}, group(status="False"), group()])
def test_a_group_without_a_word_is_no_cause(said: dict[str, Any] | None) -> None:
    assert podgroup_cause(said) is None
