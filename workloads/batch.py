"""Many submissions at once: all of them or none."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, partial

from django.db import IntegrityError, transaction

from accounts.models import User
from projects.quotas import Demand
from spec.draft import WorkloadDraft
from spec.errors import Problem, SpecError
from workloads import creation
from workloads.models import Source, Workload
from workloads.plan import Plan, Ready, plan, visible_project
from workloads.quota import beyond_quota, hold_quota, starts_at_once


class BatchError(ValueError):
    """What is wrong with which of them, by its place; ``None`` is what is wrong with all."""

    def __init__(self, problems: Iterable[tuple[int | None, Problem]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{at}: {it.field}: {it.message}" for at, it in self.problems))


def submit(
    drafts: Sequence[WorkloadDraft], *, by: User, source: Source = Source.API
) -> list[Workload]:
    """Make a workload of each draft, in their order. ``BatchError`` carries all that is wrong, and
    then nothing was made."""

    try:
        plans = _plans(drafts, by, submits=True)
        _refuse(plans)
        with transaction.atomic():
            _hold_quota([made.ready() for made in plans])
            return creation.create(plans, by=by, source=source)
    except (IntegrityError, BatchError):
        # A name is taken perhaps; this says which, and what else is wrong by now.
        _refuse(_plans(drafts, by, submits=False))
        raise


def _plans(drafts: Sequence[WorkloadDraft], by: User, *, submits: bool) -> list[Plan]:
    find = cache(partial(visible_project, by=by))  # once for all of them
    return [plan(draft, by=by, submits=submits, find=find) for draft in drafts]


def _refuse(plans: Sequence[Plan]) -> None:
    """``BatchError`` unless each is ready and all of them go together."""
    names = Counter(made.draft.name for made in plans)
    found: list[tuple[int | None, Problem]] = []
    for at, made in enumerate(plans):
        try:
            made.ready()
        except SpecError as error:
            found += [(at, problem) for problem in error.problems]
        if names[name := made.draft.name] > 1 and name:
            found.append((at, Problem(("name",), f"{name!r} is not the only one of this batch")))
        if made.draft.project != plans[0].draft.project:
            found.append((at, Problem(("project",), "a batch goes into one project")))
    if found:
        raise BatchError(found)


def _hold_quota(ready: Sequence[Ready]) -> None:
    """Against what all of them ask for together where they start at once; else each waits its turn,
    and is refused only where it would wait for ever."""
    project = ready[0].project
    if starts_at_once(project.cluster):
        together = sum((each.demand for each in ready), Demand())
        if over := hold_quota(project, together):
            raise BatchError([(None, Problem((), over))])
        return
    beyond = cache(partial(beyond_quota, project))
    found = [
        (at, Problem(("worker", "compute"), over))
        for at, each in enumerate(ready)
        if (over := beyond(each.demand))
    ]
    if found:
        raise BatchError(found)
