"""What a task leaves behind becomes a version of a dataset, and other tasks read versions."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import User
from assets.data_source.datasets import store
from assets.data_source.datasets.model import DatasetVersion
from assets.data_source.datasets.store import folder_of
from assets.models import DataSource
from projects.models import Project
from spec.phases import Phase
from spec.problems.errors import SpecError
from tests.datasets import add_version, make_dataset
from tests.factories import DataSourceFactory, ProjectFactory, UserFactory, give
from tests.workflows.graphs import advanced, group, put, run_of, statuses, submit, workload_of
from workflows import keeping, services
from workflows.claims import output_claim
from workflows.models import Workflow
from workflows.statuses import Status

MODEL = {"name": "model", "paths": ["model"]}


@pytest.fixture(autouse=True)
def _folders(settings: Settings, tmp_path: Path) -> None:
    settings.DATASETS = tmp_path / "datasets"
    settings.LOCAL_ENGINE_HOME = tmp_path / "engine"


def completed(project: Project, by: User, *outputs: dict[str, Any], **files: str) -> Workflow:
    """A workflow whose only task left these files behind and completed, by the workload."""
    workflow = submit(project, group("fit", keeps_output=True, datasets=outputs), by=by)
    claim = output_claim(workflow.label, "fit")
    folder = project.cluster.definition.claim_folder(project.cluster, project.name, claim)
    assert folder
    for name, text in files.items():
        file = folder / f"{name.replace('_', '/')}.pth"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return put(workflow, "fit", Phase.COMPLETED, code=0)


def workflow_with_kept_outputs(workflow: Workflow) -> Workflow:
    """What the worker does with the outputs that wait for it."""
    keeping.keep_outputs(workflow.pk)
    return advanced(workflow)


def paths(version: DatasetVersion) -> list[str]:
    return [file.path for file in version.files.all()]


def test_a_group_is_complete_once_its_output_is_a_version(project: Project, member: User) -> None:
    workflow = completed(project, member, MODEL, model_models_0="a", model_models_1="b", log="c")
    assert statuses(workflow)["fit"] == Status.RUNNING
    assert workflow_with_kept_outputs(workflow).status == Status.COMPLETED
    version = DatasetVersion.objects.get()
    assert paths(version) == ["model/models/0.pth", "model/models/1.pth"]
    assert (version.number, version.maker) == (1, "train-1 fit")
    assert version.workflow_id == workflow.pk
    dataset = DataSource.objects.get(name="model")
    assert dataset.project == project


def test_a_worker_that_is_killed_leaves_no_half_version_and_no_second_one(
    project: Project, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = completed(project, member, MODEL, model_0="a", model_1="b")
    copy = store.copy_file

    def copy_one(key: Any, path: str, *rest: Any) -> None:
        if path.endswith("1.pth"):
            raise KeyboardInterrupt  # as far as a killed process gets
        copy(key, path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(store, "copy_file", copy_one)
        with pytest.raises(KeyboardInterrupt):
            keeping.keep_outputs(workflow.pk)
    assert not DatasetVersion.objects.ready().exists()
    # It made the version and was killed before it could say so.
    for _ in range(2):
        keeping.keep_outputs(workflow.pk)
        workflow.groups.update(keeping="asked")
    assert [paths(it) for it in DatasetVersion.objects.all()] == [["model/0.pth", "model/1.pth"]]
    assert workflow_with_kept_outputs(workflow).status == Status.COMPLETED


def test_an_update_adds_to_the_last_version(project: Project, member: User, tmp_path: Path) -> None:
    add_version(make_dataset(project, member, "model"), member, tmp_path, old="old", log="old")
    update = {"name": "model", "paths": ["new.pth"], "updates": True}
    workflow_with_kept_outputs(completed(project, member, update, new="new", other="x"))
    last = DatasetVersion.objects.get(number=2)
    assert paths(last) == ["log.txt", "new.pth", "old.txt"]


def test_only_matching_files_are_kept_and_without_any_there_is_no_version(
    project: Project, member: User
) -> None:
    every = {"name": "all"}
    some = {"name": "some", "regex": ".*best"}
    none = {"name": "none", "paths": ["nowhere"]}
    workflow = workflow_with_kept_outputs(
        completed(project, member, every, some, none, best="a", last="b")
    )
    assert workflow.status == Status.COMPLETED
    found = {it.dataset.name: paths(it) for it in DatasetVersion.objects.all()}
    assert found == {"all": ["best.pth", "last.pth"], "some": ["best.pth"]}


def test_a_link_of_a_task_leads_to_no_file_of_the_server(
    project: Project, member: User, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.pth").write_text("secret")
    workflow = completed(project, member, MODEL, {"name": "all"}, last="b")
    folder = project.cluster.definition.claim_folder(
        project.cluster, "vision", output_claim("train-1", "fit")
    )
    assert folder
    (folder / "model").symlink_to(tmp_path / "secret")
    workflow_with_kept_outputs(workflow)
    assert [paths(it) for it in DatasetVersion.objects.all()] == [["last.pth"]]


def test_a_file_whose_name_is_no_text_fails_its_group(project: Project, member: User) -> None:
    workflow = completed(project, member, {"name": "all"}, **{"odd\udcff": "a"})
    assert workflow_with_kept_outputs(workflow).status == Status.FAILED
    assert "no text in UTF-8" in run_of(workflow, "fit").failure


def test_an_output_that_cannot_be_kept_fails_its_group(
    project: Project, member: User, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    workflow = completed(project, member, MODEL, model_0="a")
    monkeypatch.setattr("core.storage.full_folder", lambda: tmp_path)
    assert workflow_with_kept_outputs(workflow).status == Status.FAILED
    assert "disk is full" in run_of(workflow, "fit").failure


def test_a_task_reads_a_version_and_the_latest_is_that_of_its_start(
    project: Project, member: User, tmp_path: Path
) -> None:
    dataset = make_dataset(project, member)
    first = add_version(dataset, member, tmp_path / "1", a="old")
    latest = add_version(dataset, member, tmp_path / "2", a="new")
    inputs = [{"dataset": "mnist"}, {"dataset": "mnist", "version": "1"}]
    workflow = submit(project, group("fit", inputs=inputs), by=member)
    mounts = workload_of(workflow, "fit").spec.worker.storage.host_path
    assert [(it.path, it.mount_path) for it in mounts] == [
        (str(folder_of(latest.key)), "/osmo/data/input/0"),
        (str(folder_of(first.key)), "/osmo/data/input/1"),
    ]


def test_a_group_reads_a_dataset_that_another_one_makes(project: Project, member: User) -> None:
    reading = group("test", "fit", inputs=[{"dataset": "model"}])
    made = group("fit", keeps_output=True, datasets=[MODEL])
    workflow = submit(project, made, reading, by=member)
    folder = project.cluster.definition.claim_folder(
        project.cluster, "vision", output_claim("train-1", "fit")
    )
    assert folder
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "0.pth").write_text("a")
    put(workflow, "fit", Phase.COMPLETED, code=0)
    workflow_with_kept_outputs(workflow)
    (mount,) = workload_of(workflow, "test").spec.worker.storage.host_path
    assert mount.name == "model:1"


def test_what_cannot_be_read_or_written_is_refused_at_the_submission(
    project: Project, member: User
) -> None:
    with pytest.raises(SpecError, match="reads nothing, which is no dataset of project vision"):
        submit(project, group("fit", inputs=[{"dataset": "nothing"}]), by=member)
    DataSourceFactory.create(home=project, name="model")
    writing = group("fit", keeps_output=True, datasets=[MODEL])
    with pytest.raises(SpecError, match="is a data source of project vision, and no dataset"):
        submit(project, writing, by=member)
    reader = UserFactory.create()
    own = ProjectFactory.create()
    give(reader, "L2 researcher", own.scope_keys[0])
    with pytest.raises(SpecError, match="cannot be written"):
        submit(own, writing, by=reader)


def test_a_dataset_of_another_project_is_not_found(
    project: Project, member: User, tmp_path: Path
) -> None:
    stranger = UserFactory.create()
    elsewhere = ProjectFactory.create(members=[stranger])
    add_version(make_dataset(elsewhere, stranger, "theirs"), stranger, tmp_path, a="hidden")
    with pytest.raises(SpecError, match="reads theirs, which is no dataset of project vision"):
        submit(project, group("fit", inputs=[{"dataset": "theirs"}]), by=member)


def test_a_version_outlives_its_workflow(project: Project, member: User) -> None:
    workflow = workflow_with_kept_outputs(completed(project, member, MODEL, model_0="a"))
    services.delete(workflow, by=member)
    version = DatasetVersion.objects.get()
    assert (version.workflow_id, version.maker) == (None, "train-1 fit")
