"""Slurm's commands for looking at jobs, and the meaning of their errors."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from secrets import token_hex

from engines.base import EngineRefused, EngineUnavailable
from engines.slurm.client.transport import CommandResult, Transport
from engines.slurm.layout import run_of
from engines.slurm.queue.jobs import SACCT, SQUEUE, BatchJob, from_sacct, from_squeue
from engines.slurm.queue.records import JobRecord, from_json
from spec.phases import Reason

RECORDS_SECONDS = 10.0  # the history is not important enough to wait longer
#: Messages that mean Slurm does not answer now. Any other error is a refusal.
AWAY = (
    *("Unable to contact slurm controller", "Socket timed out", "Zero Bytes", "Connection refused"),
    *("slurm_load_jobs error", "Unable to establish", "Resource temporarily unavailable"),
    *("Transport endpoint", "Communication connection failure", "Incompatible versions"),
    *("Protocol authentication error", "Munge", "Slurm backup controller", "Slurm controller not"),
    *("Unable to connect", "Slurmctld", "queue is full", "Insufficient resources, try again"),
    *("Slurm temporarily unable to accept job", "Unable to process configuration file"),
)
#: Parts of sbatch's messages, and the field of the spec that they are about.
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


NOT_THERE = 4  # exit code if the directory is not available
# Prints the owner of each workload as a user id, then the output of Slurm's command. Names with
# other characters are not ours, and might contain a line that looks like one. $1 directory, $2
# "squeue", which is asked for jobs of these users, or another program; $3… its arguments. Fails if
# the directory is not available, as the owners are then unknown.
OF_OWNERS = r"""
cd "$1/workloads" || exit NOT_THERE
owners=$(find . -mindepth 1 -maxdepth 1 ! -name '*[!0-9a-f]*' -printf '%f %U\n')
users=$(printf '%s' "$owners" | cut -d ' ' -f 2 | sort -u | paste -s -d , -)
program=$2
shift 2
[ -n "$users" ] || exit 0
printf '%s\n' "$owners" ''
[ "$program" != squeue ] || set -- --user="$users" "$@"
exec "$program" "$@"
""".replace("NOT_THERE", f"{NOT_THERE}")


def squeue(
    transport: Transport, *, names: Sequence[str] = (), owners_in: str = ""
) -> list[BatchJob]:
    """Our jobs in the queue, including those that ended a moment ago.

    With ``owners_in``, a directory of workloads, these are each workload's job that belongs to its
    owner. ``--local`` keeps Slurm from asking a federation first. Raises ``EngineUnavailable``.
    """
    mark = token_hex(8)  # so that no job name can contain it
    words = ["squeue", "--local", "--noheader", "--states=all", f"--format={SQUEUE.format(mark)}"]
    words += [f"--name={','.join(names)}"] if names else []
    if not owners_in:
        return from_squeue(answered(transport.run([*words, "--me"]), "squeue"), mark)
    text = answered(transport.run(_with_owners(owners_in, words)), "squeue")
    return _of_owners(text, partial(from_squeue, mark=mark))


def sacct(
    transport: Transport, names: Sequence[str], *, since: datetime, owners_in: str = ""
) -> list[BatchJob]:
    """The jobs of these names in accounting; none if there is no accounting. ``owners_in`` is as
    for :func:`squeue`."""
    words = ["sacct", "--noheader", "--parsable2", "--allocations", "--duplicates"]
    words += [_since(since), f"--name={','.join(names)}", f"--format={SACCT}"]
    if not owners_in:
        answer = transport.run(words)
        return [] if answer.code else from_sacct(answer.out)
    answer = transport.run(_with_owners(owners_in, [*words, "--allusers"]))
    if answer.code == NOT_THERE:
        answered(answer, "sacct")
    return [] if answer.code else _of_owners(answer.out, from_sacct)


def _with_owners(directory: str, words: Sequence[str]) -> list[str]:
    return ["sh", "-c", OF_OWNERS, "sh", directory, *words]


def _of_owners(text: str, read: Callable[[str], list[BatchJob]]) -> list[BatchJob]:
    """The jobs that belong to the owner of their workload. The name alone proves nothing, since
    anyone can give a job any name."""
    head, _, rows = text.partition("\n\n")
    owners = dict(line.split(" ") for line in head.splitlines())
    jobs = ((run_of(job.name), job) for job in read(rows))
    return [job for place, job in jobs if place and owners.get(place[0].hex) == job.user]


def records(
    transport: Transport, ids: Sequence[str], *, since: datetime, of_all: bool = False
) -> list[JobRecord] | None:
    """Every start of these jobs since that time, of each part. ``None`` if accounting does not
    answer or does not support JSON."""
    words = ["sacct", "--json", "--duplicates", f"--jobs={','.join(ids)}"]
    words += ["--allusers"] if of_all else []
    try:
        answer = transport.run([*words, _since(since)], timeout=RECORDS_SECONDS)
    except EngineUnavailable:
        return None
    return None if answer.code else from_json(answer.out)


def _since(moment: datetime) -> str:
    return f"--starttime={moment:%Y-%m-%dT%H:%M:%S}"


def answered(answer: CommandResult, program: str) -> str:
    """The output of a program. Raises ``EngineUnavailable`` if it failed: an error must never look
    like an empty queue."""
    if answer.code:
        raise EngineUnavailable(f"{program}: {answer.message or f'exit code {answer.code}'}")
    return answer.out


def is_full(said: str) -> bool:
    """Whether sbatch refused because there are too many jobs: it accepted none, but may accept one
    later."""
    return "job submit limit" in said or "MaxSubmit" in said


def refusal(said: str) -> EngineRefused | EngineUnavailable:
    """The error for a message of sbatch: ``EngineUnavailable`` if the same submission may succeed
    later, else ``EngineRefused``."""
    if any(sign.lower() in said.lower() for sign in AWAY):
        return EngineUnavailable(f"Slurm does not accept the job now: {said}")
    field = next((place for sign, place in REFUSALS if sign.lower() in said.lower()), "")
    if is_full(said):
        return EngineUnavailable(f"The account has reached its limit of jobs: {said}")
    text = said.replace("sbatch: error: ", "").replace("Batch job submission failed: ", "")
    return EngineRefused(f"Slurm refuses it: {text}", reason=Reason.REFUSED, field=field)
