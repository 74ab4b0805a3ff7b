"""Install programs on first use, in the supervisor before the ranks start."""

import re
import sys
from dataclasses import dataclass

from engines.local.apps.catalog import Asked, LocalApp, asked_by
from engines.local.apps.install import BUSY, is_installed
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.system.errand import Errands
from engines.local.system.inherited import ROOT

COLLECTED = re.compile(r"^Collecting ", re.MULTILINE)
UNPACKING = re.compile(r"^Installing collected packages: (.+)$", re.MULTILINE)
WRONG = re.compile(r"^ERROR: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Installing:
    """The installations of one run."""

    errands: Errands
    plan: GangPlan

    def run(self, attempt: int) -> str:
        """Install what the ranks' programs need, with progress in their logs. Returns why something
        could not be installed; meaningless if the workload was stopped meanwhile."""
        for rank in self.plan.ranks:
            asked = asked_by(rank.argv)
            if asked and not is_installed(asked.place):
                said = self._install(asked, rank, attempt)
                if said or self.errands.is_over():
                    return said
        return ""

    def _install(self, asked: Asked, rank: RankPlan, attempt: int) -> str:
        code, said = self.errands.do(
            [sys.executable, "-m", "engines.local.apps.install", asked.app.slug, str(asked.place)],
            log=self.errands.folder.log(self.plan.run, rank.rank, attempt),
            variables={**self.plan.base, **rank.variables, **rank.secrets, "PYTHONPATH": str(ROOT)},
            stage=lambda said: progress(asked.app, said),
        )
        return _trouble(asked, said) if code else ""


def progress(app: LocalApp, said: str) -> str:
    """Progress in words, from pip's output."""
    begin = f"Installing {app.label}, once for all workloads of this machine"
    if unpacking := UNPACKING.findall(said):
        return f"{begin}: unpacking {unpacking[-1].count(',') + 1} packages."
    if packages := len(COLLECTED.findall(said)):
        return f"{begin}: {packages} packages found."
    if said.strip().endswith(BUSY):
        return f"Waiting until another workload has installed {app.label}."
    return f"{begin}: creating its environment."


def _trouble(asked: Asked, said: str) -> str:
    wrong = WRONG.findall(said)
    why = f" pip: {wrong[-1].rstrip('.')}." if wrong else ""
    return (
        f"{asked.app.label} could not be installed. Check that this machine reaches PyPI or a "
        f"package index that pip knows, then run it again. The log says how to install it by hand."
        f"{why}"
    )
