"""Installing names missing programs and how to get them; a second start installs nothing."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from config.run import install


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout with locks, and nothing installed."""
    for lock in ("requirements.txt", "requirements-dev.txt", "package-lock.json"):
        (tmp_path / lock).write_text(f"{lock} 1")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(install, "NODE_MODULES", tmp_path / "node_modules")
    monkeypatch.setattr(install, "VENDOR", tmp_path / "static" / "vendor")
    monkeypatch.setattr(install, "RUN_LOCK", tmp_path / "requirements.txt")
    monkeypatch.setattr(install, "DEV_LOCK", tmp_path / "requirements-dev.txt")
    monkeypatch.setattr(install, "NPM_LOCK", tmp_path / "package-lock.json")
    monkeypatch.setattr(install, "ICON_NAMES", tmp_path / "icons.txt")
    (tmp_path / "icons.txt").write_text("check\n")
    return tmp_path


@pytest.fixture
def commands(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run; pip, npm and venv leave what they would leave."""
    ran: list[list[str]] = []

    def run(argv: Sequence[Any], **options: Any) -> subprocess.CompletedProcess[bytes]:
        ran.append([str(argument) for argument in argv])
        if "venv" in ran[-1]:
            (checkout / ".venv" / "bin").mkdir(parents=True)
            (checkout / ".venv" / "bin" / "python").touch()
        if "ci" in ran[-1]:
            if "--omit=dev" not in ran[-1]:
                (checkout / "node_modules" / install.NPM_DEV).mkdir(parents=True, exist_ok=True)
            for source in install.VENDOR_FILES:
                path = checkout / "node_modules" / source
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("body\n//# sourceMappingURL=gone.map\n")
            drawings = checkout / "node_modules" / install.ICON_DRAWINGS
            drawings.mkdir(parents=True, exist_ok=True)
            for name in ("check", "x"):
                (drawings / f"{name}.svg").write_text(f'<svg class="icon">{name}</svg>')
        return subprocess.CompletedProcess(argv, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/npm" if name == "npm" else None)
    return ran


def test_a_second_start_installs_nothing(commands: list[list[str]]) -> None:
    assert install.main([]) == 0
    assert [one for one in commands if "pip" in one or "ci" in one]
    commands.clear()
    assert install.main([]) == 0
    assert not [one for one in commands if "pip" in one or "ci" in one or "venv" in one]


def test_a_changed_lock_installs_again(commands: list[list[str]], checkout: Path) -> None:
    install.main([])
    commands.clear()
    lock = checkout / "requirements.txt"
    lock.write_text("requirements.txt 2")
    install.main([])
    assert [one[-1] for one in commands if "pip" in one] == [str(lock)]
    assert not [one for one in commands if "ci" in one]


def test_uv_installs_the_packages_where_it_is(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert install.main([]) == 0
    assert [one[0] for one in commands if "pip" in one] == ["/usr/bin/uv"]


def test_pip_installs_the_packages_if_uv_fails(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    succeeded = install.run_command
    monkeypatch.setattr(install, "run_command", lambda it: succeeded(it) and it[0] != "/usr/bin/uv")
    assert install.main([]) == 0
    assert [Path(one[0]).name for one in commands if "pip" in one] == ["uv", "python"]


def test_an_installation_for_tests_holds_what_running_needs(commands: list[list[str]]) -> None:
    install.main(["--dev"])
    commands.clear()
    install.main([])
    assert not [one for one in commands if "pip" in one or "ci" in one]


def test_npm_packages_for_tests_are_installed_once_they_are_to_run(
    commands: list[list[str]],
) -> None:
    install.main([])
    assert [one for one in commands if "ci" in one and "--omit=dev" in one]
    commands.clear()
    for _ in range(2):
        install.main(["--dev"])
    assert ["--omit=dev" in one for one in commands if "ci" in one] == [False]


def test_the_command_line_is_installed_and_starts_in_this_checkout(
    commands: list[list[str]], checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install.main([])
    program = checkout / ".venv" / "bin" / "trainyard"
    assert str(checkout) in program.read_text()
    monkeypatch.undo()
    venv = checkout / "with a space"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setattr(install, "VENV", venv)
    install.install_command_line()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [venv / "bin" / "trainyard", "--version"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"trainyard {settings.VERSION}\n"


def test_front_end_files_come_without_source_maps(
    commands: list[list[str]], checkout: Path
) -> None:
    install.main([])
    script = checkout / "static" / "vendor" / "tabler" / "tabler.min.js"
    assert script.read_text() == "body\n"


def test_installing_tells_that_npm_is_missing(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert install.main([]) == 1
    said = capsys.readouterr().err
    assert "npm is missing" in said
    assert "apt install npm" in said


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_installing_tells_that_venv_is_missing(
    commands: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    module: str,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else name)
    assert install.main([]) == 1
    major, minor = sys.version_info[:2]
    assert f"apt install python{major}.{minor}-venv" in capsys.readouterr().err


def test_a_failing_pip_says_what_may_help(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").touch()
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda argv, **_: subprocess.CompletedProcess(argv, 1 if "pip" in argv else 0),
    )
    assert install.main([]) == 1
    said = capsys.readouterr().err
    assert "build-essential" in said
    assert "xcode-select --install" in said
    assert not (checkout / ".venv" / ".installed-requirements-trainer").exists()


def test_missing_python_is_told_by_make() -> None:
    answer = subprocess.run(
        ["make", "install", "PYTHON="],  # noqa: S607 -- whichever make runs the tests
        cwd=install.ROOT,
        env=os.environ | {"LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode != 0
    assert "Python 3.11 or newer is missing" in answer.stdout


def test_the_locks_name_no_machine_and_no_host() -> None:
    trainer_lock = install.ROOT / "requirements-trainer.txt"
    for lock in (install.RUN_LOCK, trainer_lock, install.DEV_LOCK, install.NPM_LOCK):
        text = lock.read_text()
        assert "file:/" not in text
        assert '"resolved"' not in text
        assert "--index-url" not in text
        assert "--find-links" not in text
    assert "torch==" not in install.RUN_LOCK.read_text()
    assert "torch==2.13.0\n" in trainer_lock.read_text()
    assert "torch==2.13.0\n" in install.DEV_LOCK.read_text()


def test_icons_that_are_added_to_the_list_come_with_the_next_start(
    commands: list[list[str]], checkout: Path
) -> None:
    install.main([])
    styles = checkout / "static" / "vendor" / install.ICON_STYLES
    assert ".ti-check {" in styles.read_text()
    assert ".ti-x {" not in styles.read_text()
    (checkout / "icons.txt").write_text("check\nx\n")
    newer = styles.stat().st_mtime + 1
    os.utime(checkout / "icons.txt", (newer, newer))
    install.main([])
    assert ".ti-x {" in styles.read_text()
