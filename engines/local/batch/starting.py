"""Prepares a batch job for its hosts: the script, the programs in front of its ``PATH``, and what
they need to know."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from getpass import getuser
from pathlib import Path

from engines.local.batch import commands, host
from engines.local.batch.job import ScriptJob, make_nodes
from engines.local.records.layout import Folder
from engines.local.records.plan import BatchPlan, GangPlan

#: Without the packages and the locale of any environment, which the script may change. One word,
#: because the first line of a program has room for one.
ISOLATED = "-ISXutf8"
PROGRAM = [sys.executable, ISOLATED, str(Path(__file__).with_name("program.py"))]
MOST_FIRST_LINE = 120  # characters that every kernel reads
FOLDER_VARIABLE = "TRAINYARD_BATCH"
PROGRAMS = "bin"
STAND_INS = "stand-ins"
HOSTS = "mpi-hosts"
LARGEST_NUMBER = 60_000_000  # job numbers look like those of a busy cluster


def host_command(rank: int) -> list[str]:
    """Return the command line of a rank's host, which finds its job in a variable."""
    return [*PROGRAM, f"$({FOLDER_VARIABLE})", host.HOST, str(rank)]


def job_number(plan: GangPlan) -> int:
    """Return the number of the job: the same for all attempts of a run."""
    return 1 + (int(plan.workload_id.replace("-", ""), 16) + plan.run) % LARGEST_NUMBER


def describe_job(
    plan: GangPlan,
    batch: BatchPlan,
    folder: Folder,
    *,
    attempt: int,
    gpus: Sequence[str],
    ran_seconds: float = 0.0,
) -> ScriptJob:
    """Return what the script will see. ``gpus`` are the real ones of all ranks, ``ran_seconds`` the
    running time that counts towards the time limit already."""
    log = folder.log(plan.run, 0, attempt)
    return ScriptJob(
        number=job_number(plan),
        name=batch.options.get("job-name") or plan.name,
        script=str(folder.batch(plan.run) / host.SCRIPT),
        submit_dir=plan.ranks[0].working_dir or str(folder.rank_folder(plan.ranks[0].name)),
        user=getuser(),
        nodes=make_nodes(batch.tasks_per_node, batch.cpus_per_task, batch.gpus, gpus),
        cpus_per_task=batch.cpus_per_task,
        sets_tasks=batch.sets_tasks,
        logs=str(log.parent),
        attempt=attempt,
        stop=str(folder.stop_request(plan.run)),
        bell=str(folder.bell),
        options=batch.options,
        seconds_left=None if plan.time_limit is None else plan.time_limit - ran_seconds,
    )


def write_job(folder: Path, job: ScriptJob, batch: BatchPlan) -> None:
    """Write everything that the hosts need to a folder."""
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier attempt
    folder.mkdir(mode=0o700, parents=True)
    job.write(folder)
    script = folder / host.SCRIPT
    script.write_bytes(batch.script.encode())
    script.chmod(0o700)
    arguments = b"".join(os.fsencode(word) + b"\0" for word in batch.arguments)
    (folder / host.ARGUMENTS).write_bytes(arguments)
    (folder / HOSTS).write_text(f"localhost slots={job.tasks}\n")
    _write_programs(folder, PROGRAMS, ["srun", *commands.FIRST])
    _write_programs(folder, STAND_INS, commands.LAST)


def _write_programs(folder: Path, name: str, programs: Iterable[str]) -> None:
    place = folder / name
    place.mkdir()
    for each in programs:
        file = place / each
        file.write_text(_program_text(folder, each))
        file.chmod(0o700)


def _program_text(folder: Path, name: str) -> str:
    """Return a program that stands for one of Slurm's. Python itself reads it, if its path allows
    that, because a shell may not pass on exported functions of bash."""
    first_line = f"#!{sys.executable} {ISOLATED}"
    if " " in sys.executable or len(first_line) > MOST_FIRST_LINE:
        return f'#!/bin/sh\nexec {shlex.join([*PROGRAM, str(folder), name])} "$@"\n'
    path = PROGRAM[-1]
    return f"""{first_line}
import runpy
import sys
sys.argv[1:1] = [{str(folder)!r}, {name!r}]
runpy.run_path({path!r}, run_name="__main__")
"""


def host_variables(job: ScriptJob, folder: Path, rank: int, path: str) -> dict[str, str]:
    """Return the variables of a rank's host, which at rank 0 are the script's. ``path`` is the
    ``PATH`` of the rank."""
    programs = os.pathsep.join([str(folder / PROGRAMS), path, str(folder / STAND_INS)])
    return {
        FOLDER_VARIABLE: str(folder),
        "PATH": programs,
        **job.variables(rank),
    }
