"""Slurm's small programs for a batch script on this machine. They answer for the script's own job
and say plainly that the cluster is this machine."""

import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from engines.local.batch import host, messages
from engines.local.batch.hostlist import compress_hostlist, expand_hostlist
from engines.local.batch.job import CLUSTER, FILE, ScriptJob
from engines.local.batch.signals import parse_signal

THIS_MACHINE = "the job runs on this machine, without Slurm"
NO_SBATCH = "Batch job submission failed: {0}; submit the script with: trainyard submit-sbatch {1}"
FIELD = re.compile(r"%([.]?)(\d*)([A-Za-z%])")
SQUEUE = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
SINFO = "%.9P %.5a %.10l %.6D %.6t %N"
TITLES = {
    "i": "JOBID",
    "A": "JOBID",
    "P": "PARTITION",
    "j": "NAME",
    "u": "USER",
    "t": "ST",
    "T": "STATE",
    "M": "TIME",
    "l": "TIME_LIMIT",
    "D": "NODES",
    "R": "NODELIST(REASON)",
    "N": "NODELIST",
    "C": "CPUS",
    "a": "AVAIL",
    "r": "REASON",
    "L": "TIME_LEFT",
    "S": "START_TIME",
    "q": "QOS",
    "m": "MIN_MEMORY",
    "c": "CPUS",
    "G": "GRES",
    "n": "HOSTNAMES",
}


def run_scontrol(folder: Path, words: Sequence[str]) -> int:
    job = ScriptJob.read(folder)
    rest = [word for word in words if not word.startswith("-")]
    verb = rest[0] if rest else ""
    if verb == "show" and len(rest) > 1:
        return _show(job, folder, rest[1].lower(), rest[2:])
    if verb == "ping":
        print(f"Slurmctld(primary) at {job.nodes[0].name} is UP ({THIS_MACHINE})")
        return 0
    return _refuse("scontrol", f"scontrol {' '.join(rest)} does nothing here: {THIS_MACHINE}")


def _show(job: ScriptJob, folder: Path, what: str, names: Sequence[str]) -> int:
    """Print one of the things that ``scontrol show`` knows, which may be abbreviated."""
    for beginning, show in SHOWN.items():
        if what.startswith(beginning):
            return show(job, folder, names)
    return _refuse("scontrol", f"invalid entity: {what}")


def _show_hostnames(job: ScriptJob, folder: Path, names: Sequence[str]) -> int:
    text = names[0] if names else os.environ.get("SLURM_JOB_NODELIST", "")
    print("\n".join(expand_hostlist(text)))
    return 0


def _show_hostlist(job: ScriptJob, folder: Path, names: Sequence[str]) -> int:
    text = names[0] if names else ""
    print(compress_hostlist(text.split(",")))
    return 0


def _show_job(job: ScriptJob, folder: Path, names: Sequence[str]) -> int:
    if names and names[0] != str(job.number):
        return _refuse("slurm_load_jobs", "Invalid job id specified")
    print(_describe_job(job, folder))
    return 0


def _show_configuration(job: ScriptJob, folder: Path, names: Sequence[str]) -> int:
    print(f"Configuration data: {THIS_MACHINE}")
    print(f"ClusterName             = {CLUSTER}")
    print("SelectType              = this machine")
    return 0


def _show_nodes(job: ScriptJob, folder: Path, names: Sequence[str]) -> int:
    for node in job.nodes:
        if not names or node.name in expand_hostlist(names[0]):
            gres = f"gpu:{node.gpu_count}" if node.gpu_count else "(null)"
            print(
                f"NodeName={node.name} NodeAddr={node.name} NodeHostName={node.name} "
                f"CPUTot={node.cpus} Gres={gres} State=ALLOCATED Comment=this machine"
            )
    return 0


def _show_partition(job: ScriptJob, folder: Path, names: Sequence[str]) -> int:
    nodes = compress_hostlist(node.name for node in job.nodes)
    print(f"PartitionName={job.partition} Default=YES Nodes={nodes} State=UP")
    return 0


#: By the shortest beginning of a name that scontrol accepts.
SHOWN: dict[str, Callable[[ScriptJob, Path, Sequence[str]], int]] = {
    "hostn": _show_hostnames,
    "hostlist": _show_hostlist,
    "job": _show_job,
    "conf": _show_configuration,
    "node": _show_nodes,
    "part": _show_partition,
}


def _describe_job(job: ScriptJob, folder: Path) -> str:
    nodes = compress_hostlist(node.name for node in job.nodes)
    cpus = sum(node.cpus for node in job.nodes)
    gpus = sum(node.gpu_count for node in job.nodes)
    tres = f"cpu={cpus},node={len(job.nodes)}" + (f",gres/gpu={gpus}" if gpus else "")
    start = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(_started_at(folder)))
    return "\n   ".join(
        [
            f"JobId={job.number} JobName={job.name}",
            f"UserId={job.user}({os.getuid()}) GroupId={os.getgid()}",
            "JobState=RUNNING Reason=None Dependency=(null)",
            f"Requeue=0 Restarts={job.attempt} BatchFlag=1 ExitCode=0:0",
            f"RunTime={_run_time(folder)} TimeLimit={_time_limit(job)}",
            f"StartTime={start}",
            f"Partition={job.partition} AllocNode:Sid={job.nodes[0].name}:0",
            f"NodeList={nodes}",
            f"BatchHost={job.nodes[0].name}",
            f"NumNodes={len(job.nodes)} NumCPUs={cpus} NumTasks={job.tasks} "
            f"CPUs/Task={job.cpus_per_task}",
            f"TRES={tres}",
            f"Command={job.script}",
            f"WorkDir={job.submit_dir}",
            f"StdOut={job.log_of(0)}",
            "Comment=This job runs on one machine, without Slurm.",
        ]
    )


def _time_limit(job: ScriptJob) -> str:
    return job.options.get("time") or "UNLIMITED"


def _started_at(folder: Path) -> float:
    return (folder / FILE).stat().st_mtime


def _run_time(folder: Path) -> str:
    minutes, rest = divmod(int(time.time() - _started_at(folder)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def run_squeue(folder: Path, words: Sequence[str]) -> int:
    """Print the script's own job, the only one of this queue."""
    job = ScriptJob.read(folder)
    options = _read_options(words, {"j": "jobs", "o": "format", "n": "name", "u": "user", "h": ""})
    wanted = options.get("jobs", "")
    if wanted and str(job.number) not in wanted.split(","):
        return _refuse("slurm_load_jobs", "Invalid job id specified")
    nodes = compress_hostlist(node.name for node in job.nodes)
    values = {
        "i": str(job.number),
        "A": str(job.number),
        "P": job.partition,
        "j": job.name,
        "u": job.user,
        "t": "R",
        "T": "RUNNING",
        "D": str(len(job.nodes)),
        "R": nodes,
        "N": nodes,
        "C": str(sum(node.cpus for node in job.nodes)),
        "r": "None",
        "M": _run_time(folder),
        "l": _time_limit(job),
        "L": _time_limit(job),
        "q": job.options.get("qos", "normal"),
        "S": "N/A",
    }
    _print_table(options.get("format") or SQUEUE, values, options, TITLES)
    return 0


def run_sinfo(folder: Path, words: Sequence[str]) -> int:
    """Print the parts of this machine that are the job's nodes."""
    job = ScriptJob.read(folder)
    options = _read_options(words, {"o": "format", "p": "partition", "n": "nodes", "h": ""})
    gpus = job.nodes[0].gpu_count
    values = {
        "P": f"{job.partition}*",
        "R": job.partition,
        "a": "up",
        "l": "infinite",
        "D": str(len(job.nodes)),
        "t": "alloc",
        "T": "allocated",
        "N": compress_hostlist(node.name for node in job.nodes),
        "c": str(job.nodes[0].cpus),
        "G": f"gpu:{gpus}" if gpus else "(null)",
    }
    titles = {"t": "STATE", "T": "STATE", "l": "TIMELIMIT", "R": "PARTITION"}
    _print_table(options.get("format") or SINFO, values, options, TITLES | titles)
    return 0


def _read_options(words: Sequence[str], short: Mapping[str, str]) -> dict[str, str]:
    """Return options by their long names; those of one letter with an empty name have no value."""
    options: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals and name in short.values() and rest:
                value = rest.pop(0)
            options[name] = value
        elif word.startswith("-"):
            letter = word[1:2]
            name = short.get(letter, letter)
            value = word[2:].removeprefix("=")
            if name in short.values() and name and not value and rest:
                value = rest.pop(0)
            options[name or letter] = value
        else:
            options.setdefault("", word)
    return options


def _print_table(
    pattern: str,
    values: Mapping[str, str],
    options: Mapping[str, str],
    titles: Mapping[str, str],
) -> None:
    """Print a table of one row, with titles unless the options forbid them."""
    if not {"h", "noheader"} & options.keys():
        print(FIELD.sub(lambda match: _format_field(match, titles), pattern).rstrip())
    print(FIELD.sub(lambda match: _format_field(match, values), pattern).rstrip())


def _format_field(match: re.Match[str], values: Mapping[str, str]) -> str:
    if match[3] == "%":
        return "%"
    text = values.get(match[3], "N/A")
    width = int(match[2] or 0)
    if not width:
        return text
    return text[:width].rjust(width) if match[1] else text[:width].ljust(width)


def run_scancel(folder: Path, words: Sequence[str]) -> int:
    """End the script's own job, or send it a signal."""
    job = ScriptJob.read(folder)
    options = _read_options(words, {"s": "signal", "n": "name", "u": "user", "b": "", "f": ""})
    number = options.get("", "").partition(".")[0]
    if not number and not {"name", "user", "me"} & options.keys():
        return _refuse("scancel", "No job identification provided")
    if number and number != str(job.number):
        text = f"Kill job error on job id {number}: Invalid job id specified"
        return _refuse("scancel", text)
    if name := options.get("signal"):
        return _send_signal(folder, job, name, to_script="b" in options or "batch" in options)
    Path(job.stop).touch()
    with suppress(OSError):
        bell = os.open(job.bell, os.O_WRONLY | os.O_NONBLOCK)
        os.write(bell, b"!")
        os.close(bell)
    return 0


def _send_signal(folder: Path, job: ScriptJob, name: str, *, to_script: bool) -> int:
    number = parse_signal(name)
    if number is None:
        return _refuse("scancel", f"Unknown job signal: {name}")
    for rank in range(job.tasks):
        with messages.connect(folder, rank) as connection:
            messages.send(
                connection, {"kind": host.SIGNAL, "signal": int(number), "to_script": to_script}
            )
    return 0


def run_sbatch(folder: Path, words: Sequence[str]) -> int:
    name = next((word for word in words if not word.startswith("-")), "FILE")
    return _refuse("sbatch", NO_SBATCH.format(THIS_MACHINE, name))


def run_salloc(folder: Path, words: Sequence[str]) -> int:
    return _refuse("salloc", f"no other job can be allocated: {THIS_MACHINE}")


def run_sacct(folder: Path, words: Sequence[str]) -> int:
    return _refuse("sacct", f"there is no accounting: {THIS_MACHINE}")


def run_module(folder: Path, words: Sequence[str]) -> int:
    """Stand for environment modules where the machine has none. The script goes on, because what
    it loads may be installed."""
    text = f"this machine has no environment modules, so 'module {' '.join(words)}' did nothing"
    print(f"module: {text}", file=sys.stderr)
    return 0


def run_conda(folder: Path, words: Sequence[str]) -> int:
    """Stand for conda where the machine has none."""
    text = f"this machine has no conda on its PATH, so 'conda {' '.join(words)}' did nothing"
    return _refuse("conda", text)


def _refuse(program: str, text: str) -> int:
    prefix = "" if program in {"slurm_load_jobs", "conda"} else "error: "
    print(f"{program}: {prefix}{text}", file=sys.stderr)
    return 1


#: Programs in front of the script's PATH, and those that only stand in for missing ones.
FIRST: dict[str, Callable[[Path, Sequence[str]], int]] = {
    "scontrol": run_scontrol,
    "squeue": run_squeue,
    "sinfo": run_sinfo,
    "scancel": run_scancel,
    "sbatch": run_sbatch,
    "salloc": run_salloc,
    "sacct": run_sacct,
}
LAST: dict[str, Callable[[Path, Sequence[str]], int]] = {
    "module": run_module,
    "ml": run_module,
    "conda": run_conda,
}
