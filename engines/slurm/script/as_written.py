"""Run a batch script unchanged, with what Trainyard needs around it. Pure.

Slurm reads the script's own ``#SBATCH`` lines and then ours, which win where both set an option.
The run is claimed, stopped and ended as for any other job; only that the script is started instead
of ranks. Variables that ``srun`` reads make each task print to its own file.
"""

import shlex
from collections.abc import Iterator

from engines.base import Launch
from engines.slurm.layout import SharedFolder
from engines.slurm.script import directives
from engines.slurm.script.rank.variables import defaults, own
from engines.slurm.script.shape import script_of
from engines.slurm.script.site import SlurmSite
from spec.imports import directives as written
from spec.imports.sbatch import BATCH_SCRIPT, import_script
from spec.problems.errors import Problem, parse_path
from spec.workload import WorkloadSpec

SCRIPT = "script.sh"
START = "start.sh"
#: Options that Trainyard always sets, and those that it sets only if the script does not.
OURS = {"job-name", "comment", "chdir", "output", "open-mode"}
UNSAID = {"partition", "account", "qos", "constraint", "requeue", "export"}
#: Variables of the platform whose values a script could not know.
PLATFORM = ("CHECKPOINT_DIR", "RUNAI_PROJECT", "RUNAI_JOB_NAME", "RUNAI_JOB_UUID", "JOB_UUID")


STEP = 'step() { exec bash "$RUN/start.sh"; }\n'


def asked(launch: Launch) -> str:
    """The script's own ``#SBATCH`` lines, unchanged."""
    return "".join(f"{line}\n" for line in written.directive_lines(script_of(launch.spec)))


def options(launch: Launch, site: SlurmSite) -> Iterator[directives.Option]:
    """Trainyard's options, which come after the script's own lines."""
    said = {it.name for it in written.parse_directives(script_of(launch.spec))}
    if "no-requeue" in said:
        said.add("requeue")
    for name, value in directives.options(launch, site):
        if name in OURS or (name in UNSAID and name not in said):
            yield name, value
        if name == "output" and "error" in said:
            yield "error", value


def start(launch: Launch, site: SlurmSite, text: str) -> str:
    """The start script, which sets up the script's surroundings and then runs it."""
    said = {it.name: it.value for it in written.parse_directives(script_of(launch.spec))}
    folder = SharedFolder(site.directory, launch.handle.workload_id)
    values = {
        "BELL": folder.bell,  # tasks may not get it, because of --export
        "NAME": said.get("job-name", "script"),
        "OWN": f"{folder.path}/ranks/0",
        "PLACE": said.get("chdir") or ".",
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items()) + text


def environment(launch: Launch, site: SlurmSite, *, shown: bool) -> str:
    """The file that sets the variables for a batch script. With ``shown`` secrets are masked."""
    platform = defaults(launch, site)
    lines = [f"export {name}={platform[name]}" for name in PLATFORM]
    pod = launch.spec.pods[0]
    lines += [f"export {name}={value}" for name, value in own(launch, site, pod, shown=shown)]
    return "".join(f"{line}\n" for line in lines)


def complaints(spec: WorkloadSpec) -> Iterator[Problem]:
    """Problems where the spec contradicts the script, and where the script cannot run here."""
    if not script_of(spec):
        return
    script = import_script(script_of(spec), unchanged=True)
    for note in script.notes:
        if note.blocks:
            yield Problem((BATCH_SCRIPT,), f"line {note.line}: {note.text}")
    tasks = script.spec["numWorkers"]
    if tasks != spec.num_pods:
        text = f"the batch script asks for {tasks} tasks, which are the ranks"
        yield Problem(("numWorkers",), text)
    for path, given in (("setup", spec.setup), ("worker.args", spec.worker.args)):
        if given:
            text = "a batch script runs as it stands; leave it out, or write it into the script"
            yield Problem(parse_path(path), text)
