"""How a cluster learns how a rank is. ``readiness`` is as in Run:ai's REST API (``probes``), which
has no other; ``liveness`` and ``startup`` are alike and mean what they do on Kubernetes."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from spec.part import Part, Whole

LARGEST = 2**31 - 1  # of a number that Kubernetes takes


class Scheme(StrEnum):
    HTTP = "HTTP"
    HTTPS = "HTTPS"


class HttpGet(Part):
    path: str = Field("/", min_length=1, max_length=2000, description="The path of the request")
    port: Whole = Field(ge=1, le=65_535, description="The port")
    host: str | None = Field(
        None,
        min_length=1,
        max_length=253,
        description="The host of the request; the pod if it is null",
    )
    scheme: Scheme = Field(Scheme.HTTP, description="HTTP or HTTPS")


class ProbeHandler(Part):
    http_get: HttpGet = Field(description="A request that the container must answer with success")


class Probe(Part):
    """A request that checks the container again and again. Times are in seconds; the thresholds
    count results in a row."""

    initial_delay_seconds: Whole | None = Field(
        None,
        ge=0,
        le=LARGEST,
        description="How many seconds after the start the first check happens",
    )
    period_seconds: Whole | None = Field(
        None, ge=1, le=LARGEST, description="How many seconds are between two checks"
    )
    timeout_seconds: Whole | None = Field(
        None,
        ge=1,
        le=LARGEST,
        description="After how many seconds without an answer the check fails",
    )
    success_threshold: Whole | None = Field(
        None, ge=1, le=LARGEST, description="How many successes in a row make the check succeed"
    )
    failure_threshold: Whole | None = Field(
        None, ge=1, le=LARGEST, description="How many failures in a row make the check fail"
    )
    handler: ProbeHandler = Field(description="How it is checked")


class Probes(Part):
    """Checks of the container. While ``readiness`` fails, the rank is not ready; if ``liveness``
    fails, it is restarted; until ``startup`` succeeds, neither is checked."""

    readiness: Probe | None = Field(None, description="Keeps requests away while it fails")
    liveness: Probe | None = Field(None, description="Restarts the container when it fails")
    startup: Probe | None = Field(None, description="Keeps the other checks away until it succeeds")

    @model_validator(mode="after")
    def _one_good_answer_is_enough(self) -> Self:
        """As Kubernetes has it for those whose failure restarts."""
        for name, probe in (("liveness", self.liveness), ("startup", self.startup)):
            if probe and probe.success_threshold not in {None, 1}:
                raise ValueError(f"successThreshold of a {name} probe must be 1.")
        return self
