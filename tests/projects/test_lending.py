"""What owners of quotas borrow and lend, as bars, and who enforces the quotas."""

import pytest

from projects.lending import Balance, balances_of, enforcement_sentence, quota_bars
from projects.quotas import Demand, Quota
from tests.factories import (
    ClusterFactory,
    DepartmentFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
)
from tests.web import signed_in


def test_what_is_borrowed_is_lent_by_those_with_idle_quota() -> None:
    balances = balances_of({"a": (4, 7), "b": (4, 0), "c": (4, 2), "open": (None, 9)})
    assert balances["a"] == Balance(4, 7, borrowed=3)
    assert balances["b"] == Balance(4, 0, lent=2)
    assert balances["c"] == Balance(4, 2, lent=1)
    assert balances["open"] == Balance(None, 9)


def test_nobody_lends_more_than_is_idle_or_where_nothing_is_borrowed() -> None:
    assert balances_of({"a": (1, 9), "b": (4, 1)})["b"].lent == 3
    assert balances_of({"a": (4, 4), "b": (4, 0)})["b"].lent == 0


def test_a_bar_shows_parts_of_the_larger_of_quota_and_use() -> None:
    nothing = Demand()
    owners = {"a": (Quota(4, None, 0), Demand(6, 3.0, 0)), "b": (Quota(4, 8, 0), nothing)}
    gpus, cpu, memory = quota_bars(owners, "a")
    assert [(part.kind, part.start, part.width) for part in gpus.segments] == [
        ("used", 0, 66.67),
        ("borrowed", 66.67, 33.33),
        ("lent", 100, 0),
    ]
    assert gpus.text == "6 of 4 deserved"
    assert (cpu.text, cpu.segments) == ("3, no limit", ())
    assert [part.width for part in memory.segments] == [0, 0, 0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("capabilities", "words"),
    [
        ({"queues": False}, "Trainyard enforces these quotas"),
        ({"queues": True, "quotas": True}, "KAI enforces these quotas"),
        ({"queues": True, "quotas": False}, "when a workload is submitted"),
    ],
)
def test_each_page_says_who_enforces_the_quotas(capabilities: dict[str, bool], words: str) -> None:
    cluster = ClusterFactory()
    cluster.capabilities_json |= capabilities
    cluster.save()
    assert words in enforcement_sentence(cluster)
    department = DepartmentFactory(cluster=cluster)
    project = ProjectFactory(cluster=cluster, department=department)
    client = signed_in(UserFactory(administrator=True))
    for address in (f"/projects/{project.pk}/", f"/departments/{department.pk}/edit/"):
        assert words in client.get(address).content.decode()


@pytest.mark.django_db
def test_the_pages_show_what_is_borrowed_and_lent() -> None:
    greedy = ProjectFactory(gpu_quota=1)
    lender = ProjectFactory(cluster=greedy.cluster, gpu_quota=4)
    WorkloadFactory(project=greedy, running=True, gpus=3)
    client = signed_in(UserFactory(administrator=True))
    assert (
        '<strong class="nums">2</strong> borrowed'
        in client.get(f"/projects/{greedy.pk}/").content.decode()
    )
    for address in (f"/projects/{lender.pk}/", f"/departments/{lender.department_id}/edit/"):
        page = client.get(address).content.decode()
        assert '<strong class="nums">2</strong> lent' in page
