"""Section: the probe that says when a rank is ready."""

from collections.abc import Iterator

from core.forms.field import Input
from spec.parts.probes import Scheme
from workloads.plan import Plan
from workloads.wizard.sections.base import FOLD, Question, ReviewLine, Section, reviewed_replica

PROBE = "probes.readiness"
HTTP_GET = f"{PROBE}.handler.httpGet"


def _number_question(key: str, label: str, hint: str, placeholder: str = "") -> Question:
    return Question(f"{PROBE}.{key}", label, Input.WHOLE, hint, placeholder=placeholder)


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    probes = reviewed_replica(plan, role).probes
    for name, probe in (
        ("Ready when it answers", probes.readiness),
        ("Restarted unless it answers", probes.liveness),
        ("Started when it answers", probes.startup),
    ):
        if probe:
            get = probe.handler.http_get
            yield name, f"{get.scheme} on port {get.port}, {get.path}", f"{role}.probes"


READINESS = Section(
    "readiness",
    "Readiness probe",
    "A rank is ready once it answers on a port with a success status.",
    template=FOLD,
    replica=(
        # The port comes first, because a probe must have one.
        Question(
            f"{HTTP_GET}.port",
            "Port",
            Input.WHOLE,
            "Without a probe, a rank is ready when it runs.",
            placeholder="8080",
        ),
        Question(f"{HTTP_GET}.path", "Path", placeholder="/"),
        Question(
            f"{HTTP_GET}.scheme",
            "Scheme",
            Input.SELECT,
            options=(("", Scheme.HTTP), (Scheme.HTTPS, Scheme.HTTPS)),
        ),
        _number_question("initialDelaySeconds", "Initial delay", "Seconds before the first probe."),
        _number_question("periodSeconds", "Period", "Seconds between probes.", "10"),
        _number_question("timeoutSeconds", "Timeout", "Seconds until a probe times out.", "1"),
        _number_question(
            "successThreshold", "Success threshold", "Successes in a row until it is ready.", "1"
        ),
        _number_question(
            "failureThreshold", "Failure threshold", "Failures in a row until it is not ready.", "3"
        ),
    ),
    review=review,
)
