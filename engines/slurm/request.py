"""What a job asks Slurm for: by its spec, or by the ``#SBATCH`` lines of its batch script. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from engines.base import Launch
from engines.slurm.script.directives import job_account, job_partitions, seconds_left
from engines.slurm.script.shape import Tasks, group_tasks, script_text
from engines.slurm.script.site import SlurmSite
from spec.imports.allocation import GPU_OPTIONS, JobAllocation, read_allocation
from spec.imports.directives import parse_size
from spec.imports.sbatch import BATCH_SCRIPT, import_script
from spec.problems.errors import Problem, parse_path

#: Options of a script that say what is in a field of the spec, by the last part of its path.
OPTIONS_OF_FIELD = {
    "nodePools": ("partition",),
    "priorityClass": ("qos",),
    "timeLimitSeconds": ("time",),
    "numWorkers": ("nodes", "ntasks", "ntasks-per-node", "ntasks-per-gpu"),
    "cpuCoreRequest": ("cpus-per-task", "cpus-per-gpu", "ntasks-per-node", "ntasks"),
    "cpuMemoryRequest": ("mem", "mem-per-cpu", "mem-per-gpu"),
    "gpuDevicesRequest": GPU_OPTIONS,
    "nodeType": ("constraint",),
}


@dataclass(frozen=True)
class ScriptRequest:
    """What a batch script asks for. ``refused_lines`` are those that it cannot be submitted with,
    such as a placeholder that nobody filled in."""

    allocation: JobAllocation
    refused_lines: frozenset[int]

    def value(self, name: str) -> str:
        """Return the value of an option; empty if the script does not have it, or it is refused
        anyway."""
        return self._value_in(self.allocation, name)

    def _value_in(self, part: JobAllocation, name: str) -> str:
        option = part.options.get(name)
        return option.value if option and option.line not in self.refused_lines else ""

    def line(self, *names: str) -> int:
        """Return the line of the first of these options that the script has; 0 without any."""
        options = self.allocation.options
        return next((options[name].line for name in names if name in options), 0)

    @property
    def memory(self) -> int:
        """MiB on all nodes together; 0 if the script does not say."""
        return sum(map(self._memory_of, self.allocation.parts or (self.allocation,)))

    def _memory_of(self, part: JobAllocation) -> int:
        units = {"mem": part.nodes, "mem-per-cpu": part.cpus, "mem-per-gpu": part.gpus}
        sizes = ((parse_size(self._value_in(part, name)) or 0) * n for name, n in units.items())
        return max(sizes)

    @property
    def cpus(self) -> int:
        return self.allocation.cpus

    @property
    def shares_cpus(self) -> bool:
        """Whether several tasks may have one CPU, so that their number says nothing about CPUs."""
        return "overcommit" in self.allocation.options


@dataclass(frozen=True)
class JobRequest:
    """What a job asks for in all. ``partitions`` are those that it may use, without any the
    default; ``account`` and ``qos`` are empty if they are Slurm's choice. A gang has ``parts``, a
    batch script has ``script`` instead."""

    partitions: tuple[str, ...]
    account: str
    qos: str
    seconds: int | None
    parts: tuple[Tasks, ...] = ()
    script: ScriptRequest | None = None

    @property
    def totals(self) -> Mapping[str, int]:
        """What all tasks together ask for, by the names of ``JobLimits``. Slurm chooses the nodes
        of a gang, at least one for each part."""
        if self.script:
            allocation = self.script.allocation
            return {
                "gpus": allocation.gpus,
                "cpus": 0 if self.script.shares_cpus else self.script.cpus,
                "memory": self.script.memory,
                "nodes": allocation.nodes,
                "seconds": self.seconds or 0,
            }
        return {
            "gpus": sum(part.count * part.gpus for part in self.parts),
            "cpus": sum(part.count * part.cpus for part in self.parts),
            "memory": sum(part.count * part.memory for part in self.parts),
            "nodes": len(self.parts),
            "seconds": self.seconds or 0,
        }

    def problem(self, field: str, message: str, *options: str) -> Problem:
        """Return a problem with a field of the spec. If it comes from the batch script, it is at
        the line of the options that say it: these, or the usual ones of the field."""
        if self.script:
            names = options or OPTIONS_OF_FIELD.get(field.rpartition(".")[2], ())
            if line := self.script.line(*names):
                return Problem((BATCH_SCRIPT,), f"line {line}: {message}")
        return Problem(parse_path(field), message)


def job_request(launch: Launch, site: SlurmSite) -> JobRequest:
    """Return what the job of a launch asks for."""
    partitions = tuple(job_partitions(launch, site))
    account = job_account(launch, site) or _default_account(launch, site)
    qos = str(launch.spec.priority_class or "")
    seconds = seconds_left(launch)
    text = script_text(launch.spec)
    if not text:
        return JobRequest(partitions, account, qos, seconds, group_tasks(launch.spec))
    script = _read_script(text)
    named = tuple(filter(None, script.value("partition").split(",")))
    return JobRequest(
        named or partitions,
        script.value("account") or account,
        script.value("qos") or qos,
        seconds,
        script=script,
    )


@lru_cache(maxsize=64)
def _read_script(text: str) -> ScriptRequest:
    notes = import_script(text, unchanged=True).notes
    refused = frozenset(note.line for note in notes if note.blocks)
    return ScriptRequest(read_allocation(text), refused)


def _default_account(launch: Launch, site: SlurmSite) -> str:
    """Return the account that Slurm charges if the job names none. That of people who submit under
    their own names is not known."""
    if site.own_names:
        return ""
    return next((it.name for it in launch.site.accounts if it.is_default), "")
