"""Builds images for the nodes of a test cluster from programs of this machine: git, sshd,
Open MPI."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from engines.kubernetes.client.api import Api

# the program that builds images for its cluster's nodes
TESTBED = os.environ.get("KUBERNETES_TESTBED", "")
GIT_IMAGE = os.environ.get("TRAINYARD_TEST_GIT_IMAGE", "")
BASICS = ("sh", "cat", "cp", "mkdir", "rm")
GIT = ("git", "git-upload-pack", *BASICS)
SSH = ("ssh", "ssh-keygen", "sshd")
MPI = ("mpirun", "orted", *SSH, *BASICS)
MPI_PACKAGES = ("openmpi-common", "openmpi-bin", "libopenmpi3", "libpmix2")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"  # Debian has sshd there
USERS = """\
root:x:0:0::/root:/bin/sh
git:x:0:0::/tmp:/bin/sh
sshd:x:100:100::/run/sshd:/bin/false
"""


def git_image(api: Api, scratch: Path) -> str:
    """Return the image that ``TRAINYARD_TEST_GIT_IMAGE`` names, or build one. Skips the test if
    neither is possible."""
    return GIT_IMAGE or _with_git(api, scratch, "local/git:1", GIT)


def ssh_images(api: Api, scratch: Path) -> tuple[str, str]:
    """Return the image of a server with sshd and git, and one that fetches from it. Skips the test
    if they cannot be built."""
    server = _with_git(api, scratch, "local/git-ssh:1", (*GIT, *SSH))
    return server, GIT_IMAGE or server


def mpi_image(api: Api, scratch: Path) -> str:
    """Build an image with Open MPI and sshd, or skip the test.

    Its sshd accepts root's key, although the MPI operator mounts it in a folder that everyone can
    write to.
    """
    _need((*MPI, "dpkg"))
    installed = _installed(*MPI_PACKAGES)
    files = [path for path in installed if re.match(r"/usr/lib/|/usr/share/\w*mpi|/etc/", path)]
    _fill(scratch, MPI, [path for path in files if Path(path).is_file()])
    (scratch / "usr" / "sbin").symlink_to("bin")
    (scratch / "etc" / "ssh").mkdir()
    (scratch / "etc" / "ssh" / "sshd_config").write_text("StrictModes no\nPidFile none\n")
    trusting = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
    (scratch / "etc" / "ssh" / "ssh_config").write_text(trusting)
    _asked("ssh-keygen", "-A", "-f", str(scratch))
    return _made(api, scratch, "local/mpi:1")


def _installed(*packages: str) -> list[str]:
    command = ["dpkg", "-L", *packages]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(f"not all of the Debian packages {', '.join(packages)} are installed")
    return found.stdout.splitlines()


def _with_git(api: Api, scratch: Path, name: str, programs: Iterable[str]) -> str:
    _need(programs, ", and TRAINYARD_TEST_GIT_IMAGE names no image")
    helpers = _asked("git", "--exec-path").strip()
    shutil.copytree(helpers, scratch / helpers.lstrip("/"), symlinks=True)
    _fill(scratch, programs, [f"{helpers}/git-remote-http"])
    return _made(api, scratch, name)


def _need(programs: Iterable[str], instead: str = "") -> None:
    if not TESTBED:
        why = "KUBERNETES_TESTBED names no program that makes images for the nodes of this cluster"
        pytest.skip(f"{why}{instead}")
    for name in programs:
        if shutil.which(name, path=PATH) is None:
            pytest.skip(f"{name} is not installed, so no image can be made of it")


def _fill(root: Path, programs: Iterable[str], files: Iterable[str]) -> None:
    """Fill the root folder of an image with programs, which all go to one folder, and files, which
    stay at their paths. Add the libraries that they load, and what every image needs."""
    found = {
        path: f"/usr/bin/{name}" for name in programs if (path := shutil.which(name, path=PATH))
    }
    found |= {path: path for path in files}
    found |= {path: path for path in _libraries(found)}
    for path, place in found.items():
        target = root / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    (root / "bin").symlink_to("usr/bin")
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc" / "passwd").write_text(USERS)
    (root / "run" / "sshd").mkdir(parents=True)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)


def _libraries(files: Iterable[str]) -> set[str]:
    loading = [path for path in files if re.search(r"bin/|\.so|/git-remote", path)]
    return set(re.findall(r"(?:=> |^\t)(/\S+) \(", _asked("ldd", *loading), re.MULTILINE))


def _made(api: Api, root: Path, name: str) -> str:
    command = [TESTBED, "image", name, "--root", str(root)]
    env = os.environ | {"K8S_PORT": str(urlsplit(api.address).port)}
    made = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert made.returncode == 0, made.stderr
    return name


def _asked(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
