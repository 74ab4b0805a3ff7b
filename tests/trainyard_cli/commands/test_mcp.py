"""An agent uses Trainyard through the client of the protocol's own package."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from accounts.models import User
from config.run.install import ROOT
from projects.models import Project
from spec.phases import Phase
from tests.factories import WorkloadFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands.mcp import build_server
from trainyard_cli.invocation import Invocation
from trainyard_cli.rest.client import RestClient
from workloads.models import Workload

READING = {
    *("list_workloads", "describe_workload", "explain_waiting", "explain_failure", "read_logs"),
    *("list_events", "list_projects", "list_nodes", "list_clusters", "try_workload"),
}
WRITING = {"submit_workload", "stop_workload", "run_workload_again"}
REQUEST = (
    "name: mnist\nspec: {image: pytorch, command: python a.py, distributedFramework: PyTorch}\n"
)


LINES = ["0 loss 1", "0 loss 2", "1 an error", "1 loss 3"]


@dataclass
class Log:
    """The queries by which a log was read."""

    queries: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    """A log of four lines: only a server with ASGI streams those of workloads."""
    read = Log()

    @contextmanager
    def stream(_: RestClient, path: str, **query: Any) -> Iterator[Iterator[str]]:
        assert path.endswith("/logs")
        read.queries.append(query)
        yield iter(LINES)

    monkeypatch.setattr(RestClient, "stream", stream)
    return read


def use(
    terminal: Terminal, work: Callable[[Client], Awaitable[Any]], *, writes: bool = False
) -> Any:
    """Connect an agent to the tools of the terminal's user, and return what its work returns."""
    invocation = Invocation(config=terminal.config)

    async def connect() -> Any:
        async with Client(build_server(invocation, writes=writes)) as client:
            return await work(client)

    try:
        return asyncio.run(connect())
    finally:
        invocation.close()


def call(
    terminal: Terminal, tool: str, *, writes: bool = False, **arguments: Any
) -> CallToolResult:
    return use(terminal, lambda client: client.call_tool(tool, arguments), writes=writes)


def text_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def answer(terminal: Terminal, tool: str, *, writes: bool = False, **arguments: Any) -> Any:
    result = call(terminal, tool, writes=writes, **arguments)
    assert not result.is_error, text_of(result)
    content = result.structured_content or {}
    return content.get("result", content)


def names_of_tools(terminal: Terminal, *, writes: bool) -> set[str]:
    tools = use(terminal, lambda client: client.list_tools(), writes=writes).tools
    for tool in tools:
        assert tool.description
        assert tool.annotations.read_only_hint is (tool.name in READING)
    return {tool.name for tool in tools}


def test_only_an_agent_that_may_write_has_tools_that_change_something(terminal: Terminal) -> None:
    assert names_of_tools(terminal, writes=False) == READING
    assert names_of_tools(terminal, writes=True) == READING | WRITING
    refused = call(terminal, "stop_workload", name="mnist")
    assert refused.is_error


def test_an_agent_reads_workloads_projects_and_nodes(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    WorkloadFactory(project=project, name="mnist", running=True, created_by=researcher)
    terminal(f"project set {project.name}")
    (row,) = answer(terminal, "list_workloads", phase="running", project=project.name)
    assert (row["name"], row["phase"]) == ("mnist", "Running")
    assert answer(terminal, "list_workloads", phase="failed") == []
    assert answer(terminal, "describe_workload", name="mnist")["spec"]["image"]
    assert [it["name"] for it in answer(terminal, "list_projects")] == [project.name]
    assert [it["name"] for it in answer(terminal, "list_clusters")] == [project.cluster.name]
    assert isinstance(answer(terminal, "list_nodes"), list)
    assert isinstance(answer(terminal, "list_events", name="mnist"), list)
    missing = call(terminal, "describe_workload", name="nothing")
    assert missing.is_error
    assert "There is no workload nothing" in text_of(missing)


def test_an_agent_hears_why_a_workload_waits(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    WorkloadFactory(
        project=project,
        name="mnist",
        pending=True,
        message="Waits for its quota",
        created_by=researcher,
    )
    facts = answer(terminal, "explain_waiting", name="mnist", project=project.name)
    assert (facts["phase"], facts["phaseMessage"]) == ("Pending", "Waits for its quota")


def test_an_agent_hears_why_a_workload_failed_with_the_lines_of_its_log(
    terminal: Terminal, project: Project, researcher: User, log: Log
) -> None:
    WorkloadFactory(
        project=project,
        name="mnist",
        failed=True,
        failure_class="disk-full",
        failure_line={"rank": 1, "attempt": 0, "offset": 7, "text": "No space left on device"},
        created_by=researcher,
    )
    facts = answer(terminal, "explain_failure", name="mnist", project=project.name)
    assert facts["failure"]["failureClass"] == "disk-full"
    assert facts["failure"]["line"]["text"] == "No space left on device"
    assert facts["failure"]["repair"]
    assert facts["lastLines"] == LINES
    assert log.queries == [{"rank": "1", "tail": 30}]


def test_an_agent_searches_a_log_for_its_last_lines(
    terminal: Terminal, project: Project, researcher: User, log: Log
) -> None:
    WorkloadFactory(project=project, name="mnist", running=True, created_by=researcher)
    terminal(f"project set {project.name}")
    found = answer(terminal, "read_logs", name="mnist", search="loss [0-9]", lines=2)
    assert found == ["0 loss 2", "1 loss 3"]
    assert log.queries == [{"rank": "all", "tail": None}]
    wrong = call(terminal, "read_logs", name="mnist", search="(")
    assert "is not a regular expression" in text_of(wrong)


def test_a_request_is_tried_before_it_is_submitted(terminal: Terminal, project: Project) -> None:
    terminal(f"project set {project.name}")
    tried = answer(terminal, "try_workload", request=REQUEST)
    assert tried["valid"], tried
    assert tried["verdict"]["answer"] in {"now", "later", "never", "unknown"}
    assert not Workload.objects.exists()
    wrong = REQUEST.replace("image: pytorch", "image: 'a b'")
    assert not answer(terminal, "try_workload", request=wrong)["valid"]
    refused = call(terminal, "submit_workload", writes=True, request=wrong)
    assert "spec.image" in text_of(refused)
    assert "not valid YAML" in text_of(call(terminal, "try_workload", request="a: b: c"))
    assert not Workload.objects.exists()
    submitted = answer(terminal, "submit_workload", writes=True, request=REQUEST)
    assert Workload.objects.get().pk.hex == submitted["workloadId"].replace("-", "")


def test_an_agent_that_may_write_stops_a_workload_and_runs_it_again(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    workload = WorkloadFactory(project=project, name="mnist", running=True, created_by=researcher)
    old = WorkloadFactory(project=project, name="old", stopped=True, created_by=researcher)
    terminal(f"project set {project.name}")
    assert answer(terminal, "stop_workload", writes=True, name="mnist") == "Stopping mnist."
    assert answer(terminal, "run_workload_again", writes=True, name="old") == "Starting old."
    workload.refresh_from_db()
    old.refresh_from_db()
    assert (workload.phase, old.phase) == (Phase.STOPPING, Phase.RESUMING)


def test_the_command_serves_on_its_standard_input_and_output(
    terminal: Terminal, project: Project
) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "trainyard_cli", "--config-file", str(terminal.config), "mcp"],
        env={"PYTHONPATH": str(ROOT)},
    )

    async def list_projects() -> CallToolResult:
        async with Client(server) as client:
            return await client.call_tool("list_projects", {})

    result = asyncio.run(list_projects())
    assert project.name in text_of(result)


def test_nobody_is_served_without_a_sign_in_or_the_package(
    nobody: Terminal, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert "pip install" in terminal("mcp", code=1).err
    nobody.config.unlink()
    assert "You are not signed in." in nobody("mcp", code=3).err
