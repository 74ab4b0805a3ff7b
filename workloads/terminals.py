"""Terminals into running ranks: who may open one, how many at once, what is written down."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from django.conf import settings
from redis.exceptions import RedisError

from accounts.models import User
from accounts.sessions import user_of
from clusters.engines import engine_for
from core import slots
from engines.base import EngineError
from engines.session import Session
from spec.phases import RankPhase
from workloads import history
from workloads.models import Rank, Workload

CHECK_SECONDS = 10.0  # how soon a terminal follows what its user may do
SLOT_SECONDS = 60.0
SHELL = ("/bin/sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash; exec sh")


class NotOpened(Exception):
    """The text says why, for the person who wanted it."""


@dataclass(frozen=True)
class Visit:
    """One open terminal."""

    workload: Workload
    rank: Rank
    user: User
    session: Session
    slot: str

    @property
    def name(self) -> str:
        return f"terminals:{self.user.pk}"


def why_none(workload: Workload) -> str:
    """Why no terminal can be opened now; empty where one can."""
    if not workload.cluster.capabilities.terminal:
        return f"The cluster {workload.cluster.name} does not offer terminals."
    if not any(rank.phase == RankPhase.RUNNING for rank in workload.ranks.all()):
        return f"A terminal opens in a running rank, and {workload.name} is {workload.phase}."
    return ""


def find(session_key: str, workload_id: UUID, number: int) -> tuple[User, Rank] | None:
    """A rank for whoever may stop the workload; ``None`` for everybody else."""
    user = user_of(session_key)
    if user is None:
        return None
    rows = Rank.objects.filter(workload__in=Workload.objects.visible_to(user))
    rank = rows.filter(workload=workload_id, rank=number)
    found = rank.select_related("workload__project", "workload__cluster").first()
    return (user, found) if found else None


def enter(user: User, rank: Rank) -> Visit:
    """Open a shell. :class:`NotOpened` says why there is none."""
    workload = rank.workload
    if problem := why_none(workload) or _not_running(rank):
        raise NotOpened(problem)
    name, slot, most = f"terminals:{user.pk}", uuid4().hex, settings.TERMINALS_PER_USER
    try:
        if not slots.take(name, slot, most=most, seconds=SLOT_SECONDS):
            raise NotOpened(f"You have {most} terminals open, the most at once. Close one first.")
        session = engine_for(workload.cluster).exec(workload.handle, rank=rank.rank, argv=SHELL)
    except EngineError as error:
        slots.give_back(name, slot)
        raise NotOpened(str(error)) from error
    except RedisError as error:
        raise NotOpened("Trainyard's broker does not answer; try again soon.") from error
    history.act(workload, f"Terminal opened in {rank.name}.", actor=user, verb="terminal")
    return Visit(workload, rank, user, session, slot)


def why_over(visit: Visit, session_key: str) -> str:
    """Why an open terminal must end; empty while it may stay."""
    found = find(session_key, visit.workload.pk, visit.rank.rank)
    if found is None or found[0] != visit.user:
        return "You are no longer signed in, or may no longer use this workload."
    if problem := _not_running(found[1]):
        return problem
    slots.take(visit.name, visit.slot, most=settings.TERMINALS_PER_USER + 1, seconds=SLOT_SECONDS)
    return ""


def leave(visit: Visit, why: str) -> None:
    """End the shell. Why is written down; what was typed and shown never is."""
    visit.session.close()
    slots.give_back(visit.name, visit.slot)
    text = f"Terminal closed in {visit.rank.name}: {why}" if why else ""
    message = text or f"Terminal closed in {visit.rank.name}."
    history.act(visit.workload, message, actor=visit.user, verb="terminal")


def _not_running(rank: Rank) -> str:
    return "" if rank.phase == RankPhase.RUNNING else f"{rank.name} is {rank.phase}."
