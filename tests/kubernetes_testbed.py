"""The Kubernetes that tests run on if nobody names a cluster: the program that
``KUBERNETES_TESTBED`` names, or the one next to the repository, compiles and starts it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.run.install import ROOT

TOOL = Path(os.environ.get("KUBERNETES_TESTBED", ROOT.parent / "shared" / "k8s" / "k8s"))
TRAINER_IMAGE = "local/trainer:1"
SHELL_IMAGE = "local/busybox:1"
#: Held while programs are compiled, because CI starts that long before the tests need them.
BUILD_LOCK = Path(tempfile.gettempdir()) / "trainyard-kubernetes-build.lock"
BUILD_SECONDS = float(os.environ.get("KUBERNETES_BUILD_SECONDS", "2400"))
START_SECONDS = 300


class NoTestbed(Exception):
    """The testbed does not work here; the message says why. That is a fault of the machine and of
    no change."""


def build(operators: str) -> None:
    """Compile what is missing for clusters with these operators, separated by commas. It takes
    minutes the first time, and seconds later. Raises ``NoTestbed``."""
    command = ["flock", str(BUILD_LOCK), str(TOOL), "build", operators]
    _run(command, BUILD_SECONDS, f"`k8s build {operators}`")


@contextmanager
def cluster(port: int, operators: str) -> Iterator[Path]:
    """Start the cluster of an API port with these operators and no others, and yield its
    kubeconfig.

    A cluster that runs already is used and left running. Raises ``NoTestbed``.
    """
    was_up = run(port, "status", check=False).returncode == 0
    if not was_up:
        # What an earlier cluster left on disk would come back to life, workloads and all.
        run(port, "down", "--wipe", check=False)
    try:
        started = run(port, "up", "--with", operators)
        yield Path(started.stdout.strip())
    finally:
        if not was_up:
            run(port, "down", "--wipe", check=False)


def environment(kubeconfig: Path) -> dict[str, str]:
    """Return the variables by which tests find a cluster of the testbed and its programs."""
    return {
        "KUBECONFIG": str(kubeconfig),
        "KUBERNETES_TESTBED": str(TOOL),
        "KUBEBUILDER_ASSETS": str(kubeconfig.parent.parent / "bin"),
        "TRAINYARD_TEST_TRAINER": TRAINER_IMAGE,
        "TRAINYARD_TEST_S3_IMAGE": TRAINER_IMAGE,
        "TRAINYARD_SHELL_IMAGE": SHELL_IMAGE,
    }


def make_trainer_image(port: int) -> None:
    """Make an image of this environment, with the trainer among its packages, by hard links."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    with tempfile.TemporaryDirectory(dir=ROOT / ".venv") as folder:
        for part in ("bin", "include", "lib"):
            shutil.copytree(
                ROOT / ".venv" / part, Path(folder, part), symlinks=True, copy_function=os.link
            )
        os.link(ROOT / ".venv" / "pyvenv.cfg", Path(folder, "pyvenv.cfg"))
        packages = Path(folder, "lib", version, "site-packages")
        shutil.copytree(ROOT / "trainer", packages / "trainer")
        run(port, "image-python", TRAINER_IMAGE, "--venv", folder)


def run(port: int, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a verb of the testbed for the cluster of a port. Raises ``NoTestbed``."""
    environment = {**os.environ, "K8S_PORT": str(port)}
    command = [str(TOOL), *words]
    return _run(command, START_SECONDS, f"`k8s {words[0]}`", environment, check=check)


def _run(
    command: list[str],
    seconds: float,
    what: str,
    environment: dict[str, str] | None = None,
    *,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(
            command,
            env=environment,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired as error:
        raise NoTestbed(f"{what} took longer than {seconds:.0f} s.") from error
    if check and done.returncode:
        raise NoTestbed(f"{what} failed: {done.stderr.strip()[-1000:]}")
    return done
