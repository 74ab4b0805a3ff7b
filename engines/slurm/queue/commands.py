"""The commands of Slurm that look at jobs, and what their failures mean."""

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

RECORDS_SECONDS = 10.0  # nothing hangs on what accounting tells besides
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


NOT_THERE = 4  # exit code where the directory is away
# Whose each workload is, by the number of the user; then what Slurm says to the rest. A name with
# anything else in it is none of ours, and could hold a line of its own. $1 directory, $2 "squeue",
# which is asked for the jobs of these users, or another program; $3… its words. Whether there are
# jobs nobody knows while the directory is away.
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
    """Ours, those that ended a moment ago among them; or of each workload in a directory those of
    its owner. Slurm is not asked for a federation first."""
    mark = token_hex(8)  # which nobody could put into a name before
    words = ["squeue", "--local", "--noheader", "--states=all", f"--format={SQUEUE.format(mark)}"]
    words += [f"--name={','.join(names)}"] if names else []
    if not owners_in:
        return from_squeue(answered(transport.run([*words, "--me"]), "squeue"), mark)
    text = answered(transport.run(_with_owners(owners_in, words)), "squeue")
    return _of_owners(text, partial(from_squeue, mark=mark))


def sacct(
    transport: Transport, names: Sequence[str], *, since: datetime, owners_in: str = ""
) -> list[BatchJob]:
    """What accounting has of them; nothing where there is none. The rest as of ``squeue``."""
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
    """Anyone can give a job any name, so that it counts only where the workload is its user's."""
    head, _, rows = text.partition("\n\n")
    owners = dict(line.split(" ") for line in head.splitlines())
    jobs = ((run_of(job.name), job) for job in read(rows))
    return [job for place, job in jobs if place and owners.get(place[0].hex) == job.user]


def records(
    transport: Transport, ids: Sequence[str], *, since: datetime, of_all: bool = False
) -> list[JobRecord] | None:
    """All starts of these jobs since then, of each part. ``None`` where accounting does not answer,
    or not by JSON."""
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
    """What it printed. ``EngineUnavailable`` says why not: an error is never an empty queue."""
    if answer.code:
        raise EngineUnavailable(f"{program}: {answer.said or f'exit code {answer.code}'}")
    return answer.out


def is_full(said: str) -> bool:
    """Whether sbatch refused for how many jobs there are: it took none, and may take one later."""
    return "job submit limit" in said or "MaxSubmit" in said


def refusal(said: str) -> EngineRefused | EngineUnavailable:
    """Why sbatch failed. Unless Slurm was away it will say the same again."""
    if any(sign.lower() in said.lower() for sign in AWAY):
        return EngineUnavailable(f"Slurm does not accept the job now: {said}")
    field = next((place for sign, place in REFUSALS if sign.lower() in said.lower()), "")
    if is_full(said):
        return EngineUnavailable(f"The account has reached its limit of jobs: {said}")
    text = said.replace("sbatch: error: ", "").replace("Batch job submission failed: ", "")
    return EngineRefused(f"Slurm refuses it: {text}", reason=Reason.REFUSED, field=field)
