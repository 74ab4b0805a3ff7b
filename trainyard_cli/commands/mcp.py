"""Serves agents by the Model Context Protocol."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard_cli import __version__
from trainyard_cli.errors import CliError
from trainyard_cli.invocation import Invocation, current_invocation

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

INSTRUCTIONS = (
    "Trainyard runs distributed trainings. Find workloads with list_workloads; explain_waiting and "
    "explain_failure say why one does not run. Check a request with try_workload before it is "
    "submitted."
)
INSTALL = "Install it: pip install 'mcp>=2.3'"


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the command."""
    app.command("mcp")(serve)


def serve(
    context: typer.Context,
    write: Annotated[
        bool, typer.Option("--write", help="Let the agent submit, stop and run workloads.")
    ] = False,
) -> None:
    """Serve an agent on standard input and output. Without --write it can only read.

    It speaks the Model Context Protocol.
    """
    invocation = current_invocation(context)
    invocation.client  # noqa: B018 -- without a sign-in, fail here and not at the agent's first call
    build_server(invocation, writes=write).run()


def build_server(invocation: Invocation, *, writes: bool) -> "MCPServer[Any]":
    """Return a server with the tools of the signed-in user. Raises ``CliError`` if the package is
    missing."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise CliError(
            "Agents are served by the package mcp, which is missing.", INSTALL
        ) from error
    from trainyard_cli.agent_tools import AgentTools

    server: MCPServer[Any] = MCPServer(
        "trainyard", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    tools = AgentTools(invocation)
    for tool in tools.reading_tools():
        server.add_tool(_explain_errors(tool), annotations=ToolAnnotations(read_only_hint=True))
    for tool in tools.writing_tools() if writes else ():
        server.add_tool(_explain_errors(tool), annotations=ToolAnnotations(read_only_hint=False))
    return server


def _explain_errors(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool whose errors the agent can read."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def call(*args: Any, **arguments: Any) -> Any:
        try:
            return tool(*args, **arguments)
        except CliError as error:
            raise ToolError(str(error)) from error

    return call
