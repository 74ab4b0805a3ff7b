"""The Slurm that tests run on: the testbed that ``SLURM_TESTBED`` names, or one next to the
repository."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.run.install import ROOT
from engines.slurm.client.ssh import Login, connect
from engines.slurm.client.transport import SlurmPrograms, SshTransport

TOOL = Path(os.environ.get("SLURM_TESTBED", ROOT.parent / "shared" / "slurm" / "slurm"))
USER = "trainyard"
NO_SLURM = "no Slurm to test on: make test-slurm starts one; see docs/slurm.md"


@dataclass(frozen=True)
class Testbed:
    """A running Slurm, as ``slurm env`` describes it."""

    told: dict[str, Any]

    __test__ = False

    @classmethod
    def running(cls) -> "Testbed | None":
        """Return the Slurm that runs, or ``None``."""
        if not TOOL.exists() or run("status", check=False).returncode:
            return None
        return cls(json.loads(run("env").stdout))

    @property
    def directory(self) -> str:
        """A folder of this cluster, because two clusters may have the same home folders."""
        return f"{self.told['users'][USER]['home']}/trainyard-tests-{self.told['ssh']['port']}"

    def login(self, user: str = USER) -> Login:
        """Return the login of a user at the login node."""
        ssh = self.told["ssh"]
        key = Path(self.told["users"][user]["key_file"])
        return Login(
            host=ssh["host"],
            user=user,
            port=ssh["port"],
            key=key.read_text(),
            known_hosts=Path(ssh["known_hosts"]).read_text(),
        )

    def transport(self, user: str = USER) -> SshTransport:
        """Return a connection of a user, by SSH."""
        return connect(self.login(user), self.programs)

    @property
    def programs(self) -> SlurmPrograms:
        return SlurmPrograms(conf=self.told["slurm_conf"])

    def give_up(self, node: str) -> None:
        """Tell Slurm that a node is gone, which it would notice only after a minute."""
        self.update(f"nodename={node}", "state=down", "reason=gone")

    def update(self, *words: str) -> None:
        """Run ``scontrol update`` as an operator."""
        line = ["env", f"SLURM_CONF={self.programs.conf}", "scontrol", "update"]
        as_root(machines()["login"], *line, *words)


def machines() -> dict[str, str]:
    """Return the pid of the first process of each machine, by the machine's name."""
    lines = [line.split() for line in run("status").stdout.splitlines()]
    rows = {line[0]: line[-1] for line in lines if line}
    return {
        name.removeprefix("machine-"): pid
        for name, pid in rows.items()
        if name.startswith("machine-")
    }


def as_root(pid: str, *words: str) -> str:
    """Run a program as root on a machine, given by its pid, and return what it prints."""
    line = ["nsenter", "--target", pid, "--mount", "--pid", "--root", *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def run(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a verb of the testbed."""
    return subprocess.run([str(TOOL), *words], check=check, capture_output=True, text=True)
