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
    """Nothing was opened. The message says why, for the person who asked."""


@dataclass(frozen=True)
class OpenTerminal:
    """One open terminal."""

    workload: Workload
    rank: Rank
    user: User
    session: Session
    slot: str

    @property
    def name(self) -> str:
        return f"terminals:{self.user.pk}"


def why_no_terminal(workload: Workload, user: User) -> str:
    """Why ``user`` can open no terminal now; empty where they can."""
    if not workload.cluster.capabilities.terminal:
        return f"The cluster {workload.cluster.name} does not support terminals."
    if not any(rank.phase == RankPhase.RUNNING for rank in workload.ranks.all()):
        return f"A terminal needs a running rank, and {workload.name} is {workload.phase}."
    not_own = why_not_entered(workload.cluster, workload.created_by_id, user)
    return not_own or why_kept_out(workload, user)


def find_rank(user: User | None, workload_id: UUID, number: int) -> tuple[User, Rank] | None:
    """The user and the rank, for users who may stop the workload; ``None`` for everyone else, and
    if there is no such rank."""
    if user is None:
        return None
    rows = Rank.objects.filter(workload__in=Workload.objects.open_to(user, "workloads.update"))
    rank = rows.filter(workload=workload_id, rank=number)
    row = rank.select_related("workload__project", "workload__cluster").first()
    return (user, row) if row else None


def start_terminal(user: User, rank: Rank, argv: Sequence[str] = SHELL) -> OpenTerminal:
    """Start a shell or another program in the rank. Raises :class:`NotOpened`, also if the user has
    too many terminals open."""
    workload = rank.workload
    owner = workload.created_by_id
    if problem := why_no_terminal(workload, user) or why_not_running(rank):
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
    """Why an open terminal must end now; empty if it may stay. ``user`` is who its session or token
    belongs to now. Also keeps its place in the number of terminals that one user may have."""
    allowed = find_rank(user, visit.workload.pk, visit.rank.rank)
    if allowed is None or allowed[0] != visit.user:
        return "You are no longer signed in, or no longer have access to this workload."
    if problem := why_no_entry(allowed[1], allowed[0]):
        return problem
    slots.take_slot(
        visit.name, visit.slot, most=settings.TERMINALS_PER_USER + 1, seconds=SLOT_SECONDS
    )
    return ""


def end_terminal(visit: OpenTerminal, why: str) -> None:
    """End the shell. The reason is recorded; what was typed and shown never is."""
    visit.session.close()
    slots.release_slot(visit.name, visit.slot)
    text = f"Terminal closed in {visit.rank.name}: {why}" if why else ""
    message = text or f"Terminal closed in {visit.rank.name}."
    events.record_action(visit.workload, message, actor=visit.user, verb="terminal")


def why_no_entry(rank: Rank, user: User) -> str:
    """Why ``user`` cannot be inside this rank; empty where they can."""
    return why_not_running(rank) or why_kept_out(rank.workload, user)


def why_not_running(rank: Rank) -> str:
    """Says that the rank is not running; empty if it is."""
    return "" if rank.phase == RankPhase.RUNNING else f"{rank.name} is {rank.phase}."
