"""Repositories and buckets come to the shared directory before the ranks start, or it is said why
not. The script that brings them is what a job runs; here bash runs it, and at the end Slurm."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from engines.base import Launch
from engines.slurm.client.courier import NEW
from engines.slurm.client.files import pack_files
from engines.slurm.client.programs import SUBMIT
from engines.slurm.engine import SlurmEngine
from engines.slurm.script.render import manifests, render_files
from engines.slurm.script.site import SlurmSite
from spec.data.storage import Storage
from spec.phases import Phase, Reason
from tests.e2e import hpc
from tests.engines.contract import launch
from tests.engines.local import buckets, forges
from tests.engines.local.buckets import Store
from tests.engines.reading import printed
from tests.engines.slurm import cases
from tests.engines.slurm.rig import SlurmRig

#: Folders of programs, that of ``aws`` first.
PATH = f"{Path(sys.executable).parent}:/usr/bin:/bin"
OBJECTS = {"train/a b.txt": b"one\n", "c+d": b"two\n", "train/": b""}


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with buckets.store(OBJECTS) as found:
        yield found


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forge")
    forges.make_repository(folder / "code")
    return folder


def reading(launched: Launch, values: dict[str, str] | None = None, **storage: Any) -> Launch:
    """With data sources, which a credential opens where it has values."""
    pk = uuid4()
    for item in (it for many in storage.values() for it in many):
        item |= {"credential": {"assetId": str(pk), "name": "mine"}} if values else {}
    found = Storage.model_validate(storage)
    worker = launched.spec.worker.model_copy(update={"storage": found})
    spec = launched.spec.model_copy(update={"worker": worker})
    return replace(launched, spec=spec, secrets={pk: values or {}})


def fetched(folder: Path, launched: Launch, *, path: str = PATH) -> tuple[Path, str]:
    """The folder of its run after the script ran there, and what that printed. ``path`` lists the
    folders of the node's programs."""
    folder.mkdir(exist_ok=True)
    words = ["sh", "-c", SUBMIT.replace("sbatch --parsable", "echo 1; true"), "sh"]
    words += [str(folder), "077", "workloads/w", "1", NEW]
    contents = {
        f"workloads/w/runs/1/{name}": text
        for name, text in render_files(launched, SlurmSite(str(folder))).items()
    }
    subprocess.run(words, input=pack_files(contents), check=True, capture_output=True)
    run = folder / "workloads/w/runs/1"
    line = ["/bin/bash", str(run / "fetch.sh")]
    done = subprocess.run(line, capture_output=True, text=True, env=environment(run, path))
    assert done.stderr == ""
    return run, done.stdout


def environment(run: Path, path: str = PATH) -> dict[str, str]:
    """Git takes any certificate: those of servers here are signed by nobody."""
    own = {"BELL": str(run / "bell"), "HOME": str(run)}
    return {"PATH": path, "GIT_SSL_NO_VERIFY": "1"} | own


def test_a_repository_is_there_in_the_revision_that_is_named(tmp_path: Path, code: Path) -> None:
    with forges.web(code, "ada:s3cret'x") as address:
        source = {"repository": f"{address}/code/.git", "path": "/code", "revision": "v1"}
        secret = {"User": "ada", "Password": "s3cret'x"}
        run, said = fetched(tmp_path, reading(launch("true"), secret, git=[source]))
    assert (run / "volumes/0/version").read_text() == "1\n"
    assert said.startswith(f"Fetched {address}/code/.git for /code (")
    assert oct((run / "keys/0.sh").stat().st_mode)[-3:] == "600"


def test_a_password_follows_a_redirect_to_https_on_the_same_server(
    tmp_path: Path, code: Path
) -> None:
    with forges.redirecting(code, "ada:pass-w0rd", tmp_path) as address:
        source = {"repository": f"{address}/code/.git", "path": "/code"}
        secret = {"User": "ada", "Password": "pass-w0rd"}
        run, said = fetched(tmp_path, reading(launch("true"), secret, git=[source]))
    assert (run / "volumes/0/version").read_text() == "2\n", said


def test_a_key_opens_a_repository_by_ssh_on_the_hosts_it_trusts(tmp_path: Path, code: Path) -> None:
    with forges.ssh(tmp_path, code / "code") as forge:
        source = {"repository": forge.repository, "path": "/code", "branch": "main"}
        good = {"ssh": forge.key, "known_hosts": forge.known}
        run, said = fetched(tmp_path / "good", reading(launch("true"), good, git=[dict(source)]))
        assert (run / "volumes/0/version").read_text() == "2\n", said
        other = forge.known.replace("AAAAC3NzaC1lZDI1NTE5AAAAI", "AAAAC3NzaC1lZDI1NTE5AAAAJ")
        run, said = fetched(
            tmp_path / "bad",
            reading(launch("true"), good | {"known_hosts": other}, git=[dict(source)]),
        )
    assert "Host key verification failed" in said
    assert not (run / "volumes/0").exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"branch": "nobody"}, "nobody not found"), ({"revision": "f00"}, "'f00' did not match")],
)
def test_a_repository_that_cannot_be_fetched_says_why(
    tmp_path: Path, code: Path, wrong: dict[str, str], said: str
) -> None:
    with forges.web(code) as address:
        source = {"repository": f"{address}/code/.git", "path": "/code", **wrong}
        run, printed = fetched(tmp_path, reading(launch("true"), git=[source]))
    trouble = (run / "trouble").read_text()
    assert f"at {next(iter(wrong.values()))} could not be fetched for /code." in trouble
    assert said in trouble
    assert trouble == printed


def test_a_bucket_is_copied_with_its_keys_or_as_anyone(tmp_path: Path, store: Store) -> None:
    source = {"bucket": "sets", "url": store.url, "path": "/data"}
    values = {"AccessKeyId": store.access_key, "SecretKey": store.secret_key}
    with buckets.asking_who():
        run, said = fetched(tmp_path / "a", reading(launch("true"), values, s3=[dict(source)]))
    assert (run / "volumes/0/train/a b.txt").read_text() == "one\n", said
    run, said = fetched(tmp_path / "b", reading(launch("true"), s3=[source]))
    assert (run / "volumes/0/c+d").read_text() == "two\n", said


def test_a_wrong_key_says_what_to_check_and_not_the_key(tmp_path: Path, store: Store) -> None:
    values = {"AccessKeyId": store.access_key, "SecretKey": "wr0ng-and-hidden"}
    source = {"bucket": "sets", "url": store.url, "path": "/data"}
    with buckets.asking_who():
        run, said = fetched(tmp_path, reading(launch("true"), values, s3=[source]))
    assert said.startswith(f"The bucket s3://sets of {store.url} could not be fetched for /data.")
    assert "SignatureDoesNotMatch" in said
    assert "wr0ng" not in said
    assert not (run / "volumes/0").exists()


def test_a_source_that_is_there_is_not_fetched_again(tmp_path: Path, store: Store) -> None:
    source = {"bucket": "sets", "url": store.url, "path": "/data"}
    run, _ = fetched(tmp_path, reading(launch("true"), s3=[source]))
    line = ["/bin/bash", str(run / "fetch.sh")]
    done = subprocess.run(line, capture_output=True, text=True, env=environment(run))
    assert (done.returncode, done.stdout) == (0, "")


def test_keys_are_in_files_of_their_own_and_in_no_preview() -> None:
    launched = cases.fetching()
    holding = {
        name for name, text in render_files(launched, cases.SITE).items() if "hunter" in text
    }
    assert holding == {"keys/0.sh", "keys/1.key", "keys/2.sh"}
    assert "hunter" not in str(list(manifests(launched, cases.SITE)))


def test_a_node_without_aws_says_what_to_install(tmp_path: Path) -> None:
    launched = reading(launch("true"), s3=[{"bucket": "sets", "path": "/data"}])
    run, printed = fetched(tmp_path, launched, path="/usr/bin:/bin")
    assert "has no aws program, so s3://sets cannot be fetched for /data: ask" in printed
    assert (run / "trouble").read_text() == printed
    assert not (run / "volumes/0").exists()


@pytest.mark.slurm
def test_ranks_share_fetched_data_and_the_key_is_removed(rig: SlurmRig) -> None:
    host = rig.testbed.told["host_address"]
    values = {"User": "ada", "Password": "pass-w0rd"}
    script = "cat /data/c+d; env | grep -c -e AWS_SECRET -e GIT_PASS; ls $PWD/../../runs/1/keys"
    site = replace(rig.site, prologue=hpc.prologue())  # which has aws
    rig.engine = SlurmEngine(rig.transport, site, interval=0.5)
    with buckets.store(OBJECTS, host) as found:
        values |= {"AccessKeyId": found.access_key, "SecretKey": found.secret_key}
        source = {"bucket": "sets", "url": found.url, "path": "/data"}
        launched = rig.submit(reading(rig.shell(script), values, s3=[source]))
        shown = rig.over(launched)
    first, *others = printed(rig.engine, launched, 0).decode().splitlines()
    assert first.startswith("Fetched s3://sets for /data ("), (shown, first)
    assert [line[:5] for line in others] == ["two", "0", "ls: c"]
    assert printed(rig.engine, launched, 1).startswith(b"two\n")
    folder = f"{rig.site.directory}/workloads/{launched.handle.workload_id.hex}/runs/1"
    assert "volumes" not in rig.transport.run(["ls", folder]).out


@pytest.mark.slurm
def test_a_job_whose_repository_is_away_fails_with_what_git_says(rig: SlurmRig) -> None:
    if rig.transport.run(["sh", "-c", "command -v git"]).code:
        pytest.skip("the nodes have no git")
    source = {"repository": "http://127.0.0.1:1/code", "path": "/code"}
    shown = rig.over(rig.submit(reading(rig.shell("echo never", backoff_limit=1), git=[source])))
    assert shown.attempt == 1
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.REFUSED)
    assert "The repository http://127.0.0.1:1/code could not be fetched" in shown.message
    assert "Failed to connect" in shown.message
