"""A whole list of what is on a cluster costs what changed in it."""

from dataclasses import replace

import pytest

from projects.models import Project
from spec.phases import Phase
from tests.workloads.gangs import waiting as waits
from tests.workloads.observations import GPUS, IMAGE, see
from workloads.models import Workload
from workloads.worker import relist


@pytest.fixture
def workload(project: Project) -> Workload:
    return waits(project, "a", gpus=1)


def test_a_list_of_what_is_known_changes_nothing(workload: Workload) -> None:
    seen = see(workload, 1, Phase.PENDING, GPUS)
    later = replace(seen, sequence=9)
    assert list(relist.changed_observations(workload.cluster, [later])) == []
    for other in (
        replace(later, phase=Phase.RUNNING),
        replace(later, cause=IMAGE),
        replace(later, cause=None),
        replace(later, attempt=1),
        replace(later, message="something else"),
    ):
        assert list(relist.changed_observations(workload.cluster, [other])) == [other]


def test_a_list_tells_of_what_ran_as_before(workload: Workload) -> None:
    see(workload, 1, Phase.RUNNING)
    again = see(workload, 2, Phase.INITIALIZING)
    assert list(relist.changed_observations(workload.cluster, [replace(again, sequence=9)])) == []


def test_a_list_costs_few_queries(
    project: Project, workload: Workload, django_assert_max_num_queries: object
) -> None:
    listed = [see(workload, 1, Phase.PENDING)]
    listed += [see(waits(project, f"w{n}", gpus=0), 1, Phase.PENDING) for n in range(20)]
    with django_assert_max_num_queries(3):  # type: ignore[operator]
        assert list(relist.changed_observations(workload.cluster, listed)) == []


def test_a_row_that_agreed_with_the_last_list_is_not_compared_again(
    workload: Workload, django_assert_num_queries: object
) -> None:
    agreed = relist.Agreed()
    seen = see(workload, 1, Phase.RUNNING)
    for sequence, queries in ((5, 3), (9, 1), (12, 1)):
        with django_assert_num_queries(queries):  # type: ignore[operator]
            later = replace(seen, sequence=sequence)
            assert list(relist.changed_observations(workload.cluster, [later], agreed)) == []
    assert list(relist.changed_observations(workload.cluster, [], agreed)) == []
    assert agreed == {}, "nobody keeps what is gone"


def test_a_row_is_compared_again_where_either_side_changed(workload: Workload) -> None:
    agreed = relist.Agreed()
    seen = see(workload, 1, Phase.RUNNING)
    assert list(relist.changed_observations(workload.cluster, [seen], agreed)) == []
    ended = replace(seen, sequence=9, phase=Phase.COMPLETED)
    assert list(relist.changed_observations(workload.cluster, [ended], agreed)) == [ended]
    assert list(relist.changed_observations(workload.cluster, [seen], agreed)) == []
    Workload.objects.update(phase=Phase.INITIALIZING)
    later = replace(seen, sequence=10)
    assert list(relist.changed_observations(workload.cluster, [later], agreed)) == [later]


def test_an_older_observation_agrees_with_its_row_for_one_list(
    workload: Workload,
) -> None:
    agreed = relist.Agreed()
    seen = see(workload, 5, Phase.RUNNING)
    old = replace(seen, sequence=1)
    assert list(relist.changed_observations(workload.cluster, [old], agreed)) == []
    assert agreed == {}
