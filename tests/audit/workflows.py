"""Verbs about workflows; see ``tests.audit.verbs``."""

from tests.audit.objects import SECRET, VARIABLES, AuditedObjects, Verbs
from tests.workflows.graphs import graph, group
from workflows import pools, services
from workflows.models import Pool, Workflow
from workflows.statuses import Status
from workflows.texts import WorkflowText


def _workflow(s: AuditedObjects, status: Status = Status.PENDING) -> Workflow:
    document = {"kind": "training", "worker": VARIABLES}
    text = WorkflowText(original=SECRET, rendered=SECRET, variables={"token": SECRET})
    workflow = services.submit(
        graph(group("one", document=document)), project=s.project, by=s.admin, text=text
    )
    if status is not Status.PENDING:
        workflow.status = status
        workflow.save()
    return workflow


def _pool(s: AuditedObjects) -> Pool:
    return pools.save("a100", project=s.project, description="", by=s.admin)


_WHERE = "workflows.services"
WORKFLOWS: Verbs = {
    "workflows.pools.save": ("create pool", _pool),
    "workflows.pools.delete": ("delete pool", lambda s: pools.delete(_pool(s), by=s.admin)),
    f"{_WHERE}.submit": ("create workflow", _workflow),
    f"{_WHERE}.cancel": (
        "cancel workflow",
        lambda s: services.cancel(_workflow(s), by=s.admin, message="Wrong data"),
    ),
    f"{_WHERE}.restart": (
        "create workflow",
        lambda s: services.restart(_workflow(s, Status.FAILED), by=s.admin),
    ),
    f"{_WHERE}.delete": (
        "delete workflow",
        lambda s: services.delete(_workflow(s, Status.FAILED), by=s.admin),
    ),
}
