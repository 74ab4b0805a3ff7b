"""The commands of docs/slurm.md do what it says, from nothing to a first training."""

import re
import shlex
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from clusters.connections import engine_for
from clusters.kinds.slurm.settings import SlurmSettings
from config.run.install import ROOT
from projects.models import Project
from spec.phases import ENDED
from tests.engines.slurm.rig import SlurmRig
from tests.factories import PASSWORD, UserFactory, add_members
from tests.slurm_testbed import USER, as_root, machines
from tests.trainyard_cli.terminal import Terminal
from tests.waiting import wait_for
from workloads import logs
from workloads.models import Workload
from workloads.worker import collect, dispatch, monitor

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("sent", "valkey"),
]
BLOCK = re.compile(r"^```\n(.+?)^```$", re.MULTILINE | re.DOTALL)
HOST = "login.example.com"
TRAINYARD = ".venv/bin/trainyard "


def commands() -> list[str]:
    """Of its first section, one a line."""
    text = (ROOT / "docs/slurm.md").read_text().partition("## What a job looks like")[0]
    return "".join(BLOCK.findall(text.replace("\\\n", ""))).splitlines()


def test_the_commands_of_the_document_lead_to_a_first_training(
    rig: SlurmRig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    live_server: LiveServer,
    settings: Settings,
) -> None:
    settings.LOG_STORE = tmp_path / "logs"
    admin = UserFactory(administrator=True)
    ssh = rig.testbed.told["ssh"]
    users = rig.testbed.told["users"]
    account, folder, keygen, copy, scan, venv, install, trainer, *rest = commands()
    activate, path, add, project, _, submit, follow = rest
    monkeypatch.chdir(tmp_path)
    conf = rig.testbed.programs.conf
    assert re.search("Nothing (new )?added", as_administrator(account, conf))  # the user is there
    as_administrator(folder.replace("/shared/trainyard", rig.site.directory), conf)
    subprocess.run(shlex.split(keygen), check=True, capture_output=True)
    assert copy == f"ssh-copy-id -i trainyard.key.pub {USER}@{HOST}"
    Path("trainyard.key").write_text(Path(users[USER]["key_file"]).read_text())  # who knows it
    program = shlex.split(scan)[0]
    target = shlex.split(scan)[-1]
    asked = [program, "-p", str(ssh["port"]), ssh["host"]]
    Path(target).write_bytes(subprocess.run(asked, check=True, capture_output=True).stdout)
    # The nodes share this machine's environment, and the folder of the trainer.
    assert venv == "python3 -m venv /shared/venv"
    assert install.startswith("/shared/venv/bin/pip install")
    assert trainer == f"scp -r trainer {USER}@{HOST}:/shared/"
    prologue = [activate.replace("/shared/venv", sys.prefix), path.replace("/shared", str(ROOT))]
    Path("prologue.sh").write_text("\n".join(prologue))
    words = shlex.split(add.replace(HOST, ssh["host"]))
    words[words.index("--directory") + 1] = rig.site.directory
    more = [f"--ssh-port={ssh['port']}", f"--slurm-conf={conf}"]
    said = StringIO()
    call_command(*words[2:], *more, stdout=said)
    call_command(*shlex.split(project)[2:], stdout=said)
    assert "hpc: 4 nodes, 8 GPUs" in said.getvalue()
    made = Project.objects.select_related("cluster").get(name="vision")
    add_members(made, admin)
    cluster = made.cluster
    assert cluster.state == "Connected"
    assert SlurmSettings.of(cluster).prologue == Path("prologue.sh").read_text()

    terminal = Terminal(live_server.url, tmp_path / "trainyard.json")
    terminal.sign_in(admin.username, PASSWORD)
    terminal(submit.removeprefix(TRAINYARD))
    workload = Workload.objects.get(name="first")
    dispatch.hand_over(cluster)

    def ended() -> bool:
        if shown := engine_for(cluster).observe(workload.handle):
            monitor.apply_observation(shown)
        workload.refresh_from_db()
        return workload.phase in ENDED

    wait_for(ended, 120, "the first training", every=0.5)

    def collected() -> bool:
        workload.refresh_from_db()
        deadline = time.monotonic() + 20
        collect.collect_workload(engine_for(cluster), workload, deadline, last=True)
        return workload.is_settled

    wait_for(collected, 60, "all output", every=0.5)
    assert follow == f"{TRAINYARD}logs first --project vision --follow"
    log = logs.read_output(logs.Stream(workload.pk, 1, 0, 0), 0, 100_000)
    assert (workload.phase, workload.message) == ("Completed", ""), log
    assert b"Test accuracy: 0." in log


def as_administrator(command: str, conf: str) -> str:
    """What it prints on the login machine, where its questions are answered with yes."""
    script = f"export SLURM_CONF={conf}; yes | {command} 2>&1 || true"
    return as_root(machines()["login"], "sh", "-c", script)
