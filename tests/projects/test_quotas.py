"""What is beyond a quota, in words."""

import pytest

from projects.quotas import Demand, Quota, StrictQuota

GB = 1000**3


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Demand(), ""),
        (Demand(gpus=0.5, cpu=2, memory=GB), ""),
        (Demand(gpus=1), "1 GPU, the quota is 0.5"),
        (Demand(gpus=2.5), "2.5 GPUs, the quota is 0.5"),
        (
            Demand(cpu=3, memory=2 * GB),
            "3 CPU cores, the quota is 2; 2 GB of memory, the quota is 1 GB",
        ),
    ],
)
def test_an_excess_names_each_bound_of_a_quota(asked: Demand, words: str) -> None:
    account = StrictQuota("project", "vision", Quota(gpus=0.5, cpu=2, memory=GB), Demand())
    assert account.excess(asked) == words


def test_an_excess_of_a_quota_tells_what_is_held_already() -> None:
    account = StrictQuota("project", "vision", Quota(gpus=3, cpu=None, memory=None), Demand(gpus=2))
    assert account.excess(Demand(gpus=2)) == "4 GPUs, the quota is 3 (2 held)"
