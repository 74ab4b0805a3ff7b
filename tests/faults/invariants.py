"""What must hold after a round of killing."""

from functools import partial
from itertools import pairwise
from typing import Any

import psutil

from spec.phases import MOVES, Phase
from tests.faults.killing import CASES, PATIENCE, Case, Round
from tests.product import Trainyard
from tests.rest import ENDS
from tests.waiting import wait_for


def hold(played: Round) -> None:
    """Check that every workload was submitted once, ended as it must, left no process, and has a
    complete log and complete events."""
    wait_for(played.trainyard.is_up, PATIENCE, "every part to be up again")
    for case in CASES:
        submitted_once(played, case)
        if not case.ends:
            wait_for(partial(is_gone, played, case), PATIENCE, f"{case.kind} to be gone")
            continue
        phase = played.reach(case, *(ENDS - {"Stopped"} | {case.ends}))
        assert phase == case.ends, f"{case.kind} is {phase}"
        log_is_whole(played, case)
        events_are_in_order(played.rest.events(played.ids[case.kind]))
    wait_for(lambda: not leftovers(played.trainyard), 20, "no process to be left over")


def submitted_once(played: Round, case: Case) -> None:
    """Check that the workload of a case was not submitted twice."""
    name = f"{played.name}-{case.kind}"
    rows = played.rest.send("GET", f"/workloads?filterBy=name=={name}")["workloads"]
    assert len(rows) <= 1, f"{name} was submitted {len(rows)} times"
    assert rows or not case.ends, f"{name} is not there"


def is_gone(played: Round, case: Case) -> bool:
    """Whether REST no longer has the workload of a case."""
    answer = played.rest.http.get(f"/workloads/{played.ids[case.kind]}")
    return answer.status_code == 404


def log_is_whole(played: Round, case: Case) -> None:
    """Check the logs of a case. An attempt whose supervisor was killed may stop in the middle; the
    last attempt must be complete."""
    workload = played.ids[case.kind]
    lost = played.bereft[case.kind]
    row = played.rest.read(workload)
    assert row["run"] == 1 + ("resume" in case.then), row
    assert row["attempt"] <= 1 + lost, f"{case.kind} was tried again, and lost {lost} supervisors"
    cut = case.ends == "Stopped" or (case.ends == "Failed" and lost)
    for rank in range(1 + case.workers):
        if cut:
            assert in_order(case.lines, log(played, workload, rank))
            continue
        whole = partial(has_lines, played, workload, rank, case.lines)
        wait_for(whole, 20, f"the whole log of {case.kind}, rank {rank}")
        for attempt in range(1, row["attempt"]):
            assert in_order(case.lines, log(played, workload, rank, attempt=attempt))
        if row["run"] > 1:
            assert in_order(case.lines, log(played, workload, rank, run=1))


def log(played: Round, workload: str, rank: int, **where: int) -> list[str]:
    return played.rest.log(workload, rank, **where).splitlines()


def has_lines(played: Round, workload: str, rank: int, lines: list[str]) -> bool:
    return log(played, workload, rank) == lines


def in_order(expected: list[str], lines: list[str]) -> bool:
    """Whether ``lines`` are the first of ``expected``, each once. The last one may be
    incomplete."""
    return "\n".join(expected).startswith("\n".join(lines))


def events_are_in_order(events: list[dict[str, Any]]) -> None:
    """Check that times do not go back, that no event is repeated, and that each phase may follow
    the one before."""
    assert all(a["createdAt"] <= b["createdAt"] for a, b in pairwise(events)), events
    told = [(event["phase"], event["reason"], event["message"]) for event in events]
    assert not [a for a, b in pairwise(told) if a == b], told
    phases = [Phase(phase) for phase, _, _ in told if phase]
    wrong = [(a, b) for a, b in pairwise(phases) if a != b and b not in MOVES[a]]
    assert not wrong, f"{wrong} in {phases}"


def leftovers(trainyard: Trainyard) -> list[psutil.Process]:
    """Return the processes of this copy's workloads, which run in folders of its engine."""
    engine = str(trainyard.home / "engine")
    return [p for p in psutil.process_iter(["cwd"]) if (p.info["cwd"] or "").startswith(engine)]
