"""The SSH keys of people on clusters where jobs run under their own names."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.utils.text import slugify

from accounts.models import User
from assets.credential.model import Credential, SecretValue
from clusters.models import Cluster
from spec.data.credential import KEYS, CredentialKind
from spec.problems.errors import Problem

(KEY,) = KEYS[CredentialKind.SSH_KEY]
Person = int | None  # primary key of a user, who may be deleted
NO_SUBMITTER = "nobody is known any more who submitted it, and its job runs under a name of its own"


def why_not_entered(cluster: Cluster, owner: Person, by: User) -> str:
    """Return why ``by`` cannot enter another person's workload; empty if they can. They would enter
    it under that person's name."""
    if owner == by.pk or not cluster.definition.login_name(cluster, by.username):
        return ""
    return (
        f"Jobs on {cluster.name} run under the name of the person who submitted them, and nobody "
        "else can enter them there."
    )


def missing_key_problems(cluster: Cluster, person: User) -> Iterator[Problem]:
    """Yield a problem if the person lacks a key for this cluster."""
    if message := missing_key_text(cluster, person.pk):
        yield Problem(("project",), message)


def missing_key_text(cluster: Cluster, person: Person) -> str:
    """Return which key is missing, and how to add it; empty if none is needed or it exists."""
    if not cluster.definition.login_name(cluster, "anyone"):
        return ""
    user = _find_user(person)
    if user is None:
        return NO_SUBMITTER
    if _key_values(cluster, person).exists():
        return ""
    login = cluster.definition.login_name(cluster, user.username)
    return (
        f"jobs on {cluster.name} run under your own name there, {login}, and Trainyard has no key "
        f"of yours. Add your private SSH key under Credentials: SSH key, Only you, with the name "
        f"{key_name(cluster)}"
    )


def key_name(cluster: Cluster) -> str:
    """Return the name that someone's key for a cluster must have."""
    return slugify(cluster.name)


def login_name(cluster: Cluster, person: Person) -> str:
    """Return the name under which someone's jobs run on the cluster; empty if all jobs run under
    the cluster's own, or the person is gone."""
    user = _find_user(person) if cluster.definition.login_name(cluster, "anyone") else None
    return cluster.definition.login_name(cluster, user.username) if user else ""


def _find_user(person: Person) -> User | None:
    return None if person is None else User.objects.filter(pk=person).first()


def _key_values(cluster: Cluster, person: Person) -> QuerySet[SecretValue]:
    kind = CredentialKind.SSH_KEY.value
    credentials = Credential.objects.filter(
        owner_id=person, name=key_name(cluster), spec_json__kind=kind
    )
    return SecretValue.objects.filter(credential__in=credentials, key=KEY)


def private_key(cluster: Cluster, person: Person) -> str:
    """Return the private key that someone has for this cluster. Raises ``Unreadable`` if it was
    stored under another ``SECRET_KEY``."""
    return _key_values(cluster, person).get().value
