"""A version of a dataset as a data source of workloads."""

from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from assets.data_source.datasets.store import folder_of
from assets.data_source.kind import DATA_SOURCE
from assets.data_source.model import DataSource
from assets.datasets import services
from clusters.kinds.local import mountable_paths
from core.deletion import InUse
from engines.local.volumes.planning import complaints
from projects.models import Project
from projects.scopes import OwningScope
from spec.data.storage import HostPath, Storage
from spec.draft import WorkloadDraft
from spec.problems.errors import Problem
from tests.datasets import add_version
from tests.factories import ClusterFactory, DataSourceFactory, ProjectFactory, UserFactory
from workloads.models import Workload
from workloads.plan import plan
from workloads.services import submit


def draft(project: Project, **chosen: Any) -> WorkloadDraft:
    worker = {"values": {"image": "train:1", "dataSources": [chosen]}}
    place = {"project": project.pk, "cluster": project.cluster_id}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": worker})


def submitted(project: Project, by: User, **chosen: Any) -> Workload:
    return submit(draft(project, **chosen), by=by)


def problems(project: Project, by: User, **chosen: Any) -> list[Problem]:
    return plan(draft(project, **chosen), by=by).problems


def test_a_workload_mounts_the_latest_version_and_its_spec_says_which(
    project: Project, dataset: DataSource, user: User, tmp_path: Path
) -> None:
    add_version(dataset, user, tmp_path / "1", a="old")
    latest = add_version(dataset, user, tmp_path / "2", a="new")
    workload = submitted(project, user, id=str(dataset.pk))
    (mount,) = workload.spec.worker.storage.host_path
    assert (mount.name, mount.path) == ("mnist:2", str(folder_of(latest.key)))
    assert (mount.mount_path, mount.read_only) == ("/data/mnist", True)


def test_a_workload_may_name_an_earlier_version_and_another_path(
    project: Project, dataset: DataSource, user: User, tmp_path: Path
) -> None:
    first = add_version(dataset, user, tmp_path / "1", a="old")
    add_version(dataset, user, tmp_path / "2", a="new")
    workload = submitted(project, user, id=str(dataset.pk), version="1", path="/digits")
    (mount,) = workload.spec.worker.storage.host_path
    assert (mount.path, mount.mount_path) == (str(folder_of(first.key)), "/digits")


def test_a_version_that_is_not_there_is_refused_at_its_field(
    project: Project, dataset: DataSource, user: User, tmp_path: Path
) -> None:
    (empty,) = problems(project, user, id=str(dataset.pk))
    assert empty.path == ("worker", "dataSources", 0, "id")
    assert "no versions yet" in empty.message
    add_version(dataset, user, tmp_path, a="old")
    (missing,) = problems(project, user, id=str(dataset.pk), version="7")
    assert missing.path == ("worker", "dataSources", 0, "version")
    assert "the latest is 1" in missing.message
    share = DataSourceFactory.create(home=project)
    (no_dataset,) = problems(project, user, id=str(share.pk), version="1")
    assert no_dataset.path == ("worker", "dataSources", 0, "version")


def test_a_cluster_that_does_not_share_the_disk_is_refused_with_the_reason(
    user: User, tmp_path: Path
) -> None:
    far = ClusterFactory.create(name="far", kind="kubernetes")
    elsewhere = ProjectFactory.create(cluster=far, members=[user])
    administrator = UserFactory.create(administrator=True)
    wide = services.create_dataset("wide", scope=OwningScope(), by=administrator)
    add_version(wide, administrator, tmp_path, a="text")
    (refused,) = problems(elsewhere, user, id=str(wide.pk))
    assert "cluster far cannot mount them" in refused.message


def test_a_version_stays_while_a_workload_was_made_with_it(
    project: Project, dataset: DataSource, user: User, tmp_path: Path
) -> None:
    used = add_version(dataset, user, tmp_path / "1", a="old")
    submitted(project, user, id=str(dataset.pk))
    unused = add_version(dataset, user, tmp_path / "2", a="new")
    services.delete_version(unused, by=user)
    with pytest.raises(InUse, match="mnist:1 is used by workload train"):
        services.delete_version(used, by=user)


def test_the_card_tells_the_latest_version_and_what_is_in_it(
    dataset: DataSource, user: User, tmp_path: Path
) -> None:
    add_version(dataset, user, tmp_path, a="text")
    facts = {name: value for _, name, value in DATA_SOURCE.draw_card(dataset, None).facts}
    assert facts["Latest version"] == "1"
    assert facts["Files"].startswith("1 file, 4")


def test_a_path_that_a_person_types_reaches_single_versions_only(
    dataset: DataSource, user: User, tmp_path: Path, datasets_folder: Path
) -> None:
    version = add_version(dataset, user, tmp_path, a="text")

    def refused(path: Path) -> bool:
        host_path = HostPath(path=str(path), mount_path="/data")
        return bool(list(complaints(Storage(host_path=(host_path,)), mountable_paths())))

    assert not refused(folder_of(version.key))
    assert refused(datasets_folder)
    assert refused(datasets_folder.parent)
