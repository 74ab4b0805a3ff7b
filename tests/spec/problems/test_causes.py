"""Each kind of cause has a reason, which a cause may replace, also by none."""

import pytest

from spec.phases import Reason
from spec.problems.causes import REASONS, Cause, CauseKind


@pytest.mark.parametrize("kind", CauseKind)
def test_each_kind_has_a_reason_that_is_known(kind: CauseKind) -> None:
    assert Cause(kind, "It waits").reason is REASONS[kind]
    assert REASONS[kind] is not Reason.UNKNOWN


def test_a_cause_may_have_no_reason_although_its_kind_has_one() -> None:
    assert Cause(CauseKind.QUEUE, "It waits", precise_reason=Reason.NONE).reason is Reason.NONE
