"""What every command needs from its command line: who calls, in which project, and what to run."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard_cli.errors import SIGN_IN, CliError, ExitCode, wrong_use
from trainyard_cli.rest import profile
from trainyard_cli.show import Format

if TYPE_CHECKING:
    from trainyard_cli.rest.client import RestClient

Output = Annotated[
    Format | None,
    typer.Option("--output", "-o", help="Print json, yaml, names alone, or a wide table."),
]
NoHeaders = Annotated[bool, typer.Option("--no-headers", help="Leave out the line of headers.")]
ProjectName = Annotated[
    str, typer.Option("--project", "-p", help="A project, instead of the one that is set.")
]
AllProjects = Annotated[
    bool, typer.Option("--all-projects", "--all", "-A", help="All projects that you can see.")
]
Project = dict[str, str]
#: For commands that explain themselves what belongs after ``--``.
WITH_MORE = {"allow_extra_args": True}
SET_PROJECT = "Set one: trainyard project set NAME. List them: trainyard project list"


@dataclass
class Invocation:
    """One call of the program, connected when a command first needs the server.

    ``words`` came after ``--``. ``filters`` restrict workloads to the kind that the command is
    about. ``config`` is the file of the sign-in.
    """

    words: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    config: Path = field(default_factory=profile.default_path)
    _client: Any = None

    @property
    def client(self) -> "RestClient":
        """The client of the signed-in user. Raises ``CliError`` if nobody is signed in."""
        if self._client is None:
            stored = profile.load(self.config)
            if not stored.is_signed_in:
                raise CliError("You are not signed in.", SIGN_IN, code=ExitCode.SIGNED_OUT)
            return self.connect(stored)
        client: RestClient = self._client
        return client

    def connect(self, sign_in: profile.Profile) -> "RestClient":
        """Return a client for this profile, which later calls use as well."""
        from trainyard_cli.rest.client import RestClient  # slow to load

        self.close()
        self._client = client = RestClient(sign_in)
        return client

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._client is not None:
            self._client.http.close()

    def project(self, name: str = "") -> Project:
        """Return ``id``, ``name`` and ``clusterId`` of the project with this name or id, or of the
        one that is set.

        Raises ``CliError`` if there is no such project, or none is set.
        """
        project = self.client.profile.project
        if not name or name in {project.get("id"), project.get("name")}:
            if not project:
                raise wrong_use("No project is set.", SET_PROJECT)
            return project
        return self.find_project(name)

    def check_project(self, project: Project) -> None:
        """Raise ``CliError`` if the project that is set no longer exists, or is not yours.

        For commands that found nothing in it: this is then the better message.
        """
        if project != self.client.profile.project:
            return  # found by name a moment ago
        try:
            self.client.get(f"/org-unit/projects/{project['id']}")
        except CliError as error:
            own_ids = (it["id"] for it in self.client.get("/me")["projects"])
            if error.code != ExitCode.NOT_FOUND or project["id"] in own_ids:
                return  # the project exists, but this key cannot read it
            message = (
                f"Project {project['name']}, which is set, was not found: it is gone, or not yours."
            )
            raise CliError(message, SET_PROJECT, code=ExitCode.NOT_FOUND) from error

    def find_project(self, name: str) -> Project:
        """Return ``id``, ``name`` and ``clusterId`` of the project with this name or id.

        Raises ``CliError`` if there is none, or if several have the name.
        """
        projects = list(self.client.pages("/org-unit/projects", "projects"))
        named = [it for it in projects if it["name"] == name] or [
            it for it in projects if it["id"] == name
        ]
        if not named:
            names = ", ".join(it["name"] for it in projects[:10]) or "none"
            raise CliError(
                f"There is no project {name} that you have access to.",
                f"Yours: {names}.",
                code=ExitCode.NOT_FOUND,
            )
        if len(named) > 1:
            ids = ", ".join(it["id"] for it in named)
            raise wrong_use(
                f"{len(named)} projects are called {name}.", f"Use one of their ids: {ids}"
            )
        return {key: named[0][key] for key in ("id", "name", "clusterId")}


def current_invocation(context: typer.Context) -> Invocation:
    """Return the invocation that a command belongs to."""
    invocation: Invocation = context.obj
    return invocation
