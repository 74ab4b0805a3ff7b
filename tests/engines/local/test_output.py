"""Output is kept once: what somebody took takes no room here any more."""

import sys

import pytest

from engines.base import Launch
from engines.local.records import layout
from engines.logs import Log
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for

SIZE = 2_000_000
PRINTS = f"""
import os, time
print("x" * {SIZE - 1}, flush=True)
while not os.path.exists("go-on"):
    time.sleep(0.02)
print("more", flush=True)
time.sleep(60)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone gives back a part")


def read(rig: LocalRig, launched: Launch, offset: int) -> bytes:
    log = Log(1, 0, 0)
    return rig.engine.read_log(launched.handle, log, offset=offset, cursor="", limit=10**7).data


def test_output_that_was_taken_takes_no_room_and_the_rest_follows(rig: LocalRig) -> None:
    launched = rig.submit(rig.python(PRINTS))
    folder = rig.folder(launched)
    path = folder.log(1, 0, 0)
    wait_for(lambda: path.exists() and path.stat().st_size == SIZE)
    assert len(read(rig, launched, 0)) == SIZE
    assert len(read(rig, launched, 0)) == SIZE, "nobody said yet that it is kept"
    assert read(rig, launched, SIZE) == b""
    there = path.stat()
    assert (there.st_size, there.st_blocks * 512 <= layout.DUPLICATE_BYTES) == (SIZE, True)
    (folder.rank_folder("master-0") / "go-on").touch()
    wait_for(lambda: read(rig, launched, SIZE) == b"more\n")
