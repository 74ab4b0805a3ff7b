"""Run workflows: start the groups whose turn it is, and follow those that run.

All of it looks at rows, never at messages, and every step is safe to run twice: a lost message, or
a process that is killed between two steps, only delays a workflow until the next sweep.
"""

import logging
from datetime import datetime
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from spec.phases import AT_WORK, TERMINAL, WAITING, Phase, RankPhase, Reason
from spec.problems.errors import SpecError
from spec.problems.time_limit import format_duration
from workflows import keeping
from workflows.graph import ExitAction, WorkflowTask
from workflows.models import GroupRun, Workflow
from workflows.starting import draft_of, find_port
from workflows.statuses import (
    FAILURES,
    OF_PHASES,
    OF_REASONS,
    Status,
    workflow_status,
)
from workloads import services as workloads
from workloads.models import Rank, Workload
from workloads.models.choices import Source
from workloads.scheduling.limits.stopping import request_stop

log = logging.getLogger(__name__)

MOST_RETRIES = 5  # how often the exit actions of a group may start it again
GONE = "The person who submitted the workflow no longer exists. Submit it again."
REMOVED = "Its workload was removed before it had ended."
STOPPED = "Its workload was stopped."
OUT_OF_RETRIES = f"It was started again {MOST_RETRIES} times, which is the most."


def advance_all() -> None:
    """Bring every unfinished workflow as far as it can get now."""
    for pk in Workflow.objects.unfinished().values_list("pk", flat=True):
        try:
            advance(pk)
        except Exception:
            # One workflow must not keep the others from running; the next sweep tries again.
            log.exception("Workflow %s could not be advanced", pk)


def advance(pk: UUID) -> None:
    """Bring one workflow as far as it can get now."""
    workflow = Workflow.objects.select_related("project__cluster", "created_by").get(pk=pk)
    if workflow.is_finished:
        return
    groups = list(workflow.groups.select_related("workload"))
    by_name = {group.name: group for group in groups}
    for group in groups:
        if group.is_finished:
            continue
        if group.status == Status.WAITING:
            upstream = [by_name[name] for name in group.definition.upstream]
            _start_if_due(group, upstream)
        else:
            _follow(group)
    settle(workflow, groups)


def settle(workflow: Workflow, groups: list[GroupRun]) -> None:
    """Give the workflow the status that those of its groups mean."""
    status = workflow_status(group.status for group in groups)
    if status == workflow.status:
        return
    began = [group.started_at for group in groups if group.started_at]
    columns: dict[str, object] = {"status": status, "started_at": min(began, default=None)}
    if status in FAILURES or status is Status.COMPLETED:
        columns["completed_at"] = timezone.now()
    # A guarded UPDATE: a workflow that ended meanwhile stays as it is.
    rows = Workflow.objects.filter(pk=workflow.pk, status=workflow.status)
    with transaction.atomic():
        if rows.update(**columns):
            workflow.announce()


def _start_if_due(group: GroupRun, upstream: list[GroupRun]) -> None:
    failed = [it.definition.label for it in upstream if it.status in FAILURES]
    if failed:
        text = f"It needs {', '.join(failed)}, which did not complete."
        group.move(Status.UPSTREAM, failure=text)
    elif all(it.status == Status.COMPLETED for it in upstream):
        _start(group, retry=0)


def _start(group: GroupRun, *, retry: int) -> None:
    """Submit the workload of a group. In one transaction with the move of the group, so that
    neither is there without the other."""
    try:
        with transaction.atomic():
            columns = {"retries": retry, "scheduled_at": timezone.now(), "failure": ""}
            if group.move(Status.SCHEDULING, **columns):
                # Stored before the workload starts: of two groups with one port, one is refused.
                group.port = find_port(group.workflow.project)
                GroupRun.objects.filter(pk=group.pk).update(port=group.port)
                group.workload = _submit(group)
                GroupRun.objects.filter(pk=group.pk).update(workload=group.workload)
    except (PermissionDenied, SpecError) as error:
        # The transaction is undone, so the group is as it was before.
        group.refresh_from_db(fields=["status", "retries", "scheduled_at"])
        group.move(Status.SUBMISSION, failure=str(error))


def _submit(group: GroupRun) -> Workload:
    workflow = group.workflow
    if workflow.created_by is None:
        raise PermissionDenied(GONE)
    draft = draft_of(
        group.definition,
        label=workflow.label,
        project=workflow.project,
        priority=workflow.priority,
        retry=group.retries,
        port=group.port,
    )
    return workloads.submit(
        draft,
        by=workflow.created_by,
        source=Source.WORKFLOW,
        draft_id=group.draft_id_of(group.retries),
    )


def _follow(group: GroupRun) -> None:
    workload = group.workload
    if workload is None:
        group.move(Status.CANCELED, failure=REMOVED)
        return
    phase = Phase(workload.phase)
    if phase in TERMINAL:
        _finish(group, workload)
    elif phase is Phase.STOPPED:
        group.move(Status.CANCELED, failure=workload.message or STOPPED)
    elif not _stop_at_timeout(group, workload):
        status = OF_PHASES.get(workload.phase)
        if status and status != group.status:
            group.move(status)


def _stop_at_timeout(group: GroupRun, workload: Workload) -> bool:
    """End a group that has waited or run for too long. ``False`` if it has not."""
    definition = group.definition
    limit = definition.queue_timeout_seconds
    waited = _seconds_since(group.scheduled_at)
    if limit is not None and workload.phase in WAITING and waited >= limit:
        text = f"It had no place to run for {format_duration(limit)}."
        return _end(group, workload, Status.QUEUE_TIMEOUT, text)
    limit = definition.exec_timeout_seconds
    if limit is not None and workload.phase in AT_WORK and workload.running_total >= limit:
        text = f"It ran for {format_duration(limit)}, which is its time limit."
        return _end(group, workload, Status.EXEC_TIMEOUT, text)
    return False


def _end(group: GroupRun, workload: Workload, status: Status, why: str) -> bool:
    with transaction.atomic():
        if group.move(status, failure=why):
            request_stop(workload, reason=Reason.DEADLINE_EXCEEDED, why=why)
    return True


def _seconds_since(moment: datetime | None) -> float:
    return (timezone.now() - moment).total_seconds() if moment else 0.0


def _finish(group: GroupRun, workload: Workload) -> None:
    """End a group with its workload, or start it again if an exit action says so."""
    rank = _decisive_rank(group, workload)
    code = _exit_code(rank)
    action = _exit_action(group, rank, code)
    if action is ExitAction.RESCHEDULE and group.retries < MOST_RETRIES:
        _start(group, retry=group.retries + 1)
        return
    started = {"started_at": group.started_at or workload.started_at}
    has_completed = workload.phase == Phase.COMPLETED
    if action is ExitAction.COMPLETE or (has_completed and action is None):
        if keeping.is_done(group):
            group.move(Status.COMPLETED, **started)
        else:
            keeping.ask(group)
        return
    reason = Reason(workload.reason)
    status = OF_REASONS.get(reason, Status.FAILED) if not has_completed else Status.FAILED
    text = workload.message or f"It ended with exit code {code}."
    if action is ExitAction.RESCHEDULE:
        text = f"{text} {OUT_OF_RETRIES}"
    group.move(status, failure=text, **started)


def _decisive_rank(group: GroupRun, workload: Workload) -> Rank | None:
    """Return the rank whose end is the end of the group: that of the leading task if it failed,
    else the first that failed, else the leading one."""
    ranks = list(workload.ranks.all())
    leading = _leading_task(group)
    leads = [rank for rank in ranks if leading.role in ("", rank.role)]
    failed = [rank for rank in ranks if rank.phase == RankPhase.FAILED]
    failed_leads = [rank for rank in leads if rank in failed]
    return next(iter([*failed_leads, *failed, *leads]), None)


def _leading_task(group: GroupRun) -> WorkflowTask:
    tasks = group.definition.tasks
    return next((task for task in tasks if task.leads), tasks[0])


def _exit_code(rank: Rank | None) -> int | None:
    """Return the exit code as a shell has it: 137 after signal 9."""
    if rank is None or rank.exit_code is None:
        return None
    return rank.exit_code if rank.exit_code >= 0 else 128 - rank.exit_code


def _exit_action(group: GroupRun, rank: Rank | None, code: int | None) -> ExitAction | None:
    """Return what the task of this rank wants to follow its exit code, if it says so."""
    if rank is None or code is None:
        return None
    tasks = group.definition.tasks
    task = next((it for it in tasks if it.role == rank.role), _leading_task(group))
    for action, ranges in task.exit_actions.items():
        if any(codes.first <= code <= codes.last for codes in ranges):
            return action
    return None
