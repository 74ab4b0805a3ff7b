"""Other names of this program, for scripts and habits that use them."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from trainyard_cli.errors import CliError
from trainyard_cli.notes import print_note

MARK = "# Written by: trainyard alias"


class OtherName(str, Enum):
    """Names that ``alias`` accepts."""

    RUNAI = "runai"
    OSMO = "osmo"


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the command."""
    app.command()(alias)


def alias(
    name: Annotated[OtherName, typer.Argument(help="The other name.")],
    to: Annotated[
        Path | None,
        typer.Option(help="A folder of your PATH; that of trainyard if none is given."),
    ] = None,
) -> None:
    """Let another name start this program, so that command lines of Run:ai or OSMO work as they
    stand."""
    program = Path(shutil.which(sys.argv[0]) or sys.argv[0]).resolve()
    folder = (to or program.parent).expanduser()
    shim = folder / name.value
    if shim.exists() and MARK not in shim.read_text(errors="replace"):
        raise CliError(
            f"{shim} is another program, and was not changed.",
            f"Choose another folder: trainyard alias {name.value} --to ~/bin",
        )
    start = f'"$(dirname "$0")/{program.name}"' if to is None else shlex.quote(str(program))
    if program.name != "trainyard":
        start = f"{shlex.quote(sys.executable)} -m trainyard_cli"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shim.write_text(f'#!/bin/sh\n{MARK}\nexec {start} "$@"\n')
        shim.chmod(0o755)
    except OSError as error:
        raise CliError(f"{shim} cannot be written: {error.strerror}.") from error
    print_note(f"{shim} starts trainyard.")
