"""What a supervisor does beside its gang is never worth the gang."""

from pathlib import Path

import pytest

from spec.phases import RankPhase
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_usage_that_cannot_be_written_ends_no_rank(rig: LocalRig) -> None:
    launched = rig.submit(rig.endless())
    folder = rig.folder(launched)
    log = folder.supervisor_log
    usage = folder.usage(launched.run)
    wait_for(usage.exists, 15, "the first samples")
    full = folder.path / "full"
    full.symlink_to("/dev/full")
    full.replace(usage)
    wait_for(lambda: "Usage cannot be written" in log.read_text(), 15, "a sample without room")
    usage.unlink()
    wait_for(lambda: "Usage is written again" in log.read_text(), 15, "room")
    assert {rank.phase for rank in rig.ranks(launched)} == {RankPhase.RUNNING}
    assert rig.attempt(launched) == 0
