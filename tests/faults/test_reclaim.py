"""Over-quota work ends for the owner of a quota, and its training resumes from its checkpoint."""

import pytest

from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

SLOWLY = "--step-delay 0.05 --checkpoint-every 10 --epochs 8"
BRIEFLY = "sh -c 'for i in 1 2 3 4 5 6; do echo tick $i; sleep 0.5; done'"
GRACE = 30
TRAINED = 120.0


def test_a_preempted_training_resumes_when_the_owner_has_ended(rest: Rest) -> None:
    """The demo project owns 2 of the 4 GPUs, all of which the first workload has."""
    training = rest.submit("over-quota", workers=1, args=SLOWLY, compute={"gpuDevicesRequest": 2})
    wait_for(lambda: step_of(rest, training) > 0, TRAINED, "the training to report a step")
    claim = rest.submit(
        "claim",
        workers=1,
        command=BRIEFLY,
        compute={"gpuDevicesRequest": 1},
        preemptibility="non-preemptible",
    )
    assert rest.wait(claim, "Running", "Completed", "Failed", timeout=GRACE + 5) != "Failed"
    waiting = rest.read(training)
    assert (waiting["phase"], waiting["run"]) == ("Pending", 2)
    told = [event["message"] for event in rest.events(training)]
    assert any(text.startswith("Taken back by claim") for text in told)
    saved_at = step_of(rest, training)
    assert rest.wait(claim, "Completed", "Failed") == "Completed"
    assert rest.wait(training, "Completed", "Failed", timeout=TRAINED) == "Completed"
    assert "resumed after step" in rest.log(training)
    assert step_of(rest, training) > saved_at > 0
    assert {pod["exitCode"] for pod in rest.pods(training)} == {0}


def step_of(rest: Rest, workload: str) -> int:
    return int((rest.read(workload).get("lastMetrics") or {}).get("step", 0))
