"""The docker registry credentials that are applied to the image pulls of a workload."""

from collections.abc import Iterable

from assets.credential.kind import CREDENTIAL
from assets.credential.model import Credential, SecretValue
from assets.credential.usable import NEAREST
from assets.credential.values import MissingValue
from engines.base import Registry
from projects.models import Project
from projects.scopes import Scope
from spec.credential import CredentialKind
from spec.registry import host_of, registry_of
from spec.workload import WorkloadSpec


def applied(spec: WorkloadSpec, project: Project) -> list[Credential]:
    """One for each registry that its images come from, the nearest that the project can use."""
    replicas = filter(None, (spec.worker, spec.master))
    hosts = {registry_of(replica.image) for replica in replicas if replica.image}
    rows = CREDENTIAL.rows.usable_in(project).filter(spec_json__kind=CredentialKind.REGISTRY.value)
    by_host: dict[str, Credential] = {}
    for row in sorted(rows, key=lambda row: NEAREST.index(Scope(row.scope))):
        if not CREDENTIAL.fault_of(row) and (host := host_of(row.spec.server or "")) in hosts:
            by_host.setdefault(host, row)
    return list(by_host.values())


def shown(credentials: Iterable[Credential]) -> tuple[Registry, ...]:
    """Without their passwords."""
    return tuple(
        Registry(host_of(it.spec.server or ""), existing_secret=it.spec.existing_secret or "")
        for it in credentials
    )


def opened(credentials: Iterable[Credential]) -> tuple[Registry, ...]:
    """With them as they are now. ``MissingValue``; ``Unreadable`` where ``SECRET_KEY`` is
    another."""
    credentials = list(credentials)
    values: dict[tuple[object, str], str] = {
        (row.credential_id, row.key): row.value
        for row in SecretValue.objects.filter(credential__in=[it.pk for it in credentials])
    }
    return tuple(_opened(it, values) for it in credentials)


def _opened(credential: Credential, values: dict[tuple[object, str], str]) -> Registry:
    spec = credential.spec
    (plain,) = shown([credential])
    if spec.existing_secret:
        return plain
    for key in spec.names:
        if (credential.pk, key) not in values:
            raise MissingValue(f"The credential {credential.name} no longer has a {key}.")
    username, password = (values[credential.pk, key] for key in spec.names)
    return Registry(plain.host, username=username, password=password, email=spec.email or "")
