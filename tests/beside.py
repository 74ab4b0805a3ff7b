"""Runs two parts of the tests at the same time, for parts that mostly wait for a cluster."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

from config.run.install import ROOT
from tests.parts import exit_code


def side_by_side(first: Callable[[], int], module: str, *arguments: str, **environment: str) -> int:
    """Run ``first`` here and ``python -m module`` in a process of its own, and return their exit
    code, as ``exit_code`` does.

    The output of the other process is printed at the end.
    """
    # Two processes cannot share a cache.
    cache = ROOT / ".pytest_cache" / "beside" / "".join([module, *arguments[:1]])
    options = f"{os.environ.get('PYTEST_ADDOPTS', '')} -o cache_dir={cache}"
    whole = os.environ | environment | {"PYTEST_ADDOPTS": options}
    with tempfile.TemporaryFile() as out:
        line = [sys.executable, "-m", module, *arguments]
        second = subprocess.Popen(line, env=whole, cwd=ROOT, stdout=out, stderr=out)
        try:
            code = first()
        finally:
            beside = second.wait()
            out.seek(0)
            sys.stdout.write(out.read().decode(errors="replace"))
            sys.stdout.flush()
    return exit_code([code, beside])
