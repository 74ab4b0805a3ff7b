"""The limits of ranks hold under control groups of version 2, too: in a guest, whatever this
machine has."""

import shlex
import sys
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests.engines.local.system import guest

LIMITS = "tests/engines/local/system/test_limits.py"


def test_limits_hold_under_version_2(tmp_path: Path) -> None:
    if reason := guest.lacks():
        pytest.skip(reason)
    pytest_there = (
        f"{shlex.quote(sys.executable)} -m pytest {LIMITS} -q -n 0 -p no:cacheprovider -rs"
    )
    command = f"""
        export PATH={Path(sys.executable).parent}:/usr/bin:/bin HOME=/tmp PYTHONDONTWRITEBYTECODE=1
        cd {shlex.quote(str(ROOT))} && cat /proc/self/cgroup && {pytest_there}
    """
    output = guest.run(command, tmp_path, timeout=900)
    assert "0::/user.slice/session.scope" in output, output
    assert "guest: ended with 0" in output, output
    assert "SKIPPED" not in output, output
