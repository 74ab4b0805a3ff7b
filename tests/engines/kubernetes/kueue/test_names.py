"""Which version of Kueue's API is spoken."""

import pytest

from engines.kubernetes.kueue.names import KUEUE, served_version


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (["v1beta1", "v1beta2"], "v1beta2"),
        (["v1beta2"], "v1beta2"),
        (["v1beta1"], "v1beta1"),
        (["v2"], ""),
    ],
)
def test_the_newest_version_that_both_know_is_spoken(versions: list[str], expected: str) -> None:
    served = [{"version": version} for version in versions]
    groups = [
        {"name": "apps", "versions": [{"version": "v1"}]},
        {"name": KUEUE, "versions": served},
    ]
    assert served_version(groups) == expected


def test_without_kueue_no_version_is_spoken() -> None:
    assert served_version([{"name": "apps", "versions": [{"version": "v1beta2"}]}]) == ""
