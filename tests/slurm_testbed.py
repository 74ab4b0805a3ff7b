"""The Slurm that tests run on: the testbed that ``SLURM_TESTBED`` names, or one beside us."""

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
    """A running one, as ``slurm env`` tells of it."""

    told: dict[str, Any]

    __test__ = False

    @classmethod
    def running(cls) -> "Testbed | None":
        if not TOOL.exists() or run("status", check=False).returncode:
            return None
        return cls(json.loads(run("env").stdout))

    @property
    def directory(self) -> str:
        """Its own, for two of them may have the same home folders."""
        return f"{self.told['users'][USER]['home']}/trainyard-tests-{self.told['ssh']['port']}"

    def login(self, user: str = USER) -> Login:
        ssh, key = self.told["ssh"], Path(self.told["users"][user]["key_file"])
        return Login(
            host=ssh["host"],
            user=user,
            port=ssh["port"],
            key=key.read_text(),
            known_hosts=Path(ssh["known_hosts"]).read_text(),
        )

    def transport(self, user: str = USER) -> SshTransport:
        return connect(self.login(user), self.programs)

    @property
    def programs(self) -> SlurmPrograms:
        return SlurmPrograms(conf=self.told["slurm_conf"])

    def give_up(self, node: str) -> None:
        """Slurm learns at once that a node is gone; else it takes a minute to find out."""
        self.update(f"nodename={node}", "state=down", "reason=gone")

    def update(self, *words: str) -> None:
        """As an operator does it."""
        line = ["env", f"SLURM_CONF={self.programs.conf}", "scontrol", "update"]
        as_root(machines()["login"], *line, *words)


def machines() -> dict[str, str]:
    """The first process of each, by its name."""
    lines = [line.split() for line in run("status").stdout.splitlines()]
    rows = {line[0]: line[-1] for line in lines if line}
    return {
        name.removeprefix("machine-"): pid
        for name, pid in rows.items()
        if name.startswith("machine-")
    }


def as_root(pid: str, *words: str) -> str:
    """What a program prints on one of them."""
    line = ["nsenter", "--target", pid, "--mount", "--pid", "--root", *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def run(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(TOOL), *words], check=check, capture_output=True, text=True)
