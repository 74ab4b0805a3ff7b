"""Runs gangs in the test itself instead of a supervisor, so that a test can replace a part
of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from engines.base import Launch
from engines.local.records.state import Record
from engines.local.supervisor.gang import Gang
from engines.local.supervisor.monitor import GangMonitor
from tests.engines.local.conftest import LocalRig


@contextmanager
def started_gang(rig: LocalRig, launched: Launch) -> Iterator[tuple[Gang, GangMonitor]]:
    """Start a gang, and kill its ranks after the block."""
    plan = rig.engine.plan(launched)
    folder = rig.folder(launched)
    folder.create_run(launched.run)
    gang = Gang(folder, plan, Record.from_plan(plan))
    try:
        gang.start()
        yield gang, GangMonitor(folder, plan, gang)
    finally:
        gang.kill()
        gang.close()
