"""``kill -9`` of any process at any moment: every workload ends as it would have, and only once.

One workload runs, one is being stopped, one waits for room and one was submitted a moment ago when
the processes die.
"""

from functools import partial

import pytest

from tests.faults.invariants import leftovers
from tests.product import PROGRAMS, Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

TICKS = 12
COUNT = f"for i in $(seq {TICKS}); do echo tick $i; sleep 0.25; done"
# Takes its time to end, so that it is still stopping when the processes die.
STUBBORN = 'trap "sleep 1.5; exit 0" TERM; echo ready; while :; do sleep 0.1; done'
WHOLE_GPU = {"gpuDevicesRequest": 1}
EVERYTHING = "manager"


def shell(script: str) -> str:
    return f"sh -c '{script}'"


def kill(trainyard: Trainyard, victim: str) -> None:
    if victim == EVERYTHING:
        trainyard.kill_everything()
        trainyard.start()
    else:
        trainyard.kill(*(PROGRAMS if victim == "all" else [victim]))


@pytest.mark.parametrize("victim", ["worker", "web", "valkey", "all", EVERYTHING])
def test_every_workload_ends_as_it_would_have(
    trainyard: Trainyard, rest: Rest, victim: str
) -> None:
    running = rest.submit(f"running-{victim}", command=shell(COUNT), compute=WHOLE_GPU)
    stopping = rest.submit(f"stopping-{victim}", workers=1, command=shell(STUBBORN))
    rest.wait(running, "Running")
    wait_for(lambda: "ready" in rest.log(stopping), 20, "the stubborn one to be ready")
    waiting = rest.submit(f"waiting-{victim}", command=shell(COUNT), compute=WHOLE_GPU)
    rest.wait(waiting, "Pending")
    rest.act(stopping, "suspend")
    fresh = rest.submit(f"fresh-{victim}", workers=1, command=shell(COUNT))

    kill(trainyard, victim)

    assert rest.wait(stopping, "Stopped", "Failed", "Completed", timeout=60) == "Stopped"
    for workload in (running, waiting, fresh):
        assert rest.wait(workload, "Completed", "Failed", "Stopped", timeout=90) == "Completed"
        counted_once(rest, workload)
    wait_for(lambda: not leftovers(trainyard), 10, "no process to be left over")


def counted_once(rest: Rest, workload: str) -> None:
    """Every rank printed every tick once, in one run and one attempt."""
    row = rest.read(workload)
    assert (row["run"], row["attempt"]) == (1, 1)
    expected = [f"tick {n}" for n in range(1, TICKS + 1)]
    for pod in rest.pods(workload):
        assert (pod["exitCode"], pod["restarts"]) == (0, 0)
        whole = partial(has_lines, rest, workload, pod["rank"], expected)
        wait_for(whole, 10, f"the whole log of rank {pod['rank']}")


def has_lines(rest: Rest, workload: str, rank: int, expected: list[str]) -> bool:
    return rest.log(workload, rank).splitlines() == expected
