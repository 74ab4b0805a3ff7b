"""Look up what a workload needs on this machine before it starts: its working folder, its program,
a command for its image."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from engines.base import Launch
from engines.local.apps.catalog import STARTER
from engines.local.planning.environment import REFERENCE, Variables, expand, hide_secrets
from engines.local.system.inherited import base_variables
from spec.framework import Head
from spec.phases import Reason
from spec.workload import Replica, WorkloadSpec

Images = Mapping[str, Sequence[str]]
HUB = "docker.io/"  # the registry of images without one


@dataclass(frozen=True)
class Lack:
    """Something missing. ``place`` is the path of its field in the spec."""

    place: str
    message: str
    reason: Reason = Reason.REFUSED


def lacks(launch: Launch, images: Images) -> Iterator[Lack]:
    """Everything that is missing and that nothing will provide before the ranks start.

    Nothing is looked up below a mounted path, whose content comes with the volume.
    """
    spec = launch.spec
    for role, replica in (("worker", spec.worker), ("master", spec.master)):
        if replica:
            yield from _folder(replica, role)
            if role == "master" or not has_idle_workers(spec):
                yield from _program(replica, role, images, launch)


def has_idle_workers(spec: WorkloadSpec) -> bool:
    """Whether the workers have no program, because a launcher with its own setup starts the
    ranks."""
    return spec.framework_traits.head is Head.LAUNCHER and spec.master is not None


def command(replica: Replica, images: Images) -> list[str] | None:
    """The command of a replica or its image, with variables unexpanded; ``None`` if there
    is none."""
    words = shlex.split(replica.command) if replica.command else _catalogue(replica.image, images)
    return None if words is None else words + shlex.split(replica.args or "")


def _catalogue(image: str | None, images: Images) -> list[str] | None:
    if image is None:
        return None
    name = image if ":" in image.rpartition("/")[2] or "@" in image else f"{image}:latest"
    name = name.removeprefix(HUB)
    for pattern, words in images.items():
        if fnmatchcase(name, pattern):
            return [part for word in words for part in _parts(word)]
    return None


def _parts(word: str) -> list[str]:
    """Expand ``{python}``, the interpreter that runs Trainyard, and ``{app}``, which installs
    programs."""
    return STARTER if word == "{app}" else [word.replace("{python}", sys.executable)]


def _folder(replica: Replica, role: str) -> Iterator[Lack]:
    folder = replica.working_dir
    if not folder or _is_mounted(folder, replica):
        return
    way_out = "or leave the field empty for a folder of the rank's own"
    if not Path(folder).is_absolute():
        said = f"{folder} is not a full path; enter one that starts with /, {way_out}"
        yield Lack(f"{role}.workingDir", said)
    elif not _is_folder(folder):
        said = f"{folder} is not a folder on this machine; create it, {way_out}"
        yield Lack(f"{role}.workingDir", said)
    elif not os.access(folder, os.X_OK):
        said = f"the user of this server cannot enter {folder}; change its permissions, {way_out}"
        yield Lack(f"{role}.workingDir", said)


def _program(replica: Replica, role: str, images: Images, launch: Launch) -> Iterator[Lack]:
    """The program, if it is missing. With a setup it can only be found after that has run."""
    words = command(replica, images)
    if words is None:
        some = ", ".join(images) or "the images listed in LOCAL_IMAGES"
        said = (
            f"{replica.image} has no command on this machine, which runs programs and does not "
            f"pull images; give the environment a command, or use one of {some}"
        )
        yield Lack(f"{role}.image", said, Reason.IMAGE_UNKNOWN)
        return
    place = f"{role}.command" if replica.command else f"{role}.image"
    said = _missing(replica, words, first_run=launch.run == 1)
    if said and not launch.spec.setup:
        yield Lack(place, said, Reason.COMMAND_NOT_FOUND)


def _missing(replica: Replica, words: list[str], *, first_run: bool) -> str:
    """Why the program cannot be started; empty if it can, or if only the start can tell."""
    variables = {it.name: it.value or "" for it in replica.environment_variables if not it.is_taken}
    program = _filled(words[0], variables) if words else ""
    if program is None:
        return ""
    shown = _filled(words[0], hide_secrets(variables)) if words else ""
    if not program.strip():
        return "the command has no program; enter one"
    if "/" not in program:
        path = variables.get("PATH", base_variables()["PATH"])
        may_come = any(_is_mounted(entry, replica) for entry in path.split(os.pathsep))
        if may_come or shutil.which(program, path=path):
            return ""
        return (
            f"{shown!r} is not a program on this machine; install it, give its full path, or "
            "choose another command"
        )
    if Path(program).is_absolute():
        return _unusable(program, replica, shown=shown)
    if replica.working_dir:
        there = _is_folder(replica.working_dir)  # otherwise that is reported
        place = str(Path(replica.working_dir, program))
        known_as = str(Path(replica.working_dir, shown or ""))
        return _unusable(place, replica, shown=known_as) if there else ""
    if not first_run:
        return ""  # an earlier run may have created it in the rank's folder
    return (
        f"{shown!r} is looked for in the rank's own folder, which is empty at the start; enter "
        "the working directory that has it, or give its full path"
    )


def _unusable(program: str, replica: Replica, *, shown: str | None) -> str:
    if program == sys.executable or _is_mounted(program, replica) or shutil.which(program):
        return ""
    if os.access(program, os.F_OK) and not _is_folder(program):
        return (
            f"{shown} is not executable by the user of this server; make it so (chmod +x), or "
            "start it by its interpreter"
        )
    return f"{shown} is not a program on this machine; create it, or choose another command"


def _filled(word: str, variables: Variables) -> str | None:
    """A word with its variables expanded; ``None`` if one is only known at the start."""
    names = {match[3] for match in REFERENCE.finditer(word) if not match[1]}
    if not names <= variables.keys():
        return None
    return expand([word], variables)[0]


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:  # not accessible, or the name is too long
        return False


def _is_mounted(path: str, replica: Replica) -> bool:
    mounts = [Path(mount) for _, mount in replica.storage.places()]
    return any(Path(os.path.normpath(path)).is_relative_to(it) for it in mounts)
