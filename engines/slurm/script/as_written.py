"""Runs a batch script unchanged, with what Trainyard needs around it. Pure.

Slurm reads the ``#SBATCH`` lines of the script and then Trainyard's, which override them. The run
is claimed, stopped and ended as every other run, but the script is started instead of ranks. The
first ``srun`` in its PATH is one of ours, which makes each task print to its own file.
"""

import shlex
from collections.abc import Iterator, Sequence, Set

from engines.base import Launch
from engines.shared.batch_scripts import batch_script_complaints
from engines.slurm.layout import SharedFolder
from engines.slurm.script import directives
from engines.slurm.script.rank.variables import platform_variables, user_variables
from engines.slurm.script.shape import script_text
from engines.slurm.script.site import SlurmSite
from spec.imports import directives as written
from spec.imports.hosts import ScriptHost
from spec.problems.errors import Problem
from spec.workload import WorkloadSpec

SCRIPT = "script.sh"
START = "start.sh"
SRUN = "bin/srun"
KEEP = "keep.sh"
#: Options that Trainyard always sets, and those that it sets only if the script does not.
ALWAYS_SET = {"job-name", "comment", "chdir", "output", "open-mode"}
SET_IF_MISSING = {"partition", "account", "qos", "constraint", "requeue", "export"}
SET_IN_EACH_PART = {"partition", "account", "qos", "constraint"}
#: Variables of the platform whose values a script could not know.
PLATFORM = ("CHECKPOINT_DIR", "RUNAI_PROJECT", "RUNAI_JOB_NAME", "RUNAI_JOB_UUID", "JOB_UUID")


STEP = 'step() { exec bash "$RUN/start.sh"; }\n'


def directive_lines(launch: Launch, site: SlurmSite) -> Iterator[str]:
    """Yield the ``#SBATCH`` lines of the script, unchanged, with Trainyard's after them. Each part
    of a heterogeneous job has both."""
    text = script_text(launch.spec)
    parts = iter(written.read_header(text).parts)
    ours = list(directives.options(launch, site))
    names = ALWAYS_SET | SET_IF_MISSING
    for line in written.directive_lines(text):
        if written.is_separator(line):
            yield from _added_lines(ours, names, next(parts))
            names = SET_IN_EACH_PART
        yield line
    yield from _added_lines(ours, names, next(parts))


def _added_lines(
    ours: Sequence[directives.Option], names: Set[str], part: Sequence[written.Directive]
) -> Iterator[str]:
    present = {it.name for it in part}
    if "no-requeue" in present:
        present.add("requeue")
    for name, value in ours:
        if name in names and (name in ALWAYS_SET or name not in present):
            yield directives.directive_line(name, value)
        if name == "output" and name in names and "error" in present:
            yield directives.directive_line("error", value)


def start_script(launch: Launch, site: SlurmSite, text: str) -> str:
    """Return the start script, which sets variables for the script and then runs it."""
    values_by_name = {
        it.name: it.value for it in written.parse_directives(script_text(launch.spec))
    }
    folder = SharedFolder(site.directory, launch.handle.workload_id)
    values = {
        "BELL": folder.bell,  # tasks may not get it, because of --export
        "NAME": values_by_name.get("job-name", "script"),
        "OWN": f"{folder.path}/ranks/0",
        "PLACE": values_by_name.get("chdir") or ".",
        "UMASK": site.umask,
        "OPEN_MODE": values_by_name.get("open-mode", ""),
    }
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in values.items()]
    if arguments := shlex.split(launch.spec.worker.args or ""):
        lines.append(f"set -- {shlex.join(arguments)}\n")
    return "".join(lines) + text


def environment(launch: Launch, site: SlurmSite, *, masked: bool) -> str:
    """Return the file that sets the variables for a batch script. With ``masked``, it contains no
    secrets."""
    platform = platform_variables(launch, site)
    lines = [f"export {name}={platform[name]}" for name in PLATFORM]
    pod = launch.spec.pods[0]
    lines += [
        f"export {name}={value}" for name, value in user_variables(launch, site, pod, masked=masked)
    ]
    return "".join(f"{line}\n" for line in lines)


def complaints(spec: WorkloadSpec) -> Iterator[Problem]:
    """Yield problems if the spec contradicts the script, or if the script cannot run here."""
    yield from batch_script_complaints(spec, ScriptHost.SLURM)
