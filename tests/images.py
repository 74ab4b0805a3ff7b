"""An image with git for the nodes of a test cluster, made of this machine's own git."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from engines.kubernetes.api import Api

KUBE = os.environ.get("KUBE", "")  # a program that makes images for the nodes of its cluster
GIT_IMAGE = os.environ.get("TRAINYARD_TEST_GIT_IMAGE", "")
MADE = "local/git:1"
PROGRAMS = ("git", "git-upload-pack", "ssh", "sshd", "sh", "cat", "cp", "mkdir", "rm")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"  # where Debian has sshd
USERS = """\
root:x:0:0::/root:/bin/sh
git:x:0:0::/tmp:/bin/sh
sshd:x:100:100::/run/sshd:/bin/false
"""


def git_image(api: Api, scratch: Path) -> str:
    """The one that is named, or one that is made in a moment; else the reason why there is none."""
    return GIT_IMAGE or _made(api, scratch, "git")


def ssh_images(api: Api, scratch: Path) -> tuple[str, str]:
    """Of a server with sshd and git, and of what fetches from it; else the reason why not."""
    server = _made(api, scratch, "git", "ssh", "ssh-keygen", "sshd")
    return server, GIT_IMAGE or server


def _made(api: Api, scratch: Path, *needed: str) -> str:
    if not KUBE:
        pytest.skip("TRAINYARD_TEST_GIT_IMAGE names no image with git, and KUBE nothing to make it")
    for name in needed:
        if shutil.which(name, path=PATH) is None:
            pytest.skip(f"{name} is not installed, so no image can be made of it")
    _fill(scratch)
    port = urlsplit(api.address).port
    command = [KUBE, "image", MADE, "--root", str(scratch)]
    env = os.environ | {"KUBE_PORT": str(port)}
    made = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert made.returncode == 0, made.stderr
    return MADE


def _fill(root: Path) -> None:
    """Programs with the libraries that they load, each where it is here; those of ssh if any."""
    asked = ["git", "--exec-path"]
    helpers = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    shutil.copytree(helpers, root / helpers.lstrip("/"), symlinks=True)
    found = [path for name in PROGRAMS if (path := shutil.which(name, path=PATH))]
    for path in found:
        _copy(path, root, f"/usr/bin/{Path(path).name}")
    for path in _libraries([*found, f"{helpers}/git-remote-http"]):
        _copy(path, root, path)
    (root / "bin").symlink_to("usr/bin")
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc" / "passwd").write_text(USERS)
    (root / "run" / "sshd").mkdir(parents=True)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)


def _libraries(programs: list[str]) -> set[str]:
    command = ["/usr/bin/ldd", *programs]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(re.findall(r"(?:=> |^\t)(/\S+) \(", listed.stdout, re.MULTILINE))


def _copy(source: str, root: Path, place: str) -> None:
    target = root / place.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
