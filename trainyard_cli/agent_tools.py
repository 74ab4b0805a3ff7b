"""The tools that agents get from ``trainyard mcp``, on top of REST.

Agents read their signatures and docstrings. Each tool returns what JSON can hold, or raises
``CliError``.
"""

import re
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import Field

from trainyard_cli import lookup
from trainyard_cli.commands.submit import parse_body, with_project, without_empty_values
from trainyard_cli.errors import CliError, wrong_use
from trainyard_cli.invocation import Invocation
from trainyard_cli.show import Item

MOST_ROWS = 500
MOST_LINES = 2_000
PARTS = "spec,pods,events"
LINES_OF_FAILURE = 30
Name = Annotated[str, Field(description="The name of the workload, or its ID")]
ProjectName = Annotated[
    str, Field(description="The name of a project; empty for the one that is set")
]
Kind = Literal["distributed", "training", "workspace"]
PATHS: dict[str, str] = {
    "distributed": "distributed",
    "training": "trainings",
    "workspace": "workspaces",
}
Request = Annotated[
    str,
    Field(
        description="The request as YAML: name, and spec with image, command, numWorkers, compute "
        "and other fields, as describe_workload shows them"
    ),
]
#: What lists show of a workload, a project and a node.
WORKLOAD_FIELDS = (
    *("id", "name", "type", "phase", "phaseReason", "projectName", "submittedBy", "images"),
    *("createdAt", "totalRunningTimeSeconds", "runningPods", "allocatedResources"),
)
PROJECT_FIELDS = ("id", "name", "clusterId", "departmentName", "status", "resources", "overQuota")
NODE_FIELDS = ("name", "status", "nodePool", "gpuInfo", "allocatable", "allocated", "taints")


class AgentTools:
    """The tools of one signed-in user."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    def reading_tools(self) -> list[Callable[..., Any]]:
        """Return the tools that change nothing."""
        return [
            *(self.list_workloads, self.describe_workload, self.explain_waiting),
            *(self.explain_failure, self.read_logs, self.list_events, self.list_projects),
            *(self.list_nodes, self.list_clusters, self.try_workload),
        ]

    def writing_tools(self) -> list[Callable[..., Any]]:
        """Return the tools that start and stop workloads."""
        return [self.submit_workload, self.stop_workload, self.run_workload_again]

    def list_workloads(
        self,
        project: Annotated[str, Field(description="Only those of a project; all if empty")] = "",
        phase: Annotated[str, Field(description="Such as Pending, Running or Failed")] = "",
        search: Annotated[str, Field(description="Text in the name or the image")] = "",
        limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 50,
    ) -> list[Item]:
        """List workloads, the newest first."""
        filters = [f"phase=={phase.capitalize()}"] if phase else []
        if project:
            filters.append(f"projectId=={self._invocation.find_project(project)['id']}")
        answer = self._get(
            "/workloads",
            filterBy=filters,
            search=search or None,
            limit=limit,
            sortBy="createdAt",
            sortOrder="desc",
        )
        return [_select(row, WORKLOAD_FIELDS) for row in answer["workloads"]]

    def describe_workload(self, name: Name, project: ProjectName = "") -> Item:
        """Show one workload in full: its state, its spec, its pods and its last events."""
        found = lookup.find_workload(self._invocation, name, project)
        workload: Item = without_empty_values(self._get(f"/workloads/{found['id']}", expand=PARTS))
        return workload

    def explain_waiting(self, name: Name, project: ProjectName = "") -> Item:
        """Say why a workload is not running yet: the cause, what would help, and the last message
        of its cluster."""
        found = lookup.find_workload(self._invocation, name, project)
        return _select(found, ("name", "phase", "phaseReason", "phaseMessage", "cause"))

    def explain_failure(self, name: Name, project: ProjectName = "") -> Item:
        """Say why a workload failed: the kind of failure, how to fix it, the decisive line of the
        log, and the last lines of the rank that wrote it."""
        found = lookup.find_workload(self._invocation, name, project)
        facts = _select(found, ("name", "phase", "phaseReason", "phaseMessage", "failure"))
        line = (found["failure"] or {}).get("line") or {}
        rank = str(line.get("rank", "all"))
        facts["lastLines"] = self._log_lines(found, rank, "", LINES_OF_FAILURE)
        return facts

    def read_logs(
        self,
        name: Name,
        project: ProjectName = "",
        search: Annotated[
            str, Field(description="Only lines that match a regular expression")
        ] = "",
        rank: Annotated[str, Field(description="A number, several as 0,2, or all")] = "all",
        lines: Annotated[int, Field(ge=1, le=MOST_LINES, description="The last ones")] = 200,
    ) -> list[str]:
        """Read the last lines that the ranks of a workload printed. With several ranks, each line
        begins with the number of its rank."""
        found = lookup.find_workload(self._invocation, name, project)
        return self._log_lines(found, rank, search, lines)

    def list_events(
        self, name: Name, project: ProjectName = "", limit: Annotated[int, Field(ge=1)] = 50
    ) -> list[Item]:
        """List what happened to a workload, the newest first."""
        found = lookup.find_workload(self._invocation, name, project)
        events: list[Item] = self._get(f"/workloads/{found['id']}", expand="events")["events"]
        return events[:limit]

    def list_projects(self) -> list[Item]:
        """List your projects with their quotas, and what is allocated of them."""
        projects = self._invocation.client.pages("/org-unit/projects", "projects")
        return [_select(project, PROJECT_FIELDS) for project in islice(projects, MOST_ROWS)]

    def list_nodes(self) -> list[Item]:
        """List the nodes of your clusters: their state, GPUs, and what is allocated."""
        nodes = self._invocation.client.pages("/nodes", "nodes")
        return [_select(node, NODE_FIELDS) for node in islice(nodes, MOST_ROWS)]

    def list_clusters(self) -> list[Item]:
        """List your clusters."""
        clusters: list[Item] = self._get("/clusters")
        return clusters

    def try_workload(
        self, request: Request, kind: Kind = "distributed", project: ProjectName = ""
    ) -> Item:
        """Check a request without submitting it: everything that is wrong with it, and whether it
        would start now, later or never."""
        answer = self._send_request(request, kind, project, dry_run=True)
        return _select(
            answer, ("name", "valid", "complianceIssues", "warnings", "verdict", "sources")
        )

    def submit_workload(
        self, request: Request, kind: Kind = "distributed", project: ProjectName = ""
    ) -> Item:
        """Submit a workload. A request that try_workload would refuse is refused here, too."""
        tried = self._send_request(request, kind, project, dry_run=True)
        if not tried["valid"]:
            lines = [f"  {it['field']}: {it['details']}" for it in tried["complianceIssues"]]
            raise CliError("The request is refused.", lines=lines)
        answer = self._send_request(request, kind, project, dry_run=False)
        return _select(answer, ("workloadId", "name", "warnings"))

    def stop_workload(self, name: Name, project: ProjectName = "") -> str:
        """Stop a workload. Its definition stays, and it can run again."""
        return self._change(name, project, "suspend", "Stopping")

    def run_workload_again(self, name: Name, project: ProjectName = "") -> str:
        """Run a stopped or finished workload again."""
        return self._change(name, project, "resume", "Starting")

    def _get(self, path: str, **query: Any) -> Any:
        return self._invocation.client.get(path, **query)

    def _send_request(self, request: str, kind: Kind, project: str, *, dry_run: bool) -> Item:
        body = with_project(self._invocation, parse_body(request, "The request"), project)
        answer: Item = self._invocation.client.post(
            f"/workloads/{PATHS[kind]}", body, dryRun="true" if dry_run else None
        )
        return answer

    def _change(self, name: str, project: str, verb: str, words: str) -> str:
        workload = lookup.find_workload(self._invocation, name, project)
        self._invocation.client.post(f"{lookup.path_of(workload)}/{verb}")
        return f"{words} {workload['name']}."

    def _log_lines(self, workload: Item, rank: str, search: str, count: int) -> list[str]:
        """Return the last lines that match, of one rank or several."""
        try:
            pattern = re.compile(search)
        except re.error as error:
            raise wrong_use(f"{search!r} is not a regular expression: {error}.") from error
        path = f"/workloads/{workload['id']}/logs"
        tail = None if search else count
        with self._invocation.client.stream(path, rank=rank, tail=tail) as lines:
            return list(deque(filter(pattern.search, lines), count))


def _select(item: Item, keys: tuple[str, ...]) -> Item:
    return {key: item.get(key) for key in keys}
