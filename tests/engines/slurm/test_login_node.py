"""Faults of the login node: connections that are cut, keys, sessions, greetings."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from config.run.install import ROOT
from engines.base import EngineUnavailable
from engines.slurm.client import ssh
from engines.slurm.client.transport import SshTransport
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import SharedFolder
from spec.phases import Phase
from tests.engines.reading import printed
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig, tolerant
from tests.slurm_testbed import USER
from tests.waiting import wait_for

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("watched")]


OWN_CONFIGURATION = """
Host outer
  Port {outer}
Host *
  HostName {host}
  User {user}
  Port {port}
  IdentityFile {key}
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
Host inner
  ProxyJump outer
"""
THEIRS = """
import sys
from pathlib import Path
from engines.slurm.client.ssh import Login, connect
from engines.slurm.client.transport import SlurmPrograms
print(connect(Login("inner"), SlurmPrograms(), Path(sys.argv[1])).run(["id", "-un"]).out)
"""
WITH_THEM = 'mount --bind "$1" "$HOME/.ssh" && exec "$2" -c "$3" "$1"'


@pytest.fixture
def rig(rig: SlurmRig) -> Iterator[SlurmRig]:
    """With a shared connection of its own, whose path must be short."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        usual = rig.transport
        rig.transport = connected(rig, folder)
        rig.engine = SlurmEngine(rig.transport, rig.site, interval=0.5)
        yield rig
        cut(rig.transport)
        rig.transport = usual


def connected(rig: SlurmRig, folder: str) -> SshTransport:
    return ssh.connect(rig.testbed.login(), rig.testbed.programs, Path(folder))


def cut(transport: SshTransport) -> None:
    """Nothing is said to the other side."""
    line = ["ssh", "-O", "check", *transport.options, transport.host]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode == 0:  # Master running (pid=123)
        with suppress(ProcessLookupError):
            os.kill(int(done.stderr.rpartition("pid=")[2].rstrip(")\r\n")), signal.SIGKILL)


@contextmanager
def cut_every(seconds: float, transport: SshTransport) -> Iterator[None]:
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(seconds):
            cut(transport)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_connection_that_is_cut_every_two_seconds_loses_and_doubles_nothing(
    rig: SlurmRig, pages: Pages
) -> None:
    launched = rig.shell("for i in 1 2 3 4 5; do echo $i; sleep 1; done")
    with cut_every(2, rig.transport):
        rig.submit_patiently(launched)
        with cut_every(0.02, rig.transport):
            said = pages.text(launched)
        assert "is disconnected. This is the last known state." in said
        assert "the login node cannot be reached" in said
        phases: list[Phase] = []

        def is_over() -> bool:
            shown = tolerant(lambda: rig.engine.observe(launched.handle))
            phases.extend([shown.phase] if shown and shown.phase else [])
            return Phase.COMPLETED in phases

        wait_for(is_over, 60, "it to end", every=0.1)
    order = [Phase.PENDING, Phase.INITIALIZING, Phase.RUNNING, Phase.COMPLETED]
    assert phases == sorted(phases, key=order.index)
    assert printed(rig.engine, launched) == b"1\n2\n3\n4\n5\n"
    assert "Completed" in pages.text(launched)


def test_a_key_that_is_revoked_is_said_and_the_job_goes_on(rig: SlurmRig, pages: Pages) -> None:
    launched = rig.submit(rig.shell('until [ -e "$CHECKPOINT_DIR/go" ]; do sleep 0.2; done'))
    rig.seen(launched, Phase.RUNNING)
    pages.text(launched)
    (keys,) = Path(rig.testbed.programs.conf).parent.parent.rglob(f"authorized/{USER}")
    aside = keys.with_name(f".{keys.name}.aside")
    shutil.move(keys, aside)
    try:
        cut(rig.transport)
        with pytest.raises(EngineUnavailable, match="does not accept the key"):
            rig.engine.observe(launched.handle)
        said = pages.text(launched)
        assert "is disconnected. This is the last known state." in said
        assert "the login node does not accept the key" in said
    finally:
        shutil.move(aside, keys)
    folder = SharedFolder(rig.site.directory, launched.handle.workload_id)
    go_on = ["touch", f"{folder.checkpoints}/go"]
    wait_for(lambda: tolerant(lambda: rig.transport.run(go_on)), 60, "it to connect", every=0.5)
    assert rig.over(launched).phase is Phase.COMPLETED


def test_more_sessions_than_the_login_node_allows_wait_or_connect_anew(
    rig: SlurmRig, pages: Pages
) -> None:
    """Processes of one server share the connection, which has ten sessions."""
    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    path = next(it for it in rig.transport.options if it.startswith("ControlPath="))
    folder = str(Path(path.removeprefix("ControlPath=")).parent)
    transports = [connected(rig, folder) for _ in range(3)]

    def ask(number: int) -> str:
        words = ["sh", "-c", f"sleep 0.5; echo {number}"]
        return transports[number % 3].run(words).out.strip()

    with ThreadPoolExecutor(24) as threads:
        answers = threads.map(ask, range(24))
        said = pages.text(launched)
        assert list(answers) == [str(number) for number in range(24)]
    assert "Running" in said
    assert "is disconnected" not in said


@pytest.fixture
def home_for_keys() -> Iterator[None]:
    """A mount needs a folder below it, which the user of the tests may not have."""
    line = ["unshare", "--mount", "true"]
    if subprocess.run(line, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount anything")
    folder = Path.home() / ".ssh"
    was_there = folder.exists()
    folder.mkdir(mode=0o700, exist_ok=True)
    yield
    if not was_there:
        folder.rmdir()


@pytest.mark.usefixtures("home_for_keys")
@pytest.mark.parametrize("reached", [True, False])
def test_without_a_key_what_the_user_of_trainyard_has_for_ssh_holds(
    rig: SlurmRig, *, reached: bool
) -> None:
    """Its configuration, with a host to jump by; in a name space of its own."""
    ssh = rig.testbed.told["ssh"]
    key = rig.testbed.told["users"][USER]["key_file"]
    values = {"host": ssh["host"], "port": ssh["port"], "user": USER, "key": key}
    own = OWN_CONFIGURATION.format(**values, outer=ssh["port"] if reached else 1)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder, "config").write_text(own)
        line = ["unshare", "--mount", "sh", "-c", WITH_THEM, "sh", folder, sys.executable, THEIRS]
        done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.strip() == (USER if reached else ""), done.stderr
    assert reached or "inner: " in done.stderr


def test_a_login_node_that_greets_everybody_is_understood(rig: SlurmRig, pages: Pages) -> None:
    greeting = Path(rig.testbed.told["users"][USER]["home"]) / ".ssh/rc"
    greeting.parent.mkdir(exist_ok=True)
    greeting.write_text("echo '*** Welcome 42 ***'; echo maintenance on Friday >&2\n")
    greeting.chmod(0o644)
    try:
        line = ["ssh", *rig.transport.options, rig.transport.host, "true"]
        assert b"Welcome" in subprocess.run(line, capture_output=True, check=True).stdout
        launched = rig.submit(rig.prints())
        assert rig.over(launched).phase is Phase.COMPLETED
        assert printed(rig.engine, launched, 1) == b"hello\n"
        assert rig.transport.run(["sh", "-c", "echo no >&2; exit 3"]).message == "no"
        assert {it.name for it in rig.engine.nodes()} == set(rig.testbed.told["nodes"])
        said = pages.text(launched)
        assert "Completed" in said
        assert "Welcome" not in said
    finally:
        greeting.unlink()
