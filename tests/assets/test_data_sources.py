"""Data sources: their form for each kind, and what a workload takes from them."""

from typing import Any

import pytest
import yaml
from django.test import Client

from accounts.models import User
from assets import services
from assets.data_source.form import KINDS
from assets.data_source.kind import DATA_SOURCE
from assets.models import DataSource
from assets.template.kind import TEMPLATE
from core.deletion import InUse
from projects.models import Project
from projects.scopes import OwningScope
from spec.draft import WorkloadDraft
from spec.problems.errors import SpecError
from tests.factories import DataSourceFactory, ProjectFactory, UserFactory
from tests.web import signed_in
from workloads.models import Draft
from workloads.plan import plan
from workloads.services import submit

pytestmark = pytest.mark.django_db
FILLED: dict[str, dict[str, str]] = {
    "pvc": {"pvc_claimName": "team-data", "pvc_path": "/data"},
    "nfs": {"nfs_server": "nfs.example.com", "nfs_path": "/export", "nfs_mountPath": "/data"},
    "git": {"git_repository": "https://example.com/train.git", "git_path": "/code"},
    "s3": {"s3_bucket": "images", "s3_path": "/images"},
    "hostPath": {"hostPath_path": "/mnt/data", "hostPath_mountPath": "/data"},
    "configMapVolume": {
        "configMapVolume_configMap": "settings",
        "configMapVolume_mountPath": "/conf",
    },
    "secretVolume": {"secretVolume_secret": "keys", "secretVolume_mountPath": "/keys"},
    "dataset": {"dataset_path": "/digits"},
}


@pytest.fixture
def user() -> User:
    return UserFactory.create()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user], cluster__kind="kubernetes")


@pytest.fixture
def client(user: User) -> Client:
    return signed_in(user)


def posted(project: Project, kind: str, **more: str) -> dict[str, str]:
    where = {"cluster": str(project.cluster_id), "scope": f"project:{project.pk}"}
    return {**where, "name": f"my-{kind}".lower(), "kind": kind, **FILLED[kind], **more}


@pytest.mark.parametrize("kind", [value for value, _ in KINDS])
def test_a_data_source_of_each_kind_is_made_shown_and_changed(
    client: Client, project: Project, kind: str
) -> None:
    other = {"nfs_server": "left over"} if kind != "nfs" else {"s3_bucket": "left over"}
    answer = client.post("/data-sources/new/", posted(project, kind, **other))
    source = DataSource.objects.get()
    assert answer.status_code == 302
    assert source.spec.kind == kind
    assert "left over" not in str(source.spec_json), "what another kind asks is no part of it"
    page = client.get("/data-sources/").content.decode()
    assert source.spec.path in page
    edit = client.get(f"/data-sources/{source.pk}/edit/").content.decode()
    assert all(value in edit for value in FILLED[kind].values())
    place = next(name for name in (f"{kind}_mountPath", f"{kind}_path") if name in FILLED[kind])
    client.post(f"/data-sources/{source.pk}/edit/", posted(project, kind, **{place: "/elsewhere"}))
    source.refresh_from_db()
    assert source.spec.path == "/elsewhere"


@pytest.mark.parametrize("kind", [value for value, _ in KINDS])
def test_a_data_source_without_its_values_says_so_at_its_fields(
    client: Client, project: Project, kind: str
) -> None:
    values = posted(project, kind) | dict.fromkeys(FILLED[kind], "")
    answer = client.post("/data-sources/new/", values)
    assert answer.status_code == 422
    form = answer.context["form"]
    assert not form.non_field_errors
    assert {name.partition("_")[0] for name in form.errors} == {kind}
    assert not DataSource.objects.exists()


def test_a_config_map_holds_its_files_or_names_one_that_exists(
    client: Client, project: Project
) -> None:
    def create(text: str, name: str = "") -> Any:
        fields = {"configMapVolume_configMap": name, "configMapVolume_files": text}
        return client.post("/data-sources/new/", posted(project, "configMapVolume") | fields)

    odd = [f"a: {5000 * '9'}", "a: 2026-13-45", "a: !!bool x", "a: !!timestamp x", 2000 * "["]
    for text in ("just text", "a: 1", "a: [", "- a", "a/b: |\n  x", *odd):
        assert "configMapVolume_files" in create(text).context["form"].errors, text
    assert "not both" in str(create("a: x", "settings").context["form"].errors)
    text = "train.yaml: |\n  lr: 0.1\n  decay: 0\nempty: ''"
    assert create(text).status_code == 302
    source = DataSource.objects.get()
    texts = {"train.yaml": "lr: 0.1\ndecay: 0\n", "empty": ""}
    assert source.spec.config_map_volume
    assert source.spec.config_map_volume.texts == texts
    assert "train.yaml, empty" in client.get("/data-sources/").content.decode()
    edit = client.get(f"/data-sources/{source.pk}/edit/")
    shown = edit.context["form"]["configMapVolume_files"].value
    assert yaml.safe_load(shown) == texts


WRONG = [
    ("nfs", {"nfs_mountPath": "data"}, "nfs_mountPath"),
    ("nfs", {"nfs_server": "a b"}, "nfs_server"),
    ("git", {"git_repository": "https://me:secret@example.com/x"}, "git_repository"),
    ("git", {"git_branch": "--upload-pack=x"}, "git_branch"),
    ("s3", {"s3_bucket": "A"}, "s3_bucket"),
    ("pvc", {"pvc_claimName": "Not A Name"}, "pvc_claimName"),
    ("nfs", {"kind": "floppy"}, "kind"),
]


@pytest.mark.parametrize(("kind", "values", "field"), WRONG)
def test_a_wrong_value_of_a_data_source_is_told_at_its_field(
    client: Client, project: Project, kind: str, values: dict[str, str], field: str
) -> None:
    answer = client.post("/data-sources/new/", posted(project, kind) | values)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors


def draft(project: Project, *chosen: dict[str, Any], **values: Any) -> WorkloadDraft:
    worker = {"values": {"image": "train:1", "dataSources": list(chosen), **values}}
    place = {"project": project.pk, "cluster": project.cluster_id}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": worker})


def choice(source: DataSource, path: str = "") -> dict[str, Any]:
    return {"id": str(source.pk), "path": path}


def test_a_workload_mounts_the_data_sources_that_were_chosen(user: User, project: Project) -> None:
    share = DataSourceFactory.create(home=project, name="share")
    code = DataSourceFactory.create(
        home=project,
        name="code",
        spec_json={"kind": "git", "git": {"repository": "https://x.org/y", "path": "/code"}},
    )
    workload = submit(draft(project, choice(share), choice(code, "/src")), by=user)
    storage = workload.spec.worker.storage
    assert [it.mount_path for it in storage.nfs] == ["/data"]
    assert [it.path for it in storage.git] == ["/src"]
    assert workload.origins_json["worker.storage"] == "data source share, code"
    links = {(it.role, it.kind, it.asset_id) for it in workload.assets.all()}
    assert links == {("worker", "data-source", share.pk), ("worker", "data-source", code.pk)}
    with pytest.raises(InUse, match="workload train"):
        services.delete(DATA_SOURCE, share, by=user)


def test_two_data_sources_at_one_path_are_refused_but_users_items_win(
    user: User, project: Project
) -> None:
    one, other = DataSourceFactory.create_batch(2, home=project)
    problems = plan(draft(project, choice(one), choice(other)), by=user).problems
    assert any("mounted twice" in it.message for it in problems)
    own = {"nfs": [{"server": "mine.example.com", "path": "/x", "mountPath": "/data"}]}
    planned = plan(draft(project, choice(one), storage=own), by=user)
    assert planned.spec
    assert [it.server for it in planned.spec.worker.storage.nfs] == ["mine.example.com"]


def test_a_data_source_of_another_project_is_not_to_be_had(user: User, project: Project) -> None:
    theirs = DataSourceFactory.create()
    with pytest.raises(SpecError) as caught:
        submit(draft(project, choice(theirs)), by=user)
    (problem,) = caught.value.problems
    assert problem.path == ("worker", "dataSources", 0, "id")
    assert "no longer exists" in problem.message


def test_the_wizard_offers_data_sources_of_the_project_and_names_problems(
    client: Client, user: User, project: Project
) -> None:
    source = DataSourceFactory.create(home=project, name="share")
    DataSourceFactory.create(name="theirs")
    content = draft(project, {"id": "", "path": "/x"}, choice(source, "data"))
    row = Draft.objects.create(owner=user, document=content.model_dump(mode="json", by_alias=True))
    page = client.get(f"/workloads/drafts/{row.pk}/2/?check=1").content.decode()
    assert f'<option value="{source.pk}" selected>share (NFS at /data)</option>' in page
    assert "theirs" not in page
    paths = {it.path: it.message for it in plan(row.content, by=user).problems}
    assert paths[("worker", "dataSources", 0, "id")] == "select a data source"


def test_a_template_remembers_its_data_sources(user: User, project: Project) -> None:
    source = DataSourceFactory.create(home=project)
    template = services.create(
        TEMPLATE,
        by=user,
        name="base",
        scope=OwningScope(project),
        document=draft(project, choice(source)).model_dump(mode="json", by_alias=True),
    )
    assert template.assets.get().asset_id == source.pk
