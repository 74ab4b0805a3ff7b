"""What engines refuse that run a batch script of Slurm as it stands."""

from collections.abc import Iterator

from spec.imports.arrays import ARRAY_INDEX
from spec.imports.hosts import ScriptHost
from spec.imports.sbatch import BATCH_SCRIPT, import_script
from spec.problems.errors import Problem
from spec.workload import WorkloadSpec

ELEMENTS = (
    "the script is a job array; submit it as a batch script, which makes a workload of each "
    "element, or leave --array out"
)


def batch_script_complaints(spec: WorkloadSpec, host: ScriptHost) -> Iterator[Problem]:
    """Yield problems if the spec contradicts its script, or if the script cannot run there."""
    if not spec.batch_script:
        return
    script = import_script(spec.batch_script, unchanged=True, host=host)
    for note in script.notes:
        if note.blocks:
            yield Problem((BATCH_SCRIPT,), f"line {note.line}: {note.text}")
    names = {variable.name for variable in spec.worker.environment_variables}
    if script.array and ARRAY_INDEX not in names:
        yield Problem((BATCH_SCRIPT,), ELEMENTS)
    tasks = script.allocation.tasks
    if tasks != spec.num_pods:
        text = f"the batch script asks for {tasks} tasks, which are the ranks"
        yield Problem(("numWorkers",), text)
    if spec.setup:
        text = "a batch script runs as it stands; leave it out, or write it into the script"
        yield Problem(("setup",), text)
