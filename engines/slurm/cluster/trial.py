"""Runs a trial job of one task, which looks for the shared directory, Python, PyTorch, mounts and
containers on a node."""

import time
from collections.abc import Iterator, Sequence

from engines.findings import METERING, PERMISSIONS, Finding, Level
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from engines.slurm.cluster.discovery import find_container_program
from engines.slurm.cluster.lines import Report, group_lines
from engines.slurm.script.site import NO_CONTAINERS, SlurmSite

NODES = "Nodes"
CONTAINERS = "Containers"
VOLUMES = "Volumes and named roles"
PROLOGUE = "Prologue"
TEST_JOB = "Test job"
NAME = "trainyard-test"
PATIENCE = 15.0  # seconds to wait for the job's start, because a busy cluster queues it
RUN_PATIENCE = 90.0  # seconds that it may run: a prologue may load much from cold storage
UNKNOWN = "Not known yet: importing it takes long"
GLANCE_SECONDS = 0.5
OUTPUT_LENGTH = 300  # characters shown of a prologue's output
UNFINISHED = {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING"}

# Submits the job and prints its folder and id. $1 directory, $2 partition, $3 account, $4 name; the
# prologue is the standard input.
SUBMIT_TRIAL = r"""
cd "$1" && folder=$(mktemp -d trial.XXXXXX) && cd "$folder" && cat > prologue.sh || exit 4
cat > job.sh <<'END'
#!/bin/bash
[ -e prologue.sh ] || { echo "$PWD is not that directory"; exit 1; }
echo "runs $SLURMD_NODENAME" > .runs && mv .runs runs
. ./prologue.sh > prologue.log 2> prologue.err
code=$?
python=$(command -v python || command -v python3)
{
  echo "ended $code"
  echo "python $python"
  echo "version $($python --version 2>&1)"
  for p in srun scancel squeue scontrol sstat; do command -v $p > /dev/null || echo "lacks $p"; done
  echo "git $(git --version)"
  echo "aws $(aws --version 2>&1)"
  command -v python3 > /dev/null || echo "mounts it has no python3"
  said=$(unshare --user --mount true 2>&1) || echo "mounts $said"
  srun --help 2> /dev/null | grep -q -e --container-image && echo "container pyxis"
  for p in apptainer singularity; do
    command -v $p > /dev/null && echo "container $($p --version)"
  done
} > .seen 2>&1
mv .seen seen
torch=$($python -c 'import torch; print(torch.__version__)' 2> /dev/null)
echo "torch $torch" > .torch && mv .torch torch # which takes seconds to be imported
END
id=$(env -i PATH="$PATH" HOME="$HOME" USER="$USER" ${SLURM_CONF:+SLURM_CONF="$SLURM_CONF"} \
  sbatch --parsable --export=ALL --job-name="$4" --ntasks=1 --time=2 --no-requeue \
  --chdir="$PWD" --output="$PWD/job.log" ${2:+--partition="$2"} ${3:+--account="$3"} job.sh) ||
  { cd "$1" && rm -rf "$folder"; exit 3; }
echo "$folder ${id%%;*}"
"""
READ_TRIAL = r"""
cd "$1/$2" 2>/dev/null || exit 0
echo "state $(squeue --noheader --jobs="$3" --states=all --format='%T %r' 2>/dev/null)"
[ -e runs ] && cat runs
[ -e seen ] && cat seen
[ -e torch ] && cat torch
[ -s job.log ] && head -c 500 job.log | sed 's/^/said /'
[ -s prologue.err ] && echo "complains yes"
cat prologue.log prologue.err 2> /dev/null | tail -c 2000 | sed 's/^/told /'
exit 0
"""
REMOVE_TRIAL = r"""
scancel --name="$4" "$3" 2>/dev/null
cd "$1" && rm -rf "./$2"
exit 0
"""


def try_job(
    transport: Transport, site: SlurmSite, known: Sequence[Finding] = ()
) -> Iterator[Finding]:
    """Run the trial job, wait for it, and yield findings about its node. ``known`` are those of an
    earlier trial job, which stay if this one does not get as far."""
    prologue = site.prologue.replace("\r\n", "\n") + "\n"
    words = site.directory, site.partition, site.account, NAME
    result = files.run_program(transport, SUBMIT_TRIAL, *words, stdin=prologue.encode())
    if result.code:
        message = result.message.replace("sbatch: error: ", "")
        text = f"Slurm refuses a job of one task: {message}. Check account and partition."
        yield Finding(PERMISSIONS, "Jobs", Level.MISSING, text)
        return
    folder, job = result.out.split()[:2]
    yield Finding(PERMISSIONS, "Jobs", Level.OK, f"Job {job} was accepted")
    try:
        report, ran = _wait_for_report(transport, site, folder, job)
    finally:
        files.run_program(transport, REMOVE_TRIAL, site.directory, folder, job, NAME)
    program = site.containers or find_container_program(transport)
    if "ended" in report:
        yield from _node_findings(site, report, program)
        return
    unfinished = list(_unfinished_trial(site, report, job, ran))
    yield from unfinished
    if all(it.level is not Level.MISSING for it in unfinished):
        names = {it.name for it in unfinished}
        yield from (it for it in known if it.area == NODES and it.name not in names)


def _wait_for_report(
    transport: Transport, site: SlurmSite, folder: str, job: str
) -> tuple[Report, float]:
    """Return the report of the job, and for how many seconds it was seen to run."""
    deadline = time.monotonic() + PATIENCE
    began: float | None = None
    while True:
        result = files.run_program(transport, READ_TRIAL, site.directory, folder, job)
        now = time.monotonic()
        report = group_lines(files.output_of(result, "squeue"))
        if "runs" in report and began is None:
            began = now
            deadline = now + RUN_PATIENCE
        state = report.get("state", [""])[0].split(" ")[0]
        if "torch" in report or state not in UNFINISHED or now > deadline:
            return report, 0.0 if began is None else now - began
        time.sleep(GLANCE_SECONDS)


def _node_findings(site: SlurmSite, report: Report, container_program: str) -> Iterator[Finding]:
    node = report["runs"][0]
    yield _directory_finding(node)
    yield from _prologue_findings(report, node)
    for program in report.get("lacks", ()):
        if program == "sstat":
            if site.own_names:
                text = f"sstat is not found on {node}, so nobody knows what people's jobs use."
                yield Finding(METERING, program, Level.WARNING, text)
            continue
        text = f"{program} is not found on {node}. The scripts of jobs need it there."
        yield Finding(NODES, program, Level.MISSING, text)
    yield _fetcher_finding("Git", "git version", "repository", report.get("git", [""])[0], node)
    yield _fetcher_finding(
        "AWS command line", "aws-cli/", "bucket", report.get("aws", [""])[0], node
    )
    yield container_finding(container_program, report.get("container", []), node)
    yield _mounts_finding(report.get("mounts", []), node)
    python = report.get("python", [""])[0]
    if not python:
        text = f"No Python on {node}. Name one in the prologue, such as: module load python"
        yield Finding(NODES, "Python", Level.WARNING, text)
        return
    yield Finding(NODES, "Python", Level.OK, f"{report['version'][0]} at {python}")
    if torch := report.get("torch", [UNKNOWN])[0]:
        yield Finding(NODES, "PyTorch", Level.OK, torch)
    else:
        text = f"{python} on {node} has no PyTorch. The prologue can activate an environment."
        yield Finding(NODES, "PyTorch", Level.WARNING, text)


def _directory_finding(node: str) -> Finding:
    return Finding(NODES, "Shared directory", Level.OK, f"{node} reads and writes it")


def _prologue_findings(report: Report, node: str) -> Iterator[Finding]:
    """Yield a finding if the prologue fails. Ranks run even then, so only the trial job reports it.
    Its exit code alone proves nothing, because a working prologue may end with a test that is
    false."""
    code = report.get("ended", ["0"])[0]
    if code != "0" and ("complains" in report or not report.get("python", [""])[0]):
        ending = f": {words}" if (words := _prologue_output(report)) else " and said nothing."
        text = f"The prologue ended with exit code {code} on {node}{ending}"
        yield Finding(NODES, PROLOGUE, Level.WARNING, text)


def _prologue_output(report: Report) -> str:
    """Return the end of the prologue's output, from the beginning of a word."""
    output = " ".join(report.get("told", ()))
    return (
        output if len(output) <= OUTPUT_LENGTH else f"… {output[-OUTPUT_LENGTH:].partition(' ')[2]}"
    )


def _fetcher_finding(name: str, prefix: str, source: str, version: str, node: str) -> Finding:
    """Return the finding about a program that fetches data sources. Its version starts with
    ``prefix``."""
    if version.startswith(prefix):
        return Finding(NODES, name, Level.OK, version.removeprefix(prefix).strip())
    text = f"No {name} on {node}, so no {source} can be fetched. The prologue can load a module."
    return Finding(NODES, name, Level.WARNING, text)


def _mounts_finding(obstacles: Sequence[str], node: str) -> Finding:
    """Return the finding about mounts of ranks, which volumes and host names of roles need."""
    if not obstacles:
        text = f"{node} lets users mount what their ranks need"
        return Finding(NODES, VOLUMES, Level.OK, text)
    text = (
        f"{node} does not let users mount what their ranks need ({'; '.join(obstacles)}), so "
        "workloads with volumes or named roles fail there, and with them workflows."
    )
    return Finding(NODES, VOLUMES, Level.WARNING, text)


def container_finding(program: str, available: list[str], node: str) -> Finding:
    """Return the finding about containers. ``program`` should start images; ``available`` has the
    programs of the node, some with their versions."""
    if program == NO_CONTAINERS:
        text = "Turned off: the images of workloads are not used"
        return Finding(NODES, CONTAINERS, Level.OK, text)
    found = next((it for it in available if it.startswith(program)), "") if program else ""
    if found:
        text = f"{found} on {node} starts the images of workloads"
        return Finding(NODES, CONTAINERS, Level.OK, text)
    if program:
        text = (
            f"{program} is not found on {node}, and the images of workloads are started by it. "
            "The prologue can load it as a module, or choose something else under Containers."
        )
        return Finding(NODES, CONTAINERS, Level.ISSUE, text)
    if available:
        text = (
            f"{available[0]} is on {node}, but not on the login node, so the images of workloads "
            "are not used. Choose it under Containers."
        )
        return Finding(NODES, CONTAINERS, Level.WARNING, text)
    text = f"Neither pyxis nor apptainer on {node}: the images of workloads are not used"
    return Finding(NODES, CONTAINERS, Level.OK, text)


def _unfinished_trial(site: SlurmSite, report: Report, job: str, ran: float) -> Iterator[Finding]:
    """Yield findings about a job that did not get as far as looking around."""
    state, _, reason = report.get("state", [""])[0].partition(" ")
    if "runs" in report and state in UNFINISHED:
        node = report["runs"][0]
        yield _directory_finding(node)
        text = (
            f"The test job {job} ran for {ran:.0f} s on {node} and was still in the prologue, so "
            "the programs of the node were not tested."
        )
        yield Finding(NODES, TEST_JOB, Level.WARNING, text)
        return
    if state in UNFINISHED:
        text = f"The test job {job} waited too long ({reason}), so no node was tested."
        yield Finding(NODES, TEST_JOB, Level.WARNING, text)
        return
    message = " ".join(filter(None, (*report.get("said", ()), _prologue_output(report)))) or state
    text = (
        f"The test job {job} ended as {state} and wrote nothing to {site.directory}: {message}. "
        "The directory must be the same on login node and nodes, this user must have a home there, "
        "and the prologue must not end the shell."
    )
    yield Finding(NODES, "Shared directory", Level.MISSING, text)
