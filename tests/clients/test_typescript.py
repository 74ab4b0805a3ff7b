"""The types that openapi-typescript generates: a strict program compiles with them, and works."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from config.run.install import NODE_MODULES
from tests.clients.conftest import PASSWORD

pytestmark = pytest.mark.extended
TOOLS = NODE_MODULES / ".bin"
PROGRAM = Path(__file__).with_name("drive.ts")
STRICT = (
    *("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"),
    *("--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"),
)


def run(*command: str | Path, within: Path) -> str:
    done = subprocess.run(command, check=False, cwd=within, text=True, capture_output=True)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


def test_a_strict_program_in_typescript_submits_and_reads(
    served: str, described: Path, tmp_path: Path
) -> None:
    optional = "--default-non-nullable=false"  # what has a default may be left out of a request
    run(TOOLS / "openapi-typescript", described, optional, "-o", "schema.ts", within=tmp_path)
    shutil.copy(PROGRAM, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node.d.ts").write_text("declare const process: { argv: string[] };\n")
    run(TOOLS / "tsc", *STRICT, "drive.ts", "node.d.ts", within=tmp_path)
    node = shutil.which("node") or "node"
    answer = run(node, "drive.js", served, "ada", PASSWORD, within=tmp_path)
    assert json.loads(answer) == {"workers": 2, "phases": ["Creating"], "refusal": 409}
