"""The registry credentials that pull a workload's images."""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.models import User
from assets.credential.injection.values import MissingValue
from assets.credential.model import SHARED, Credential, SecretValue
from assets.credential.usable import distance, fault_of
from engines.base import Registry
from projects.models import Project
from projects.scopes import scopes_including
from spec.data.credential import NGC_USER, PULL_KINDS, CredentialKind
from spec.values.registry import image_registry, registry_host
from spec.workload import WorkloadSpec


def registry_credentials(spec: WorkloadSpec, project: Project, by: User | None) -> list[Credential]:
    """Return the registry credentials that a spec names, and the nearest usable one for each
    registry of its images.

    Someone's own credential is used only if its owner, ``by``, named it.
    """
    replicas = [role.replica for role in spec.described_roles]
    pull_secrets = [it for replica in replicas for it in replica.image_pull_secrets]
    named_ids = {it.asset_id for it in pull_secrets if it.asset_id}
    hosts = {image_registry(replica.image) for replica in replicas if replica.image}
    valid_credentials = [
        row for row in _usable_registry_credentials(project, by, named_ids) if not fault_of(row)
    ]
    by_host: dict[str, Credential] = {}
    for row in sorted(valid_credentials, key=lambda it: (it.pk not in named_ids, distance(it))):
        host = registry_host(row.spec.registry)
        if host in hosts or row.pk in named_ids:
            by_host.setdefault(host, row)
    return list(by_host.values())


def _usable_registry_credentials(
    project: Project, by: User | None, named: Collection[UUID]
) -> QuerySet[Credential]:
    """Return the registry credentials that a project can use, including those of ``by`` that are
    ``named``."""
    rows = Credential.objects.filter(
        scopes_including(project.pk, project.department_id, project.cluster_id),
        SHARED | Q(owner=by, pk__in=named),
        spec_json__kind__in=[kind.value for kind in PULL_KINDS],
    )
    # Every submission and launch asks, and SQLite takes a microsecond for each column.
    return rows.only("name", "spec_json", "scope", "owner", "cluster", "department", "project")


def registries_without_passwords(credentials: Iterable[Credential]) -> tuple[Registry, ...]:
    """Return registries without passwords."""
    return tuple(
        Registry(registry_host(it.spec.registry), existing_secret=it.spec.existing_secret or "")
        for it in credentials
    )


def registries_with_passwords(credentials: Iterable[Credential]) -> tuple[Registry, ...]:
    """Return registries with their present passwords.

    Raises ``MissingValue``, or ``Unreadable`` if ``SECRET_KEY`` has changed.
    """
    credentials = list(credentials)
    if not credentials:
        return ()
    values: dict[tuple[object, str], str] = {
        (row.credential_id, row.key): row.value
        for row in SecretValue.objects.filter(credential__in=[it.pk for it in credentials])
    }
    return tuple(_registry_with_password(it, values) for it in credentials)


def _registry_with_password(
    credential: Credential, values: dict[tuple[object, str], str]
) -> Registry:
    spec = credential.spec
    (registry,) = registries_without_passwords([credential])
    if spec.existing_secret:
        return registry
    for key in spec.names:
        if (credential.pk, key) not in values:
            raise MissingValue(f"The credential {credential.name} no longer has a {key}.")
    secret_values = [values[credential.pk, key] for key in spec.names]
    username, password = (
        [NGC_USER, *secret_values] if spec.kind is CredentialKind.NGC else secret_values
    )
    return Registry(registry.host, username=username, password=password, email=spec.email or "")
