"""Shows a rank its volumes: by mounts of its own, or by links if the system allows no mounts."""

import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from engines.local.records.layout import Folder
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.records.volume import FILES, MEMORY, Volume
from engines.shared import mounts
from engines.shared.mounts import Binding


@dataclass(frozen=True)
class View:
    """How one rank sees its volumes. Its program starts in ``working_dir``.

    ``remark`` is a line about the volumes for the workload's page.
    """

    working_dir: Path
    bindings: tuple[Binding, ...] = ()
    scratch: Path = Path()
    variables: dict[str, str] = field(default_factory=dict)
    remark: str = ""


def source_folder(volume: Volume, folder: Folder, run: int, rank: str) -> Path:
    """Return the folder of a volume on the disk."""
    return Path((folder.path / volume.source.format(run=run, rank=rank)).resolve())


def size_limit(volume: Volume, path: Path) -> int | None:
    """Return how many bytes a volume may hold; ``None`` if there is no limit.

    A named claim has the largest size that any workload has requested for it.
    """
    if not volume.is_named:
        return volume.limit
    size_file = path.with_name(f"{path.name}.size")
    with suppress(FileNotFoundError, ValueError):
        recorded = int(size_file.read_text())
        if volume.limit is None or volume.limit <= recorded:
            return recorded
    if volume.limit is not None:
        size_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        size_file.write_text(str(volume.limit))
    return volume.limit


def prepare_view(folder: Folder, run: int, rank: RankPlan) -> View:
    """Create the folders that belong to Trainyard, and return the rank's view.

    The view uses mounts if they work here, and links otherwise. Raises ``OSError`` if neither
    works.
    """
    rank_folder = folder.rank_folder(rank.name)
    working_dir = Path(rank.working_dir) if rank.working_dir else rank_folder
    if not rank.volumes:
        return View(working_dir)
    sources: dict[Volume, Path] = {}
    for volume in rank.volumes:
        source = source_folder(volume, folder, run, rank.name)
        if volume.is_ours:
            source.mkdir(mode=0o700, parents=True, exist_ok=True)
        sources[volume] = source / volume.file
    scratch = folder.path / "scratch"
    scratch.mkdir(exist_ok=True)
    bindings = tuple(_binding(volume, source) for volume, source in sources.items())
    trouble = mounts.try_mounts(bindings, scratch)
    if not trouble:
        variables = {volume.variable: volume.place for volume in sources}
        return View(working_dir, bindings, scratch, variables, _mounts_remark(sources))
    for volume, source in sources.items():
        _link(rank_folder / volume.place.strip("/"), source)
    return View(
        _resolve_working_dir(working_dir, sources),
        variables={volume.variable: str(source) for volume, source in sources.items()},
        remark=_links_remark(sources, trouble),
    )


def _binding(volume: Volume, source: Path) -> Binding:
    if volume.kind == MEMORY:
        return Binding(volume.place, read_only=volume.read_only, limit=volume.limit)
    return Binding(volume.place, str(source), volume.read_only)


def write_files(folder: Folder, plan: GangPlan) -> None:
    """Write the files that the launch contains to folders that only their owner can open.

    They are written again for each attempt.
    """
    volumes = {volume for rank in plan.ranks for volume in rank.volumes if volume.kind == FILES}
    for volume in volumes:
        target = source_folder(volume, folder, plan.run, "")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(mode=0o700, parents=True)
        for name, text in plan.files[volume.source].items():
            file = target / name
            file.touch(mode=0o600)
            file.write_text(text)
            file.chmod(volume.mode)


def discard_run_volumes(folder: Folder, run: int) -> None:
    """Delete what belongs to a finished run: empty folders, fetched data, ephemeral claims."""
    shutil.rmtree(folder.run_folder(run) / "volumes", ignore_errors=True)


def _mounts_remark(volumes: dict[Volume, Path]) -> str:
    return f"Mounted for this rank alone: {_list_paths(volumes)}."


def _links_remark(volumes: dict[Volume, Path], trouble: str) -> str:
    has_read_only = any(volume.read_only for volume in volumes)
    warning = " Read only is not enforced." if has_read_only else ""
    return (
        f"Linked in the rank's own folder, because this system allows no private mounts "
        f"({trouble}): {_list_paths(volumes)}.{warning}"
    )


def _list_paths(volumes: dict[Volume, Path]) -> str:
    return ", ".join(
        f"{volume.place} (read only)" if volume.read_only else volume.place for volume in volumes
    )


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink():
        link.unlink()
    link.symlink_to(target)


def _resolve_working_dir(working_dir: Path, volumes: dict[Volume, Path]) -> Path:
    """Return the working directory. If it is in a volume, this is a path in the volume's folder."""
    for volume, path in volumes.items():
        if working_dir.is_relative_to(volume.place):
            return path / working_dir.relative_to(volume.place)
    return working_dir
