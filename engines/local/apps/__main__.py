"""``python -m engines.local.apps jupyterlab FOLDER DOMAIN start-notebook.py …``: replaces the image
of a notebook server. It takes the image's command and arguments, and starts another program of the
image if they name one."""

import os
import sys
from collections.abc import Mapping, Sequence

from engines.local.apps import catalog
from engines.local.apps.install import UNREACHABLE, install
from engines.local.system.ports import VARIABLE


def main(argv: Sequence[str]) -> int:
    asked = catalog.asked(argv)
    os.environ["TOOLS_DOMAIN"] = asked.domain
    words = command(asked, os.environ)
    if install(asked.app, asked.place):
        os.execv(words[0], words)  # noqa: S606 -- no shell
    return UNREACHABLE


def command(asked: catalog.Asked, variables: Mapping[str, str]) -> list[str]:
    """The installed program and its arguments."""
    app = asked.app
    program, *more = app.program
    listening = [_port(app.listening, variables)] if app.listening else []
    return [str(asked.place / "bin" / program), *more, *app.arguments, *listening, *asked.given]


def _port(listening: catalog.Listening, variables: Mapping[str, str]) -> str:
    names = (listening.variable, VARIABLE.format(listening.port))
    ports = (variables.get(name) for name in names)
    return f"{listening.argument}{next(filter(None, ports), listening.port)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
