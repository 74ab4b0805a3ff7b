"""The readiness probe, field by field; each of them needs a port."""

from tests.workloads.wizard.sections.field_rows import FieldRow, Json, Posted

NO_PROBES = "the local engine has no probes"
NOT_ON_SLURM = "Slurm has no probes"
PROBE = {"probes-readiness-handler-httpGet-port": "8080"}


def probe(key: str, value: str) -> Posted:
    cells = PROBE | {f"probes-readiness-{key}": value}
    return {f"worker-{name}": each for name, each in cells.items()}


def probed(part: Json) -> Json:
    return {"readinessProbe": part}


PROBES: tuple[tuple[str, str, str, Json, Json], ...] = (
    (
        "port and path",
        "handler-httpGet-path",
        "/ready",
        {"httpGet": {"port": 8080, "path": "/ready"}},
        probed({"httpGet": {"port": 8080, "path": "/ready"}}),
    ),
    (
        "scheme",
        "handler-httpGet-scheme",
        "HTTPS",
        {"httpGet": {"scheme": "HTTPS"}},
        probed({"httpGet": {"scheme": "HTTPS"}}),
    ),
    *(
        (key, key, value, {key: int(value)}, probed({key: int(value)}))
        for key, value in (
            ("initialDelaySeconds", "5"),
            ("periodSeconds", "20"),
            ("timeoutSeconds", "3"),
            ("successThreshold", "2"),
            ("failureThreshold", "4"),
        )
    ),
)
ROWS = tuple(
    FieldRow(9, f"Readiness probe, {name}", probe(key, value), spec, part, NO_PROBES, NOT_ON_SLURM)
    for name, key, value, spec, part in PROBES
)
