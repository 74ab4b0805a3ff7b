"""Where a job stands in its queue."""

from collections.abc import Iterator

import pytest

from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.kueue.names import VISIBILITY
from engines.kubernetes.kueue.places import QueuePlaces
from engines.kubernetes.kueue.workload import QueuedJob
from engines.kubernetes.status.job import JobView, ordinal_suffix
from tests.engines.kubernetes.answering import Answering, answering
from tests.engines.kubernetes.kueue.queue_entries import WAITS, admitted, entry, job

PENDING = f"/apis/{VISIBILITY}/v1beta2/namespaces/team-a/localqueues/team/pendingworkloads"


@pytest.fixture
def server() -> Iterator[Answering]:
    with answering() as made:
        group = {"name": VISIBILITY, "versions": [{"version": "v1beta2"}]}
        made.answers["/apis"] = {"groups": [group]}
        yield made


def test_places_are_asked_once_for_each_queue_and_not_all_the_time(server: Answering) -> None:
    waiting = [QueuedJob(entry(WAITS, job=name)) for name in ("a", "b")]
    items = [
        {"metadata": {"name": one.name}, "positionInLocalQueue": number}
        for number, one in enumerate(waiting)
    ]
    server.answers[PENDING] = {"items": items}
    places = QueuePlaces(server.api)
    assert places.read(waiting) == {("team-a", "job-demo-a"): 1, ("team-a", "job-demo-b"): 2}
    assert server.asked.count(PENDING) == 1
    assert not places.is_due


def test_without_an_answer_no_place_is_known(server: Answering) -> None:
    waiting = [QueuedJob(entry(WAITS))]
    server.answers[PENDING] = (403, "not allowed")
    assert QueuePlaces(server.api).read(waiting) == {}


def test_a_waiting_job_says_its_place() -> None:
    waiting = JobView.from_objects(
        PYTORCH, job(suspend=True), (), has_kueue=True, queue_entries=[entry(WAITS)], queue_place=3
    )
    assert waiting.observation().message.endswith("2 more needed; 3rd in queue team")
    started = JobView.from_objects(
        PYTORCH, job(suspend=False), (), has_kueue=True, queue_entries=[admitted()], queue_place=3
    )
    assert "3rd" not in started.observation().message


def test_places_are_counted_as_people_say_them() -> None:
    said = {number: f"{number}{ordinal_suffix(number)}" for number in (1, 2, 3, 4, 11, 12, 21, 113)}
    assert list(said.values()) == ["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "113th"]
