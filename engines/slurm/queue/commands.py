"""The commands of Slurm that look at jobs, and what their failures mean."""

from collections.abc import Sequence
from datetime import datetime

from engines.base import EngineRefused, EngineUnavailable
from engines.slurm.client.transport import CommandResult, Transport
from engines.slurm.queue.jobs import SACCT, SQUEUE, BatchJob, from_sacct, from_squeue
from spec.phases import Reason

#: Slurm does not answer, or not now; all else that it says is a no.
AWAY = (
    *("Unable to contact slurm controller", "Socket timed out", "Zero Bytes", "Connection refused"),
    *("slurm_load_jobs error", "Unable to establish", "Resource temporarily unavailable"),
    *("Transport endpoint", "Communication connection failure", "Incompatible versions"),
    *("Protocol authentication error", "Munge", "Slurm backup controller", "Slurm controller not"),
    *("Unable to connect", "Slurmctld", "queue is full", "Insufficient resources, try again"),
    *("Slurm temporarily unable to accept job", "Unable to process configuration file"),
)
#: Of sbatch: what it says, and the field of the spec that it is about.
REFUSALS = (
    ("invalid partition", "nodePools"),
    ("Invalid qos", "priorityClass"),
    ("time limit", "timeLimitSeconds"),
    ("generic resource", "worker.compute.gpuDevicesRequest"),
    ("Memory", "worker.compute.cpuMemoryRequest"),
    ("node configuration", "worker.compute"),
    ("Invalid feature", "worker.nodeType"),
    ("Node count", "numWorkers"),
    ("More processors", "worker.compute.cpuCoreRequest"),
    ("CPU count", "worker.compute.cpuCoreRequest"),
)


# The queue of those who have workloads there. $1 directory, $2… what squeue is asked.
OF_OWNERS = r"""
users=$(find "$1/workloads" -mindepth 1 -maxdepth 1 -printf '%u\n' | sort -u | paste -s -d , -)
shift
[ -z "$users" ] || exec squeue --user="$users" "$@"
"""


def squeue(
    transport: Transport, *, names: Sequence[str] = (), owners_in: str = ""
) -> list[BatchJob]:
    """Ours, those that ended a moment ago among them; or those of all who have workloads in a
    directory. Slurm is not asked for a federation first."""
    words = ["--local", "--noheader", "--states=all", f"--format={SQUEUE}"]
    words += [f"--name={','.join(names)}"] if names else []
    if owners_in:
        words = ["sh", "-c", OF_OWNERS, "sh", owners_in, *words]
    else:
        words = ["squeue", "--me", *words]
    return from_squeue(answered(transport.run(words), "squeue"))


def sacct(
    transport: Transport, names: Sequence[str], *, since: datetime, of_all: bool = False
) -> list[BatchJob]:
    """What accounting has of them; nothing where there is none. ``of_all``: other users', too."""
    words = ["sacct", "--noheader", "--parsable2", "--allocations", "--duplicates"]
    words += ["--allusers"] if of_all else []
    words += [f"--starttime={since:%Y-%m-%dT%H:%M:%S}", f"--name={','.join(names)}"]
    answer = transport.run([*words, f"--format={SACCT}"])
    return [] if answer.code else from_sacct(answer.out)


def answered(answer: CommandResult, program: str) -> str:
    """What it printed. ``EngineUnavailable`` says why not: an error is never an empty queue."""
    if answer.code:
        raise EngineUnavailable(f"{program}: {answer.said or f'exit code {answer.code}'}")
    return answer.out


def refusal(said: str) -> EngineRefused | EngineUnavailable:
    """Why sbatch failed. Unless Slurm was away it will say the same again."""
    if any(sign.lower() in said.lower() for sign in AWAY):
        return EngineUnavailable(f"Slurm does not accept the job now: {said}")
    field = next((place for sign, place in REFUSALS if sign.lower() in said.lower()), "")
    if "job submit limit" in said or "MaxSubmit" in said:
        return EngineUnavailable(f"The account has reached its limit of jobs: {said}")
    text = said.replace("sbatch: error: ", "").replace("Batch job submission failed: ", "")
    return EngineRefused(f"Slurm refuses it: {text}", reason=Reason.REFUSED, field=field)
