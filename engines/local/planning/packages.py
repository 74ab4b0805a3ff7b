"""Find the packages that the programs of a workload need, and that this machine does not have."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from engines.local.apps.catalog import JAX, TENSORFLOW, XGBOOST, AppCommand, LocalApp, find_app
from engines.local.apps.install import is_installed
from engines.local.planning.lookup import Lack, Programs, find_command, has_idle_workers
from engines.local.system.inherited import OWN_PYTHON, ROOT
from spec.framework import Framework
from spec.workload import Replica, WorkloadSpec

#: The module that programs of a framework import, and the app with its packages.
MODULES: dict[Framework, tuple[str, LocalApp]] = {
    Framework.TENSORFLOW: ("tensorflow", TENSORFLOW),
    Framework.XGBOOST: ("xgboost", XGBOOST),
    Framework.JAX: ("jax", JAX),
}
PYTHONS = frozenset({"python", "python3"})
#: Variables with which another Python runs, or one that finds other packages.
OTHER_PATHS = frozenset({"PATH", "PYTHONPATH", "PYTHONHOME"})


def lacking_packages(spec: WorkloadSpec, programs: Programs) -> Iterator[Lack]:
    """Yield each replica whose program needs packages that are not installed, with the command that
    installs them.

    Only what is certain is reported: nothing about a setup or a batch script, which may prepare
    anything, and of other programs only those that the Python of the ranks runs.
    """
    if spec.setup or spec.batch_script:
        return
    for role in spec.described_roles:
        words = find_command(role.replica, programs)
        if not words or (has_idle_workers(spec) and not role.leads):
            continue
        app_command = find_app(words)
        field = f"{role.path}.command" if role.replica.command else f"{role.path}.image"
        if app_command and not is_installed(app_command.folder):
            yield Lack(field, _app_message(app_command))
        elif not app_command and _runs_known_python(role.replica, words[0], programs.python):
            yield from _module_lacks(field, spec.distributed_framework, programs.python)


def _app_message(command: AppCommand) -> str:
    app = command.app
    installer = [sys.executable, "-m", "engines.local.apps.install", app.slug, str(command.folder)]
    return (
        f"needs {app.label}, which is not installed on this machine; the command "
        f"{shlex.join(['env', f'PYTHONPATH={ROOT}', *installer])} installs it, or else the first "
        "start does"
    )


def _module_lacks(field: str, framework: Framework | None, python: Path) -> Iterator[Lack]:
    if framework not in MODULES:
        return
    module, app = MODULES[framework]
    if not _has_module(python, module):
        pip = shlex.join([str(python), "-m", "pip", "install", *app.packages])
        yield Lack(
            field,
            f"is run by {python}, which has no {app.label}; the command {pip} "
            "installs it, or give the path of a Python that has it",
        )


def _has_module(python: Path, module: str) -> bool:
    """Whether a package is installed where a Python looks by itself."""
    if python == OWN_PYTHON:
        return find_spec(module) is not None
    return any(python.parent.parent.glob(f"lib/python3*/site-packages/{module}"))


def _runs_known_python(replica: Replica, program: str, python: Path) -> bool:
    """Whether a program is the Python that ranks find by that name, with its packages."""
    if OTHER_PATHS & {variable.name for variable in replica.environment_variables}:
        return False
    if program == str(python):
        return True
    first_folder = str(python.parent)  # of the PATH of every rank
    has_name = program in {*PYTHONS, python.name}
    return has_name and shutil.which(program, path=first_folder) is not None
