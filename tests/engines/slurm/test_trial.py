"""The connection test runs a job of one task, and each finding says what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from engines.findings import Finding, Level
from engines.slurm.client import files
from engines.slurm.cluster import trial
from engines.slurm.cluster.trial import CONTAINERS, UNKNOWN
from engines.slurm.engine import SlurmEngine
from engines.slurm.script.site import SlurmSite
from tests.e2e import hpc
from tests.engines.slurm.rig import SlurmRig
from tests.slurm_testbed import as_root, machines

pytestmark = pytest.mark.slurm
BARE = 'mkdir "$1" && cd "$1" && ln -s "$(command -v mv)" mv && touch activate && chmod 0 activate'


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes longer to start a job than people want to wait for one."""
    monkeypatch.setattr(trial, "PATIENCE", 90.0)


def tried(rig: SlurmRig, site: SlurmSite) -> dict[str, Finding]:
    """Of a node, by their names."""
    return {it.name: it for it in trial.try_job(rig.transport, site)}


def test_a_node_tells_that_it_reaches_directory_and_interpreter(rig: SlurmRig) -> None:
    found = tried(rig, replace(rig.site, prologue=hpc.prologue()))
    assert re.fullmatch(r"Job \d+ was accepted", found["Jobs"].text)
    assert re.fullmatch(r"n\d reads and writes it", found["Shared directory"].text)
    folder = hpc.prologue().partition("=")[2].partition(":")[0]
    assert re.fullmatch(rf"Python 3\.\d+\.\d+ at {folder}/python", found["Python"].text)
    assert re.fullmatch(rf"2\.\d+\.\S+|{UNKNOWN}", found["PyTorch"].text)
    assert trial.VOLUMES in found  # some releases of the tests allow mounts
    assert found[CONTAINERS].text.startswith("Neither pyxis nor apptainer on n")
    assert {it.level for it in found.values()} <= {Level.OK, Level.WARNING}  # git may be missing
    assert rig.transport.run(["ls", rig.site.directory]).out.split() == ["workloads"]


def test_a_missing_interpreter_is_reported_with_the_prologues_output(
    rig: SlurmRig,
) -> None:
    """A virtual environment that is somebody's own, where there is no other."""
    place = f"{rig.site.directory}/bare"
    files.output_of(files.run_program(rig.transport, BARE, place), place)
    site = replace(rig.site, prologue=f"export PATH={place}\n. {place}/activate")
    found = tried(rig, site)
    assert found["Prologue"].level is Level.WARNING
    assert "Permission denied" in found["Prologue"].text
    assert "The scripts of jobs need it there" in found["srun"].text
    assert found[trial.VOLUMES].level is Level.WARNING
    assert "it has no python3" in found[trial.VOLUMES].text
    assert "Name one in the prologue, such as: module load python" in found["Python"].text


def test_a_directory_that_nodes_do_not_share_is_missing(rig: SlurmRig) -> None:
    folder = f"{rig.site.directory}-login"
    with on_the_login_node_alone(rig, folder):
        found = tried(rig, replace(rig.site, directory=folder))
    assert found.keys() == {"Jobs", "Shared directory"}
    assert found["Shared directory"].level is Level.MISSING
    assert f"and wrote nothing to {folder}" in found["Shared directory"].text
    assert "must be the same on login node and nodes" in found["Shared directory"].text


@contextmanager
def on_the_login_node_alone(rig: SlurmRig, folder: str) -> Iterator[None]:
    """Nodes have an empty one at the same path."""
    login = machines()["login"]
    rig.transport.run(["mkdir", "-p", folder])
    as_root(login, "mount", "-t", "tmpfs", "-o", "mode=1777,size=1m", "none", folder)
    try:
        yield
    finally:
        as_root(login, "umount", folder)
        rig.transport.run(["rm", "-rf", folder])


def test_a_job_that_slurm_refuses_or_keeps_waiting_is_told(
    rig: SlurmRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = tried(rig, replace(rig.site, partition="nowhere"))
    assert refused.keys() == {"Jobs"}
    assert refused["Jobs"].level is Level.MISSING
    assert "invalid partition" in refused["Jobs"].text
    assert "Check account and partition." in refused["Jobs"].text
    monkeypatch.setattr(trial, "PATIENCE", 0.0)
    private = tried(rig, replace(rig.site, partition="private", account="vision"))
    assert private["Test job"].level is Level.WARNING
    assert "waited too long" in private["Test job"].text
    left = rig.transport.run(["squeue", "--noheader", "--me", f"--name={trial.NAME}"])
    assert left.out == ""


def test_a_slow_prologue_is_told_and_what_was_known_stays(
    rig: SlurmRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "RUN_PATIENCE", 1.0)
    known = (
        Finding(trial.NODES, "Python", Level.OK, "Python 3.11.2"),
        Finding(trial.NODES, trial.TEST_JOB, Level.WARNING, "of an earlier time"),
    )
    site = replace(rig.site, prologue="sleep 60")
    found = {it.name: it for it in trial.try_job(rig.transport, site, known)}
    pattern = r"The test job \d+ ran for \d+ s on n\d and was still in the prologue, .+"
    assert re.fullmatch(pattern, found[trial.TEST_JOB].text)
    assert found["Shared directory"].level is Level.OK
    assert found["Python"].text == "Python 3.11.2"


def test_a_prologue_may_take_longer_than_a_queue(
    rig: SlurmRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "PATIENCE", 10.0)
    found = tried(rig, replace(rig.site, prologue="sleep 11"))
    assert found["Python"].name == "Python"


def test_the_partitions_and_priorities_that_there_are_are_listed(rig: SlurmRig) -> None:
    engine = SlurmEngine(rig.transport, rig.site)
    found = {it.name: it for it in engine.check()}
    assert found["gpu"].text.startswith("The default. 4 nodes with 4 cores, 8.39 GB and 2 GPUs (")
    assert found["debug"].text.endswith("A job may have 5 min, 1 node.")
    assert found["private"].text.endswith("Only for speech.")
    assert found["QOS"].text.startswith("capped, high, low, normal.")
