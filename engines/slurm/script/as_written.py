"""A batch script that runs as it stands: what Trainyard needs lies around it. Pure.

Slurm reads the script's own ``#SBATCH`` lines, and ours after them, which count where both say
something. Claim, stop and end of a run are those of every job; the script is what it starts in
place of ranks. Variables that ``srun`` reads send what each task prints to its own file.
"""

import shlex
from collections.abc import Iterator

from engines.base import Launch
from engines.slurm.layout import SharedFolder
from engines.slurm.script import directives
from engines.slurm.script.rank.variables import defaults, own
from engines.slurm.script.site import SlurmSite
from spec.imports import directives as written
from spec.imports.sbatch import imported
from spec.problems.errors import Problem, path_of
from spec.workload import WorkloadSpec

SCRIPT, START = "script.sh", "start.sh"
#: What Trainyard says, whatever the script does; the rest only where the script says nothing.
OURS = {"job-name", "comment", "chdir", "output", "open-mode"}
UNSAID = {"partition", "account", "qos", "constraint", "requeue", "export"}
#: What the platform says that a script could not know.
PLATFORM = ("CHECKPOINT_DIR", "RUNAI_PROJECT", "RUNAI_JOB_NAME", "RUNAI_JOB_UUID", "JOB_UUID")


STEP = 'step() { exec bash "$RUN/start.sh"; }\n'


def asked(launch: Launch) -> str:
    """The ``#SBATCH`` lines of the script, as they stand."""
    return "".join(f"{line}\n" for line in written.lines(launch.spec.batch_script or ""))


def options(launch: Launch, site: SlurmSite) -> Iterator[directives.Option]:
    """Those that follow them."""
    said = {it.name for it in written.directives(launch.spec.batch_script or "")}
    if "no-requeue" in said:
        said.add("requeue")
    for name, value in directives.options(launch, site):
        if name in OURS or (name in UNSAID and name not in said):
            yield name, value
        if name == "output" and "error" in said:
            yield "error", value


def start(launch: Launch, site: SlurmSite, text: str) -> str:
    """Gives the script its surroundings, and becomes it."""
    said = {it.name: it.value for it in written.directives(launch.spec.batch_script or "")}
    folder = SharedFolder(site.directory, launch.handle.workload_id)
    values = {
        "BELL": folder.bell,  # which --export may keep from the tasks
        "NAME": said.get("job-name", "script"),
        "OWN": f"{folder.path}/ranks/0",
        "PLACE": said.get("chdir") or ".",
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items()) + text


def environment(launch: Launch, site: SlurmSite, *, shown: bool) -> str:
    platform = defaults(launch, site)
    lines = [f"export {name}={platform[name]}" for name in PLATFORM]
    pod = launch.spec.pods[0]
    lines += [f"export {name}={value}" for name, value in own(launch, site, pod, shown=shown)]
    return "".join(f"{line}\n" for line in lines)


def complaints(spec: WorkloadSpec) -> Iterator[Problem]:
    """Where the spec says something else than the script, and what the script cannot do here."""
    if not spec.batch_script:
        return
    script = imported(spec.batch_script, as_it_stands=True)
    for note in script.notes:
        if note.blocks:
            yield Problem(("batchScript",), f"line {note.line}: {note.text}")
    tasks = script.spec["numWorkers"]
    if tasks != spec.num_pods:
        text = f"the batch script asks for {tasks} tasks, which are the ranks"
        yield Problem(("numWorkers",), text)
    for path, given in (("setup", spec.setup), ("worker.args", spec.worker.args)):
        if given:
            text = "a batch script runs as it stands; leave it out, or write it into the script"
            yield Problem(path_of(path), text)
