"""Options that every command accepts at any position, as Run:ai's commands do. Switches can also
be written in Run:ai's second form: ``--pods=false``."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Annotated, Any

import typer

from trainyard_cli import notes
from trainyard_cli.notes import LogLevel

TRUE = {"true", "t", "1"}
FALSE = {"false", "f", "0"}
FORMATS = {f"--{it}": f"--output={it}" for it in ("json", "yaml", "table")}
#: Two flags of one name in Run:ai's command lines: with a number it is the ID of a user.
USER_SWITCH = "--run-as-user"
USER_ID = "--run-as-uid"
QUIET = "Only errors and results: no notes on standard error."
LEVEL = "What to print on standard error: debug, info, warn or error."
DEBUG = "Print each request on standard error."


def _set_quiet(asked: bool) -> None:
    if asked:
        notes.set_wanted_notes(LogLevel.ERROR)


def _set_debug(asked: bool) -> None:
    if asked:
        notes.set_wanted_notes(LogLevel.DEBUG)


def _set_level(level: LogLevel | None) -> None:
    if level:
        notes.set_wanted_notes(level)


def _option(*names: str, text: str, hidden: bool, callback: Any) -> Any:
    return typer.Option(
        *names, help=text, hidden=hidden, callback=callback, expose_value=False, show_default=False
    )


def build_options(*, hidden: bool) -> list[Any]:
    """Return the options as click's parameters, which a command has in ``params``."""
    quiet = _option("--quiet", "-q", text=QUIET, hidden=hidden, callback=_set_quiet)
    level = _option("--loglevel", text=LEVEL, hidden=hidden, callback=_set_level)
    debug = _option("--debug", "--verbose", "-d", text=DEBUG, hidden=hidden, callback=_set_debug)

    def holder(
        quiet: Annotated[bool, quiet] = False,
        loglevel: Annotated[LogLevel | None, level] = None,
        debug: Annotated[bool, debug] = False,
    ) -> None:
        """Holds the options: typer turns its signature into parameters. It is never called."""

    app = typer.Typer(add_completion=False)
    app.command()(holder)
    names = {"quiet", "loglevel", "debug"}
    return [it for it in typer.main.get_command(app).params if it.name in names]


def add_shared_options(group: Any) -> Any:
    """Add the options to the program and all its commands. Help shows them only for the program."""
    group.params += build_options(hidden=False)
    _add_options(group.commands.values(), build_options(hidden=True))
    return group


def _add_options(commands: Any, options: list[Any]) -> None:
    """Add the options to all commands below, unless a command has an option with the same name."""
    for command in commands:
        taken = {name for it in command.params for name in it.opts}
        command.params += [it for it in options if not taken & set(it.opts)]
        _add_options(getattr(command, "commands", {}).values(), options)
        _accept_runai_forms(command)


def _accept_runai_forms(command: Any) -> None:
    """Let a command accept Run:ai's forms of its options.

    Its method is replaced, because typer creates each command and leaves its class no choice.
    """
    parse = command.parse_args

    def parse_args(context: Any, args: Sequence[str]) -> Any:
        return parse(context, list(_translate(command, args)))

    command.parse_args = parse_args


def _translate(command: Any, args: Sequence[str]) -> Iterator[str]:
    """Yield the arguments in this program's form: ``--json`` becomes ``--output=json``,
    ``--pods=false`` becomes ``--no-pods``, ``--run-as-user 1000`` becomes ``--run-as-uid 1000``."""
    names = {it.name for it in command.params}
    formats = FORMATS if "output" in names and "sets" not in names else {}
    switches = {name for it in command.params for name in it.opts if getattr(it, "is_flag", False)}
    for word, following in zip_longest(args, args[1:], fillvalue=""):
        name, _, value = word.partition("=")
        if name == USER_SWITCH and (value or following).isdecimal():
            yield word.replace(USER_SWITCH, USER_ID)
        elif name not in switches or value.lower() not in TRUE | FALSE:
            yield formats.get(word, word)
        elif value.lower() in TRUE:
            yield name
        elif (negated := f"--no-{name[2:]}") in _option_names(command):
            yield negated


def _option_names(command: Any) -> set[str]:
    return {name for it in command.params for name in (*it.opts, *it.secondary_opts)}
