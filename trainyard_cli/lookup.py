"""Finds workloads by name, within a project, or by id."""

from collections.abc import Sequence
from uuid import UUID

from trainyard_cli.errors import CliError, ExitCode
from trainyard_cli.invocation import Invocation
from trainyard_cli.show import Item

PATHS = {"Distributed": "distributed", "Training": "trainings", "Workspace": "workspaces"}


def find(invocation: Invocation, name: str, project: str) -> Item:
    """Return the workload with this name or id, with the fields that lists have."""
    return find_all(invocation, [name], project)[0]


def find_all(invocation: Invocation, names: Sequence[str], project: str) -> list[Item]:
    """Return the workloads with these names or ids, in the same order, by one request for each.

    Raises ``CliError`` for the first that does not exist. Names are searched in ``project``, or
    else in the project that is set.
    """
    every: list[Item] = []
    for name in names:
        if _is_id(name):
            every.append(invocation.client.get(f"/workloads/{name}"))
            continue
        rows = _named(invocation, name, f"projectName=={project}") if project else []
        if len(rows) == 1:
            every += rows
            continue
        place = invocation.project(project)
        if not (rows := _named(invocation, name, f"projectId=={place['id']}")):
            invocation.check_project(place)
            message = f"There is no workload {name} of this kind in project {place['name']}."
            if not invocation.filters:
                message = message.replace(" of this kind", "")
            todo = "List what there is: trainyard list jobs"
            raise CliError(message, todo, code=ExitCode.NOT_FOUND)
        every += rows
    return every


def _named(invocation: Invocation, name: str, where: str) -> list[Item]:
    """Return up to two workloads with this name that match a filter: two mean that it is not
    unique."""
    filters = [*invocation.filters, f"name=={name}", where]
    rows: list[Item] = invocation.client.get("/workloads", filterBy=filters, limit=2)["workloads"]
    return rows


def path_of(workload: Item) -> str:
    """Return the path of a workload's own calls in REST, such as those that stop it."""
    return f"/workloads/{PATHS[workload['type']]}/{workload['id']}"


def _is_id(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True
