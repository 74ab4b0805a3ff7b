"""Each verb writes down who did what. A new verb is one more row of ``tests/audit/verbs.py``."""

import inspect
import json
from importlib import import_module

import pytest

from accounts import tokens
from accounts.models import User
from audit.models import AuditEntry
from audit.words import KINDS
from audit.words import VERBS as VERB_WORDS
from clusters import services as clusters
from tests.audit.verbs import SECRET, VERBS, AuditedObjects
from tests.factories import UserFactory
from tests.repository import tracked

#: Verbs that stand beside the ``services.py`` of their package.
BESIDE = (
    "accounts.devices.sign_ins",
    "accounts.general",
    "accounts.groups",
    "accounts.roles",
    "accounts.rules",
    "accounts.service_accounts",
    "accounts.tokens",
    "assets.datasets.services",
    "clusters.connection_tests",
    "clusters.nodes.pools",
    "notifications.channels.services",
    "notifications.people.services",
    "notifications.webhooks.services",
    "projects.departments",
    "projects.members",
    "workflows.pools",
    "workloads.submission",
)
#: By nobody: Trainyard itself.
BY_NOBODY = {"accounts.services.make_administrator", "clusters.services.add_after_check"}
#: Public functions there that people cause nothing by, and why.
NO_VERBS = {
    "assets.datasets.services.begin_version": "nobody can use it before finish_version",
    "assets.datasets.services.add_piece": "a part of a version that nobody can use yet",
    "assets.datasets.services.forget_workflow": "a part of the deletion of a workflow",
    "accounts.devices.sign_ins.begin": "of a program that nobody knows yet",
    "accounts.devices.sign_ins.find_by_secret": "reads",
    "accounts.devices.sign_ins.find_waiting": "reads",
    "accounts.general.read_settings": "reads",
    "accounts.groups.obstacle_to_delete": "reads",
    "accounts.roles.obstacle_to_delete": "reads",
    "accounts.roles.sets_of": "reads",
    "accounts.service_accounts.obstacle_to_delete": "reads",
    "accounts.rules.require_no_more_power": "reads",
    "accounts.rules.require_own_permissions": "reads",
    "accounts.rules.keep_an_administrator": "saves nothing",
    "accounts.rules.make_account_administrator": "a part of make_administrator",
    "accounts.rules.may_give": "reads",
    "accounts.rules.why_in_use": "reads",
    "accounts.rules.remove_rules_of_scopes": "a part of the deletion of a scope",
    "accounts.tokens.create_tokens": "tokens are not kept; accounts.api.tokens records the sign-in",
    "accounts.tokens.has_refresh_signature": "reads",
    "accounts.tokens.renew_tokens": "a sign-in that goes on",
    "accounts.tokens.access_token_for": "not stored; accounts.api.tokens records the sign-in",
    "accounts.tokens.token_owner": "reads",
    "accounts.tokens.find_key": "notes when a key was used last",
    "assets.services.check_creatable": "reads",
    "assets.services.check_editable": "reads",
    "assets.services.free_name": "reads",
    "assets.services.obstacle_to_delete": "reads",
    "clusters.connection_tests.is_late": "reads",
    "clusters.connection_tests.store_secret": "what was typed, until the form is sent again",
    "clusters.connection_tests.prune": "Trainyard forgets old tests",
    "clusters.connection_tests.rights_to_apply": "reads",
    "clusters.connection_tests.run": "a worker does what ask recorded",
    "clusters.connection_tests.signed_in_user": "reads",
    "clusters.nodes.pools.obstacle_to_delete": "reads",
    "policies.services.build_policy": "saves nothing",
    "policies.services.check_policy": "saves nothing",
    "policies.services.require_permission": "reads",
    "policies.services.find_present_conflicts": "reads",
    "policies.services.find_wider_rules": "reads",
    "clusters.services.ensure_local": "Trainyard's own first data",
    "clusters.services.set_and_validate": "saves nothing",
    "clusters.services.obstacle_to_delete": "reads",
    "clusters.services.refresh": "what was seen of a cluster",
    "clusters.services.stored_settings": "reads",
    "clusters.services.store_waiting_findings": "what was seen of a cluster",
    "notifications.channels.services.build_mail_server": "saves nothing",
    "notifications.people.services.mark_as_read": "what a person has read is theirs alone",
    "notifications.people.services.notifications_of": "reads",
    "projects.departments.obstacle_to_delete": "reads",
    "projects.departments.shares_of": "reads",
    "projects.members.member_names": "reads",
    "projects.members.projects_of": "reads",
    "projects.members.researchers_of": "reads",
    "projects.members.visible_people": "reads",
    "projects.services.obstacle_to_delete": "reads",
    "workflows.pools.find_project": "reads",
    "workflows.pools.read_use": "reads",
    "workflows.services.check": "saves nothing",
    "workflows.services.obstacle_to_delete": "reads",
    "workloads.services.content_to_copy": "reads",
    "workloads.services.free_copy_name": "reads",
    "workloads.submission.create": "a part of submit and submit_all",
    "workloads.submission.check_all": "saves nothing",
    "workloads.submission.launch_of_plan": "saves nothing",
}


def modules() -> list[str]:
    services = [path for path in tracked("*/services.py") if path.parts[0] != "audit"]
    names = [".".join(path.with_suffix("").parts) for path in services if len(path.parts) == 2]
    assert len(names) >= 5
    return [*names, *BESIDE]


def functions(name: str) -> list[str]:
    """The public ones that a module defines itself."""
    module = import_module(name)
    own = inspect.getmembers(module, inspect.isfunction)
    return [
        f"{name}.{function}"
        for function, it in own
        if it.__module__ == name and not function.startswith("_")
    ]


@pytest.fixture
def objects(db: None, monkeypatch: pytest.MonkeyPatch) -> AuditedObjects:
    monkeypatch.setattr(clusters, "_check", lambda cluster, queues=None: None)
    return AuditedObjects(UserFactory(administrator=True, username="boss"))


def test_every_public_function_of_the_services_is_known() -> None:
    public = {it for name in modules() for it in functions(name)}
    assert public == set(VERBS) | set(NO_VERBS)


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_writes_an_audit_entry_of_who_did_it(name: str, objects: AuditedObjects) -> None:
    words, act = VERBS[name]
    act(objects)
    entry = AuditEntry.objects.all()[0]
    assert f"{entry.verb} {entry.target_kind}" == words
    assert entry.by_name == ("" if name in BY_NOBODY else "boss")
    assert entry.target_name
    assert entry.verb in VERB_WORDS
    assert entry.target_kind in KINDS


def test_no_audit_entry_keeps_a_secret(objects: AuditedObjects) -> None:
    for _, act in VERBS.values():
        act(AuditedObjects(objects.admin))
    key, secret = tokens.make_key(objects.admin, "nightly")
    assert AuditEntry.objects.count() > len(VERBS)
    rows = json.dumps(list(AuditEntry.objects.values()), default=str)
    assert "HF_TOKEN" in rows  # what surrounds a secret is kept
    passwords = User.objects.values_list("password", flat=True)
    for hidden in (SECRET, secret, key.secret_hash, *passwords):
        assert hidden not in rows
