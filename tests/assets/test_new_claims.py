"""New claims as data sources: what they ask for, and what workloads take from them."""

import pytest
from django.test import Client

from accounts.models import User
from assets.models import DataSource
from projects.models import Project
from spec.draft import WorkloadDraft
from tests.factories import ProjectFactory, UserFactory
from tests.web import signed_in
from workloads.services import submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return UserFactory.create()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user], cluster__kind="kubernetes")


@pytest.fixture
def client(user: User) -> Client:
    return signed_in(user)


def posted(project: Project, **more: str) -> dict[str, str]:
    where = {"cluster": str(project.cluster_id), "scope": f"project:{project.pk}"}
    return {**where, "name": "scratch", "kind": "pvc", "pvc_path": "/scratch", **more}


def draft(project: Project, source: DataSource) -> WorkloadDraft:
    worker = {"values": {"image": "train:1", "dataSources": [{"id": str(source.pk), "path": ""}]}}
    place = {"project": project.pk, "cluster": project.cluster_id}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": worker})


NEW = {"pvc_claimName": "", "pvc_claimInfo_size": "10Gi", "pvc_readWriteOnce": "on"}


def test_a_new_claim_has_all_that_it_asks_for(client: Client, user: User, project: Project) -> None:
    more = {"pvc_claimInfo_storageClass": "nvme", "pvc_readWriteMany": "on", "pvc_readOnly": "on"}
    assert client.post("/data-sources/new/", posted(project, **NEW, **more)).status_code == 302
    source = DataSource.objects.get()
    claim = source.spec.pvc
    assert claim
    assert claim.claim_info
    assert (claim.existing_pvc, claim.read_only, claim.claim_info.size) == (False, True, "10Gi")
    assert claim.claim_info.storage_class == "nvme"
    modes = claim.claim_info.access_modes.model_dump()
    assert [name for name, on in modes.items() if on] == ["read_write_once", "read_write_many"]
    page = client.get("/data-sources/").content.decode()
    assert source.claim_name in page
    assert "read-write by one node, read-write by many" in page
    kind, item = source.storage("/elsewhere")
    assert (kind, item["claimName"], item["path"]) == ("pvc", source.claim_name, "/elsewhere")
    workload = submit(draft(project, source), by=user)
    (mounted,) = workload.spec.worker.storage.pvc
    assert (mounted.claim_name, mounted.existing_pvc) == (source.claim_name, False)


@pytest.mark.usefixtures("project")
def test_a_new_form_begins_with_what_holds_unless_one_says_otherwise(client: Client) -> None:
    form = client.get("/data-sources/new/").context["form"]
    assert form["nfs_readOnly"].value is form["hostPath_readOnly"].value is True
    assert form["pvc_readWriteOnce"].value is True
    assert not form["pvc_readOnly"].value
    assert not form["pvc_readWriteMany"].value


def test_the_form_suggests_the_storage_classes_of_the_clusters_and_none(
    client: Client, project: Project
) -> None:
    project.cluster.capabilities_json |= {"storage_classes": ["nvme", "fast"]}
    project.cluster.save()
    page = client.get("/data-sources/new/").content.decode()
    for name in ("fast", "nvme", "runai-none"):
        assert f'<option value="{name}">' in page
    assert 'list="id_pvc_claimInfo_storageClass_list"' in page
    more = {"pvc_claimInfo_storageClass": "runai-none"}
    assert client.post("/data-sources/new/", posted(project, **NEW, **more)).status_code == 302
    claim = DataSource.objects.get().spec.pvc
    assert claim
    assert claim.claim_info
    assert claim.claim_info.without_class


def test_a_new_claim_without_a_size_or_beside_another_is_refused(
    client: Client, project: Project
) -> None:
    both = {**NEW, "pvc_claimName": "team-data"}
    for wrong, field in (
        ({**NEW, "pvc_claimInfo_size": ""}, "pvc_claimInfo_size"),
        ({**NEW, "pvc_claimInfo_size": "much"}, "pvc_claimInfo_size"),
        ({**NEW, "pvc_readWriteOnce": ""}, "pvc_readWriteOnce"),
        ({**NEW, "pvc_claimInfo_storageClass": "No!"}, "pvc_claimInfo_storageClass"),
        (both, "pvc_claimName"),
    ):
        answer = client.post("/data-sources/new/", posted(project, **wrong))
        assert field in answer.context["form"].errors, wrong
