"""The table of legal moves."""

from spec.phases import ACTIVE, ENDED, HOLDING_RESOURCES, MOVES, STOPPABLE, TERMINAL, Phase


def test_every_phase_has_a_row() -> None:
    assert set(MOVES) == set(Phase)


def test_a_workload_that_ended_can_be_deleted_or_run_again() -> None:
    for phase in TERMINAL:
        assert MOVES[phase] == {Phase.DELETING, Phase.RESUMING}


def test_everything_but_deleting_can_be_deleted() -> None:
    assert all(Phase.DELETING in moves for phase, moves in MOVES.items() if phase != Phase.DELETING)
    assert not MOVES[Phase.DELETING]


def test_only_a_workload_without_ranks_runs_again() -> None:
    assert {p for p, moves in MOVES.items() if Phase.RESUMING in moves} == ENDED


def test_no_phase_moves_to_itself() -> None:
    assert all(phase not in moves for phase, moves in MOVES.items())


def test_a_phase_that_holds_resources_is_active_and_an_end_is_not() -> None:
    assert HOLDING_RESOURCES < ACTIVE
    assert not ACTIVE & TERMINAL
    assert {Phase.PENDING, Phase.RUNNING} < STOPPABLE
    assert not STOPPABLE & (TERMINAL | {Phase.STOPPED, Phase.STOPPING})
