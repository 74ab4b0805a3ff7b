"""CPU and memory limits that the kernel enforces, where this process may create control groups.

On version 2 a group is created below the nearest ancestor that delegates its controllers and is
writable; on version 1 below this process's own group of each controller. Elsewhere (macOS, most
containers) there is none, and the supervisor watches memory itself.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
PERIOD = 100_000  # microseconds; the kernel's own default


@dataclass(frozen=True)
class Cgroup:
    """The groups of a rank. A limit is ``None`` if no group enforces it."""

    memory: Path | None
    cpu: Path | None

    @property
    def folders(self) -> list[Path]:
        return sorted({path for path in (self.memory, self.cpu) if path})

    def enter(self) -> list[bool]:
        """Put this process, and everything that it starts, into the groups.

        Returns whether each of the folders accepted it.
        """
        return [_enter_group(folder) for folder in self.folders]

    def keep_entered(self, entered: Sequence[int]) -> "Cgroup":
        """Return the groups that accepted a process, according to :meth:`enter`, and remove the
        others."""
        # The report of a process that died early may be shorter than the list of folders.
        accepted = {folder for folder, inside in zip(self.folders, entered, strict=False) if inside}
        for folder in set(self.folders) - accepted:
            _remove(folder)
        return Cgroup(
            memory=self.memory if self.memory in accepted else None,
            cpu=self.cpu if self.cpu in accepted else None,
        )

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel killed a process of this group at the memory limit."""
        if self.memory is None:
            return False
        for name in ("memory.events", "memory.oom_control"):  # version 2, version 1
            with suppress(OSError):
                lines = (self.memory / name).read_text().splitlines()
                counts = dict(line.split()[:2] for line in lines)
                return int(counts.get("oom_kill", 0)) > 0
        return False

    def remove(self) -> None:
        for folder in self.folders:
            _remove(folder)


def _enter_group(folder: Path) -> bool:
    try:
        (folder / "cgroup.procs").write_text("0")
    except OSError:
        return False
    return True


def _remove(folder: Path) -> None:
    with suppress(OSError):  # a process is still dying; the group lasts until a reboot
        folder.rmdir()


def create(name: str, *, cpu: float | None, memory: int | None) -> Cgroup:
    """Create groups for the limits: ``cpu`` in cores, ``memory`` in bytes. The kernel enforces only
    those for which the result has a group."""
    version_2 = (ROOT / "cgroup.controllers").exists()
    cpu_settings: dict[str, str] = {}
    memory_settings: dict[str, str] = {}
    if cpu:
        quota = str(max(int(cpu * PERIOD), 1000))
        cpu_settings = {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": quota}
        if version_2:
            cpu_settings = {"cpu.max": f"{quota} {PERIOD}"}
    if memory:
        memory_settings = {"memory.limit_in_bytes": str(memory)}
        if version_2:
            memory_settings = {"memory.max": str(memory), "memory.oom.group": "1"}
    return Cgroup(
        _create_group("memory", name, memory_settings), _create_group("cpu", name, cpu_settings)
    )


def _create_group(controller: str, name: str, settings: dict[str, str]) -> Path | None:
    if not settings:
        return None
    for parent in _parent_groups(controller):
        folder = parent / f"trainyard-{name}"
        try:
            folder.mkdir(exist_ok=True)
            for file, value in settings.items():
                (folder / file).write_text(value)
        except OSError:
            _remove(folder)
            continue
        _forbid_swap(folder, settings)
        return folder
    return None


def _forbid_swap(folder: Path, settings: dict[str, str]) -> None:
    """Keep memory beyond the limit from going to swap; not every kernel accounts for swap."""
    with suppress(OSError):
        if "memory.max" in settings:
            (folder / "memory.swap.max").write_text("0")
        elif limit := settings.get("memory.limit_in_bytes"):
            (folder / "memory.memsw.limit_in_bytes").write_text(limit)


def _parent_groups(controller: str) -> Iterator[Path]:
    """Yield folders in which a group with this controller may be possible, the best first."""
    with suppress(OSError):
        for line in OWN_GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):  # version 1
                group = ROOT / controller / path.lstrip("/")
                if group.is_dir():
                    yield group
            elif not controllers:  # version 2
                group = ROOT / path.lstrip("/")
                for folder in (group, *group.parents):
                    delegated = folder / "cgroup.subtree_control"
                    if delegated.exists() and controller in delegated.read_text().split():
                        yield folder


def discard_leftovers(prefix: str) -> None:
    """Remove groups left by a dead supervisor, whose processes have ended."""
    for controller in ("memory", "cpu"):
        for parent in _parent_groups(controller):
            for folder in parent.glob(f"trainyard-{prefix}-*"):
                _remove(folder)
