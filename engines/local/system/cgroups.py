"""CPU and memory limits by the kernel, if we may create control groups.

On version 2 a group is created below the nearest ancestor that delegates its controllers and is
writable; on version 1 below our own group of each controller. Elsewhere (macOS, most containers)
there is none, and the supervisor watches memory itself.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
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
        """Put this process into the groups, with everything it starts; returns which of the folders
        accepted it."""
        return [_holds_us(folder) for folder in self.folders]

    def held(self, entered: Sequence[int]) -> "Cgroup":
        """The groups that accepted a process, as :meth:`enter` returned; the others are removed."""
        held = {folder for folder, inside in zip(self.folders, entered, strict=False) if inside}
        for folder in set(self.folders) - held:
            _remove(folder)
        return Cgroup(*(path if path in held else None for path in (self.memory, self.cpu)))

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel killed a process of this group at the memory limit."""
        if self.memory is None:
            return False
        for name in ("memory.events", "memory.oom_control"):
            with suppress(OSError):
                pairs = (line.split() for line in (self.memory / name).read_text().splitlines())
                return {pair[0]: int(pair[1]) for pair in pairs}.get("oom_kill", 0) > 0
        return False

    def remove(self) -> None:
        for folder in self.folders:
            _remove(folder)


def _holds_us(folder: Path) -> bool:
    try:
        (folder / "cgroup.procs").write_text("0")
    except OSError:
        return False
    return True


def _remove(folder: Path) -> None:
    with suppress(OSError):  # a process is still dying; the group lasts until a reboot
        folder.rmdir()


def make(name: str, *, cpu: float | None, memory: int | None) -> Cgroup:
    """Create groups for the limits that can be enforced; ``cpu`` in cores, ``memory`` in bytes."""
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
    return Cgroup(_make("memory", name, memory_settings), _make("cpu", name, cpu_settings))


def _make(controller: str, name: str, settings: dict[str, str]) -> Path | None:
    if not settings:
        return None
    for parent in _parents(controller):
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


def _parents(controller: str) -> Iterator[Path]:
    """Folders in which a group may be possible, best first."""
    with suppress(OSError):
        for line in OWN.read_text().splitlines():
            _, names, path = line.split(":", 2)
            if controller in names.split(","):
                own = ROOT / controller / path.lstrip("/")
                yield from (folder for folder in (own,) if folder.is_dir())
            elif not names:
                own = ROOT / path.lstrip("/")
                for folder in (own, *own.parents):
                    handed_down = folder / "cgroup.subtree_control"
                    if handed_down.exists() and controller in handed_down.read_text().split():
                        yield folder


def discard(prefix: str) -> None:
    """Remove groups left by a dead supervisor, whose processes have ended."""
    for controller in ("memory", "cpu"):
        for parent in _parents(controller):
            for folder in parent.glob(f"trainyard-{prefix}-*"):
                _remove(folder)
