"""Which credentials can be used in a project, found by their ids or names."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.db.models import Q

from accounts.models import User
from assets.credential.form import KINDS
from assets.credential.kind import CREDENTIAL
from assets.credential.model import Credential
from core.web.query import uuids
from projects.models import Project
from projects.scopes import Place, Scope, ScopedQuerySet
from spec.data.credential import CredentialKind, opens

#: The nearest first, after one's own: of two with one name the project's own is meant.
NEAREST = (Scope.PROJECT, Scope.DEPARTMENT, Scope.CLUSTER, Scope.ACCOUNT)
ANOTHERS = "is another person's own; choose one of yours, or of the project"
#: What each kind opens, in words.
ADDRESSES = {
    CredentialKind.PASSWORD: "a repository by https",
    CredentialKind.SSH_KEY: "a repository by ssh",
    CredentialKind.ACCESS_KEY: "a bucket",
}
Named = Mapping[str, Any]  # an ``assetId``, or a ``name``; only one's ``own`` where it says so


def usable(project: Project | None, user: User) -> ScopedQuerySet[Credential]:
    """Without a project: what the user sees."""
    rows = CREDENTIAL.rows.visible_to(user)
    return rows.usable_in(project) if project else rows


def fault_of(credential: Credential) -> str:
    """Why it can no longer be used anywhere."""
    return CREDENTIAL.fault_of(credential)


def in_words(credential: Credential) -> str:
    """``hub (Generic secret, Project team-a)``"""
    return f"{credential.name} ({type_of(credential)}, {credential.scope_name})"


def type_of(credential: Credential) -> str:
    """``Username & password``"""
    return dict(KINDS)[credential.spec.kind.value]


def unfit(credential: Credential, fetched: str, address: str) -> str:
    """Why it does not open what is fetched from there; empty where it does."""
    needed = opens(fetched, address)
    if credential.spec.kind is needed:
        return ""
    return (
        f"the credential {credential.name} is of the type {type_of(credential)}; "
        f"{ADDRESSES[needed]} takes the type {dict(KINDS)[needed]}; choose another"
    )


def that_open(
    fetched: Collection[CredentialKind], rows: ScopedQuerySet[Credential]
) -> list[Credential]:
    """Those of some kinds that are valid, by name, of one name the nearest first."""
    rows = rows.filter(spec_json__kind__in=[kind.value for kind in fetched])
    placed = rows.select_related("cluster", "department", "project").order_by("name", "pk")
    return nearest_first(row for row in placed if not fault_of(row))


def nearest_first(rows: Iterable[Credential]) -> list[Credential]:
    """By name, of one name the nearest first."""
    return sorted(rows, key=lambda row: (row.name, distance(row)))


def distance(credential: Credential) -> int:
    """Less is nearer."""
    return -1 if credential.owner_id else NEAREST.index(Scope(credential.scope))


def visible_at(place: Place | None, user: User) -> ScopedQuerySet[Credential]:
    """Those that what belongs there can use, which is nobody's own; without a place all that the
    user sees."""
    rows = Credential.objects.visible_to(user).shared()
    return rows.usable_at(place) if place else rows


def at(place: Place, pk: object) -> Credential | None:
    """The one of an id, where it can be used there."""
    return Credential.objects.shared().usable_at(place).filter(pk__in=uuids([str(pk)])).first()


def is_anothers(pk: object, user: User) -> bool:
    """Whether the one of an id is somebody else's own."""
    rows = Credential.objects.filter(pk__in=uuids([str(pk)])).exclude(owner=None)
    return rows.exclude(owner=user).exists()


@dataclass(frozen=True)
class Usable:
    """Those of several that are named, the nearest first, in one query."""

    rows: list[Credential]
    user: User

    @classmethod
    def among(cls, named: Iterable[Named], project: Project | None, user: User) -> Self:
        named = list(named)
        ids = uuids([str(it.get("assetId")) for it in named if it.get("assetId")])
        names = {str(it.get("name") or "") for it in named} - {""}
        if not (ids or names):
            return cls([], user)
        rows = usable(project, user).select_related("cluster", "department", "project")
        them = rows.filter(Q(pk__in=ids) | Q(name__in=names))
        return cls(sorted(them, key=distance), user)

    def is_anothers(self, named: Named) -> bool:
        """Whether what is named by its id is somebody else's own."""
        return is_anothers(named.get("assetId"), self.user)

    def find(self, named: Named) -> Credential | None:
        """By its id, where there is one. What is no longer valid is none."""
        pk, name = str(named.get("assetId") or ""), str(named.get("name") or "")
        rows = [it for it in self.rows if it.owner_id] if named.get("own") else self.rows
        them = (it for it in rows if (str(it.pk) == pk if pk else it.name == name))
        return next((it for it in them if not fault_of(it)), None)
