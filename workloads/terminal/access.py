"""Terminals in running ranks: who may open one, how many at once, and what is recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.conf import settings
from redis.exceptions import RedisError

from accounts.models import User
from assets.credential.own_keys import why_not_entered
from assets.credential.own_values import why_kept_out
from audit import services as audit
from core.broker import slots
from engines.base import EngineError
from engines.session import Session
from spec.phases import RankPhase
from workloads.engines import engine_for_person
from workloads.history import events
from workloads.models import Rank, Workload
from workloads.terminal.shell import SHELL

CHECK_SECONDS = 10.0  # how often an open terminal checks its user's permissions
SLOT_SECONDS = 60.0


class NotOpened(Exception):
    """Nothing was opened. The message says why, for the person who tried."""


@dataclass(frozen=True)
class OpenTerminal:
    """One open terminal."""

    workload: Workload
    rank: Rank
    user: User
    session: Session
    slot: str

    @property
    def slots_name(self) -> str:
        return f"terminals:{self.user.pk}"


def why_no_terminal(workload: Workload, user: User) -> str:
    """Return why ``user`` can open no terminal now; empty if they can."""
    if not workload.cluster.capabilities.terminal:
        return f"The cluster {workload.cluster.name} does not support terminals."
    if not any(rank.phase == RankPhase.RUNNING for rank in workload.ranks.all()):
        return f"A terminal needs a running rank, and {workload.name} is {workload.phase}."
    not_own = why_not_entered(workload.cluster, workload.created_by_id, user)
    return not_own or why_kept_out(workload, user)


def find_rank(user: User | None, workload_id: UUID, number: int) -> tuple[User, Rank] | None:
    """Return the user and the rank if the user may stop the workload; ``None`` if not, or if there
    is no such rank."""
    if user is None:
        return None
    ranks = Rank.objects.filter(workload__in=Workload.objects.open_to(user, "workloads.update"))
    ranks = ranks.select_related("workload__project", "workload__cluster")
    rank = ranks.filter(workload=workload_id, rank=number).first()
    return (user, rank) if rank else None


def start_terminal(user: User, rank: Rank, argv: Sequence[str] = SHELL) -> OpenTerminal:
    """Start a shell or another program in the rank. Raises :class:`NotOpened`, also if the user has
    too many terminals open."""
    workload = rank.workload
    owner = workload.created_by_id
    problem = why_no_terminal(workload, user) or why_not_running(rank)
    if problem:
        raise NotOpened(problem)
    name = f"terminals:{user.pk}"
    slot = uuid4().hex
    most = settings.TERMINALS_PER_USER
    try:
        if not slots.take_slot(name, slot, most=most, seconds=SLOT_SECONDS):
            raise NotOpened(f"You have {most} terminals open, which is the limit. Close one first.")
        engine = engine_for_person(workload.cluster, owner)
        session = engine.exec(workload.handle, rank=rank.rank, argv=argv)
    except EngineError as error:
        slots.release_slot(name, slot)
        raise NotOpened(str(error)) from error
    except RedisError as error:
        raise NotOpened("Trainyard's broker does not answer. Try again soon.") from error
    events.record_action(workload, f"Terminal opened in {rank.name}.", actor=user, verb="terminal")
    audit.record(user, "open terminal", rank)
    return OpenTerminal(workload, rank, user, session, slot)


def reason_to_end(visit: OpenTerminal, user: User | None) -> str:
    """Return why an open terminal must end now; empty if it may stay. ``user`` is the one to whom
    its session or token belongs now. Also renews its slot among the terminals of the user."""
    allowed = find_rank(user, visit.workload.pk, visit.rank.rank)
    if allowed is None or allowed[0] != visit.user:
        return "You are no longer signed in, or no longer have access to this workload."
    problem = why_no_entry(allowed[1], allowed[0])
    if problem:
        return problem
    # The slot is a lease: without this renewal it would be free for another terminal. One more is
    # allowed, so that a renewal never fails.
    slots.take_slot(
        visit.slots_name, visit.slot, most=settings.TERMINALS_PER_USER + 1, seconds=SLOT_SECONDS
    )
    return ""


def end_terminal(visit: OpenTerminal, why: str) -> None:
    """End the shell and record the reason. Input and output are never recorded."""
    visit.session.close()
    slots.release_slot(visit.slots_name, visit.slot)
    message = f"Terminal closed in {visit.rank.name}."
    if why:
        message = f"Terminal closed in {visit.rank.name}: {why}"
    events.record_action(visit.workload, message, actor=visit.user, verb="terminal")


def why_no_entry(rank: Rank, user: User) -> str:
    """Return why ``user`` may not enter this rank; empty if they may."""
    return why_not_running(rank) or why_kept_out(rank.workload, user)


def why_not_running(rank: Rank) -> str:
    """Return that the rank is not running, as a sentence; empty if it is."""
    return "" if rank.phase == RankPhase.RUNNING else f"{rank.name} is {rank.phase}."
