"""What a cluster reported is stored as JSON, and read again as it was."""

import json
from dataclasses import asdict, replace

import pytest

from clusters.stored import capabilities_of
from engines.base import Capabilities
from engines.local_queues import GPU, LocalQueue, ResourceQuota

QUOTA = ResourceQuota(GPU, nominal=8, most=None, most_of_role=None)
KUEUE = Capabilities(
    frameworks=(),
    queues=True,
    kueue="v1beta2",
    local_queues=(
        LocalQueue("trainyard-a", "team", "gpus", quotas=(QUOTA,)),
        LocalQueue("trainyard-a", "slow", "gpus", why_inactive="it is stopped"),
    ),
)


@pytest.mark.parametrize("reported", [KUEUE, replace(KUEUE, kueue="", local_queues=None)])
def test_queues_of_kueue_are_read_as_they_were_reported(reported: Capabilities) -> None:
    stored = json.loads(json.dumps(asdict(reported)))
    assert capabilities_of(stored) == reported


def test_a_row_from_before_kueue_was_looked_for_says_nothing_of_it() -> None:
    stored = asdict(KUEUE)
    del stored["kueue"], stored["local_queues"]
    assert capabilities_of(stored) == replace(KUEUE, kueue="", local_queues=None)
