"""The commands of docs/slurm.md do what it says, from nothing to a cluster with a project."""

import re
import shlex
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from clusters.kinds.slurm.settings import SlurmSettings
from config.run.install import ROOT
from projects.models import Project
from tests.engines.slurm.rig import SlurmRig
from tests.factories import UserFactory
from tests.slurm_testbed import USER, as_root, machines

pytestmark = [pytest.mark.slurm, pytest.mark.django_db, pytest.mark.usefixtures("sent")]
BLOCK = re.compile(r"^```\n(.+?)^```$", re.MULTILINE | re.DOTALL)
HOST = "login.example.com"


def commands() -> list[str]:
    """Of its first section, one a line."""
    text = (ROOT / "docs/slurm.md").read_text().partition("## What a job looks like")[0]
    return "".join(BLOCK.findall(text.replace("\\\n", ""))).splitlines()


def test_the_commands_of_the_document_lead_to_a_cluster_with_a_project(
    rig: SlurmRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    UserFactory(administrator=True)
    ssh = rig.testbed.told["ssh"]
    users = rig.testbed.told["users"]
    account, folder, keygen, copy, scan, add, project = commands()
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
    Path("prologue.sh").write_text("export FROM_PROLOGUE=1\n")
    words = shlex.split(add.replace(HOST, ssh["host"]))
    words[words.index("--directory") + 1] = rig.site.directory
    more = [f"--ssh-port={ssh['port']}", f"--slurm-conf={conf}"]
    said = StringIO()
    call_command(*words[2:], *more, stdout=said)
    call_command(*shlex.split(project)[2:], stdout=said)
    assert "hpc: 4 nodes, 8 GPUs" in said.getvalue()
    cluster = Project.objects.select_related("cluster").get(name="vision").cluster
    assert (cluster.state, SlurmSettings.of(cluster).prologue) == (
        "Connected",
        "export FROM_PROLOGUE=1",
    )


def as_administrator(command: str, conf: str) -> str:
    """What it prints on the login machine, where its questions are answered with yes."""
    script = f"export SLURM_CONF={conf}; yes | {command} 2>&1 || true"
    return as_root(machines()["login"], "sh", "-c", script)
