"""Builds the command line. Each first word has a module, and only the module of the word that was
typed is loaded, so that the program starts quickly."""

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from trainyard_cli import __version__, notes, shared_options
from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.invocation import SET_PROJECT, Invocation, current_invocation
from trainyard_cli.word_orders import reorder_words

PROGRAM = "trainyard"
#: Module in ``commands`` → the first words that it adds.
COMMANDS: dict[str, tuple[str, ...]] = {
    "session": ("login", "logout", "whoami", "version"),
    "places": ("config", "project", "cluster", "node", "nodepool", "queue"),
    "assets": ("environment", "compute", "datasource", "credential", "template"),
    "policies": ("policy",),
    "webhooks": ("webhook",),
    "workflows": ("workflow",),
    "datasets": ("dataset",),
    "pools": ("pool",),
    "alias": ("alias",),
    "jobs": (
        *("list", "describe", "delete", "logs", "attach", "exec", "bash", "port-forward"),
        *("suspend", "resume", "extend", "diff", "workload"),
    ),
    "mcp": ("mcp",),
    "sbatch": ("submit-sbatch",),
    "manifest": ("submit-manifest",),
    "kinds": ("submit", "submit-dist", "distributed", "training", "workspace"),
}
OPTIONS_WITH_VALUE = {"--config-file", "--config-path", "--loglevel"}  # before the first word
COMMANDS_WITH_WORDS = {"submit", "submit-dist", "submit-sbatch", "exec"}  # words after --
#: First words that only Run:ai has → what to use instead. Two words are a command of a group.
REFUSED = {
    "completion": "Install it: trainyard --install-completion",
    "config describe": "Show the server, the user and the project: trainyard whoami",
    "config generate": "The first sign-in writes the file: trainyard login --server URL",
    "config set": "Name the server: trainyard login --server URL. " + SET_PROJECT,
    "help": "Help: trainyard --help, and --help after each command",
    "inference": "Trainyard runs trainings and workspaces, and no inference.",
    "kubeconfig": "Trainyard reaches clusters itself; nobody needs a kubeconfig here.",
    "pvc": "List the data sources instead: trainyard datasource list",
    "report": "Charts are on the page of a workload; totals are at GET /clusters/{id}/metrics.",
    "top": "List what is allocated: trainyard node list -o wide",
    "update": "Install the copy that belongs to your Trainyard: pip install ./trainyard_cli",
    "upgrade": "Install the copy that belongs to your Trainyard: pip install ./trainyard_cli",
}
HELP = "Submit, follow and control distributed training on Trainyard. Start with: trainyard login"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    notes.set_wanted_notes(notes.LogLevel.INFO)
    try:
        head, words = split_at_dashes(_reorder(arguments))
        with closing(Invocation(words)) as invocation:
            command = shared_options.add_shared_options(typer.main.get_command(build_program(head)))
            command(args=head, prog_name=PROGRAM, obj=invocation)
    except CliError as error:
        print(f"trainyard: {error}", file=sys.stderr)
        return error.code
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return 0


def _reorder(arguments: list[str]) -> list[str]:
    """Return a command line with its words in this program's order."""
    position = _position_of_first_word(arguments)
    return [*arguments[:position], *reorder_words(arguments[position:])]


def split_at_dashes(arguments: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Split a command line at ``--``: before it are this program's own arguments, after it the
    command of a workload.

    Raises ``CliError`` if the command accepts nothing after ``--``.
    """
    if "--" not in arguments:
        return arguments, ()
    position = arguments.index("--")
    head = arguments[:position]
    words = tuple(arguments[position + 1 :])
    if words and not COMMANDS_WITH_WORDS & set(head):
        raise wrong_use(f"This command takes nothing after --, such as {words[0]}.")
    return head, words


def build_program(head: Sequence[str]) -> typer.Typer:
    """Build the program with the commands of the first word in ``head``, or with all commands if
    there is none, such as for ``--help``.

    Raises ``CliError`` for a word that only Run:ai has.
    """
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_read_options)
    head = words_to_complete() or head
    position = _position_of_first_word(head)
    first = "".join(head[position : position + 1])
    for command in (first, " ".join(head[position : position + 2])):
        if command in REFUSED:
            raise wrong_use(f"There is no command {command}.", REFUSED[command])
    modules = [name for name, words in COMMANDS.items() if first in words]
    for name in modules or COMMANDS:
        import_module(f"trainyard_cli.commands.{name}").add(app, head)
    return app


def _position_of_first_word(arguments: Sequence[str]) -> int:
    """Return the position of the first word that is neither an option nor the value of one, or the
    number of arguments if there is none."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        position += 2 if arguments[position] in OPTIONS_WITH_VALUE else 1
    return min(position, len(arguments))


def words_to_complete() -> list[str]:
    """Return the words that a shell asks to complete, without the program's name. The list is
    empty if no shell asks."""
    if "_TRAINYARD_COMPLETE" not in os.environ:
        return []
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:]


def _print_version(asked: bool) -> None:
    if asked:
        print(f"trainyard {__version__}")
        raise typer.Exit


def _read_options(
    context: typer.Context,
    config_file: Annotated[
        Path | None,
        typer.Option(help="The file of the sign-in; also TRAINYARD_CONFIG.", show_default=False),
    ] = None,
    config_path: Annotated[
        Path | None, typer.Option(help="The folder of that file, config.json.", show_default=False)
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    invocation = current_invocation(context)
    if config_path:
        invocation.config = config_path.expanduser() / "config.json"
    if config_file:
        invocation.config = config_file.expanduser()
