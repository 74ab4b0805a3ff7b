"""Runs a command in a guest with a kernel of its own and this machine's files, for tests that this
machine's kernel is not set up for.

The kernel is Debian's ``user-mode-linux``, which is an ordinary process and needs no
virtualization.
"""

import os
import shutil
import subprocess
from pathlib import Path

KERNEL = "linux.uml"
ASKED = "GUEST"  # a variable that enables these tests, which take minutes
MEMORY = "2G"
# This machine's folders are read-only in the guest. The shell is in a control group whose parent
# passes its controllers on, as in a session of systemd.
INIT = """#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
echo "+cpu +memory" > /sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/user.slice/session.scope
echo "+cpu +memory" > /sys/fs/cgroup/user.slice/cgroup.subtree_control
echo $$ > /sys/fs/cgroup/user.slice/session.scope/cgroup.procs
mount -t tmpfs tmpfs /tmp
{command}
echo "guest: ended with $?"
echo o > /proc/sysrq-trigger
sleep 60
"""


def lacks() -> str:
    """Return why no guest can run here; empty if one can."""
    if ASKED not in os.environ:
        return f"takes four minutes: set {ASKED}=1 to run it"
    if not shutil.which(KERNEL):
        return f"{KERNEL} of Debian's package user-mode-linux is not installed"
    return "" if os.getuid() == 0 else "only root may see all files of this machine"


def run(command: str, folder: Path, *, timeout: float) -> str:
    """Run a command in a guest, and return what it prints. ``folder`` gets the guest's init
    script."""
    start = folder / "init"
    start.write_text(INIT.format(command=command, folder=folder))
    start.chmod(0o755)
    kernel = [KERNEL, f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"]
    kernel += [f"init={start}", "con=null", "con0=null,fd:1", "quiet"]
    ended = subprocess.run(
        kernel,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": "/dev/shm"},
    )
    return (ended.stdout + ended.stderr).decode(errors="replace")
