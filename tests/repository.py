"""Lists files of the repository, for tests that read them."""

import re
import subprocess
from pathlib import Path

from config.run.install import ROOT


def tracked(*patterns: str) -> list[Path]:
    """Return the paths of files that match, relative to the root, including files that are not
    added yet.

    Migrations and ignored files are left out.
    """
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [Path(name) for name in sorted(filter(None, listed.split("\0")))]
    return [path for path in paths if "migrations" not in path.parts and (ROOT / path).is_file()]


def targets() -> set[str]:
    """Return the targets of the Makefile."""
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
