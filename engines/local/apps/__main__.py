"""``python -m engines.local.apps jupyterlab FOLDER DOMAIN start-notebook.py …``: runs in place of
an image, such as that of a notebook server. It takes the image's command and arguments, and starts
another program of the image if they name one."""

import os
import sys
from collections.abc import Mapping, Sequence

from engines.local.apps import catalog
from engines.local.apps.install import UNREACHABLE, install
from engines.local.system.ports import PORT_VARIABLE


def main(argv: Sequence[str]) -> int:
    command = catalog.parse_command(argv)
    os.environ["TOOLS_DOMAIN"] = command.domain
    words = command_line(command, os.environ)
    if install(command.app, command.folder):
        os.execv(words[0], words)  # noqa: S606 -- no shell
    return UNREACHABLE


def command_line(command: catalog.AppCommand, variables: Mapping[str, str]) -> list[str]:
    """Return the installed program and its arguments."""
    app = command.app
    name, *first_arguments = app.program
    program = str(command.folder / "bin" / name)
    port = [_port_argument(app.tool_port, variables)] if app.tool_port else []
    return [program, *first_arguments, *app.arguments, *port, *command.arguments]


def _port_argument(tool_port: catalog.ToolPort, variables: Mapping[str, str]) -> str:
    """Return the argument with the port that the user chose, or else the one that was assigned."""
    chosen = variables.get(tool_port.variable)
    assigned = variables.get(PORT_VARIABLE.format(tool_port.port))
    return f"{tool_port.argument}{chosen or assigned or tool_port.port}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
