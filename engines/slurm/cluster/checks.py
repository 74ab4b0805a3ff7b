"""What Trainyard needs of a Slurm cluster, and whether it is there."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from engines.findings import CONNECTION, PERMISSIONS, SIGNED_IN, Finding, Level
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from engines.slurm.script.site import SlurmSite

NODES, SHARED, METERING = "Nodes", "Shared directory", "Accounting"
OLDEST = (21, 8)
TRIAL_SECONDS = 25.0  # for the trial job to run and end
KEPT_SECONDS = 6 * 3600.0  # a trial that went well is not repeated for so long
GLANCE_SECONDS = 1.0

LOOK = r"""
echo "user $(id -un)"
for p in sbatch squeue scancel scontrol srun sacct; do
  command -v $p > /dev/null || echo "lacks $p"
done
for p in tar find stat bash; do command -v $p > /dev/null || echo "lacks $p"; done
echo "version $(sbatch --version 2>&1 | head -n 1)"
scontrol ping 2>&1 | sed 's/^/ping /'
scontrol show config 2>/dev/null | sed -n 's/^AccountingStorageType /config &/p'
if mkdir -p "$1" 2>/dev/null && (umask 077; : > "$1/.trainyard") 2>/dev/null; then
  echo "directory yes"
else
  echo "directory $(mkdir -p "$1" 2>&1; : > "$1/.trainyard" 2>&1)"
fi
exit 0
"""

# $1 directory, $2 partition, $3 account; the prologue comes on the standard input.
TRIAL = r"""
cd "$1" || exit 4
rm -rf trial && mkdir trial && cat > trial/prologue.sh && cd trial || exit 4
cat > job.sh <<'END'
#!/bin/bash
. ./prologue.sh > prologue.log 2>&1
{
  echo "node $SLURMD_NODENAME"
  echo "python $(command -v python || command -v python3)"
  echo "version $(python --version 2>&1 || python3 --version 2>&1)"
  (python -c 'import torch; print("torch", torch.__version__)' ||
    python3 -c 'import torch; print("torch", torch.__version__)') 2> /dev/null
  command -v srun > /dev/null || echo "lacks srun"
  command -v scancel > /dev/null || echo "lacks scancel"
} > .seen 2>&1
mv .seen seen
END
env -i PATH="$PATH" HOME="$HOME" USER="$USER" ${SLURM_CONF:+SLURM_CONF="$SLURM_CONF"} \
  sbatch --parsable --export=ALL --job-name=trainyard-test --ntasks=1 --time=2 --no-requeue \
  --chdir="$1/trial" --output="$1/trial/job.log" ${2:+--partition="$2"} ${3:+--account="$3"} job.sh
"""
TRIED = r"""
cd "$1/trial" 2>/dev/null || exit 0
echo "state $(squeue --noheader --jobs="$2" --states=all --format='%T %r' 2>/dev/null)"
[ -e seen ] && cat seen
[ -s job.log ] && head -c 500 job.log | sed 's/^/said /'
exit 0
"""


@dataclass
class Checks:
    """A trial job runs once in a while, all else at every look."""

    transport: Transport
    site: SlurmSite
    _tried: tuple[float, tuple[Finding, ...]] = (0.0, ())
    _known: dict[str, str] = field(default_factory=dict)

    def findings(self) -> tuple[Finding, ...]:
        answer = files.sh(self.transport, LOOK, self.site.directory)
        report = lines(files.checked(answer, "The login node does not run commands"))
        results = [*connection(self.transport.host, report), *directory(self.site, report)]
        results += accounting(report)
        if not any(it.level is Level.MISSING for it in results):
            results += self._trial()
        return tuple(results)

    def _trial(self) -> tuple[Finding, ...]:
        at, kept = self._tried
        if kept and time.monotonic() - at < KEPT_SECONDS:
            return kept
        results = tuple(trial(self.transport, self.site))
        if all(it.level is Level.OK for it in results):
            self._tried = time.monotonic(), results
        return results


def lines(text: str) -> dict[str, list[str]]:
    """By the first word of each."""
    results: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        results.setdefault(key, []).append(rest.strip())
    return results


def connection(host: str, report: dict[str, list[str]]) -> Iterator[Finding]:
    yield Finding(CONNECTION, SIGNED_IN, Level.OK, f"{report.get('user', ['?'])[0]} on {host}")
    for program in report.get("lacks", ()):
        text = f"{program} is not found there. Install it, or enter the folder of Slurm's programs."
        level = Level.WARNING if program == "sacct" else Level.MISSING
        yield Finding(CONNECTION, program, level, text)
    version = report.get("version", [""])[0]
    numbers = version.removeprefix("slurm ").split(".")
    if not version.startswith("slurm ") or not numbers[0].isdigit():
        text = f"sbatch --version says {version!r}. Check the folder of Slurm's programs."
        yield Finding(CONNECTION, "Slurm", Level.MISSING, text)
        return
    release = int(numbers[0]), int(numbers[1])
    old = release < OLDEST
    text = f"{version} is older than 21.08, which Trainyard needs." if old else version
    yield Finding(CONNECTION, "Slurm", Level.MISSING if old else Level.OK, text)
    ping = [line for line in report.get("ping", ()) if line]
    up = any("UP" in line for line in ping)
    text = (
        (ping[0] if ping else "No answer")
        if up
        else (f"It does not answer: {' '.join(ping)}. Check that it runs and has the same release.")
    )
    yield Finding(CONNECTION, "slurmctld", Level.OK if up else Level.ISSUE, text)


def directory(site: SlurmSite, report: dict[str, list[str]]) -> Iterator[Finding]:
    said = report.get("directory", [""])[0]
    if said == "yes":
        yield Finding(SHARED, site.directory, Level.OK, "The login node can write there")
    else:
        text = f"The login node cannot write there: {said}. Create it for this user."
        yield Finding(SHARED, site.directory, Level.MISSING, text)


def accounting(report: dict[str, list[str]]) -> Iterator[Finding]:
    config = dict(
        [part.strip() for part in line.split("=", 1)]
        for line in report.get("config", ())
        if "=" in line
    )
    kind = config.get("AccountingStorageType", "")
    if "slurmdbd" in kind:
        yield Finding(METERING, "slurmdbd", Level.OK, "Slurm keeps ended jobs")
    elif config:
        text = (
            "Slurm keeps no ended jobs here. Trainyard knows ends by the files of each job; one "
            "whose node dies without a word is Unknown until it is stopped."
        )
        yield Finding(METERING, "slurmdbd", Level.WARNING, text)


def trial(transport: Transport, site: SlurmSite) -> Iterator[Finding]:
    """A job of one task, which says what a node sees."""
    prologue = site.prologue.replace("\r\n", "\n") + "\n"
    words = site.directory, site.partition, site.account
    answer = files.sh(transport, TRIAL, *words, stdin=prologue.encode())
    if answer.code:
        said = answer.said.replace("sbatch: error: ", "")
        text = f"Slurm refuses a job of one task: {said}. Check account and partition."
        yield Finding(PERMISSIONS, "Jobs", Level.MISSING, text)
        return
    job = answer.out.strip().split(";")[0]
    yield Finding(PERMISSIONS, "Jobs", Level.OK, f"Job {job} was accepted")
    yield from _seen(site, _wait(transport, site, job), job)


def _wait(transport: Transport, site: SlurmSite, job: str) -> dict[str, list[str]]:
    deadline = time.monotonic() + TRIAL_SECONDS
    while True:
        report = lines(files.checked(files.sh(transport, TRIED, site.directory, job), "squeue"))
        state = report.get("state", [""])[0].split(" ")[0]
        over = state not in {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING"}
        if "node" in report or over or time.monotonic() > deadline:
            if state == "PENDING":
                transport.run(["scancel", "--name=trainyard-test", job])
            return report
        time.sleep(GLANCE_SECONDS)


def _seen(site: SlurmSite, report: dict[str, list[str]], job: str) -> Iterator[Finding]:
    state, _, reason = report.get("state", [""])[0].partition(" ")
    if "node" not in report:
        said = " ".join(report.get("said", ())) or state
        if state in {"PENDING", "CONFIGURING"}:
            text = f"The test job {job} waited too long ({reason}), so nodes were not tested."
            yield Finding(NODES, "Test job", Level.WARNING, text)
            return
        text = (
            f"The test job {job} ended as {state} and wrote nothing to {site.directory}: {said}. "
            "The directory must be the same on login node and nodes, and this user must have a "
            "home and a shell there."
        )
        yield Finding(NODES, "Shared directory", Level.MISSING, text)
        return
    node = report["node"][0]
    yield Finding(NODES, "Shared directory", Level.OK, f"{node} reads and writes it")
    for program in report.get("lacks", ()):
        text = f"{program} is not found on {node}. The scripts of jobs need it there."
        yield Finding(NODES, program, Level.MISSING, text)
    python = report.get("python", [""])[0]
    if not python:
        text = f"No Python on {node}. Name one in the prologue, such as: module load python"
        yield Finding(NODES, "Python", Level.WARNING, text)
        return
    yield Finding(NODES, "Python", Level.OK, f"{report['version'][0]} at {python}")
    if torch := report.get("torch"):
        yield Finding(NODES, "PyTorch", Level.OK, torch[0])
    else:
        text = f"{python} on {node} has no PyTorch. The prologue can activate an environment."
        yield Finding(NODES, "PyTorch", Level.WARNING, text)
