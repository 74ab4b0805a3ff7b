"""From what the variables of a pod say of credentials to the very ones that are meant."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.credential.kind import CREDENTIAL
from assets.credential.model import Credential
from core.query import uuids
from projects.models import Project
from projects.scopes import Scope
from spec.documents import VARIABLES
from spec.draft import Values
from spec.errors import Path, Problem

#: The nearest first: of two with one name the project's own is meant.
NEAREST = (Scope.PROJECT, Scope.DEPARTMENT, Scope.CLUSTER, Scope.ACCOUNT)


@dataclass
class Bound:
    """A pod's document with the id of each credential, which of them there are, and what is wrong.
    One that is in an existing Secret is a variable from that Secret."""

    document: Values
    credentials: list[Credential] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def linked(self) -> list[tuple[str, UUID]]:
        """Kind and id of each."""
        return [(CREDENTIAL.slug, it.pk) for it in self.credentials]


def bind(document: Values, *, project: Project | None, user: User, at: Path) -> Bound:
    """Nothing that ``document`` holds is changed. ``at`` is where it stands, for the problems."""
    bound, given = Bound(document), document.get(VARIABLES)
    if not isinstance(given, list) or not any(map(_names_one, given)):
        return bound
    variables = list(given)
    for number, variable in enumerate(given):
        if _names_one(variable):
            where = (*at, VARIABLES, number, "credential")
            variables[number] = _bound(variable, bound, project, user, where)
    bound.document = document | {VARIABLES: variables}
    return bound


def _names_one(variable: Any) -> bool:
    return isinstance(variable, dict) and isinstance(variable.get("credential"), dict)


def _bound(variable: Values, bound: Bound, project: Project | None, user: User, at: Path) -> Values:
    """The variable as the spec has it; as it is, where something is wrong with it."""
    given = variable["credential"]
    name, key = str(given.get("name") or ""), str(given.get("key") or "")
    if not (name or given.get("assetId")):
        return variable  # the spec says so
    credential = _find(given.get("assetId"), name, project, user)
    if credential is None:
        what = f"no credential {name!r}" if name else f"no credential {given['assetId']}"
        where = f"in {project.name}" if project else "here"
        bound.problems.append(Problem(at, f"{what} can be used {where}; choose another"))
        return variable
    bound.credentials.append(credential)
    spec = credential.spec
    if key and spec.names and key not in spec.names and not spec.existing_secret:
        keys = ", ".join(spec.names)
        message = f"{credential.name} has no key {key!r}; it has {keys}"
        bound.problems.append(Problem((*at, "key"), message))
    if spec.existing_secret:
        others = {name: value for name, value in variable.items() if name != "credential"}
        return others | {"secret": {"name": spec.existing_secret, "key": key}}
    named = {"assetId": str(credential.pk), "name": credential.name, "key": key}
    return variable | {"credential": named}


def _find(pk: Any, name: str, project: Project | None, user: User) -> Credential | None:
    rows = CREDENTIAL.rows.visible_to(user)
    rows = rows.usable_in(project) if project else rows
    rows = rows.filter(pk__in=uuids([str(pk)])) if pk else rows.filter(name=name)
    usable = (row for row in rows if not CREDENTIAL.fault_of(row))
    return min(usable, key=lambda row: NEAREST.index(Scope(row.scope)), default=None)
