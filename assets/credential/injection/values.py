"""The values of the credentials that a spec names, for starting the workload."""

from collections.abc import Iterator
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from assets.credential.model import SHARED, Credential, SecretValue
from spec.data.credential import KEYS, KNOWN_HOSTS, CredentialKind, credential_kind_for
from spec.values.variable import CredentialKey, NamedCredential
from spec.workload import Replica, WorkloadSpec


class MissingValue(Exception):
    """A credential or one of its keys no longer exists; the text says which."""


def credential_values(spec: WorkloadSpec, by: User | None) -> dict[UUID, dict[str, str]]:
    """Return the present values, by credential and key, so that a workload that runs again gets new
    ones.

    Of personal credentials, only those of ``by`` are returned, who submitted it. SSH keys come with
    their known hosts, if they have any. Raises ``MissingValue``, or ``Unreadable`` if
    ``SECRET_KEY`` has changed.
    """
    named_keys = list(_named_keys(spec))
    if not named_keys:
        return {}
    values: dict[UUID, dict[str, str]] = {}
    rows = Credential.objects.filter(pk__in={named_key.asset_id for named_key in named_keys})
    usable_credentials = rows.filter(SHARED | Q(owner=by)) if by else rows.shared()
    for row in SecretValue.objects.filter(credential__in=usable_credentials):
        values.setdefault(row.credential_id, {})[row.key] = row.value
    for named_key in named_keys:
        if named_key.asset_id is None or named_key.key not in values.get(named_key.asset_id, {}):
            raise MissingValue(
                f"The credential {named_key.name} no longer has a value for {named_key.key}."
            )
    for credential in Credential.objects.filter(
        pk__in=values, spec_json__kind=CredentialKind.SSH_KEY.value
    ):
        if hosts := credential.spec_json.get("knownHosts"):
            values[credential.pk][KNOWN_HOSTS] = hosts
    return values


def _named_keys(spec: WorkloadSpec) -> Iterator[CredentialKey]:
    for replica in (role.replica for role in spec.described_roles):
        for variable in replica.environment_variables:
            if variable.credential:
                yield variable.credential
        for credential, keys in (*_fetch_credentials(replica), *_mounted_credentials(replica)):
            reference = credential.model_dump(include={"asset_id", "name"})
            yield from (CredentialKey(**reference, key=key) for key in keys)


def _mounted_credentials(replica: Replica) -> Iterator[tuple[NamedCredential, tuple[str, ...]]]:
    """Yield the credentials that are mounted as files, with the keys that become files."""
    for item in replica.storage.secret_volume:
        if item.credential:
            yield item.credential, item.credential.keys


def _fetch_credentials(replica: Replica) -> Iterator[tuple[NamedCredential, tuple[str, ...]]]:
    """Yield the credentials of repositories and buckets, with all keys that they need."""
    for git in replica.storage.git:
        if git.credential:
            yield git.credential, KEYS[credential_kind_for("git", git.repository)]
    for s3 in replica.storage.s3:
        if s3.credential:
            yield s3.credential, KEYS[credential_kind_for("s3", s3.bucket)]
