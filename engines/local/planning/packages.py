"""Find the packages that the programs of a workload need, and that this machine does not have."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from engines.local.apps.catalog import JAX, TENSORFLOW, XGBOOST, AppCommand, LocalApp, find_app
from engines.local.apps.install import is_installed
from engines.local.planning.lookup import Images, Lack, find_command, has_idle_workers
from engines.local.system.inherited import ROOT
from spec.framework import Framework
from spec.workload import Replica, WorkloadSpec

#: The module that programs of a framework import, and the app with its packages.
MODULES: dict[Framework, tuple[str, LocalApp]] = {
    Framework.TENSORFLOW: ("tensorflow", TENSORFLOW),
    Framework.XGBOOST: ("xgboost", XGBOOST),
    Framework.JAX: ("jax", JAX),
}
PYTHONS = frozenset({"python", "python3", Path(sys.executable).name})
#: Variables with which another Python runs, or one that finds other packages.
OTHER_PATHS = frozenset({"PATH", "PYTHONPATH", "PYTHONHOME"})


def lacking_packages(spec: WorkloadSpec, images: Images) -> Iterator[Lack]:
    """Yield each replica whose program needs packages that are not installed, with the command that
    installs them.

    Only what is certain is reported: nothing about a setup or a batch script, which may prepare
    anything, and of other programs only those that Trainyard's own Python runs.
    """
    if spec.setup or spec.batch_script:
        return
    for role in spec.described_roles:
        words = find_command(role.replica, images)
        if not words or (has_idle_workers(spec) and not role.leads):
            continue
        app_command = find_app(words)
        field = f"{role.path}.command" if role.replica.command else f"{role.path}.image"
        if app_command and not is_installed(app_command.folder):
            yield Lack(field, _app_message(app_command))
        elif not app_command and _runs_own_python(role.replica, words[0]):
            yield from _module_lacks(field, spec.distributed_framework)


def _app_message(command: AppCommand) -> str:
    app = command.app
    installer = [sys.executable, "-m", "engines.local.apps.install", app.slug, str(command.folder)]
    return (
        f"needs {app.label}, which is not installed on this machine; the command "
        f"{shlex.join(['env', f'PYTHONPATH={ROOT}', *installer])} installs it, or else the first "
        "start does"
    )


def _module_lacks(field: str, framework: Framework | None) -> Iterator[Lack]:
    if framework not in MODULES:
        return
    module, app = MODULES[framework]
    if find_spec(module) is None:
        pip = shlex.join([sys.executable, "-m", "pip", "install", *app.packages])
        yield Lack(
            field,
            f"is run by Trainyard's own Python, which has no {app.label}; the command {pip} "
            "installs it, or give the path of a Python that has it",
        )


def _runs_own_python(replica: Replica, program: str) -> bool:
    """Whether a program is the Python that runs Trainyard, with its packages."""
    if OTHER_PATHS & {variable.name for variable in replica.environment_variables}:
        return False
    if program == sys.executable:
        return True
    own_folder = str(Path(sys.executable).parent)  # the first in the PATH of every rank
    return program in PYTHONS and shutil.which(program, path=own_folder) is not None
