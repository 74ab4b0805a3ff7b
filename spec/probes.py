"""How a cluster learns that a rank is ready. Fields are those of Run:ai's REST API (``probes``)."""

from enum import StrEnum

from pydantic import Field

from spec.part import Part, Whole


class Scheme(StrEnum):
    HTTP = "HTTP"
    HTTPS = "HTTPS"


class HttpGet(Part):
    path: str = Field("/", min_length=1, max_length=2000)
    port: Whole = Field(ge=1, le=65_535)
    host: str | None = Field(None, min_length=1, max_length=253)
    scheme: Scheme = Scheme.HTTP


class Handler(Part):
    http_get: HttpGet


class Probe(Part):
    """Times in seconds; the thresholds count answers in a row."""

    initial_delay_seconds: Whole | None = Field(None, ge=0)
    period_seconds: Whole | None = Field(None, ge=1)
    timeout_seconds: Whole | None = Field(None, ge=1)
    success_threshold: Whole | None = Field(None, ge=1)
    failure_threshold: Whole | None = Field(None, ge=1)
    handler: Handler


class Probes(Part):
    readiness: Probe | None = None
