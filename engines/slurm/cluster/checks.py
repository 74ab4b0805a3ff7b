"""Checks whether a Slurm cluster has what Trainyard needs."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from engines.findings import CONNECTION, METERING, SIGNED_IN, Finding, Level
from engines.partitions import Partition
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from engines.slurm.cluster import accounts
from engines.slurm.cluster.lines import Report, group_lines
from engines.slurm.cluster.partitions import describe_partition
from engines.slurm.cluster.trial import PROLOGUE, try_job
from engines.slurm.script.site import SlurmSite

SHARED = "Shared directory"
ENDED_JOBS = "Accounting"
LIMITS = "Limits of Slurm"
PARTITIONS = "Partitions"
VERSION = re.compile(r"(\d+)\.(\d+)\.\d+")
OLDEST = (21, 8)
#: Seconds until another trial job is run, by the worst finding of the last one.
KEPT_SECONDS = {Level.OK: 6 * 3600.0, Level.WARNING: 600.0, Level.ISSUE: 60.0, Level.MISSING: 60.0}

#: Settings of Slurm that the checks look at.
SETTINGS = (
    *("AccountingStorageType", "DefMemPerCPU", "DefMemPerNode", "EnforcePartLimits"),
    *("JobAcctGatherType", "PrivateData", "SelectTypeParameters"),
)
REPORT = r"""
echo "user $(id -un)"
for p in sbatch squeue scancel scontrol srun sacct; do
  command -v $p > /dev/null || echo "lacks $p"
done
for p in tar find stat bash; do command -v $p > /dev/null || echo "lacks $p"; done
echo "version $(sbatch --version 2>&1 | head -n 1)"
ping=$(scontrol ping 2>&1)
echo "$ping" | sed 's/^/ping /'
case $ping in
  *UP*) # else each question takes ten seconds
    scontrol show config 2>/dev/null |
      grep -E '^(NAMES) ' | sed 's/^/config /' ;;
esac
sacctmgr --noheader --parsable2 show assoc user="$(id -un)" format=account,qos 2>/dev/null |
  sed 's/^/own /'
sacctmgr --noheader --parsable2 show cluster format=cluster > /dev/null 2>&1 ||
  echo "silent slurmdbd"
sacctmgr --noheader --parsable2 show assoc where user= \
  format=account,LIMITS 2>/dev/null | sed 's/^/limit /'
if mkdir -p "$1" 2>/dev/null && (umask 077; : > "$1/.trainyard") 2>/dev/null; then
  echo "directory yes"
else
  echo "directory $( { mkdir -p "$1" && : > "$1/.trainyard"; } 2>&1 )"
fi
exit 0
""".replace("LIMITS", ",".join(accounts.LIMITS)).replace("NAMES", "|".join(SETTINGS))


@dataclass
class ClusterChecks:
    """The checks of one cluster. Each call runs all of them, except for the trial job, whose
    findings are kept for a while."""

    transport: Transport
    site: SlurmSite
    _until: float = 0.0
    _tried: tuple[Finding, ...] = ()

    def run(self, partitions: Callable[[], Iterable[Partition]]) -> tuple[Finding, ...]:
        """Return all findings. ``partitions`` is only called once Slurm has answered."""
        result = files.run_program(self.transport, REPORT, self.site.directory)
        report = group_lines(files.output_of(result, "The login node does not run commands"))
        findings = [
            *check_connection(self.transport.host, report),
            *check_directory(self.site, report),
        ]
        findings += [
            *check_accounting(report),
            *check_usage(report),
            *check_limits(self.site, report),
        ]
        findings += check_privacy(self.site, report)
        if any(it.level in {Level.MISSING, Level.ISSUE} for it in findings):
            return tuple(findings)
        return (*findings, *map(partition_finding, partitions()), *self._try_job())

    def _try_job(self) -> tuple[Finding, ...]:
        if time.monotonic() > self._until:
            self._tried = tuple(try_job(self.transport, self.site, self._tried))
            # A working prologue may always end with an error code, so that is no reason to try
            # again soon.
            levels = (it.level for it in self._tried if it.name != PROLOGUE)
            worst = max(levels, key=list(KEPT_SECONDS).index)
            self._until = time.monotonic() + KEPT_SECONDS[worst]
        return self._tried


def check_connection(host: str, report: Report) -> Iterator[Finding]:
    """Findings about the connection: our user, Slurm's programs and version, and whether it
    answers."""
    yield Finding(CONNECTION, SIGNED_IN, Level.OK, f"{report.get('user', ['?'])[0]} on {host}")
    for program in report.get("lacks", ()):
        text = f"{program} is not found there. Install it, or enter the folder of Slurm's programs."
        level = Level.WARNING if program == "sacct" else Level.MISSING
        yield Finding(CONNECTION, program, level, text)
    version = report.get("version", [""])[0]
    match = VERSION.search(version)
    if not match:
        text = f"sbatch --version says {version!r}. Check the folder of Slurm's programs."
        yield Finding(CONNECTION, "Slurm", Level.MISSING, text)
        return
    old = (int(match[1]), int(match[2])) < OLDEST
    text = f"{version} is older than 21.08, which Trainyard needs." if old else version
    yield Finding(CONNECTION, "Slurm", Level.MISSING if old else Level.OK, text)
    ping = [line for line in report.get("ping", ()) if line]
    up = any("UP" in line for line in ping)
    if up:
        yield Finding(CONNECTION, "slurmctld", Level.OK, ping[0])
    else:
        answer = " ".join(ping)
        text = f"It does not answer: {answer}. Check that it runs and has the same release."
        yield Finding(CONNECTION, "slurmctld", Level.ISSUE, text)


def check_directory(site: SlurmSite, report: Report) -> Iterator[Finding]:
    """Yield whether Trainyard can write to the shared directory."""
    answer = report.get("directory", [""])[0]
    if answer == "yes":
        yield Finding(SHARED, site.directory, Level.OK, "Trainyard can write there")
    else:
        text = f"Trainyard cannot write there: {answer}. Create it for this user."
        yield Finding(SHARED, site.directory, Level.MISSING, text)


def check_accounting(report: Report) -> Iterator[Finding]:
    """Yield whether Slurm keeps ended jobs."""
    config = config_of(report)
    has_accounting = "slurmdbd" in config.get("AccountingStorageType", "")
    if has_accounting and "silent" in report:
        text = (
            "slurmdbd does not answer. Jobs run, and Trainyard knows their ends by their files; "
            "what only Slurm knows of ended jobs is missing until it is back."
        )
        yield Finding(ENDED_JOBS, "slurmdbd", Level.WARNING, text)
    elif has_accounting:
        yield Finding(ENDED_JOBS, "slurmdbd", Level.OK, "Slurm keeps ended jobs")
    elif config:
        text = (
            "Slurm keeps no ended jobs here. Trainyard knows ends by the files of each job; one "
            "whose node dies without a word is Unknown until it is stopped."
        )
        yield Finding(ENDED_JOBS, "slurmdbd", Level.WARNING, text)


def check_usage(report: Report) -> Iterator[Finding]:
    """Yield whether Slurm measures the usage of jobs."""
    kind = config_of(report).get("JobAcctGatherType", "")
    if kind.endswith("/none") or kind == "(null)":
        text = "JobAcctGatherType is none, so nobody measures what ranks use."
        yield Finding(METERING, "sstat", Level.WARNING, text)
    elif kind:
        yield Finding(METERING, "sstat", Level.OK, kind)


def check_limits(site: SlurmSite, report: Report) -> Iterator[Finding]:
    """Yield the limits of the accounts in use, which Slurm enforces in addition to Trainyard's
    quotas."""
    bounds = accounts.read_limits(report.get("limit", ()))
    yield from (
        _check_personal_limits(site, bounds)
        if site.own_names
        else _check_own_limits(site, report, bounds)
    )
    config = config_of(report)
    if (value := config.get("EnforcePartLimits", "")) not in {"", "NO"}:
        partitions = "one" if value == "ALL" else "all"
        text = f"{value}: Slurm refuses jobs beyond the limits of {partitions} of their partitions"
        yield Finding(LIMITS, "EnforcePartLimits", Level.OK, text)
    if "MEMORY" in config.get("SelectTypeParameters", "") and not _has_default_memory(config):
        text = (
            "It is not set: unless its partition has such a default, a job that asks for no memory "
            "is given all that its nodes have. Set it, or ask for memory in each workload."
        )
        yield Finding(LIMITS, "DefMemPerCPU", Level.WARNING, text)


def _has_default_memory(config: dict[str, str]) -> bool:
    values = (config.get(name, "UNLIMITED") for name in ("DefMemPerCPU", "DefMemPerNode"))
    return any(value not in {"UNLIMITED", "0"} for value in values)


def partition_finding(partition: Partition) -> Finding:
    """Return what jobs may request in a partition. Workloads that request more are refused."""
    level = Level.WARNING if partition.closed else Level.OK
    return Finding(PARTITIONS, partition.name, level, describe_partition(partition))


def _check_personal_limits(site: SlurmSite, bounds: dict[str, str]) -> Iterator[Finding]:
    """Yield limits where people submit jobs under their own names: the associations of each person
    count, and not those of Trainyard's user."""
    for name in dict.fromkeys(filter(None, (site.account, *site.accounts.values()))):
        if bounds and name not in bounds:
            text = "Slurm has no such account, or tells Trainyard's user nothing of it."
            yield Finding(LIMITS, f"Account {name}", Level.ISSUE, text)
        else:
            limits = bounds.get(name, "") or "No limits"
            text = f"{limits}. Each person needs an association with it."
            yield Finding(LIMITS, f"Account {name}", Level.OK, text)


def _check_own_limits(site: SlurmSite, report: Report, bounds: dict[str, str]) -> Iterator[Finding]:
    associations = report.get("own", ())
    names = accounts.own_accounts(associations)
    qos = accounts.read_qos(associations)
    without = f"Trainyard's user has no association with it, only with {', '.join(names)}."
    if site.account and names and site.account not in names:
        yield Finding(LIMITS, f"Account {site.account}", Level.MISSING, without)
    for project, name in site.accounts.items():
        if names and name not in names:
            text = f"The project {project} cannot run here. {without}"
            yield Finding(LIMITS, f"Account {name}", Level.ISSUE, text)
    for name in names:
        projects = [project for project, its in site.accounts.items() if its == name]
        texts = [bounds.get(name, "") or "No limits", *(f"for {it}" for it in projects)]
        yield Finding(LIMITS, f"Account {name}", Level.OK, "; ".join(texts))
    if qos:
        text = f"{', '.join(qos)}. A workload's priority is the QOS of that name."
        yield Finding(LIMITS, "QOS", Level.OK, text)


def check_privacy(site: SlurmSite, report: Report) -> Iterator[Finding]:
    """Yield whether Trainyard's user sees the jobs of people, if jobs run under their names."""
    hidden = config_of(report).get("PrivateData", "")
    if "jobs" not in hidden.split(","):
        return
    if not site.own_names:
        text = f"{hidden}: Trainyard does not see other people's jobs, and needs only its own"
        yield Finding(CONNECTION, "PrivateData", Level.OK, text)
    else:
        text = (
            f"PrivateData={hidden} hides people's jobs from Trainyard's user. Make it an operator: "
            "sacctmgr modify user … set adminlevel=operator. If it is one, all is well."
        )
        yield Finding(CONNECTION, "PrivateData", Level.WARNING, text)


def config_of(report: Report) -> dict[str, str]:
    """Return Slurm's settings, from a report."""
    rows = (line.partition("=") for line in report.get("config", ()))
    return {name.strip(): value.strip() for name, sign, value in rows if sign}
