"""Starts a Trainyard with one project on a Slurm cluster whose nodes are all taken: jobs wait, and
nothing happens but what is measured."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engines.slurm.client.transport import LocalTransport
from tests.product import Trainyard
from tests.rest import Rest
from tests.slurm_testbed import USER, Testbed, run
from tests.waiting import wait_for

CLEAN = 'scancel --user="$(id -un)"; rm -rf "$0"'
SHAPE = ("--ntasks=4", "--cpus-per-task=4")  # all cores of the cluster
WORKLOAD = {"command": "sleep 600", "image": "none", "compute": {"cpuCoreRequest": 4}}


@dataclass(frozen=True)
class SlurmBench:
    """A running Trainyard and the Slurm cluster that it uses."""

    trainyard: Trainyard
    testbed: Testbed

    def rest(self) -> Rest:
        """Return a caller of the API that submits to the project."""
        return Rest(self.trainyard, "bench")

    def waiting(self, start: str) -> int:
        """Count the user's pending jobs whose names begin with ``start``."""
        words = ["squeue", "--noheader", f"--user={USER}", "--states=PENDING", "--format=%j"]
        answer = LocalTransport(self.testbed.programs).run(words)
        return sum(name.startswith(start) for name in answer.out.split())


def as_user(*words: str, user: str = USER) -> str:
    """Run a command on the cluster as one of its users, and return its output."""
    return run("as", user, *words).stdout


@contextmanager
def place() -> Iterator[SlurmBench]:
    """Start Trainyard and take all nodes. After the block, stop it and cancel the user's jobs."""
    testbed = Testbed.running()
    if testbed is None:
        raise RuntimeError("no Slurm runs")
    directory = f"{testbed.told['users'][USER]['home']}/trainyard-bench"
    with tempfile.TemporaryDirectory() as home:
        trainyard = Trainyard(Path(home), TRAINYARD_DEMO="0", TRAINYARD_LOCAL_ENGINE="off")
        trainyard.start()
        try:
            _connect(trainyard, testbed, directory, Path(home))
            as_user("sbatch", *SHAPE, "--wrap=srun sleep 3600")
            busy = ("squeue", "--noheader", "--me", "--states=RUNNING")
            wait_for(lambda: as_user(*busy).strip(), 60, "the nodes to be taken", every=0.2)
            yield SlurmBench(trainyard, testbed)
        finally:
            trainyard.stop()
            as_user("sh", "-c", CLEAN, directory)


def _connect(trainyard: Trainyard, testbed: Testbed, directory: str, home: Path) -> None:
    login = testbed.login()
    files = {"private-key": login.key, "known-hosts": login.known_hosts}
    for name, text in files.items():
        (home / name).write_text(text)
    words = {name: str(home / name) for name in files}
    words |= {"login-node": login.host, "ssh-port": str(login.port), "login-user": login.user}
    words |= {"directory": directory, "slurm-conf": testbed.programs.conf}
    options = [f"--{name}={value}" for name, value in words.items()]
    trainyard.manage("add_cluster", "bench", "--kind", "slurm", *options)
    trainyard.manage("add_project", "bench", "--cluster", "bench")
