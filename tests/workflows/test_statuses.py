"""The status of a workflow from those of its groups, in OSMO's order."""

import pytest

from workflows.statuses import OF_WORKFLOWS, Status, workflow_status

S = Status


@pytest.mark.parametrize(
    ("groups", "status"),
    [
        ([S.WAITING, S.SCHEDULING], S.PENDING),
        ([S.COMPLETED, S.WAITING], S.RUNNING),
        ([S.RUNNING, S.FAILED], S.RUNNING),
        ([S.COMPLETED, S.COMPLETED], S.COMPLETED),
        ([S.FAILED, S.CANCELED, S.EXEC_TIMEOUT], S.CANCELED),
        ([S.QUEUE_TIMEOUT, S.EXEC_TIMEOUT], S.EXEC_TIMEOUT),
        ([S.COMPLETED, S.IMAGE_PULL, S.UPSTREAM], S.IMAGE_PULL),
        ([S.IMAGE_PULL, S.EVICTED], S.FAILED),
    ],
)
def test_a_workflow_has_the_status_that_tells_most(groups: list[Status], status: Status) -> None:
    assert workflow_status(groups) == status
    assert status in OF_WORKFLOWS


def test_statuses_have_words_for_people() -> None:
    assert S.IMAGE_PULL.label == "Failed: image pull"
    assert S.COMPLETED.label == "Completed"
    assert all(status.tone for status in Status)
