"""Calls about credentials, and about data sources of secrets, by NVIDIA's client."""

from typing import Any

from runai import models

from projects.models import Project
from tests.runapy.conftest import RunaiCaller
from tests.runapy.kinds import CREDENTIALS, ClientCredential


def walk(runai: RunaiCaller, project: Project) -> None:
    """Make all of these calls."""
    for kind in CREDENTIALS:
        _credential(runai, kind, project)
    _secrets(runai, project)


def _credential(runai: RunaiCaller, kind: ClientCredential, project: Project) -> None:
    meta = {"name": kind.methods.replace("_", "-"), "scope": "project", "projectId": project.pk}
    request: Any = getattr(models, f"{kind.model}CreationRequest")
    body = request.model_validate({"meta": meta, "spec": kind.spec})
    its = f"CredentialsApi.{{}}_{kind.methods}{{}}"
    made = runai(its.format("create", ""), body, takes=kind.model)["meta"]["id"]
    every = "CredentialsApi.list_credentials_assets"
    (listed,) = runai(every, takes="CredentialsListResponse")["entries"]
    assert listed["spec"][listed["meta"]["kind"]].keys() < listed["spec"].keys()
    runai(f"CredentialsApi.{kind.listed}", takes=f"{kind.model}ListResponse")
    runai(its.format("get", "_by_id"), made, takes=kind.model)
    update: Any = getattr(models, f"{kind.model}UpdateRequest")
    change = update.model_validate({"meta": {"description": "For CI"}, "spec": kind.spec})
    runai(its.format("update", ""), made, change, takes=kind.model)
    runai(its.format("delete", ""), made)


def _secrets(runai: RunaiCaller, project: Project) -> None:
    """Make the calls about data sources of secrets, each of which names a credential."""
    place = {"scope": "project", "projectId": project.pk}
    request = models.GenericSecretCreationRequest.model_validate(
        {
            "meta": {"name": "files", **place},
            "spec": {"keyValuePairs": [{"key": "a", "value": "not-told"}]},
        }
    )
    credential = runai("CredentialsApi.create_generic_secret", request)["meta"]["id"]
    spec = {"credentialAssetId": credential, "mountPath": "/secrets"}
    body = models.SecretAssetCreationRequest.model_validate(
        {"meta": {"name": "secrets", **place}, "spec": spec}
    )
    made = runai("SecretApi.create_secret_asset", body, takes="SecretAsset")
    assert made["spec"]["credentialAssetId"] == credential
    one = made["meta"]["id"]
    runai("SecretApi.list_secret_assets", takes="SecretAssetListResponse")
    runai("SecretApi.get_secret_asset_by_id", one, takes="SecretAsset")
    change = models.SecretAssetUpdateRequest.model_validate({"meta": {"name": "more"}})
    changed = runai("SecretApi.update_secret_asset_by_id", one, change, takes="SecretAsset")
    assert changed["meta"]["name"] == "more"
    runai("SecretApi.delete_secret_asset_by_id", one)
