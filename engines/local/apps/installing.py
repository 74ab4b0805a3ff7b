"""Install programs on first use, in the supervisor before the ranks start."""

import re
import sys
from dataclasses import dataclass

from engines.local.apps.catalog import AppCommand, LocalApp, find_app
from engines.local.apps.install import BUSY, is_installed
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.system.errand import Errands
from engines.local.system.inherited import ROOT

COLLECTING = re.compile(r"^Collecting ", re.MULTILINE)
UNPACKING = re.compile(r"^Installing collected packages: (.+)$", re.MULTILINE)
PIP_ERROR = re.compile(r"^ERROR: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class AppInstallation:
    """Installs the apps of one run."""

    errands: Errands
    plan: GangPlan

    def run(self, attempt: int) -> str:
        """Install the apps that the ranks start, with progress in their logs.

        Returns why one could not be installed, or an empty string. The result means nothing if the
        workload was stopped meanwhile.
        """
        for rank in self.plan.ranks:
            command = find_app(rank.argv)
            if command and not is_installed(command.folder):
                error = self._install(command, rank, attempt)
                if error or self.errands.must_stop():
                    return error
        return ""

    def _install(self, command: AppCommand, rank: RankPlan, attempt: int) -> str:
        app = command.app
        code, output = self.errands.run(
            [sys.executable, "-m", "engines.local.apps.install", app.slug, str(command.folder)],
            log=self.errands.folder.log(self.plan.run, rank.rank, attempt),
            variables={**self.plan.base, **rank.variables, **rank.secrets, "PYTHONPATH": str(ROOT)},
            describe_progress=lambda output: describe_progress(app, output),
        )
        return _describe_failure(app, output) if code else ""


def describe_progress(app: LocalApp, output: str) -> str:
    """Return in words how far an installation is, according to pip's output."""
    beginning = f"Installing {app.label}, once for all workloads of this machine"
    unpacking = UNPACKING.findall(output)
    if unpacking:
        return f"{beginning}: unpacking {unpacking[-1].count(',') + 1} packages."
    package_count = len(COLLECTING.findall(output))
    if package_count:
        return f"{beginning}: {package_count} packages found."
    if output.strip().endswith(BUSY):
        return f"Waiting until another workload has installed {app.label}."
    return f"{beginning}: creating its environment."


def _describe_failure(app: LocalApp, output: str) -> str:
    errors = PIP_ERROR.findall(output)
    last_error = f" pip: {errors[-1].rstrip('.')}." if errors else ""
    return (
        f"{app.label} could not be installed. Check that this machine reaches PyPI or a "
        f"package index that pip knows, then run it again. The log says how to install it by hand."
        f"{last_error}"
    )
