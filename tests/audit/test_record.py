"""What an entry keeps of a change, and what it never does."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from audit import services as audit
from audit.models import AuditEntry
from audit.services import HIDDEN
from clusters.models import Cluster, Connection
from tests.factories import ClusterFactory, ProjectFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_an_audit_entry_of_a_change_keeps_what_differs() -> None:
    project = ProjectFactory(name="vision", gpu_quota=1.0)
    before = audit.facts(project)
    project.gpu_quota = 2.0
    audit.record(UserFactory(), "update", project, before=before, after=audit.facts(project))
    entry = AuditEntry.objects.get()
    assert (entry.before, entry.after) == ({"gpu_quota": 1.0}, {"gpu_quota": 2.0})


def test_an_audit_entry_of_a_changed_document_names_the_values_that_differ() -> None:
    before = {"spec": {"image": "a:1", "ports": [80, 81], "tools": [{"name": "tb", "port": 6006}]}}
    after = {"spec": {"image": "a:2", "ports": [80, 81], "tools": [{"name": "tb", "port": 6007}]}}
    audit.record(UserFactory(), "update", ProjectFactory(), before=before, after=after)
    entry = AuditEntry.objects.get()
    assert entry.before == {"spec.image": "a:1", "spec.tools[0].port": 6006}
    assert entry.after == {"spec.image": "a:2", "spec.tools[0].port": 6007}


def test_an_audit_entry_calls_related_objects_by_their_names() -> None:
    facts = audit.facts(ProjectFactory(cluster=ClusterFactory(name="gpu")))
    assert facts["cluster"] == "gpu"


def test_an_audit_entry_outlives_its_user_and_its_object() -> None:
    user = UserFactory(username="ada")
    project = ProjectFactory(name="vision")
    audit.record(user, "delete", project, before=audit.facts(project))
    user.delete()
    project.delete()
    entry = AuditEntry.objects.get()
    assert entry.by is None
    assert str(entry) == "ada: delete project vision"
    assert entry.before["name"] == "vision"
    assert timezone.now() - entry.at < timedelta(minutes=1)


def test_an_audit_entry_is_rolled_back_with_its_transaction() -> None:
    def fail() -> None:
        with transaction.atomic():
            audit.record(None, "delete", ProjectFactory())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not AuditEntry.objects.exists()


def test_encrypted_fields_are_no_facts_of_an_audit_entry() -> None:
    cluster: Cluster = ClusterFactory()
    connection = Connection(cluster=cluster, secret_json="token: abc")
    assert audit.facts(connection) == {}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"password": "x"}, {"password": HIDDEN}),
        ({"spec": {"clientSecret": "x"}}, {"spec": {"clientSecret": HIDDEN}}),
        ({"kubeconfig": "x", "name": "far"}, {"kubeconfig": HIDDEN, "name": "far"}),
        (
            {"environmentVariables": [{"name": "KEY", "value": "x"}]},
            {"environmentVariables": [{"name": "KEY", "value": HIDDEN}]},
        ),
        (
            {"prometheus_url": "https://ada:p%40ss@prom.example.com:9090/x?y=a@b"},
            {"prometheus_url": f"https://{HIDDEN}@prom.example.com:9090/x?y=a@b"},
        ),
        ({"label_key": "gpu", "label_value": "a"}, {"label_key": "gpu", "label_value": "a"}),
    ],
)
def test_an_audit_entry_leaves_secrets_out(given: object, kept: object) -> None:
    assert audit.without_secrets(given) == kept


def test_many_audit_entries_at_once_take_a_single_query(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    projects = [ProjectFactory() for _ in range(3)]
    user = UserFactory()
    with django_assert_num_queries(1):
        audit.record_each(user, "stop", projects)
    assert AuditEntry.objects.filter(by=user, verb="stop").count() == 3


@pytest.mark.parametrize(
    "command",
    ["train --token=hush --epochs 3", "train --hf-token hush -e 3", "env API_KEY=hush train"],
)
def test_an_audit_entry_keeps_no_secret_of_a_command_line(command: str) -> None:
    audit.record(UserFactory(), "create", ProjectFactory(), after={"spec": {"args": command}})
    args = AuditEntry.objects.get().after["spec.args"]
    assert "hush" not in args
    assert "train" in args
