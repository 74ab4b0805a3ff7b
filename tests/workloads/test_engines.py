"""On a cluster whose jobs run under people's own names everybody acts by a key of their own."""

from typing import Any

import pytest

from accounts.models import User
from assets.credential import own_keys
from clusters.connections import engine_for
from clusters.models import Cluster, Connection
from engines.base import EngineRefused
from engines.slurm.client.transport import SshTransport
from spec.problems.errors import path_text
from tests.factories import ClusterFactory, CredentialFactory, UserFactory
from workloads.engines import engine_for_person, engine_to_end

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3du\n-----END OPENSSH PRIVATE KEY-----"


@pytest.fixture
def cluster() -> Cluster:
    return of_people(users="ada@example.com alovelace")


def of_people(**more: Any) -> Cluster:
    settings = {"host": "login.example.com", "user": "ty", "directory": "/shared/ty"}
    settings |= {"run_as": "people", **more}
    cluster = ClusterFactory.create(name="HPC one", kind="slurm", settings_json=settings)
    Connection.objects.create(cluster=cluster, secret_json="{}")
    return cluster


def key_of(person: User, name: str = "hpc-one", kind: str = "sshKey") -> None:
    entered = {"ssh": KEY} if kind == "sshKey" else {"User": "a", "Password": "b"}
    spec = {"kind": kind, "keys": list(entered)}
    CredentialFactory.create(
        owner=person, in_account=True, name=name, spec_json=spec, entered=entered
    )


def test_without_a_key_the_plan_says_which_one_to_add(cluster: Cluster) -> None:
    ada = UserFactory.create(username="ada@example.com")
    (problem,) = own_keys.missing_key_problems(cluster, ada)
    assert path_text(problem.path) == "project"
    assert "under your own name there, alovelace" in problem.message
    assert "SSH key, Only you, with the name hpc-one" in problem.message
    with pytest.raises(EngineRefused, match="has no key of yours"):
        engine_for_person(cluster, ada.pk)
    assert engine_to_end(cluster, ada.pk) is engine_for(cluster)


def test_the_key_of_another_or_for_something_else_does_not_count(cluster: Cluster) -> None:
    ada = UserFactory.create()
    bob = UserFactory.create()
    key_of(bob)
    key_of(ada, name="github")
    key_of(ada, kind="password")
    assert own_keys.missing_key_text(cluster, ada.pk)
    assert not own_keys.missing_key_text(cluster, bob.pk)


def test_with_a_key_somebody_acts_as_who_they_are_there(cluster: Cluster) -> None:
    ada = UserFactory.create(username="ada@example.com")
    key_of(ada)
    assert not list(own_keys.missing_key_problems(cluster, ada))
    person = engine_for_person(cluster, ada.pk)._person  # type: ignore[attr-defined]
    assert isinstance(person, SshTransport)
    assert "User=alovelace" in person.options


def test_a_job_is_entered_by_its_owner_alone(cluster: Cluster) -> None:
    ada = UserFactory.create()
    bob = UserFactory.create()
    assert not own_keys.why_not_entered(cluster, ada.pk, ada)
    assert "nobody else can enter them" in own_keys.why_not_entered(cluster, ada.pk, bob)


def test_elsewhere_nobody_needs_a_key(django_assert_num_queries: Any) -> None:
    cluster = ClusterFactory.create()
    ada = UserFactory.create()
    with django_assert_num_queries(0):
        assert not list(own_keys.missing_key_problems(cluster, ada))
    assert engine_for_person(cluster, ada.pk) is engine_for(cluster)
    assert engine_for_person(cluster, None) is engine_for(cluster)
