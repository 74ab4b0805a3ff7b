"""From what the variables of a pod say of credentials to the very ones that are meant."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.credential.kind import CREDENTIAL
from assets.credential.model import Credential
from assets.credential.usable import Usable
from projects.models import Project
from spec.documents import VARIABLES
from spec.draft import Values
from spec.errors import Path, Problem


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
    named = [it["credential"] for it in given if _names_one(it)] if isinstance(given, list) else []
    if not isinstance(given, list) or not named:
        return bound
    usable, where = Usable.among(named, project, user), f"in {project.name}" if project else "here"
    variables = list(given)
    for number, variable in enumerate(given):
        if _names_one(variable):
            variables[number] = _bound(variable, bound, usable, where, (*at, VARIABLES, number))
    bound.document = document | {VARIABLES: variables}
    return bound


def _names_one(variable: Any) -> bool:
    return isinstance(variable, dict) and isinstance(variable.get("credential"), dict)


def _bound(variable: Values, bound: Bound, usable: Usable, where: str, at: Path) -> Values:
    """The variable as the spec has it; as it is, where something is wrong with it. A key that is
    the only one need not be named."""
    given, at = variable["credential"], (*at, "credential")
    name, key = str(given.get("name") or ""), str(given.get("key") or "")
    if not (name or given.get("assetId")):
        return variable  # the spec says so
    credential = usable.find(given)
    if credential is None:
        what = f"no credential {name!r}" if name else f"no credential {given['assetId']}"
        bound.problems.append(Problem(at, f"{what} can be used {where}; choose another"))
        return variable
    spec = credential.spec
    if spec.is_registry:
        message = f"{credential.name} is only for image pulls; choose another"
        bound.problems.append(Problem(at, message))
        return variable
    bound.credentials.append(credential)
    if not key and len(spec.names) == 1:
        key = spec.names[0]
    if key and spec.names and key not in spec.names and not spec.existing_secret:
        keys = ", ".join(spec.names)
        message = f"{credential.name} has no key {key!r}; it has {keys}"
        bound.problems.append(Problem((*at, "key"), message))
    if spec.existing_secret:
        others = {name: value for name, value in variable.items() if name != "credential"}
        return others | {"secret": {"name": spec.existing_secret, "key": key}}
    named = {"assetId": str(credential.pk), "name": credential.name, "key": key}
    return variable | {"credential": named}
