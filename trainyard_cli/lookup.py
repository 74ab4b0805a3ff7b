"""Finds workloads by name, within a project, or by id."""

from collections.abc import Sequence
from uuid import UUID

from trainyard_cli.errors import CliError, ExitCode
from trainyard_cli.invocation import Invocation
from trainyard_cli.show import Item

PATHS = {"Distributed": "distributed", "Training": "trainings", "Workspace": "workspaces"}


def find_workload(invocation: Invocation, name: str, project: str) -> Item:
    """Return the workload with this name or id, with the fields that lists have."""
    return find_workloads(invocation, [name], project)[0]


def find_workloads(invocation: Invocation, names: Sequence[str], project: str) -> list[Item]:
    """Return the workloads with these names or ids, in the same order, by one request for each.

    Raises ``CliError`` for the first that does not exist. Names are searched in ``project``, or
    else in the project that is set.
    """
    workloads: list[Item] = []
    for name in names:
        if is_id(name):
            workloads.append(invocation.client.get(f"/workloads/{name}"))
            continue
        rows = _search(invocation, name, f"projectName=={project}") if project else []
        if len(rows) == 1:
            workloads += rows
            continue
        target = invocation.project(project)
        if not (rows := _search(invocation, name, f"projectId=={target['id']}")):
            invocation.check_project(target)
            message = f"There is no workload {name} of this kind in project {target['name']}."
            if not invocation.filters:
                message = message.replace(" of this kind", "")
            todo = "List them: trainyard list jobs"
            raise CliError(message, todo, code=ExitCode.NOT_FOUND)
        workloads += rows
    return workloads


def find_deleted(invocation: Invocation, name: str, project: str) -> Item:
    """Return the deleted workload with this name or id, of several the one submitted last."""
    if is_id(name):
        found: Item = invocation.client.get(f"/workloads/{name}", deleted="true")
        return found
    target = invocation.project(project)
    query = {"filterBy": [f"name=={name}", f"projectId=={target['id']}"], "deleted": "true"}
    answer = invocation.client.get(
        "/workloads", **query, sortBy="createdAt", sortOrder="desc", limit=1
    )
    rows: list[Item] = answer["workloads"]
    if not rows:
        invocation.check_project(target)
        message = f"Nothing is kept of a deleted workload {name} in project {target['name']}."
        raise CliError(message, code=ExitCode.NOT_FOUND)
    return rows[0]


def _search(invocation: Invocation, name: str, where: str) -> list[Item]:
    """Return up to two workloads with this name that match a filter: two mean that it is not
    unique."""
    filters = [*invocation.filters, f"name=={name}", where]
    rows: list[Item] = invocation.client.get("/workloads", filterBy=filters, limit=2)["workloads"]
    return rows


def path_of(workload: Item) -> str:
    """Return the path in REST of the calls that change this workload."""
    return f"/workloads/{PATHS[workload['type']]}/{workload['id']}"


def is_id(text: str) -> bool:
    """Whether a text is an id of REST rather than a name."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True
