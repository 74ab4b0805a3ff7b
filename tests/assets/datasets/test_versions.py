"""Versions of a dataset: begun, filled, finished and deleted."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from accounts.models import User
from assets.data_source.datasets import store
from assets.data_source.datasets.model import DatasetVersion
from assets.data_source.model import DataSource
from assets.datasets import services
from assets.datasets.services import VersionComplete
from assets.datasets.upkeep import remove_unfinished
from core.storage import DiskFull
from spec.problems.errors import SpecError
from tests.datasets import add_version
from tests.factories import UserFactory

TEXT_DIGEST = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"  # of "text"


def test_a_finished_version_has_a_number_and_its_files_with_sizes_and_digests(
    dataset: DataSource, user: User, tmp_path: Path
) -> None:
    add_version(dataset, user, tmp_path / "1", a="text")
    version = add_version(dataset, user, tmp_path / "2", a="text", b="more")
    assert (version.number, version.size, version.num_files) == (2, 8, 2)
    first = version.files.all()[0]
    assert (first.path, first.size, first.sha256) == ("a.txt", 4, TEXT_DIGEST)
    with store.open_file(version.key, "a.txt") as content:
        assert content.read() == b"text"


def test_a_version_that_was_begun_again_is_made_once_and_only_by_the_last_who_began(
    dataset: DataSource, user: User, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    file = source / "a.txt"
    file.write_text("text")
    pk = uuid4()
    killed = services.begin_version(dataset, by=user, pk=pk)
    store.copy_file(killed.key, "half.txt", file)
    again = services.begin_version(dataset, by=user, pk=pk)
    store.copy_file(killed.key, "late.txt", file)  # it was not dead after all
    services.keep_files(again, {"a.txt": file}, by=user)
    with pytest.raises(VersionComplete):
        services.finish_version(killed, by=user)
    with pytest.raises(VersionComplete):
        services.begin_version(dataset, by=user, pk=pk)
    version = DatasetVersion.objects.get()
    assert [file.path for file in version.files.all()] == ["a.txt"]
    assert version.number == 1


def test_a_version_without_files_and_a_complete_one_are_refused(
    dataset: DataSource, user: User, tmp_path: Path
) -> None:
    empty = services.begin_version(dataset, by=user)
    with pytest.raises(SpecError, match="at least one file"):
        services.finish_version(empty, by=user)
    complete = add_version(dataset, user, tmp_path, a="text")
    with pytest.raises(VersionComplete):
        services.add_piece(complete, path="b.txt", offset=0, data=b"", by=user)


def test_a_link_that_leads_out_of_the_folder_is_not_copied(
    dataset: DataSource, user: User, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    source = tmp_path / "source"
    source.mkdir()
    (source / "out.txt").symlink_to(secret)
    (source / "in.txt").symlink_to(source / "a.txt")
    version = add_version(dataset, user, tmp_path, a="text")
    assert [file.path for file in version.files.all()] == ["a.txt", "in.txt"]


def test_a_full_disk_refuses_a_version(
    dataset: DataSource, user: User, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("core.storage.full_folder", lambda: tmp_path)
    with pytest.raises(DiskFull):
        services.begin_version(dataset, by=user)


def test_only_who_may_change_the_dataset_changes_its_versions(
    dataset: DataSource, user: User, tmp_path: Path
) -> None:
    version = add_version(dataset, user, tmp_path, a="text")
    stranger = UserFactory.create()
    for refused in (
        lambda: services.begin_version(dataset, by=stranger),
        lambda: services.add_piece(version, path="a", offset=0, data=b"", by=stranger),
        lambda: services.finish_version(version, by=stranger),
        lambda: services.delete_version(version, by=stranger),
    ):
        with pytest.raises(PermissionDenied):
            refused()


def test_what_no_version_needs_is_removed(
    dataset: DataSource, user: User, tmp_path: Path, datasets_folder: Path
) -> None:
    version = add_version(dataset, user, tmp_path, a="text")
    services.begin_version(dataset, by=user)
    old = services.begin_version(dataset, by=user)
    store.copy_file(old.key, "a.txt", tmp_path / "source" / "a.txt")
    yesterday = timezone.now() - timedelta(days=1, minutes=1)
    DatasetVersion.objects.filter(pk=old.pk).update(created_at=yesterday)
    (datasets_folder / uuid4().hex).mkdir()
    (datasets_folder / "lost+found").mkdir()
    remove_unfinished()
    assert DatasetVersion.objects.count() == 2
    assert {folder.name for folder in datasets_folder.iterdir()} == {version.key.hex, "lost+found"}
