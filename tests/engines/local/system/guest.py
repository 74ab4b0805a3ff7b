"""A kernel of its own on this machine's files, for what this machine's kernel is not set up for.

It is Debian's ``user-mode-linux``: an ordinary process, started by anyone who may run programs.
"""

import os
import shutil
import subprocess
from pathlib import Path

KERNEL = "linux.uml"
ASKED = "GUEST"  # a variable: a test there takes minutes
MEMORY = "2G"
# Folders of this machine are read only there; the shell stands in a group whose parent hands its
# controllers down, as one does in a session of systemd.
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
    """Why there is no guest here; nothing where there can be one."""
    if ASKED not in os.environ:
        return f"takes four minutes: set {ASKED}=1 to run it"
    if not shutil.which(KERNEL):
        return f"{KERNEL} of Debian's package user-mode-linux is not installed"
    return "" if os.getuid() == 0 else "only root may see all files of this machine"


def run(command: str, folder: Path, *, timeout: float) -> str:
    """What the guest printed; ``folder`` takes the script that it starts with."""
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
