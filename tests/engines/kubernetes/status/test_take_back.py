"""Which gangs give their nodes back, and which is tried again. Pure."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.labels import RUN, STOPPED_RUN, TAKEN_BACK
from engines.kubernetes.status.job import JobView
from engines.kubernetes.status.take_back import (
    PartialGang,
    TakeBack,
    Turns,
    WaitingGang,
    note_take_back,
)
from spec.phases import Phase, Reason
from spec.problems.causes import CauseKind
from tests.engines.kubernetes.objects import START, event
from tests.engines.kubernetes.placing import later, rank, time_text, view

PATIENCE = timedelta(seconds=60)
A = UUID(int=1)
B = UUID(int=2)
C = UUID(int=3)


def test_a_gang_is_placed_in_part_since_some_ranks_have_a_node_and_others_were_refused() -> None:
    assert view(rank(0, placed=3), rank(1, placed=9), rank(2)).partial_since == later(3)
    assert view(rank(0, placed=3), rank(1), rank(2, age=4)).partial_since == later(3)


@pytest.mark.parametrize(
    "pods",
    [
        [rank(0, placed=1), rank(1, placed=1), rank(2, placed=1)],
        [rank(0), rank(1), rank(2)],
        [rank(0, placed=1), rank(1, placed=1)],  # the third was not created yet
        [rank(0, placed=1), rank(1, placed=1), rank(2, age=60)],  # replaced: it had a node
    ],
)
def test_other_gangs_are_not_placed_in_part(pods: list[dict[str, Any]]) -> None:
    assert view(*pods).partial_since is None


def test_a_rank_that_crashed_while_others_waited_does_not_make_the_gang_complete() -> None:
    assert view(rank(0, placed=90, age=88), rank(1), rank(2)).partial_since == later(90)


def test_a_gang_for_which_nodes_are_being_added_keeps_those_that_it_has() -> None:
    waits = rank(2)
    adds = event("TriggeredScaleUp", "pod triggered scale-up", about=waits, second=40, warns=False)
    assert view(rank(0, placed=1), rank(1, placed=1), waits, also=[adds]).partial_since == later(40)


def test_an_elastic_gang_needs_only_its_fewest_ranks() -> None:
    pods = [rank(0, placed=1), rank(1, placed=1), rank(2)]
    assert view(*pods, elasticPolicy={"minReplicas": 2}).partial_since is None
    assert view(*pods, elasticPolicy={"minReplicas": 3}).partial_since


def test_a_gang_that_was_taken_back_waits_and_was_not_stopped() -> None:
    before = view(rank(0, placed=1), rank(1, placed=1), rank(2))
    note = note_take_back(before.manifest, placed=before.placed, now=later(70))
    assert (note.times, note.placed) == (1, 2)
    seen = view(notes=note.annotation, suspend=True).observation()
    assert (seen.phase, seen.reason) == (Phase.PENDING, Reason.WAITING_FOR_CAPACITY)
    assert seen.cause
    assert seen.cause.kind is CauseKind.GANG
    assert "2 of 3 ranks" in seen.message
    assert seen.starts_over
    assert seen.attempt == 0


@pytest.mark.parametrize(
    ("notes", "phase"),
    [
        ({STOPPED_RUN: "1"}, Phase.STOPPED),  # a stop in Trainyard
        ({RUN: "2"}, Phase.STOPPED),  # the note is of the run before
        ({TAKEN_BACK: "yes"}, Phase.STOPPED),  # written by hand
        ({TAKEN_BACK: '{"run": 1}'}, Phase.STOPPED),
        (TakeBack(1, 2, 1, at="").annotation, Phase.STOPPED),  # tried again, then suspended by hand
    ],
)
def test_any_other_suspension_is_a_stop(notes: dict[str, str], phase: Phase) -> None:
    note = TakeBack(1, 1, 2, time_text(0)).annotation
    assert view(notes=note | notes, suspend=True).observation().phase is phase


def test_the_pause_before_a_try_doubles_up_to_ten_minutes() -> None:
    pauses = [
        TakeBack(1, times, 2, time_text(0)).again_from(PATIENCE) - START for times in (1, 2, 3, 9)
    ]
    assert [pause.total_seconds() for pause in pauses] == [60, 120, 240, 600]


def turns(*, left: float = -1000, tried: float = -1000, room: float = -1000) -> Turns:
    return Turns(PATIENCE, left_at=later(left), tried_at=later(tried), room_at=later(room))


def partial(uid: UUID, *, created: float = 0, since: float = 0) -> PartialGang:
    return PartialGang(uid, later(created), later(since))


def waiting(
    uid: UUID, *, created: float = 0, taken: float = 0, times: int = 1, left: bool = True
) -> WaitingGang:
    return WaitingGang(uid, later(created), TakeBack(1, times, 2, time_text(taken)), left)


def test_of_several_gangs_in_part_the_oldest_keeps_its_nodes() -> None:
    gangs = [partial(B, created=2), partial(A, created=1), partial(C, created=3, since=50)]
    assert turns().gangs_to_take_back(gangs, [], later(59)) == []
    assert turns().gangs_to_take_back(gangs, [], later(60)) == [B]
    assert turns().gangs_to_take_back(gangs, [], later(110)) == [B, C]


def test_a_gang_that_is_alone_in_part_gives_its_nodes_back_too() -> None:
    assert turns().gangs_to_take_back([partial(A)], [], later(60)) == [A]


def test_the_oldest_has_time_to_use_what_the_others_gave_back() -> None:
    leaves = [waiting(B, left=False)]
    assert turns().gangs_to_take_back([partial(A)], leaves, later(300)) == []
    assert turns(left=300).gangs_to_take_back([partial(A)], [waiting(B)], later(359)) == []
    assert turns(left=300).gangs_to_take_back([partial(A)], [waiting(B)], later(360)) == [A]


def test_the_oldest_gang_is_tried_first_and_one_at_a_time() -> None:
    gangs = [waiting(B, created=2), waiting(A, created=1)]
    assert turns().gang_to_try([], gangs, later(60)) == A
    assert turns(tried=55).gang_to_try([], gangs, later(60)) is None
    assert turns().gang_to_try([partial(C)], gangs, later(60)) is None


def test_a_gang_is_tried_again_after_its_pause_or_when_a_workload_ends() -> None:
    assert turns().gang_to_try([], [waiting(A)], later(59)) is None
    assert turns().gang_to_try([], [waiting(A)], later(60)) == A
    assert turns(room=20).gang_to_try([], [waiting(A, taken=10)], later(21)) == A
    assert turns(room=5).gang_to_try([], [waiting(A, taken=10)], later(21)) is None
    assert turns(room=20).gang_to_try([], [waiting(A, taken=10, left=False)], later(99)) is None


def test_an_operators_job_is_taken_back_in_its_own_words() -> None:
    spec = {"runPolicy": {"suspend": True}, PYTORCH.replicas: {"Worker": {"replicas": 3}}}
    job = view(notes=TakeBack(1, 1, 2, time_text(0)).annotation).manifest | {"spec": spec}
    seen = JobView.from_objects(PYTORCH, job, [], has_kueue=True)
    assert not seen.is_managed
    assert seen.observation().phase is Phase.PENDING
