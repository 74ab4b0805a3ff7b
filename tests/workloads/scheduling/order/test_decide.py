"""The order of starts, one rule at a time, on a machine with 4 GPUs."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from projects.quotas import Demand, Quota
from spec.phases import Reason
from workloads.scheduling.order.decide import decide
from workloads.scheduling.order.records import Allowance, Contender, Decision, DecisionKind, Tenant
from workloads.scheduling.placement import Room, Shape

CAPACITY = Room(8.0, 32, dict.fromkeys(range(4), 1.0))
OWNER = "owner"
GUEST = "guest"
START, WAIT, TAKE_BACK = DecisionKind


def gang(name: str, gpus: int, project: str = GUEST, *, since: float = 0.0) -> Contender:
    shape = Shape(0.0, 0, ((0, gpus, 1.0),))
    return Contender(name, name, project, "", shape, Demand(gpus), since)


def runs(gang: Contender, *devices: int, started: float = 0.0) -> Tenant:
    return Tenant(gang, {0: devices}, started)


def decided(
    queue: list[Contender], running: Sequence[Tenant] = (), *, quota: float = 4, now: float = 0.0
) -> dict[str, Decision]:
    allowances = {
        OWNER: Allowance("the owner", Quota(quota, None, None)),
        GUEST: Allowance("the guest", Quota(0, None, None)),
    }
    each = decide(queue, running, CAPACITY, allowances, now=now)
    return {decision.gang.name: decision for decision in each}


def kinds(decisions: dict[str, Decision]) -> dict[str, DecisionKind]:
    return {name: decision.kind for name, decision in decisions.items()}


def test_a_gang_within_quota_goes_first_however_late_it_comes() -> None:
    decisions = decided([gang("old", 4), gang("late", 4, OWNER, since=9)])
    assert kinds(decisions) == {"late": START, "old": WAIT}
    assert decisions["late"].why == "It is within the quota of the owner."


def test_of_one_class_the_higher_rank_goes_first_then_the_older() -> None:
    old = gang("old", 2)
    young = gang("young", 2, since=1)
    ranked = replace(gang("ranked", 2, since=2), rank=1)
    assert kinds(decided([young, ranked, old])) == {"ranked": START, "old": START, "young": WAIT}


def test_only_as_much_of_the_newest_over_quota_work_is_reclaimed() -> None:
    running = [runs(gang(f"g{n}", 1), n, started=n) for n in range(4)]
    decisions = decided([gang("claim", 2, OWNER)], running)
    assert kinds(decisions) == {"g3": TAKE_BACK, "g2": TAKE_BACK, "claim": WAIT}
    assert "by a workload of another project" in decisions["g3"].why
    assert decisions["g3"].reason is Reason.PREEMPTED


def test_room_that_is_taken_back_is_given_to_nobody_else() -> None:
    claim = gang("claim", 4, OWNER)
    other = gang("other", 1)
    ending = replace(runs(gang("g", 3), 0, 1, 2), leaves_by=30.0)
    decisions = decided([claim, other], [ending])
    assert kinds(decisions) == {"claim": WAIT, "other": WAIT}
    assert "a workload of another project" in decisions["claim"].why


@pytest.mark.parametrize("limits", ["within quota", "non-preemptible", "beyond the quota"])
def test_nothing_is_taken_back(limits: str) -> None:
    """Of what runs within quota, of what is non-preemptible, and for more than the quota."""
    project = OWNER if limits == "within quota" else GUEST
    tenant = runs(gang("g", 4, project), 0, 1, 2, 3)
    if limits == "non-preemptible":
        tenant = replace(tenant, gang=replace(tenant.gang, preemptible=False))
    quota = 3 if limits == "beyond the quota" else 4
    assert kinds(decided([gang("claim", 4, OWNER)], [tenant], quota=quota)) == {"claim": WAIT}


def test_an_unlimited_resource_is_promised_to_nobody() -> None:
    busy = replace(gang("g", 1), shape=Shape(8.0, 0, ((0, 1, 1.0),)))
    small = Contender("cpu", "cpu", OWNER, "", Shape(4.0, 0, ((0, 0, 1.0),)), Demand(0, 4.0), 1.0)
    assert kinds(decided([small], [runs(busy, 0)])) == {"cpu": WAIT}


def test_a_non_preemptible_gang_never_goes_over_quota() -> None:
    firm = replace(gang("firm", 1), preemptible=False)
    decisions = decided([firm, gang("other", 1, since=1)])
    assert kinds(decisions) == {"firm": WAIT, "other": START}
    assert decisions["firm"].reason is Reason.WAITING_FOR_QUOTA
    assert "non-preemptible" in decisions["firm"].why


def test_a_gang_that_does_not_delay_the_head_starts_before_it() -> None:
    busy = runs(gang("g", 1), 0)
    cpu = replace(gang("cpu", 0, since=2), shape=Shape(1.0, 0, ((0, 0, 1.0),)))
    decisions = decided([gang("head", 4), gang("small", 1, since=1), cpu], [busy])
    assert kinds(decisions) == {"cpu": START, "head": WAIT, "small": WAIT}
    assert "Waiting behind head" in decisions["small"].why


def test_only_workloads_of_the_same_project_are_named() -> None:
    """Who sees a workload sees its project, and perhaps no other."""
    head = gang("head", 3, OWNER)
    small = gang("small", 3, OWNER, since=1)
    behind = decided([head, small, gang("guest", 3, since=2)], [runs(gang("g", 2), 0, 1)], quota=0)
    assert behind["small"].why.startswith("Waiting behind head,")
    assert behind["guest"].why.startswith("Waiting behind a workload of another project,")
    firm = replace(gang("firm", 2, OWNER), preemptible=False)
    own = runs(gang("own", 3, OWNER), 0, 1, 2)
    taken = decided([firm], [own, runs(gang("g", 1), 3)], quota=2)
    assert "by firm" in taken["own"].why
    assert taken["firm"].why.endswith("of own.")
    taken = decided([firm], [runs(gang("g", 2), 0, 1), runs(gang("h", 2), 2, 3)])
    assert "by a workload of another project" in taken["g"].why
    assert taken["firm"].why.endswith("of a workload of another project.")


@pytest.mark.parametrize(("limit", "kind"), [(100.0, START), (101.0, WAIT), (None, WAIT)])
def test_a_gang_that_ends_in_time_starts_before_the_head(
    limit: float | None, kind: DecisionKind
) -> None:
    busy = runs(replace(gang("g", 1), time_limit=150.0), 0)
    small = replace(gang("small", 1, since=1), time_limit=limit)
    assert kinds(decided([gang("head", 4), small], [busy], now=50.0))["small"] is kind


def test_a_gang_that_fits_beside_the_head_starts_before_it() -> None:
    busy = runs(replace(gang("g", 3), time_limit=150.0), 0, 1, 2)
    assert kinds(decided([gang("head", 3), gang("small", 1, since=1)], [busy]))["small"] is START


def test_more_than_there_is_keeps_nobody_back() -> None:
    decisions = decided([gang("huge", 5), gang("small", 1, since=1)])
    assert kinds(decisions) == {"huge": WAIT, "small": START}


@pytest.mark.parametrize(
    ("limit", "kind"), [(None, WAIT), (100.0, TAKE_BACK), (151.0, WAIT)], ids=str
)
@pytest.mark.parametrize("preemptible", [True, False])
def test_a_younger_gang_does_not_take_the_quota_an_older_awaits(
    limit: float | None, kind: DecisionKind, preemptible: bool
) -> None:
    """Unless by its time limit that ends before the quota has room for the older one."""
    busy = gang("busy", 1, OWNER)
    wide = gang("wide", 2, OWNER)
    small = gang("small", 1, OWNER, since=1)
    busy, wide, small = (replace(it, preemptible=preemptible) for it in (busy, wide, small))
    busy = replace(busy, time_limit=150.0)
    small = replace(small, time_limit=limit)
    running = [runs(busy, 0), runs(gang("g", 3), 1, 2, 3)]
    decisions = decided([wide, small], running, quota=2)
    assert kinds(decisions).get("g", WAIT) is kind
    assert kinds(decisions)["small"] is WAIT
    if kind is WAIT:
        behind = "others of the owner that wait for its quota." if not preemptible else "wide,"
        assert decisions["small"].why.startswith(f"Waiting behind {behind}")


def test_a_gang_that_is_more_than_the_quota_keeps_nothing_of_it() -> None:
    wide = gang("wide", 3, OWNER)
    small = gang("small", 1, OWNER, since=1)
    running = [runs(gang("busy", 1, OWNER), 0), runs(gang("g", 3), 1, 2, 3)]
    assert kinds(decided([wide, small], running, quota=2))["g"] is TAKE_BACK


@pytest.mark.parametrize("preemptible", [True, False])
def test_nothing_is_kept_for_a_gang_behind_one_that_never_ends(preemptible: bool) -> None:
    """Else it would stop its whole project for good."""
    busy = replace(gang("busy", 1, OWNER), ends=False)
    wide = gang("wide", 2, OWNER)
    small = gang("small", 1, OWNER, since=1)
    busy, wide, small = (replace(it, preemptible=preemptible) for it in (busy, wide, small))
    running = [runs(busy, 0), runs(gang("g", 3), 1, 2, 3)]
    assert kinds(decided([wide, small], running, quota=2))["g"] is TAKE_BACK


@pytest.mark.parametrize(("project", "kind"), [(OWNER, WAIT), (GUEST, TAKE_BACK)])
def test_a_turn_in_a_departments_quota_holds_back_only_its_project(
    project: str, kind: DecisionKind
) -> None:
    """Another is entitled to the quota of its own."""
    quotas = {OWNER: 2, GUEST: 2, "third": 1, "idle": 0, "d": 3}
    allowances = {key: Allowance(key, Quota(each, None, None)) for key, each in quotas.items()}
    wide, small, busy, other = (
        replace(it, department="d", preemptible=False)
        for it in (
            gang("wide", 2, OWNER),
            gang("small", 1, project, since=1),
            gang("busy", 1, "third"),
            gang("other", 1),
        )
    )
    running = [runs(busy, 0), runs(other, 1), runs(gang("g", 2, "idle"), 2, 3)]
    decisions = {
        it.gang.name: it for it in decide([wide, small], running, CAPACITY, allowances, now=0.0)
    }
    assert kinds(decisions).get("g", WAIT) is kind
    if kind is WAIT:
        assert decisions["small"].why == "Waiting behind others of d that wait for its quota."
