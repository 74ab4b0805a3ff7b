"""Where people submit under their own names, jobs are theirs, and Trainyard's user looks on."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from engines.base import EngineRefused, EngineUnavailable, Launch
from engines.findings import Level
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from engines.slurm.cluster.checks import check_limits, check_privacy
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.queue.commands import sacct, squeue
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.script import render
from engines.slurm.script.site import SlurmSite
from spec.phases import Phase
from spec.values.variable import CredentialKey, EnvironmentVariable
from tests.engines.contract import launch
from tests.engines.reading import printed
from tests.engines.slurm import cases
from tests.engines.slurm.rig import SlurmRig
from tests.engines.terminal import opened, until_end
from tests.slurm_testbed import Testbed
from tests.waiting import wait_for

FIRST = datetime(2020, 1, 1, tzinfo=UTC)


class OwnNamesRig(SlurmRig):
    """Alice submits; ``onlooker`` is the engine that has nobody's key."""

    def __init__(self, testbed: Testbed) -> None:
        super().__init__(testbed)
        place = f"/tmp/trainyard-own-{testbed.told['ssh']['port']}"
        self.site = SlurmSite(place, own_names=True)
        files.run_program(self.transport, 'mkdir -p "$1/workloads"', place)
        self.alice = testbed.transport("alice")
        self.onlooker = SlurmEngine(self.transport, self.site, interval=0.5)
        self.engine = self.onlooker.acting(self.alice)

    def queue(self, name: str) -> list[BatchJob]:
        """As the watch asks for it."""
        return squeue(self.transport, names=[name], owners_in=self.site.directory)

    def accounted(self, name: str) -> list[BatchJob]:
        return sacct(self.transport, [name], since=FIRST, owners_in=self.site.directory)

    def clean(self) -> None:
        files.run_program(
            self.alice, 'scancel --user=alice; rm -rf "$1"/workloads/*', self.site.directory
        )
        super().clean()


@pytest.fixture
def rig(testbed: Testbed) -> Iterator[OwnNamesRig]:
    found = OwnNamesRig(testbed)
    yield found
    found.clean()


def folder(rig: SlurmRig, launched: Launch) -> str:
    return SharedFolder(rig.site.directory, launched.handle.workload_id).path


def with_secret(launched: Launch) -> Launch:
    key = CredentialKey(asset_id=cases.CREDENTIAL, name="hub", key="token")
    variables = (EnvironmentVariable(name="TOKEN", credential=key),)
    worker = launched.spec.worker.model_copy(update={"environment_variables": variables})
    spec = launched.spec.model_copy(update={"worker": worker})
    return replace(launched, spec=spec, secrets={cases.CREDENTIAL: {"token": "hunter2"}})


def test_jobs_that_are_private_may_be_hidden_from_trainyard() -> None:
    report = {"config": ["PrivateData             = jobs,usage"]}
    (finding,) = check_privacy(SlurmSite("/shared", own_names=True), report)
    assert "adminlevel=operator" in finding.text
    (fine,) = check_privacy(SlurmSite("/shared"), report)
    assert (finding.level, fine.level) == (Level.WARNING, Level.OK)
    assert not list(check_privacy(SlurmSite("/shared"), {}))


@pytest.mark.slurm
def test_a_job_is_of_who_submitted_it_and_trainyard_sees_it_end(rig: OwnNamesRig) -> None:
    launched = rig.submit(rig.shell("echo $(id -un); sleep 1"))
    seen: list[Any] = []
    watch = rig.onlooker.watch()
    wait_for(lambda: _ended(seen, next(watch)), 60, "it to end")
    watch.close()
    assert printed(rig.onlooker, launched, 1) == b"alice\n"


def _ended(seen: list[Any], latest: Any) -> bool:
    seen.append(latest)
    return any(it is not None and it.phase is Phase.COMPLETED for it in seen)


@pytest.mark.slurm
def test_files_of_a_person_are_hidden_from_others_and_secrets_from_trainyard(
    rig: OwnNamesRig,
) -> None:
    launched = rig.submit(with_secret(rig.endless()))
    rig.seen(launched, Phase.RUNNING)
    run = f"{folder(rig, launched)}/runs/1"
    read = 'cat "$1"'
    bob = rig.testbed.transport("bob")
    for name in ("launch", "environment.sh"):
        assert files.run_program(bob, read, f"{run}/{name}").code, name
    assert files.run_program(bob, 'ls "$1"', f"{rig.site.directory}/workloads").code
    assert files.run_program(rig.transport, read, f"{run}/launch").code == 0
    assert files.run_program(rig.transport, read, f"{run}/environment.sh").code
    assert "hunter2" in files.run_program(rig.alice, read, f"{run}/environment.sh").out


@pytest.mark.slurm
def test_only_its_owner_ends_and_enters_it(rig: OwnNamesRig) -> None:
    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    with pytest.raises(EngineUnavailable, match="someone's own"):
        rig.onlooker.stop(launched.handle, run=1)
    with pytest.raises(EngineUnavailable, match="someone's own"):
        rig.onlooker.delete(launched.handle)
    for ask in (
        lambda: rig.onlooker.submit(launched),
        lambda: rig.onlooker.exec(launched.handle, rank=0, argv=["id"]),
    ):
        with pytest.raises(EngineRefused, match="own names"):
            ask()
    with opened(rig, launched, "id -un", rank=1) as session:
        assert b"alice" in until_end(session)
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    rig.engine.delete(launched.handle)
    assert files.run_program(rig.alice, 'test -e "$1"', folder(rig, launched)).code


def test_people_need_the_accounts_and_trainyards_user_does_not() -> None:
    site = SlurmSite("/shared", account="vision", accounts={"physics": "no"}, own_names=True)
    report = {"own": ["speech|normal"], "limit": ["vision|gres/gpu=6", "speech|"]}
    found = {it.name: (it.level, it.text) for it in check_limits(site, report)}
    assert found.keys() == {"Account vision", "Account no"}
    assert found["Account vision"][0] is Level.OK
    assert found["Account vision"][1].startswith("6 GPUs at once. Each person needs")
    assert found["Account no"][0] is Level.ISSUE


@pytest.mark.slurm
def test_a_job_writes_down_what_it_uses_for_who_may_not_ask(
    rig: OwnNamesRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "SAMPLE_SECONDS", 1.0)
    rig.onlooker._usage.every = 1.0
    launched = rig.submit(
        rig.shell('x=$(head -c 40000000 /dev/zero | tr "\\0" a); while :; do :; done')
    )
    watch = rig.onlooker.watch()

    def both() -> bool:
        next(watch)
        rig.onlooker.news()
        samples = rig.onlooker.usage(launched.handle, run=1, after=None)
        return {it.rank for it in samples if it.cpu and (it.memory or 0) > 30e6} == {0, 1}

    wait_for(both, 60, "a sample of both ranks", every=0.2)
    watch.close()


@pytest.mark.slurm
def test_a_link_shows_its_maker_nothing_that_trainyard_can_read(rig: OwnNamesRig) -> None:
    file = f"{rig.site.directory}/of-trainyard"
    files.run_program(rig.transport, 'umask 077; echo private > "$1"', file)
    script = f"ln -sf {file} $PWD/../../runs/1/attempt-0/rank-1.log; sleep 1"
    launched = rig.submit(rig.shell(script))
    rig.over(launched)
    assert b"private" not in printed(rig.onlooker, launched, 1)


@pytest.mark.slurm
def test_another_users_job_with_our_name_is_ignored(rig: OwnNamesRig) -> None:
    launched = rig.submit(rig.of_all_cores("exec sleep 600"))
    name = job_name(launched.handle.workload_id, 1)
    run = f"{folder(rig, launched)}/runs/1"
    rig.seen(launched, Phase.RUNNING)
    bob = rig.testbed.transport("bob")
    theirs = ["sbatch", f"--job-name={name}", "--account=speech", "--output=/dev/null"]
    answer = bob.run([*theirs, "--parsable", "--wrap=sleep 600"])
    assert answer.code == 0, answer
    try:
        (ours,) = rig.queue(name)
        files.run_program(rig.alice, 'scancel --name="$1"', name)
        wait_for(lambda: all(it.is_over for it in rig.queue(name)), 60, "ours to end")
        files.run_program(
            rig.alice, 'cd "$1" && rm -f job claim finished ended', run
        )  # nobody knows of it
        wait_for(lambda: _is_running(bob, answer.out.strip()), 30, "the other to run")
        assert rig.onlooker.observe(launched.handle) is None  # and by its name alone it would be
        assert {it.id for it in rig.queue(name)} == {ours.id}
        kept = wait_for(lambda: rig.accounted(name), 30, "accounting to have it", every=0.5)
        assert {it.id for it in kept} == {ours.id}
    finally:
        bob.run(["scancel", f"--name={name}"])


def _is_running(transport: Transport, job: str) -> bool:
    return transport.run(["squeue", "-h", f"--jobs={job}", "--format=%T"]).out.strip() == "RUNNING"


@pytest.mark.slurm
def test_a_strict_umask_hides_no_log_from_trainyard(rig: OwnNamesRig) -> None:
    text = """#!/bin/bash
#SBATCH --ntasks=2
umask 077
export SLURM_UMASK=0077
srun sh -c 'umask; echo rank $SLURM_PROCID'
"""
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert printed(rig.onlooker, launched, 1) == b"0077\nrank 1\n"
