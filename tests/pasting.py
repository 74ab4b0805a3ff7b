"""Runs calls as the documents show them, pasted into a shell."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from config.run.install import ROOT

HERE = "http://127.0.0.1:8000"
needs_a_shell = pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "curl", "jq"))), reason="no bash, curl or jq here"
)


def shown() -> dict[str, list[str]]:
    """Return the commands in docs/rest.md, by their heading."""
    parts = re.split(r"^##+ (.+)$", (ROOT / "docs" / "rest.md").read_text(), flags=re.MULTILINE)
    calls = re.compile(r"^```\n((?:curl|jq) .*?)```", re.MULTILINE | re.DOTALL)
    sections = zip(parts[1::2], map(calls.findall, parts[2::2]), strict=True)
    return {heading: commands for heading, commands in sections if commands}


def pasted(command: str, token: str, folder: Path | None = None) -> Any:
    """Run a command in bash, with ``TOKEN`` set, and return the JSON that it prints."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],  # noqa: S607 -- the bash on the PATH
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=folder,
        env={"TOKEN": token, "PATH": "/usr/bin:/bin:/usr/local/bin"},
    )
    return json.loads(done.stdout)
