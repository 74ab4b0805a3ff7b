"""Commands for one kind of workload: ``training pytorch submit``, ``distributed submit``,
``submit-dist mpi``."""

from collections.abc import Callable, Sequence

import typer

from trainyard_cli.commands.jobs import add_verbs
from trainyard_cli.commands.submit import build_submit
from trainyard_cli.invocation import WITH_MORE, current_invocation
from trainyard_cli.rest.destinations import (
    DISTRIBUTED,
    FRAMEWORKS,
    STANDARD,
    TRAININGS,
    WORKSPACES,
    Destination,
    framework_label,
    gang_destination,
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
        app.command(SUBMIT, context_settings=WITH_MORE)(build_submit(STANDARD))


def _build_submit_dist(words: Sequence[str]) -> typer.Typer:
    old = typer.Typer(help="Submit a distributed training.", no_args_is_help=True)
    old.callback()(lambda: None)  # without it, typer drops the name of a single command
    for word in words:
        hidden = word == "tf"
        old.command(word, hidden=hidden, context_settings=WITH_MORE)(
            build_submit(gang_destination(word))
        )
    return old


def _build_training(words: Sequence[str]) -> typer.Typer:
    text = "Trainings, standard ones and those of a framework."
    training = _build_group(STANDARD, text, TRAININGS)
    training.add_typer(_build_group(STANDARD, "Standard trainings, of one pod."), name="standard")
    for word in words:
        group = _build_group(gang_destination(word), f"{framework_label(word)} trainings.")
        training.add_typer(group, name=word, hidden=word == "tf")
    return training


def _build_distributed(_: Sequence[str]) -> typer.Typer:
    return _build_group(DISTRIBUTED, "Distributed trainings.")


def _build_workspace(_: Sequence[str]) -> typer.Typer:
    return _build_group(WORKSPACES, "Workspaces.")


def _build_group(to: Destination, text: str, filters: tuple[str, ...] = ()) -> typer.Typer:
    """Return a group that submits workloads of a kind, and works with existing ones.

    Its commands find only those that match ``filters``, by default those of the kind.
    """

    def narrow(context: typer.Context) -> None:
        current_invocation(context).filters = filters or to.filters

    group = typer.Typer(help=text, no_args_is_help=True)
    group.callback()(narrow)
    group.command(SUBMIT, context_settings=WITH_MORE)(build_submit(to))
    add_verbs(group)
    return group


GROUPS: dict[str, Callable[[Sequence[str]], typer.Typer]] = {
    "training": _build_training,
    "distributed": _build_distributed,
    "workspace": _build_workspace,
    "submit-dist": _build_submit_dist,
}
