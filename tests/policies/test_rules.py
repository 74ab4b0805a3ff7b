"""Rules of several scopes: the merge is associative along a branch and never loosens."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from policies.evaluation import find_violations
from policies.rules import FILLING, Enforcement, Rule, RuleSource, settle

FIELDS = ("worker.compute.gpuDevicesRequest", "numWorkers")
VALUES = {
    Enforcement.DEFAULT: st.integers(1, 8),
    Enforcement.MIN: st.integers(0, 5),
    Enforcement.MAX: st.integers(3, 9),
    Enforcement.REQUIRED: st.booleans(),
    Enforcement.CAN_EDIT: st.booleans(),
}


@st.composite
def policies(draw: st.DrawFn, level: int) -> list[Rule]:
    """Rules of one policy, the defaults first."""
    keys = draw(st.sets(st.tuples(st.sampled_from(FIELDS), st.sampled_from(list(VALUES)))))
    source = RuleSource(f"policy {level}", f"level:{level}")
    rules = [
        Rule(field, enforcement, draw(VALUES[enforcement]), draw(st.booleans()), source=source)
        for field, enforcement in sorted(keys)
    ]
    return sorted(rules, key=lambda rule: rule.enforcement not in FILLING)


@st.composite
def branches(draw: st.DrawFn) -> list[list[Rule]]:
    return [draw(policies(level)) for level in range(4)]


@given(branches())
def test_the_merge_is_associative(branch: list[list[Rule]]) -> None:
    first, second, third, fourth = branch
    together = settle(chain(*branch))
    from_above = settle([*settle([*settle([*first, *second]), *third]), *fourth])
    from_below = settle([*first, *settle([*second, *settle([*third, *fourth])])])
    assert from_above == from_below == together


@given(branches(), st.integers(1, 9), st.integers(1, 9))
def test_a_narrower_scope_never_loosens(branch: list[list[Rule]], gpus: int, workers: int) -> None:
    account, *narrower = branch
    account = [rule for rule in account if not rule.may_override]
    document = {"worker": {"compute": {"gpuDevicesRequest": gpus}}, "numWorkers": workers}
    alone = settle(account)
    merged = settle(chain(account, *narrower))
    broken = {(it.field, it.rule) for it in find_violations(alone, document, document)}
    still_broken = {(it.field, it.rule) for it in find_violations(merged, document, document)}
    assert broken <= still_broken


def test_the_nearest_default_holds() -> None:
    wide = Rule("numWorkers", Enforcement.DEFAULT, 1)
    near = Rule("numWorkers", Enforcement.DEFAULT, 2)
    assert settle([wide, near]) == (near,)


def test_a_default_below_a_locked_field_has_no_effect() -> None:
    wide = [
        Rule("numWorkers", Enforcement.DEFAULT, 1),
        Rule("numWorkers", Enforcement.CAN_EDIT, False),
    ]
    near = Rule("numWorkers", Enforcement.DEFAULT, 2)
    assert settle([*wide, near]) == tuple(wide)


def test_a_rule_that_may_be_overridden_ends_below() -> None:
    wide = Rule("numWorkers", Enforcement.MAX, 4, may_override=True)
    near = Rule("numWorkers", Enforcement.MAX, 8)
    other = Rule("numWorkers", Enforcement.MIN, 2)
    assert settle([wide, other]) == (wide, other)
    assert settle([wide, near]) == (near,)
