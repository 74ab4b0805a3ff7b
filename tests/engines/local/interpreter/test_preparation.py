"""Trainyard installs the Python of trainings: nothing is fetched twice, and nothing half there is
used."""

import base64
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engines.local.interpreter import downloads, installation
from engines.local.interpreter.choice import Interpreter, Origin
from engines.local.interpreter.installation import prepare
from engines.local.interpreter.record import PreparationRecord
from engines.local.interpreter.starting import ensure_preparation, preparation_of, prepare_again
from engines.preparation import Preparation, PreparationStage
from tests.engines.local.interpreter.index import Index, serve
from tests.waiting import wait_for

pytestmark = pytest.mark.extended
PATIENCE = 180.0  # seconds: a preparation leaves the processors to others


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    index = Index()
    server = serve(index)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(downloads, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(installation, "_answers", lambda _: False)
    yield index
    server.shutdown()
    server.server_close()


@pytest.fixture
def interpreter(tmp_path: Path) -> Interpreter:
    home = tmp_path / "training"
    return Interpreter(Origin.INSTALLED, home / "python-1" / "bin" / "python", home)


def test_an_index_that_breaks_off_is_continued(index: Index, interpreter: Interpreter) -> None:
    breaks = iter([False, False, True, False, True])

    def break_off() -> None:
        if next(breaks, False):
            raise ConnectionResetError

    index.before_piece = break_off
    outcome = prepare(interpreter)
    assert outcome.stage is PreparationStage.READY, outcome
    assert "with torch 2.13.0" in outcome.summary
    assert sum(index.sent.values()) == index.total  # to the byte
    assert not interpreter.downloads.exists()
    assert preparation_of(interpreter) == outcome


def test_a_process_that_is_killed_is_continued_by_the_next_look(
    index: Index, interpreter: Interpreter
) -> None:
    goes_on = threading.Event()
    begun = threading.Event()

    def hold() -> None:
        if sum(index.sent.values()) >= 100_000:
            begun.set()
            goes_on.wait()

    index.before_piece = hold
    ensure_preparation(interpreter)
    wait_for(begun.is_set, PATIENCE)
    wait_for(lambda: preparation_of(interpreter).stage is PreparationStage.FETCHING, PATIENCE)
    os.kill(preparing_process(interpreter), signal.SIGKILL)
    goes_on.set()
    wait_for(lambda: preparing_process(interpreter) == 0, 10)
    fetched = sum(it.stat().st_size for it in interpreter.downloads.iterdir())
    before = sum(index.sent.values())
    ensure_preparation(interpreter)
    wait_for(lambda: preparation_of(interpreter).is_ready, PATIENCE)
    assert sum(index.sent.values()) - before <= index.total - fetched
    python = [str(interpreter.python), "-c", "import sklearn, torch; print(torch.__version__)"]
    assert subprocess.run(python, capture_output=True, text=True).stdout == "2.13.0\n"


def preparing_process(interpreter: Interpreter) -> int:
    """Return the pid of the process; 0 if there is none."""
    for process in psutil.process_iter(["cmdline"]):
        words: list[str] = process.info["cmdline"] or []
        if "engines.local.interpreter" in words and str(interpreter.home) in words[-1]:
            return process.pid
    return 0


def test_an_index_that_refuses_says_so_until_someone_tries_again(
    index: Index, interpreter: Interpreter
) -> None:
    index.status = 403
    outcome = prepare(interpreter)
    assert outcome.has_failed
    assert "403" in outcome.problem
    assert "TRAINYARD_TRAINING_PYTHON" in outcome.advice
    ensure_preparation(interpreter)  # too early to try by itself
    assert preparing_process(interpreter) == 0
    index.status = 200
    prepare_again(interpreter)
    wait_for(lambda: preparation_of(interpreter).is_ready, PATIENCE)


def test_the_password_of_an_index_opens_its_files_and_is_shown_nowhere(
    index: Index, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.authorization = "Basic " + base64.b64encode(b"reader:s3cret").decode()
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("://", "://reader:s3cret@"))
    index.status = 403
    refused = prepare(interpreter)
    assert "403" in refused.problem
    index.status = 200
    outcome = prepare(interpreter)
    assert outcome.is_ready, outcome
    for text in (refused.problem, interpreter.record.read_text(), interpreter.log.read_text()):
        assert "s3cret" not in text


def test_a_disk_without_room_is_told_before_the_download(
    index: Index, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(interpreter.home.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
    outcome = prepare(interpreter)
    assert "PyTorch needs 0.0 GB" in outcome.problem
    assert not index.sent


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a small disk")
def test_a_disk_that_fills_keeps_what_was_fetched(
    index: Index, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpreter.downloads.mkdir(parents=True)
    mount = ["/bin/mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(interpreter.downloads)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        outcome = prepare(interpreter)
        assert "is full" in outcome.problem
        assert sum(it.stat().st_size for it in interpreter.downloads.iterdir()) > 300_000
    finally:
        subprocess.run(["/bin/umount", str(interpreter.downloads)], check=True)


def test_a_python_of_ones_own_needs_torch(tmp_path: Path) -> None:
    environment = tmp_path / "own"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    chosen = Interpreter(Origin.CHOSEN, python, tmp_path / "training")
    outcome = prepare(chosen)
    assert f"{python} cannot import torch" in outcome.problem
    (packages,) = environment.glob("lib/python3*/site-packages")
    source = "__version__ = '2.9'\nclass version: cuda = '13.0'\nclass cuda: device_count = int\n"
    (packages / "torch.py").write_text(source)
    assert "with torch 2.9" in prepare(chosen).summary
    missing = Interpreter(Origin.CHOSEN, tmp_path / "none", tmp_path / "training")
    assert "does not start" in prepare(missing).problem
    assert PreparationRecord.read(chosen) is None  # the record is of one Python
    assert preparation_of(chosen) == Preparation(PreparationStage.WAITING)


def test_a_folder_of_wheels_is_enough(
    index: Index, interpreter: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, content in index.files.items():
        (wheels / name).write_bytes(content)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    air_gapped = Interpreter(Origin.INSTALLED, interpreter.python, interpreter.home, wheels=wheels)
    assert prepare(air_gapped).is_ready
    assert not index.sent
