"""Which credentials can be used in a project, found by their ids or names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.db.models import Q

from accounts.models import User
from assets.credential.form import KINDS
from assets.credential.kind import CREDENTIAL
from assets.credential.model import Credential
from core.query import uuids
from projects.models import Project
from projects.scopes import Scope, ScopedQuerySet

#: The nearest first: of two with one name the project's own is meant.
NEAREST = (Scope.PROJECT, Scope.DEPARTMENT, Scope.CLUSTER, Scope.ACCOUNT)
Named = Mapping[str, Any]  # an ``assetId``, or a ``name``


def usable(project: Project | None, user: User) -> ScopedQuerySet[Credential]:
    """Without a project: what the user sees."""
    rows = CREDENTIAL.rows.visible_to(user)
    return rows.usable_in(project) if project else rows


def fault_of(credential: Credential) -> str:
    """Why it can no longer be used anywhere."""
    return CREDENTIAL.fault_of(credential)


def in_words(credential: Credential) -> str:
    """``hub (Generic secret, Project team-a)``"""
    kind = dict(KINDS)[credential.spec.kind.value]
    return f"{credential.name} ({kind}, {credential.scope_name})"


@dataclass(frozen=True)
class Usable:
    """Those of several that are named, the nearest first, in one query."""

    rows: list[Credential]

    @classmethod
    def among(cls, named: Iterable[Named], project: Project | None, user: User) -> Self:
        named = list(named)
        ids = uuids([str(it.get("assetId")) for it in named if it.get("assetId")])
        names = {str(it.get("name") or "") for it in named} - {""}
        if not (ids or names):
            return cls([])
        rows = usable(project, user).select_related("cluster", "department", "project")
        them = rows.filter(Q(pk__in=ids) | Q(name__in=names))
        return cls(sorted(them, key=lambda row: NEAREST.index(Scope(row.scope))))

    def find(self, named: Named) -> Credential | None:
        """By its id, where there is one. What is no longer valid is none."""
        pk, name = str(named.get("assetId") or ""), str(named.get("name") or "")
        them = (it for it in self.rows if (str(it.pk) == pk if pk else it.name == name))
        return next((it for it in them if not fault_of(it)), None)
