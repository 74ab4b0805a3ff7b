"""Look up what a workload needs on this machine before it starts: its working directory, its
program, and a command for its image."""

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from engines.base import Launch
from engines.local.apps.catalog import STARTER
from engines.local.planning.environment import REFERENCE, Variables, expand, hide_secrets
from engines.local.system.inherited import OWN_PYTHON, base_variables
from spec.framework import Head
from spec.phases import Reason
from spec.values.variable import REFERENCE as VALUE_REFERENCE
from spec.values.variable import expand_value
from spec.workload import Replica, WorkloadSpec

HUB = "docker.io/"  # the registry of images without one


@dataclass(frozen=True)
class Programs:
    """What ranks can run on this machine: a command for each pattern of ``images``, and what is
    installed next to ``python``."""

    images: Mapping[str, Sequence[str]]
    python: Path = OWN_PYTHON


@dataclass(frozen=True)
class Lack:
    """Something that is missing. ``field`` is the path of the field in the spec that needs it."""

    field: str
    message: str
    reason: Reason = Reason.REFUSED


def lacks(launch: Launch, programs: Programs) -> Iterator[Lack]:
    """Yield everything that is missing and that nothing will provide before the ranks start.

    Nothing is looked up below a mounted path, whose content comes with the volume.
    """
    spec = launch.spec
    if spec.batch_script:
        yield from _interpreter_lacks(spec.batch_script)
    for role in spec.described_roles:
        yield from _working_dir_lacks(role.replica, role.path)
        if spec.batch_script:
            continue
        if role.leads or not has_idle_workers(spec):
            yield from _program_lacks(role.replica, role.path, programs, launch)


def _interpreter_lacks(script: str) -> Iterator[Lack]:
    """Yield the interpreter in the first line of a batch script if it is missing."""
    words = script.partition("\n")[0].removeprefix("#!").split()
    if words and not shutil.which(words[0]):
        problem = f"line 1: {words[0]} is not a program on this machine; name its interpreter"
        yield Lack("batchScript", problem, Reason.COMMAND_NOT_FOUND)


def has_idle_workers(spec: WorkloadSpec) -> bool:
    """Whether the workers have no program of their own, because a launcher starts the ranks."""
    return spec.framework_traits.head is Head.LAUNCHER and spec.master is not None


def find_command(replica: Replica, programs: Programs) -> list[str] | None:
    """Return the command of a replica or its image, with variables unexpanded; ``None`` if there
    is none."""
    if replica.command:
        words: list[str] | None = shlex.split(replica.command)
    else:
        words = _catalog_command(replica.image, programs)
    if words is None:
        return None
    return words + shlex.split(replica.args or "")


def _catalog_command(image: str | None, programs: Programs) -> list[str] | None:
    """Return the command that the image catalog has for an image; ``None`` if it has none."""
    if image is None:
        return None
    has_version = ":" in image.rpartition("/")[2] or "@" in image
    name = image if has_version else f"{image}:latest"
    name = name.removeprefix(HUB)
    for pattern, words in programs.images.items():
        if fnmatchcase(name, pattern):
            return [part for word in words for part in _fill_placeholder(word, programs)]
    return None


def _fill_placeholder(word: str, programs: Programs) -> list[str]:
    """Replace ``{python}`` by the Python of the ranks, and ``{app}`` by the program that installs
    and starts apps."""
    return STARTER if word == "{app}" else [word.replace("{python}", str(programs.python))]


def _working_dir_lacks(replica: Replica, part: str) -> Iterator[Lack]:
    folder = replica.working_dir
    if not folder or _is_mounted(folder, replica):
        return
    field = f"{part}.workingDir"
    way_out = "or leave the field empty for a folder of the rank's own"
    if not Path(folder).is_absolute():
        yield Lack(field, f"{folder} is not a full path; enter one that starts with /, {way_out}")
    elif not _is_folder(folder):
        yield Lack(field, f"{folder} is not a folder on this machine; create it, {way_out}")
    elif not os.access(folder, os.X_OK):
        problem = f"the user of this server cannot enter {folder}; change its permissions"
        yield Lack(field, f"{problem}, {way_out}")


def _program_lacks(
    replica: Replica, part: str, programs: Programs, launch: Launch
) -> Iterator[Lack]:
    """Yield the program if it is missing. ``part`` is the path of the replica in the spec. With a
    setup, the program can only be found after the setup has run."""
    words = find_command(replica, programs)
    if words is None:
        known_images = ", ".join(programs.images) or "the images listed in LOCAL_IMAGES"
        message = (
            f"{replica.image} has no command on this machine, which runs programs and does not "
            f"pull images; enter a command (--command on the command line), or use one of "
            f"{known_images}"
        )
        yield Lack(f"{part}.image", message, Reason.IMAGE_UNKNOWN)
        return
    field = f"{part}.command" if replica.command else f"{part}.image"
    problem = _program_problem(replica, words, programs, first_run=launch.run == 1)
    if problem and not launch.spec.setup:
        yield Lack(field, problem, Reason.COMMAND_NOT_FOUND)


def _program_problem(
    replica: Replica, words: list[str], programs: Programs, *, first_run: bool
) -> str:
    """Return why the program cannot be started; empty if it can, or if only the start can tell."""
    if not words:
        return "the command has no program; enter one"
    variables = _known_variables(replica)
    program = _expand_known(words[0], variables)
    if program is None:
        return ""
    if not program.strip():
        return "the command has no program; enter one"
    # Messages show the name without secrets. Its variables are known, or we had returned.
    label = _expand_known(words[0], hide_secrets(variables)) or ""
    if "/" not in program:
        return _name_problem(program, replica, variables, programs, label=label)
    if Path(program).is_absolute():
        return _path_problem(program, replica, programs, label=label)
    if replica.working_dir:
        if not _is_folder(replica.working_dir):  # that is reported for the field itself
            return ""
        path = str(Path(replica.working_dir, program))
        return _path_problem(path, replica, programs, label=str(Path(replica.working_dir, label)))
    if not first_run:
        return ""  # an earlier run may have created it in the rank's folder
    return (
        f"{label!r} is looked for in the rank's own folder, which is empty at the start; enter "
        "the working directory that has it, or give its full path"
    )


def _known_variables(replica: Replica) -> Variables:
    """Return the variables whose values are known before the start."""
    variables: Variables = {}
    for variable in replica.environment_variables:
        value = variable.value or ""
        if variable.is_expanded:
            value = expand_value(value, variables)
        if not variable.has_source and not (variable.is_expanded and VALUE_REFERENCE.search(value)):
            variables[variable.name] = value
    return variables


def _name_problem(
    program: str, replica: Replica, variables: Variables, programs: Programs, *, label: str
) -> str:
    """Return why a program without a path is not found; empty if it is, or if a volume may bring
    it."""
    path = variables.get("PATH", base_variables(programs.python)["PATH"])
    if any(_is_mounted(folder, replica) for folder in path.split(os.pathsep)):
        return ""
    if not programs.python.exists():
        return ""  # it is being installed, and the workload waits for it
    if shutil.which(program, path=path):
        return ""
    return (
        f"{label!r} is not a program on this machine; install it, give its full path, or "
        "choose another command"
    )


def _path_problem(program: str, replica: Replica, programs: Programs, *, label: str) -> str:
    """Return why the program at a path cannot be started; empty if it can."""
    if program == str(programs.python) or _is_mounted(program, replica) or shutil.which(program):
        return ""
    if os.access(program, os.F_OK) and not _is_folder(program):
        return (
            f"{label} is not executable by the user of this server; make it so (chmod +x), or "
            "start it by its interpreter"
        )
    return f"{label} is not a program on this machine; create it, or choose another command"


def _expand_known(word: str, variables: Variables) -> str | None:
    """Return a word with its variables expanded; ``None`` if one is only known at the start."""
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
    """Whether a volume provides this path."""
    normalized = Path(os.path.normpath(path))
    return any(normalized.is_relative_to(mount) for _, mount in replica.storage.mount_paths())
