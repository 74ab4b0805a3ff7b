"""Find the credentials that can be used in a project, by their ids or names."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.db.models import Q

from accounts.models import User
from assets.credential.form import KINDS
from assets.credential.kind import CREDENTIAL
from assets.credential.model import Credential
from core.web.query import parse_uuids
from projects.models import Project
from projects.scopes import OwningScope, Scope, ScopedQuerySet
from spec.data.credential import CredentialKind, credential_kind_for

#: The nearest first, after personal ones: of two with the same name, the project's is meant.
NEAREST_SCOPES = (Scope.PROJECT, Scope.DEPARTMENT, Scope.CLUSTER, Scope.ACCOUNT)
OF_ANOTHER_PERSON = "is another person's own; choose one of yours, or of the project"
#: What each kind gives access to, in words.
ADDRESSES = {
    CredentialKind.PASSWORD: "a repository by https",
    CredentialKind.SSH_KEY: "a repository by ssh",
    CredentialKind.ACCESS_KEY: "a bucket",
}
CredentialReference = Mapping[
    str, Any
]  # an ``assetId`` or a ``name``; with ``own``, a personal one


def usable_credentials(project: Project | None, user: User) -> ScopedQuerySet[Credential]:
    """Return the credentials that the user can use in a project, or without one those that they
    see."""
    rows = CREDENTIAL.rows.visible_to(user)
    return rows.usable_in(project) if project else rows


def fault_of(credential: Credential) -> str:
    """Return why a credential is no longer valid; empty if it is valid."""
    return CREDENTIAL.fault_of(credential)


def option_text(credential: Credential) -> str:
    """Return a credential in words, such as ``hub (Generic secret, Project team-a)``."""
    return f"{credential.name} ({type_label(credential)}, {credential.scope_name})"


def type_label(credential: Credential) -> str:
    """Return its type in words, such as ``Username & password``."""
    return dict(KINDS)[credential.spec.kind.value]


def reason_unfit(credential: Credential, fetched: str, address: str) -> str:
    """Return why a credential cannot open the address of fetched data; empty if it can."""
    needed = credential_kind_for(fetched, address)
    if credential.spec.kind is needed:
        return ""
    return (
        f"the credential {credential.name} is of the type {type_label(credential)}; "
        f"{ADDRESSES[needed]} takes the type {dict(KINDS)[needed]}; choose another"
    )


def credentials_of_kinds(
    kinds: Collection[CredentialKind], rows: ScopedQuerySet[Credential]
) -> list[Credential]:
    """Return the valid credentials of some kinds by name. Of equal names the nearest is first."""
    rows = rows.filter(spec_json__kind__in=[kind.value for kind in kinds])
    ordered_rows = rows.select_related("cluster", "department", "project").order_by("name", "pk")
    return nearest_first(row for row in ordered_rows if not fault_of(row))


def nearest_first(rows: Iterable[Credential]) -> list[Credential]:
    """Sort by name, and equal names by distance."""
    return sorted(rows, key=lambda row: (row.name, distance(row)))


def distance(credential: Credential) -> int:
    """Return how far away a credential is; less is nearer."""
    return -1 if credential.owner_id else NEAREST_SCOPES.index(Scope(credential.scope))


def visible_credentials(scope: OwningScope | None, user: User) -> ScopedQuerySet[Credential]:
    """Return the shared credentials that assets at a scope can use; without a scope, all that the
    user sees."""
    rows = Credential.objects.visible_to(user).shared()
    return rows.usable_at(scope) if scope else rows


def find_usable_credential(scope: OwningScope, pk: object) -> Credential | None:
    """Return the credential with this id, if assets at the scope can use it."""
    return (
        Credential.objects.shared().usable_at(scope).filter(pk__in=parse_uuids([str(pk)])).first()
    )


def is_of_another_person(pk: object, user: User) -> bool:
    """Whether the credential with this id is another person's own."""
    rows = Credential.objects.filter(pk__in=parse_uuids([str(pk)])).exclude(owner=None)
    return rows.exclude(owner=user).exists()


@dataclass(frozen=True)
class UsableCredentials:
    """Those of several named credentials that can be used, the nearest first, read in one query."""

    rows: list[Credential]
    user: User

    @classmethod
    def load(
        cls, references: Iterable[CredentialReference], project: Project | None, user: User
    ) -> Self:
        references = list(references)
        ids = parse_uuids([str(it.get("assetId")) for it in references if it.get("assetId")])
        names = {str(it.get("name") or "") for it in references} - {""}
        if not (ids or names):
            return cls([], user)
        rows = usable_credentials(project, user).select_related("cluster", "department", "project")
        matches = rows.filter(Q(pk__in=ids) | Q(name__in=names))
        return cls(sorted(matches, key=distance), user)

    def is_of_another_person(self, named: CredentialReference) -> bool:
        """Whether the credential that is named by id is another person's own."""
        return is_of_another_person(named.get("assetId"), self.user)

    def find(self, reference: CredentialReference) -> Credential | None:
        """Return the named credential, by its id if there is one. ``None`` if it is not usable or
        no longer valid."""
        pk = str(reference.get("assetId") or "")
        name = str(reference.get("name") or "")
        rows = [it for it in self.rows if it.owner_id] if reference.get("own") else self.rows
        matches = (it for it in rows if (str(it.pk) == pk if pk else it.name == name))
        return next((it for it in matches if not fault_of(it)), None)
