"""``python -m engines.local.apps jupyterlab FOLDER DOMAIN start-notebook.py …``: what the image of
a notebook server is here. The command of that image and its arguments stay, and start another of
its programs where they name one."""

import os
import sys
from collections.abc import Sequence

from engines.local.apps import catalog
from engines.local.apps.install import UNREACHABLE, install
from engines.local.ports import VARIABLE


def main(argv: Sequence[str]) -> int:
    asked = catalog.asked(argv)
    app = asked.app
    os.environ["TOOLS_DOMAIN"] = asked.domain
    ports = (os.environ.get(name) for name in (app.variable, VARIABLE.format(app.port)))
    port = next(filter(None, ports), str(app.port))
    program, *more = app.program
    words = [*more, *app.arguments, f"{app.port_argument}{port}", *asked.given]
    path = str(asked.place / "bin" / program)
    if install(app, asked.place):
        os.execv(path, [path, *words])  # noqa: S606 -- no shell
    return UNREACHABLE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
