"""A guest with a kernel of its own, on this machine's files: for what this kernel does not do.

``TRAINYARD_TEST_KERNEL`` is a folder with an unpacked kernel of Debian (``apt-get download
linux-image-6.1.0-NN-amd64 && dpkg -x linux-image-*.deb FOLDER``); ``qemu-system-x86_64`` and the
``busybox`` of ``busybox-static`` have to be on the PATH.
"""

import gzip
import os
import shutil
import subprocess
from pathlib import Path

KERNEL = "TRAINYARD_TEST_KERNEL"
PROGRAMS = ("qemu-system-x86_64", "busybox")
MEMORY = "3G"
# What mounts the files of this machine, in the order in which one needs the other.
MODULES = (
    *("virtio", "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci"),
    *("netfs", "fscache", "9pnet", "9pnet_virtio", "9p"),
)
# The shell of a session stands in a group whose parent hands its controllers down, as with systemd.
INIT = """#!/busybox sh
/busybox mkdir -p /proc /root
/busybox mount -t proc proc /proc
for module in {modules}; do /busybox insmod /$module.ko; done
/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=524288 files /root
for place in tmp run dev/shm; do /busybox mount -t tmpfs tmpfs /root/$place || true; done
/busybox mount -t proc proc /root/proc
/busybox mount -t sysfs sysfs /root/sys
/busybox mount -t devtmpfs devtmpfs /root/dev
/busybox mkdir -p /root/dev/shm
/busybox mount -t tmpfs tmpfs /root/dev/shm
/busybox mount -t cgroup2 cgroup2 /root/sys/fs/cgroup
/busybox ip link set lo up
cd /root/sys/fs/cgroup
echo "+cpu +memory" > cgroup.subtree_control
/busybox mkdir -p user.slice/session.scope
echo "+cpu +memory" > user.slice/cgroup.subtree_control
echo $$ > user.slice/session.scope/cgroup.procs
cd /
/busybox chroot /root /bin/bash -c {command}
echo "guest: ended with $?"
/busybox poweroff -f
"""


def lacks() -> str:
    """Why there can be no guest here; nothing where there can."""
    absent = [name for name in PROGRAMS if not shutil.which(name)]
    if absent:
        return f"{absent[0]} is not installed"
    if not list(Path(os.environ.get(KERNEL, "/nowhere")).glob("boot/vmlinuz-*")):
        return f"{KERNEL} names no unpacked kernel"
    return ""


def run(command: str, folder: Path, *, timeout: float) -> str:
    """What the guest printed; ``folder`` takes the file that it starts from."""
    kernel = Path(os.environ[KERNEL])
    modules = {name: next(kernel.glob(f"lib/modules/*/kernel/**/{name}.ko"), None) for name in MODULES}
    files = {f"{name}.ko": path.read_bytes() for name, path in modules.items() if path}
    busybox = shutil.which("busybox")
    assert busybox
    quoted = "'" + command.replace("'", "'\\''") + "'"
    names = " ".join(name for name, path in modules.items() if path)
    files |= {
        "busybox": Path(busybox).read_bytes(),
        "init": INIT.format(modules=names, command=quoted).encode(),
    }
    start = folder / "initrd.gz"
    start.write_bytes(gzip.compress(archive(files), compresslevel=1))
    share = "local,path=/,mount_tag=files,security_model=none,readonly=on,multidevs=remap"
    fast = ["-enable-kvm", "-cpu", "host"] if os.access("/dev/kvm", os.W_OK) else ["-cpu", "max"]
    qemu = [PROGRAMS[0], *fast, "-m", MEMORY, "-smp", "2", "-nographic", "-no-reboot"]
    qemu += ["-kernel", str(next(kernel.glob("boot/vmlinuz-*"))), "-initrd", str(start)]
    qemu += ["-append", "console=ttyS0 quiet panic=-1", "-virtfs", share]
    ended = subprocess.run(
        qemu, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
    )
    return (ended.stdout + ended.stderr).decode(errors="replace")


def archive(files: dict[str, bytes]) -> bytes:
    """As ``cpio --format newc`` writes it; all may be executed."""
    parts = []
    for number, (name, data) in enumerate([*files.items(), ("TRAILER!!!", b"")]):
        mode = 0o100755 if name != "TRAILER!!!" else 0
        fields = [number + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        parts += [_padded(head), _padded(data)]
    return b"".join(parts)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
