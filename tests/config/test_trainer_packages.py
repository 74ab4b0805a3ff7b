"""Web, worker and command line run without the packages of the trainer."""

import subprocess
import sys

import pytest

from config.run.install import ROOT

#: A program imports its modules while the packages of the extra ``trainer`` cannot be imported.
PROGRAM = """
import sys
sys.modules.update(dict.fromkeys(("numpy", "scipy", "sklearn", "torch")))
{imports}
"""
#: Web and worker import mostly the same, which takes seconds.
PROGRAMS = {
    "web and worker": "import config.asgi, config.urls, config.celery;"
    "config.celery.app.loader.import_default_modules()",
    "command line": "import trainyard_cli.__main__",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_starts_without_the_packages_of_the_trainer(name: str) -> None:
    program = PROGRAM.format(imports=PROGRAMS[name])
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
