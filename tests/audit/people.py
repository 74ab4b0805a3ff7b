"""Verbs about people, their groups and their keys; see ``tests.audit.verbs``."""

from typing import Any

from accounts import general, groups, roles, rules, service_accounts, tokens
from accounts import services as accounts
from accounts.devices import sign_ins
from accounts.models import AccessRole, User, UserGroup
from tests.audit.objects import SECRET, AuditedObjects, Verbs


def _user(s: AuditedObjects) -> object:
    return accounts.create_user(by=s.admin, username="ada", password=SECRET)


def _update_user(s: AuditedObjects) -> None:
    names = {"email": "a@example.com", "first_name": "Ada", "last_name": "L"}
    accounts.update_user(s.person(), by=s.admin, **names)


def _rule(s: AuditedObjects) -> Any:
    return rules.add_rule(s.person(), AccessRole.objects.get(name="Viewer"), by=s.admin)


def _role(s: AuditedObjects) -> Any:
    name = f"role-{AccessRole.objects.count()}"
    return roles.create_role(by=s.admin, name=name, permission_sets=["view-users"])


def _service_account(s: AuditedObjects) -> User:
    name = f"ci-{User.objects.count()}"
    return service_accounts.create_service_account(by=s.admin, name=name)[0]


def _group(s: AuditedObjects) -> Any:
    return groups.create_group(by=s.admin, name=f"group-{UserGroup.objects.count()}", people=[])


def _delete_key(s: AuditedObjects) -> None:
    key, _ = tokens.make_key(s.admin, "ci")
    tokens.delete_key(key, by=s.admin)


def _renew_secret(s: AuditedObjects) -> None:
    key, _ = tokens.make_key(s.admin, "ci")
    tokens.renew_secret(key, by=s.admin)


def _collect(s: AuditedObjects) -> object:
    sign_in, _ = sign_ins.begin("laptop")
    sign_ins.approve(sign_in, by=s.admin)
    return sign_ins.collect_key(sign_in)


PEOPLE: Verbs = {
    "accounts.devices.sign_ins.approve": (
        "approve sign-in by code",
        lambda s: sign_ins.approve(sign_ins.begin("laptop")[0], by=s.admin),
    ),
    "accounts.devices.sign_ins.deny": (
        "deny sign-in by code",
        lambda s: sign_ins.deny(sign_ins.begin("laptop")[0], by=s.admin),
    ),
    "accounts.devices.sign_ins.collect_key": ("create access key", _collect),
    "accounts.services.create_user": ("create user", _user),
    "accounts.services.update_user": ("update user", _update_user),
    "accounts.services.set_active": (
        "deactivate user",
        lambda s: accounts.set_active(s.person(), False, by=s.admin),
    ),
    "accounts.services.reset_password": (
        "reset password user",
        lambda s: accounts.reset_password(s.person(), SECRET, by=s.admin),
    ),
    "accounts.services.sign_out": (
        "sign out user",
        lambda s: accounts.sign_out(s.person(), by=s.admin),
    ),
    "accounts.services.make_administrator": (
        "create user",
        lambda s: accounts.make_administrator("root", SECRET),
    ),
    "accounts.general.update_settings": (
        "update general settings",
        lambda s: general.update_settings(by=s.admin, tolerations=True, topology=False),
    ),
    "accounts.rules.add_rule": ("create access rule", _rule),
    "accounts.rules.remove_rule": (
        "delete access rule",
        lambda s: rules.remove_rule(_rule(s), by=s.admin),
    ),
    "accounts.roles.create_role": ("create role", _role),
    "accounts.roles.update_role": (
        "update role",
        lambda s: roles.update_role(
            _role(s), by=s.admin, name="nurse", description="", permission_sets=["manage-users"]
        ),
    ),
    "accounts.roles.delete_role": (
        "delete role",
        lambda s: roles.delete_role(_role(s), by=s.admin),
    ),
    "accounts.service_accounts.create_service_account": ("create access key", _service_account),
    "accounts.service_accounts.renew_secret": (
        "renew the secret of access key",
        lambda s: service_accounts.renew_secret(_service_account(s), by=s.admin),
    ),
    "accounts.service_accounts.set_enabled": (
        "deactivate user",
        lambda s: service_accounts.set_enabled(_service_account(s), False, by=s.admin),
    ),
    "accounts.service_accounts.delete_service_account": (
        "delete user",
        lambda s: service_accounts.delete_service_account(_service_account(s), by=s.admin),
    ),
    "accounts.groups.create_group": ("create group", _group),
    "accounts.groups.update_group": (
        "update group",
        lambda s: groups.update_group(_group(s), by=s.admin, people=[s.admin]),
    ),
    "accounts.groups.delete_group": (
        "delete group",
        lambda s: groups.delete_group(_group(s), by=s.admin),
    ),
    "accounts.groups.set_provided_groups": (
        "update user",
        lambda s: groups.set_provided_groups(s.admin, ["vision"]),
    ),
    "accounts.tokens.renew_secret": ("renew the secret of access key", _renew_secret),
    "accounts.tokens.make_key": ("create access key", lambda s: tokens.make_key(s.admin, "ci")),
    "accounts.tokens.delete_key": ("delete access key", _delete_key),
}
