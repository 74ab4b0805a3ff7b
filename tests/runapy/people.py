"""Calls about users, their rules, keys and roles, and about settings and the audit log, by NVIDIA's
client."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from runai import models

from accounts import tokens
from accounts.models import AccessRole, User
from projects.models import Project
from tests.runapy.conftest import RunaiCaller


def walk(runai: RunaiCaller, project: Project) -> None:
    """Make all of these calls."""
    request = models.UserCreationRequest1(email="ada@example.com")
    made = runai("UsersApi.create_user", request, takes="UserPostResponse")
    assert made["username"] == "ada@example.com"
    one = runai("UsersApi.get_user_by_id", made["id"], takes="User2")
    assert (one["createdBy"], one["isLocal"]) == ("boss", True)
    listed = runai("UsersApi.get_users", filter_by=["username=@example"], takes="User2")
    assert [it["id"] for it in listed] == [made["id"]]
    assert runai("UsersApi.count_users", search="ada@")["count"] == 1
    renewed = runai(
        "UsersApi.reset_user_password", made["id"], takes="ResetUserPassword200Response"
    )
    assert renewed["tempPassword"] != made["tempPassword"]
    _own_password(runai, int(made["id"]), renewed["tempPassword"])
    runai("UsersApi.logout_user", made["id"])
    _rules(runai, project, made["username"])
    _service_accounts(runai, project)
    _keys(runai, int(made["id"]))
    _roles(runai)
    _audit(runai)
    _settings(runai)


def _settings(runai: RunaiCaller) -> None:
    every = runai("TenantApi.get_tenant_settings", takes="Setting")
    assert {it["key"]: it["value"] for it in every} == {"tolerations": "false", "topology": "false"}
    request = models.TenantSettingCreationRequest(key="topology", value=True)
    runai("TenantApi.update_tenant_setting", request, takes="TenantSettingCreationResponse")
    one = runai("TenantApi.get_tenant_settings_by_key", "topology", takes="Setting")
    assert (one["value"], one["active"]) == ("true", True)
    every = runai("SettingsApi.get_security_settings", takes="SettingsGetResponse")
    assert every["autoRedirectSSO"]["enabled"] is False
    its = "SettingsApi.get_security_setting_by_key"
    one = runai(its, "browserSessionTimeout", takes="SettingsGetResponse")
    assert one["browserSessionTimeout"] == {"idleTimeout": None}
    assert runai("IdpsApi.get_idps", takes="Idp1") == []
    logo = runai("LogoApi.get_tenant_logo", takes="GetTenantLogo200Response")["logo"]
    assert logo.startswith("data:image/svg+xml;base64,")


def _own_password(runai: RunaiCaller, pk: int, password: str) -> None:
    """Change a password by a client of its owner, because nobody else may change it."""
    before = runai.client.default_headers["authorization"]
    runai.client.set_default_header(
        "authorization", f"Bearer {tokens.access_token_for(User.objects.get(pk=pk))}"
    )
    request = models.UserChangePasswordRequest(
        current_password=password, new_password="analytical-engine"
    )
    runai("UsersApi.change_user_password", request)
    runai.client.set_default_header("authorization", before)


def _keys(runai: RunaiCaller, pk: int) -> None:
    key, _ = tokens.make_key(User.objects.get(pk=pk), "forgotten")
    every = "AccessKeysApi.get_access_keys_administration"
    model = "AccessKeysAdministration"
    listed = runai(every, created_by="ada@example.com", takes=model)
    assert [it["id"] for it in listed["accessKeys"]] == [str(key.pk)]
    runai("AccessKeysApi.delete_access_key_by_id_administration", str(key.pk))
    assert runai(every, client_id=key.client_id, takes=model) == {"accessKeys": []}


def _roles(runai: RunaiCaller) -> None:
    roles = runai("RolesApi.get_roles_v1", takes="RoleV1")
    assert runai("RolesApi.get_role_v1", roles[0]["id"], takes="RoleV1") == roles[0]
    runai("PermissionsApi.get_permissions", takes="Permission")
    request = models.GetPermittedScopesRequest.model_validate({"resourceType": "project"})
    scopes = runai("PermissionsApi.get_permitted_scopes", request, takes="PermittedScopesActions")
    assert scopes["update"] == {"tenant": "1"}
    rules = runai("MeApi.get_me_access_rules", takes="MeAccessRulesResponse")["accessRules"]
    assert [it["roleId"] for it in rules["accessRules"]] == [roles[0]["id"]]
    assert runai("MeApi.count_me_access_rules")["count"] == 1


def _service_accounts(runai: RunaiCaller, project: Project) -> None:
    """A service account gets a role and a new secret; then it is disabled and deleted."""
    api = "ServiceAccountsApi"
    request = models.ServiceAccountCreationRequest(name="ci")
    made = runai(f"{api}.create_service_account", request, takes="ServiceAccountPostResponse")
    pk = made["id"]
    renewed = runai(
        f"{api}.regenerate_service_account_secret",
        pk,
        takes="RegenerateServiceAccountSecretResponse",
    )
    assert renewed["clientSecret"] != made["clientSecret"]
    one = runai(f"{api}.get_service_account_by_id", pk, takes="ServiceAccount")
    assert (one["name"], one["createdBy"], one["enabled"]) == ("ci", "boss", True)
    assert runai(f"{api}.get_service_accounts")["serviceAccounts"] == [one]
    _rule_of_a_service_account(runai, project)
    change = models.ServiceAccountPatchRequest(enabled=False)
    runai(f"{api}.update_service_account_by_id", pk, change)
    runai(f"{api}.delete_service_account_by_id", pk)
    assert runai(f"{api}.get_service_accounts") == {"serviceAccounts": []}


def _rule_of_a_service_account(runai: RunaiCaller, project: Project) -> None:
    role = AccessRole.objects.get(name="L2 researcher").pk
    request = models.AccessRuleCreationFields(
        subject_id="ci",
        subject_type="service-account",
        role_id=role,
        scope_id=str(project.department_id),
        scope_type="department",
    )
    rule = runai("AccessRulesApi.create_access_rule", request, takes="AccessRule")
    assert (rule["subjectType"], rule["scopeName"]) == ("service-account", str(project.department))
    runai("AccessRulesApi.delete_access_rule", rule["id"])


def _rules(runai: RunaiCaller, project: Project, username: str) -> None:
    """Ada becomes a member of the project, and again by a batch; then no more."""
    api = "AccessRulesApi"
    role = AccessRole.objects.get(name="L1 researcher").pk
    place = {"scopeId": str(project.pk), "scopeType": "project"}
    subject = {"subjectId": username, "subjectType": "user"}
    request = models.AccessRuleCreationFields.model_validate(subject | place | {"roleId": role})
    made = runai(f"{api}.create_access_rule", request, takes="AccessRule")
    assert (made["roleName"], made["scopeName"], made["createdBy"]) == (
        "L1 researcher",
        "vision",
        "boss",
    )
    assert runai(f"{api}.get_access_rule", made["id"], takes="AccessRuleById") == made
    listed = runai(
        f"{api}.get_access_rules",
        subject_id_filter="ada@",
        scope_type="project",
        takes="GetAccessRules200Response",
    )
    assert listed["accessRules"] == [made]
    assert runai(f"{api}.count_access_rules", search=username) == {"count": 1}
    payload = {"roleId": role, "subjects": [subject], "scopes": [place]}
    fields = models.AccessRulesBatchCreateFields.model_validate({"payload": payload})
    many = f"{api}.access_rules_batch_create"
    again = runai(many, fields, takes="AccessRulesBatchCreateResponse")
    assert [it["code"] for it in again["failed"]] == [409]
    runai(f"{api}.delete_access_rule", made["id"])
    (anew,) = runai(many, fields, takes="AccessRulesBatchCreateResponse")["succeeded"]
    ids = [str(anew["id"]), "999998"]
    batch = models.AccessRulesBatchFields.model_validate({"ids": ids, "action": "delete"})
    gone = runai(f"{api}.access_rules_batch", batch, takes="AccessRuleDeletionBatchResponse")
    assert (gone["succeeded"], [it["code"] for it in gone["failed"]]) == (ids[:1], [404])


def _audit(runai: RunaiCaller) -> None:
    now = timezone.now()
    time: dict[str, Any] = {"start": now - timedelta(hours=1), "end": now + timedelta(hours=1)}
    told = runai("AuditLogsApi.get_audit_logs", **time, takes="GetAuditLogs200Response")
    newest = told["audit_logs"][0]
    assert (newest["action"], newest["entity_type"]) == ("delete", "access key")
    assert runai("AuditLogsApi.download_audit_logs", **time, takes="AuditLog")[0] == newest
