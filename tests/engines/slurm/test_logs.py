"""Logs are read to their end, which a slow file system may show later than that of the rank."""

from pathlib import Path

from engines.slurm.client.transport import LocalTransport
from engines.slurm.engine import SlurmEngine
from engines.slurm.script.site import SlurmSite
from tests.engines.slurm import cases, people


def test_lines_that_a_file_system_shows_late_are_waited_for(tmp_path: Path) -> None:
    run = people.written(tmp_path)
    log = run / "attempt-0/rank-0.log"
    end = run / "attempt-0/rank-0.ended"
    log.write_text("first\n")
    engine = SlurmEngine(LocalTransport(), SlurmSite(str(tmp_path)))
    handle = cases.single().handle
    (there,) = engine.logs(handle, run=1)
    end.write_text("0 1700000000000000000 13\n")  # code, time, and how long it is
    late = engine.read_log(handle, there, offset=6, cursor="6", limit=100)
    assert (late.data, late.ended) == (b"", False)
    assert "does not show all of it yet" in late.late
    log.write_text("first\nsecond\n")
    rest = engine.read_log(handle, there, offset=6, cursor="6", limit=100)
    assert (rest.data, rest.cursor) == (b"second\n", "13")
    whole = engine.read_log(handle, there, offset=13, cursor="13", limit=100)
    assert (whole.data, whole.ended, whole.late) == (b"", True, "")
