"""Buckets on this machine: copied before the ranks start, or why not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from engines.base import EngineRefused, Launch
from engines.local.volumes import download
from spec.phases import Phase, Reason
from tests.engines.local import buckets
from tests.engines.local.buckets import Store
from tests.engines.local.conftest import LocalRig
from tests.engines.local.volumes import mounting, needs_mounts

AT = "/trainyard-sets"
OBJECTS = {"train/a.txt": b"one\n", "b": b"two\n", "train/": b"", "empty/": b""}


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with buckets.store(OBJECTS) as found:
        yield found


def fetching(rig: LocalRig, script: str, store: Store, secret: str = "", **more: Any) -> Launch:
    pk = uuid4()
    source: dict[str, Any] = {"bucket": "sets", "url": store.url, "path": AT, **more}
    if secret:
        source["credential"] = {"assetId": str(pk), "name": "store"}
    values = {"AccessKeyId": store.access_key, "SecretKey": secret}
    return replace(mounting(rig, script, workers=2, s3=[source]), secrets={pk: values})


def test_ranks_share_the_copy_that_an_access_key_opens(
    rig: LocalRig, store: Store, tmp_path: Path
) -> None:
    needs_mounts(tmp_path)
    script = f"cd {AT}; find . -type f | sort; cat train/a.txt b; env | grep -c AWS || true"
    with buckets.asking_who():
        launched = rig.submit(fetching(rig, script, store, store.secret_key))
        assert rig.over(launched).phase is Phase.COMPLETED
    first, *others = rig.log(launched).splitlines()
    assert first.startswith(f"Fetched s3://sets for {AT} (")
    assert others == ["./b", "./train/a.txt", "one", "two", "0"]
    assert not (rig.folder(launched).run_folder(1) / "volumes").exists()


def test_without_a_credential_it_is_fetched_as_anyone(
    rig: LocalRig, store: Store, tmp_path: Path
) -> None:
    needs_mounts(tmp_path)
    launched = rig.submit(fetching(rig, f"cat {AT}/b", store))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message


def test_a_folder_of_a_bucket_is_fetched_without_the_rest(
    rig: LocalRig, store: Store, tmp_path: Path
) -> None:
    needs_mounts(tmp_path)
    launched = rig.submit(fetching(rig, f"cd {AT}; find . -type f", store, bucket="sets/train"))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message
    assert rig.log(launched).splitlines()[1:] == ["./a.txt"]


def test_a_wrong_key_says_what_to_check_and_not_the_key(rig: LocalRig, store: Store) -> None:
    with buckets.asking_who():
        launched = rig.submit(fetching(rig, "true", store, "wr0ng-and-hidden"))
        ended = rig.over(launched)
    assert (ended.phase, ended.reason) == (Phase.FAILED, Reason.REFUSED)
    assert f"The bucket s3://sets of {store.url} could not be fetched for {AT}." in ended.message
    assert "signature" in ended.message
    assert "wr0ng" not in ended.message + rig.log(launched)


def test_a_bucket_that_is_missing_is_named(rig: LocalRig, store: Store) -> None:
    ended = rig.over(rig.submit(fetching(rig, "true", store, bucket="none-such")))
    assert "s3://none-such" in ended.message
    assert "does not exist" in ended.message


def test_keys_in_a_secret_of_kubernetes_are_refused(rig: LocalRig, store: Store) -> None:
    with pytest.raises(EngineRefused, match="no Secrets") as refusal:
        rig.engine.submit(fetching(rig, "true", store, accessKeySecret="mine"))
    assert refusal.value.field == "worker.storage.s3[0].accessKeySecret"


def test_an_object_stays_in_its_folder() -> None:
    folder = Path("/data")
    assert download.path_for_key("/a//./b", folder) == folder / "a" / "b"
    for key in ("../a", "a/../../b", "a\0b"):
        with pytest.raises(ValueError, match="no place in a folder"):
            download.path_for_key(key, folder)


def test_the_program_prints_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    progress = download.DownloadProgress(files=2, bytes=3_000_000)
    progress.count(bytes=1_000_000)
    progress.count(files=1)
    assert capsys.readouterr().out == "0 of 2 files, 1 MB of 3 MB\n"
    assert str(progress) == "1 of 2 files, 1 MB of 3 MB"
