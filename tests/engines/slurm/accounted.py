"""A job as ``sacct --json`` of Slurm 22.05 prints it."""

from datetime import UTC, datetime

from engines.slurm.layout import job_name
from tests.engines.slurm import cases

START = datetime(2026, 11, 24, 10, tzinfo=UTC)
NAME = job_name(cases.UID, 1)


def record(state: str = "RUNNING", *, name: str = NAME, job_id: int = 52) -> dict[str, object]:
    """Return the record of a job."""
    over = state != "RUNNING"
    start = int(START.timestamp())
    return {
        "job_id": job_id,
        "name": name,
        "time": {"start": start, "end": start + 62 if over else 0},
        "state": {"current": state, "reason": "None"},
        "exit_code": {"status": "SUCCESS", "return_code": 0},
        "nodes": "n1",
        "tres": {"requested": [], "allocated": [{"type": "cpu", "name": None, "count": 2}]},
        "steps": [],
    }
