"""Commands for one kind of workload: ``training pytorch submit``, ``distributed submit``,
``submit-dist mpi``."""

from collections.abc import Callable, Sequence

import typer

from trainyard_cli.commands.jobs import add_verbs
from trainyard_cli.commands.submit import command_of
from trainyard_cli.invocation import WITH_MORE, current_invocation
from trainyard_cli.rest.destinations import (
    DISTRIBUTED,
    FRAMEWORKS,
    STANDARD,
    TRAININGS,
    WORKSPACES,
    Destination,
    gang_of,
    label_of,
)

SUBMIT = "submit"  # the word of Run:ai's first command line for a standard training


def add(app: typer.Typer, head: Sequence[str]) -> None:
    """Add the groups that the line in ``head`` names, or all if it names none.

    Each command that submits has a hundred flags, so building all of them would be slow.
    """
    meant = [word for word in FRAMEWORKS if word in head]
    first = next((word for word in head if word in {*GROUPS, SUBMIT}), "")
    for name, group_of in GROUPS.items():
        if first in {name, ""}:
            app.add_typer(group_of(meant or list(FRAMEWORKS)), name=name)
    if first in {SUBMIT, ""}:
        app.command(SUBMIT, context_settings=WITH_MORE)(command_of(STANDARD))


def _submit_dist(words: Sequence[str]) -> typer.Typer:
    old = typer.Typer(help="Submit a distributed training.", no_args_is_help=True)
    old.callback()(_group)
    for word in words:
        hidden = word == "tf"
        old.command(word, hidden=hidden, context_settings=WITH_MORE)(command_of(gang_of(word)))
    return old


def _training(words: Sequence[str]) -> typer.Typer:
    text = "Trainings, standard ones and those of a framework."
    training = _of_kind(STANDARD, text, TRAININGS)
    training.add_typer(_of_kind(STANDARD, "Standard trainings, of one pod."), name="standard")
    for word in words:
        group = _of_kind(gang_of(word), f"{label_of(word)} trainings.")
        training.add_typer(group, name=word, hidden=word == "tf")
    return training


def _distributed(_: Sequence[str]) -> typer.Typer:
    return _of_kind(DISTRIBUTED, "Distributed trainings.")


def _workspace(_: Sequence[str]) -> typer.Typer:
    return _of_kind(WORKSPACES, "Workspaces.")


def _of_kind(to: Destination, text: str, filters: tuple[str, ...] = ()) -> typer.Typer:
    """Return a group that submits workloads of a kind, and works with existing ones.

    Its commands find only those that match ``filters``, by default those of the kind.
    """

    def narrow(context: typer.Context) -> None:
        current_invocation(context).filters = filters or to.filters

    group = typer.Typer(help=text, no_args_is_help=True)
    group.callback()(narrow)
    group.command(SUBMIT, context_settings=WITH_MORE)(command_of(to))
    add_verbs(group)
    return group


def _group() -> None:
    """Lets a group have a single command: without a callback, typer would drop its name."""


GROUPS: dict[str, Callable[[Sequence[str]], typer.Typer]] = {
    "training": _training,
    "distributed": _distributed,
    "workspace": _workspace,
    "submit-dist": _submit_dist,
}
