"""``python -m bench.api.web`` is the web process as the product starts it, with the bare view among
its addresses."""

import os

from config.run.__main__ import read_address
from config.run.programs import table as programs

if __name__ == "__main__":
    from config import settings

    address = read_address()
    ours = {"DJANGO_SETTINGS_MODULE": "bench.api.settings"}
    os.environ |= programs.build_environment(settings.HOME, address) | ours
    (settings.HOME / "run").mkdir(exist_ok=True)
    argv = programs.web_program(address).argv
    os.execv(argv[0], argv)  # noqa: S606 -- no shell, and the program is our own
