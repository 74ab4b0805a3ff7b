"""Verbs about people, their groups and their keys; see ``tests.audit.verbs``."""

from typing import Any

from accounts import general, groups, tokens
from accounts import services as accounts
from accounts.devices import sign_ins
from accounts.models import UserGroup
from tests.audit.scene import SECRET, Scene, Verbs


def _user(s: Scene) -> object:
    return accounts.create_user(by=s.boss, username="ada", password=SECRET)


def _update_user(s: Scene) -> None:
    names = {"email": "a@example.com", "first_name": "Ada", "last_name": "L"}
    accounts.update_user(s.person(), by=s.boss, role="administrator", **names)


def _group(s: Scene) -> Any:
    return groups.create_group(by=s.boss, name=f"group-{UserGroup.objects.count()}", people=[])


def _delete_key(s: Scene) -> None:
    key, _ = tokens.make_key(s.boss, "ci")
    tokens.delete_key(key, by=s.boss)


def _renew_secret(s: Scene) -> None:
    key, _ = tokens.make_key(s.boss, "ci")
    tokens.renew_secret(key, by=s.boss)


def _collect(s: Scene) -> object:
    sign_in, _ = sign_ins.begin("laptop")
    sign_ins.approve(sign_in, by=s.boss)
    return sign_ins.collect_key(sign_in)


PEOPLE: Verbs = {
    "accounts.devices.sign_ins.approve": (
        "approve sign-in by code",
        lambda s: sign_ins.approve(sign_ins.begin("laptop")[0], by=s.boss),
    ),
    "accounts.devices.sign_ins.deny": (
        "deny sign-in by code",
        lambda s: sign_ins.deny(sign_ins.begin("laptop")[0], by=s.boss),
    ),
    "accounts.devices.sign_ins.collect_key": ("create access key", _collect),
    "accounts.services.create_user": ("create user", _user),
    "accounts.services.update_user": ("update user", _update_user),
    "accounts.services.set_active": (
        "deactivate user",
        lambda s: accounts.set_active(s.person(), False, by=s.boss),
    ),
    "accounts.services.reset_password": (
        "reset password user",
        lambda s: accounts.reset_password(s.person(), SECRET, by=s.boss),
    ),
    "accounts.services.sign_out": (
        "sign out user",
        lambda s: accounts.sign_out(s.person(), by=s.boss),
    ),
    "accounts.services.make_administrator": (
        "create user",
        lambda s: accounts.make_administrator("root", SECRET),
    ),
    "accounts.general.update_settings": (
        "update general settings",
        lambda s: general.update_settings(by=s.boss, tolerations=True, topology=False),
    ),
    "accounts.groups.create_group": ("create group", _group),
    "accounts.groups.update_group": (
        "update group",
        lambda s: groups.update_group(_group(s), by=s.boss, people=[s.boss]),
    ),
    "accounts.groups.delete_group": (
        "delete group",
        lambda s: groups.delete_group(_group(s), by=s.boss),
    ),
    "accounts.groups.set_provided_groups": (
        "update user",
        lambda s: groups.set_provided_groups(s.boss, ["vision"]),
    ),
    "accounts.tokens.renew_secret": ("renew the secret of access key", _renew_secret),
    "accounts.tokens.make_key": ("create access key", lambda s: tokens.make_key(s.boss, "ci")),
    "accounts.tokens.delete_key": ("delete access key", _delete_key),
}
