"""How a rank sees its volumes: by mounts of its own, or by links if the system allows no mounts."""

import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from engines.local.records.layout import Folder
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.records.volume import FILES, MEMORY, Volume
from engines.local.volumes import private
from engines.local.volumes.private import Binding


@dataclass(frozen=True)
class View:
    """How one rank sees its volumes. Its program starts in ``work``. ``said`` is a line about it
    for the workload's page."""

    work: Path
    bindings: tuple[Binding, ...] = ()
    scratch: Path = Path()
    variables: dict[str, str] = field(default_factory=dict)
    said: str = ""


def source(volume: Volume, folder: Folder, run: int, rank: str) -> Path:
    """Return the folder of a volume on the disk."""
    return Path((folder.path / volume.source.format(run=run, rank=rank)).resolve())


def limit(volume: Volume, path: Path) -> int | None:
    """Return how many bytes a volume may hold; ``None`` for no limit.

    A named claim has the largest size that any workload has requested for it.
    """
    if not volume.is_named:
        return volume.limit
    note = path.with_name(f"{path.name}.size")
    with suppress(FileNotFoundError, ValueError):
        noted = int(note.read_text())
        if volume.limit is None or volume.limit <= noted:
            return noted
    if volume.limit is not None:
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        note.write_text(str(volume.limit))
    return volume.limit


def arrange(folder: Folder, run: int, rank: RankPlan) -> View:
    """Create the folders that belong to Trainyard, and return the view: by mounts if they work,
    else by links. Raises ``OSError`` if neither works."""
    own = folder.work(rank.name)
    work = Path(rank.working_dir) if rank.working_dir else own
    if not rank.volumes:
        return View(work)
    sources = {it: source(it, folder, run, rank.name) for it in rank.volumes}
    for volume, path in sources.items():
        if volume.is_ours:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
    places = {it: path / it.file for it, path in sources.items()}
    scratch = folder.path / "scratch"
    scratch.mkdir(exist_ok=True)
    bindings = tuple(
        Binding(
            it.place,
            "" if it.kind == MEMORY else str(path),
            it.read_only,
            it.limit if it.kind == MEMORY else None,
        )
        for it, path in places.items()
    )
    trouble = private.trial(bindings, scratch)
    if not trouble:
        variables = {it.variable: it.place for it in places}
        return View(work, bindings, scratch, variables, _mounted(places))
    for volume, path in places.items():
        _link(own / volume.place.strip("/"), path)
    variables = {it.variable: str(path) for it, path in places.items()}
    return View(_through(work, places), variables=variables, said=_linked(places, trouble))


def write_files(folder: Folder, plan: GangPlan) -> None:
    """Write the files that the launch contains to folders that nobody else can open, again for each
    attempt."""
    for volume in {it for rank in plan.ranks for it in rank.volumes if it.kind == FILES}:
        place = source(volume, folder, plan.run, "")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700, parents=True)
        for name, text in plan.files[volume.source].items():
            file = place / name
            file.touch(mode=0o600)
            file.write_text(text)
            file.chmod(volume.mode)


def discard(folder: Folder, run: int) -> None:
    """Delete what belongs to a finished run: empty folders, fetched data, ephemeral claims."""
    shutil.rmtree(folder.run(run) / "volumes", ignore_errors=True)


def _mounted(volumes: dict[Volume, Path]) -> str:
    return f"Mounted for this rank alone: {_places(volumes)}."


def _linked(volumes: dict[Volume, Path], trouble: str) -> str:
    free = any(volume.read_only for volume in volumes)
    held = " Read only is not enforced." if free else ""
    return (
        f"Linked in the rank's own folder, because this system allows no private mounts "
        f"({trouble}): {_places(volumes)}.{held}"
    )


def _places(volumes: dict[Volume, Path]) -> str:
    return ", ".join(f"{it.place} (read only)" if it.read_only else it.place for it in volumes)


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink():
        link.unlink()
    link.symlink_to(target)


def _through(work: Path, volumes: dict[Volume, Path]) -> Path:
    """Return the working directory; one in a volume is in the volume's folder."""
    for volume, path in volumes.items():
        if work.is_relative_to(volume.place):
            return path / work.relative_to(volume.place)
    return work
