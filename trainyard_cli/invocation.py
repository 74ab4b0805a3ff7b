"""What a command gets from its command line: who calls, in which project, and what to run."""

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
#: Of commands that say themselves what belongs behind ``--``.
WITH_MORE = {"allow_extra_args": True}
SET_PROJECT = "Set one: trainyard project set NAME. List them: trainyard project list"


@dataclass
class Invocation:
    """``words`` are what came after ``--``. ``filters`` narrow workloads to those that the command
    is about."""

    words: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    config: Path = field(default_factory=profile.default_path)
    _client: Any = None

    @property
    def client(self) -> "RestClient":
        """Signed in; ``CliError`` where nobody is."""
        if self._client is None:
            kept = profile.load(self.config)
            if not kept.is_signed_in:
                raise CliError("You are not signed in.", SIGN_IN, code=ExitCode.SIGNED_OUT)
            return self.connect(kept)
        client: RestClient = self._client
        return client

    def connect(self, kept: profile.Profile) -> "RestClient":
        from trainyard_cli.rest.client import RestClient  # which takes its time to load

        self.close()
        self._client = client = RestClient(kept)
        return client

    def close(self) -> None:
        if self._client is not None:
            self._client.http.close()

    def project(self, name: str = "") -> Project:
        """The one that is named, or else set: its ``id``, ``name`` and ``clusterId``."""
        kept = self.client.profile.project
        if not name or name in {kept.get("id"), kept.get("name")}:
            if not kept:
                raise wrong_use("No project is set.", SET_PROJECT)
            return kept
        return self.find_project(name)

    def check_project(self, place: Project) -> None:
        """``CliError`` where nothing is found in a project because it is gone."""
        if place != self.client.profile.project:
            return  # it was found by its name just now
        try:
            self.client.get(f"/org-unit/projects/{place['id']}")
        except CliError as error:
            own = (it["id"] for it in self.client.get("/me")["projects"])
            if error.code != ExitCode.NOT_FOUND or place["id"] in own:
                return  # a key may have other permissions alone
            message = (
                f"Project {place['name']}, which is set, was not found: it is gone, or not yours."
            )
            raise CliError(message, SET_PROJECT, code=ExitCode.NOT_FOUND) from error

    def find_project(self, name: str) -> Project:
        every = list(self.client.pages("/org-unit/projects", "projects"))
        named = [it for it in every if it["name"] == name] or [
            it for it in every if it["id"] == name
        ]
        if not named:
            there = ", ".join(it["name"] for it in every[:10]) or "none"
            raise CliError(
                f"There is no project {name} that you have access to.",
                f"Yours: {there}.",
                code=ExitCode.NOT_FOUND,
            )
        if len(named) > 1:
            ids = ", ".join(it["id"] for it in named)
            raise wrong_use(
                f"{len(named)} projects are called {name}.", f"Use one of their ids: {ids}"
            )
        return {key: named[0][key] for key in ("id", "name", "clusterId")}


def of(context: typer.Context) -> Invocation:
    invocation: Invocation = context.obj
    return invocation
