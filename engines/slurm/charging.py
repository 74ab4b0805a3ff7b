"""Finds accounts and QOS that a job may not use, or whose limits it exceeds. Pure."""

from collections.abc import Iterator

from engines.base import Launch
from engines.partitions import JobLimits
from engines.slurm.request import JobRequest, job_request
from engines.slurm.script.shape import MIB
from engines.slurm.script.site import SlurmSite
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind
from spec.problems.errors import Problem
from spec.problems.time_limit import format_duration
from spec.values.quantities import format_bytes


def complaints(launch: Launch, site: SlurmSite) -> Iterator[Problem]:
    """Yield problems with the account and the QOS that a batch script names. What is not known of
    them is left to Slurm."""
    request = job_request(launch, site)
    if request.script is None:
        return
    account = request.script.value("account")
    if account and (message := _account_problem(account, launch, site)):
        yield request.problem("batchScript", message, "account")
    qos = request.script.value("qos")
    if qos and (message := _qos_problem(qos, request.account, launch, site)):
        yield request.problem("priorityClass", message, "qos")


def _account_problem(account: str, launch: Launch, site: SlurmSite) -> str:
    """Return why a script cannot charge an account; empty if it can.

    Trainyard's own user may charge several, so the account of the project decides. People have
    their own associations; only an account that does not exist is certain.
    """
    known = launch.site.accounts
    if not site.own_names:
        default = next((it.name for it in known if it.is_default), "")
        charged = site.account_of(launch.handle.project) or default
        if charged and account != charged:
            return (
                f"jobs of this project are charged to the account {charged}, not to {account}; "
                "leave --account out"
            )
        return ""
    shows_all = any(not it.is_own for it in known)
    if shows_all and account not in {it.name for it in known}:
        return f"Slurm has no account {account}"
    return ""


def _qos_problem(qos: str, account: str, launch: Launch, site: SlurmSite) -> str:
    """Return why a script cannot use a QOS; empty if it can."""
    names = {it.name for it in launch.site.qos}
    if names and qos not in names:
        return f"Slurm has no QOS {qos}, only {', '.join(sorted(names))}"
    if site.own_names:
        return ""
    usable = next((it.qos for it in launch.site.accounts if it.name == account), ())
    if usable and qos not in usable:
        return f"the account {account} may use the QOS {', '.join(usable)}, not {qos}"
    return ""


def excess(launch: Launch, site: SlurmSite) -> str:
    """Return what the job asks for beyond the limits of its account or QOS, in a sentence; empty if
    it stays within them, or they are not known. Slurm accepts such a job, and never starts it."""
    request = job_request(launch, site)
    limits = {
        f"the account {it.name}": it.most
        for it in launch.site.accounts
        if it.name == request.account
    }
    limits |= {f"the QOS {it.name}": it.most for it in launch.site.qos if it.name == request.qos}
    for owner, most in limits.items():
        for allowed, asked in _exceeded(most, request):
            return f"{owner} allows {allowed}, and it asks for {asked}"
    return ""


def cause_of_excess(excess: str) -> Cause | None:
    """Return the cause why a job with an excess never starts; ``None`` without one."""
    if not excess:
        return None
    title = f"{excess[0].upper()}{excess[1:]}"
    todo = "It will never start unless the limit is raised. Ask for less."
    return Cause(CauseKind.QUOTA, title, todo, precise_reason=Reason.NEVER_FITS)


def _exceeded(most: JobLimits, request: JobRequest) -> Iterator[tuple[str, str]]:
    """Yield each limit that the job exceeds, and what it asks for, in words."""
    for name, amount in request.totals.items():
        limit = getattr(most, name)
        if limit is not None and amount > limit:
            together = "" if name == "seconds" else " at once"
            yield f"{_in_words(name, limit)}{together}", _in_words(name, amount)


def _in_words(name: str, amount: int) -> str:
    if name == "memory":
        return f"{format_bytes(amount * MIB)} of memory"
    if name == "seconds":
        return format_duration(amount)
    what = {"gpus": "GPU", "cpus": "CPU", "nodes": "node"}[name]
    return f"{amount} {what}{'s' * (amount != 1)}"
