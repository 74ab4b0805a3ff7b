"""Each text of a cluster has its cause, and one that no rule knows is shown whole. Pure, but for an
API server that answers with the text."""

import pytest

from engines.base import EngineRefused, EngineUnavailable
from engines.kubernetes.status.causes.refused import creation_failure
from engines.kubernetes.status.causes.startup import provisioning_cause, waiting_cause
from engines.kubernetes.status.causes.unschedulable import unschedulable_cause
from spec.problems.causes import Cause
from tests.engines.kubernetes.answering import answering
from tests.engines.kubernetes.status.causes.texts import (
    CLAIMS,
    DELAYED_JOBS,
    REFUSED_JOBS,
    REFUSED_PODS,
    SCHEDULERS,
    WAITING,
    Text,
)

JOBS = "/apis/batch/v1/namespaces/team-a/jobs"


def check(text: Text, cause: Cause | None) -> None:
    assert cause
    assert (cause.title, cause.kind, cause.reason) == (text.title, text.kind, text.reason)
    assert text.said in cause.said
    assert cause.todo


def by_text(text: object) -> str | None:
    return f"{text.source}: {text.said[:60]}" if isinstance(text, Text) else None


@pytest.mark.parametrize("text", SCHEDULERS, ids=by_text)
def test_each_text_of_a_scheduler_has_its_cause(text: Text) -> None:
    check(text, unschedulable_cause(text.said))


@pytest.mark.parametrize("text", REFUSED_PODS, ids=by_text)
def test_each_refusal_of_a_pod_has_its_cause(text: Text) -> None:
    check(text, creation_failure([{"reason": "FailedCreate", "message": text.said}]))


@pytest.mark.parametrize("text", WAITING, ids=by_text)
def test_each_reason_of_a_waiting_container_has_its_cause(text: Text) -> None:
    reason, _, message = text.said.partition(": ")
    check(text, waiting_cause({"reason": reason, "message": message}, "train:1", []))


@pytest.mark.parametrize(("reason", "text"), CLAIMS, ids=by_text)
def test_each_event_of_a_claim_has_its_cause(reason: str, text: Text) -> None:
    check(text, provisioning_cause([{"reason": reason, "message": text.said}]))


@pytest.mark.parametrize(("status", "text"), DELAYED_JOBS, ids=by_text)
def test_a_job_that_is_refused_for_now_waits_with_its_cause(status: int, text: Text) -> None:
    with answering() as server:
        server.answers[JOBS] = (status, text.said)
        with pytest.raises(EngineUnavailable) as delay:
            server.api.create(JOBS, {})
    check(text, delay.value.cause)


@pytest.mark.parametrize("said", REFUSED_JOBS)
def test_a_job_that_is_refused_for_good_fails_with_the_servers_words(said: str) -> None:
    with answering() as server:
        server.answers[JOBS] = (403, said)
        with pytest.raises(EngineRefused, match="The cluster refused: ") as refusal:
            server.api.create(JOBS, {})
    assert said in str(refusal.value)
