"""REST: data sources, each type below a path of its own."""

from itertools import pairwise
from typing import Any

import pytest

from assets.models import DataSource
from projects.models import Project
from tests.assets.api.conftest import Meta
from tests.assets.links import named
from tests.caller import Caller
from tests.factories import CredentialFactory, DataSourceFactory, WorkloadFactory
from tests.fuzz.bodies import ASSETS

PATH = "/asset/datasource"
SPECS = {path.partition("/")[2]: ASSETS[path] for path in ASSETS if path.startswith("datasource/")}
#: Run:ai's words in ``meta.kind``, where they are not those of the path.
KINDS = {"host-path": "hostPath", "secrets": "secret-volume"}
EACH = pytest.mark.parametrize("path", SPECS)


@EACH
def test_a_data_source_of_each_type_is_created_read_changed_and_deleted(
    call: Caller, meta: Meta, path: str
) -> None:
    collection = f"{PATH}/{path}"
    spec = SPECS[path]
    status, created = call("POST", collection, {"meta": meta(), "spec": spec})
    assert status == 201, created
    assert created["meta"]["kind"] == KINDS.get(path, path)
    sent = {key: value for key, value in spec.items() if value is not None}
    assert created["spec"].items() >= sent.items()
    assert "name" not in created["spec"]
    one = f"{collection}/{created['meta']['id']}"
    assert call("GET", one)[1] == created
    assert call("PUT", one, {"spec": created["spec"]})[1]["spec"] == created["spec"]
    moved = {"mountPath" if "mountPath" in spec else "path": "/elsewhere"}
    assert call("PUT", one, {"spec": spec | moved})[1]["spec"].items() >= moved.items()
    assert call("DELETE", one)[0] == 204
    assert not DataSource.objects.exists()


def test_a_path_of_data_sources_has_those_of_its_type_alone(call: Caller, meta: Meta) -> None:
    ids = {}
    for path, spec in SPECS.items():
        _, created = call("POST", f"{PATH}/{path}", {"meta": meta(name=path), "spec": spec})
        ids[path] = created["meta"]["id"]
    every = {it["meta"]["name"]: it for it in call("GET", PATH)[1]["entries"]}
    assert every.keys() == SPECS.keys()
    for path, other in pairwise([*SPECS, next(iter(SPECS))]):
        listed = call("GET", f"{PATH}/{path}")[1]["entries"]
        assert [it["meta"]["name"] for it in listed] == [path]
        own = listed[0]["spec"]
        word = next(iter(every[path]["spec"].keys() - own.keys()), "secret")
        assert every[path] == {**listed[0], "spec": own | {word: own}}
        assert call("GET", f"{PATH}/{path}/{ids[other]}")[0] == 404, (path, other)
        assert call("DELETE", f"{PATH}/{path}/{ids[other]}")[0] == 404, (path, other)


NOBODYS = "6bb6cdf4-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("path", "changes", "fields"),
    [
        ("nfs", {"server": ""}, ["server"]),
        ("nfs", {"mountPath": "data"}, ["mountPath"]),
        ("nfs", {"mount_path": "/data"}, ["mount_path"]),
        ("nfs", {"name": "other"}, ["name"]),
        ("nfs", {"kind": "nfs"}, ["kind"]),
        ("pvc", {"existingPvc": False}, ["claimInfo"]),
        ("pvc", {"existingPvc": True, "claimInfo": {"size": "1G"}}, ["claimInfo"]),
        ("pvc", {"existingPvc": False, "claimInfo": {"size": "much"}}, ["claimInfo.size"]),
        ("pvc", {"claimName": None}, ["claimName"]),
        ("pvc", {"dataSharing": True}, ["dataSharing"]),
        ("s3", {"accessKeyAssetId": "6bb6cdf4"}, ["accessKeyAssetId"]),
        ("s3", {"accessKeyAssetId": NOBODYS, "credential": {"name": "a"}}, ["accessKeyAssetId"]),
        ("git", {"credentialId": NOBODYS}, ["credentialId"]),
        ("git", {"passwordAssetId": "6bb6cdf4", "branch": "-x"}, ["branch", "passwordAssetId"]),
        ("host-path", {"mountPropagation": "Bidirectional"}, ["mountPropagation"]),
        ("config-map", {"subPath": "/a"}, ["subPath"]),
        ("secrets", {"secret": None, "credentialAssetId": "6b"}, ["credentialAssetId"]),
    ],
    ids=str,
)
def test_faults_of_a_data_source_have_the_paths_of_the_request(
    call: Caller, meta: Meta, path: str, changes: dict[str, Any], fields: list[str]
) -> None:
    body = {"meta": meta(), "spec": SPECS[path] | changes}
    status, answer = call("POST", f"{PATH}/{path}", body)
    named_fields = [it["field"] for it in answer["complianceIssues"]]
    assert (status, named_fields) == (400, [f"spec.{field}" for field in fields])
    assert not DataSource.objects.exists()


def test_a_data_source_that_is_used_is_not_deleted_by_rest(call: Caller, project: Project) -> None:
    source = DataSourceFactory(home=project)
    named(WorkloadFactory(project=project), source)
    assert call("DELETE", f"{PATH}/nfs/{source.pk}")[0] == 409


@pytest.mark.parametrize(
    ("path", "word", "credential"),
    [
        ("s3", "accessKeyAssetId", {"kind": "accessKey", "existingSecret": "keys"}),
        ("git", "credentialId", {"kind": "password", "existingSecret": "keys"}),
        ("secrets", "credentialAssetId", {"kind": "genericSecret", "keys": ["token"]}),
    ],
)
def test_the_id_of_a_credential_has_run_ais_word_as_well(
    call: Caller, meta: Meta, project: Project, path: str, word: str, credential: dict[str, Any]
) -> None:
    held = CredentialFactory(home=project, spec_json=credential, entered={"token": "x"})
    spec = {
        key: value
        for key, value in SPECS[path].items()
        if key not in {"accessKeySecret", "secretRef", "secret"}
    }
    status, created = call(
        "POST", f"{PATH}/{path}", {"meta": meta(), "spec": spec | {word: str(held.pk)}}
    )
    assert status == 201, created
    assert created["spec"][word] == created["spec"]["credential"]["assetId"] == str(held.pk)
    one = f"{PATH}/{path}/{created['meta']['id']}"
    assert call("PUT", one, {"spec": created["spec"]})[0] == 200
    assert DataSource.objects.get().spec.credential


def test_the_status_says_why_a_data_source_cannot_be_used(call: Caller, meta: Meta) -> None:
    """The cluster of this project is this machine, which has no Secrets and allows no folder."""
    for path in ("secrets", "git", "host-path"):
        body = {"meta": meta(name=path), "spec": SPECS[path]}
        if path == "git":
            body["spec"] = {"repository": "https://example.com/x", "path": "/code"}
        assert call("POST", f"{PATH}/{path}", body)[0] == 201
    project = meta()["projectId"]
    listed = call("GET", f"{PATH}?statusInfo=true&complyToProject={project}")[1]["entries"]
    status = {it["meta"]["name"]: it["status"] for it in listed}
    assert status["git"] == {"status": "No issues found", "message": ""}
    assert status["secrets"]["status"] == "Issues found"
    assert "this machine has no Secrets" in status["secrets"]["message"]
    compliance = {it["meta"]["name"]: it["compliance"] for it in listed}
    assert compliance["git"]["compliance"] is True
    (reason,) = compliance["host-path"]["reason"]
    assert reason["field"] == "spec"
    assert "administrators do not allow" in reason["details"]
    (plain, *_) = call("GET", PATH)[1]["entries"]
    assert (plain["status"], plain["compliance"]) == (None, None)
    assert call("GET", f"{PATH}?complyToProject=999999")[0] == 404


def test_descendants_of_a_department_are_found_with_it(
    call: Caller, meta: Meta, project: Project
) -> None:
    DataSourceFactory(home=project, name="deep")
    DataSourceFactory(home=project, name="wide", in_department=True)
    asked = f"{PATH}?departmentId={project.department_id}"

    def names(address: str) -> list[str]:
        return sorted(it["meta"]["name"] for it in call("GET", address)[1]["entries"])

    assert names(asked) == ["wide"]
    assert names(f"{asked}&includeDescendants=true") == ["deep", "wide"]
    both = call("GET", f"{asked}&includeDescendants=true&scope=project")
    assert both[0] == 400
    assert "includeDescendants" in both[1]["message"]


def test_a_change_that_says_nothing_of_the_claim_leaves_it(call: Caller, meta: Meta) -> None:
    spec = {"existingPvc": True, "claimName": "data", "path": "/data", "readOnly": True}
    made = call("POST", "/asset/datasource/pvc", {"meta": meta(), "spec": spec})[1]
    one = f"/asset/datasource/pvc/{made['meta']['id']}"
    changed = call("PUT", one, {"spec": {"path": "/more"}})[1]["spec"]
    assert (changed["claimName"], changed["path"], changed["readOnly"]) == ("data", "/more", False)


def test_a_claim_that_the_project_does_not_have_is_an_issue(
    call: Caller, meta: Meta, project: Project
) -> None:
    cluster = project.cluster
    cluster.kind = "kubernetes"
    namespace = cluster.definition.namespace(cluster, project.name)
    cluster.capabilities_json["claims"] = [{"namespace": namespace, "name": "there"}]
    cluster.save()
    for name in ("there", "gone"):
        spec = {"path": "/data", "existingPvc": True, "claimName": name}
        assert call("POST", f"{PATH}/pvc", {"meta": meta(name=name), "spec": spec})[0] == 201
    address = f"{PATH}?statusInfo=true&complyToProject={project.pk}"
    listed = {it["meta"]["name"]: it for it in call("GET", address)[1]["entries"]}
    assert listed["there"]["status"]["status"] == "No issues found"
    assert listed["gone"]["status"]["message"] == "the project's namespace has no claim gone"
    assert listed["gone"]["compliance"]["compliance"] is False
