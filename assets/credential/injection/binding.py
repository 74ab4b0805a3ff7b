"""Finds the credentials that a pod's document names in its variables, pull secrets and fetched
data."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.credential.kind import CREDENTIAL
from assets.credential.model import Credential
from assets.credential.usable import OF_ANOTHER_PERSON, UsableCredentials, reason_unfit
from projects.models import Project
from spec.data.credential import FETCHED, KEYS, CredentialKind
from spec.draft import Values
from spec.formats.documents import VARIABLES
from spec.formats.stored import as_mapping
from spec.problems.errors import Path, Problem

PULL_SECRETS = "imagePullSecrets"
STORAGE = "storage"
FILES = "secretVolume"
USER_CREDENTIAL = "userCredential"  # Run:ai's word for one of the author's own credentials

ONLY_PULLS = "is only for image pulls; choose another"


@dataclass
class BoundDocument:
    """A pod's document with the ids of its credentials, the credentials, and problems.

    If a credential is an existing Secret, the document names that Secret instead.
    """

    document: Values
    credentials: list[Credential] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def linked(self) -> list[tuple[str, UUID]]:
        """Kind and id of each credential, for links."""
        return [(CREDENTIAL.slug, it.pk) for it in self.credentials]


def bind_credentials(
    document: Values, *, project: Project | None, user: User, at: Path
) -> BoundDocument:
    """Find all credentials that a document names, and return a copy with their ids. ``at`` is the
    path of the document, for problems."""
    bound = BoundDocument(document)
    variables = [_with_own(it) for it in _items(document, VARIABLES)]
    pulls = [_with_own(it) for it in _items(document, PULL_SECRETS)]
    named = [it["credential"] for it in variables if _names_one(it)]
    named += [it for it in pulls if _is_pull(it)]
    stored = {key: _items(as_mapping(document.get(STORAGE)), key) for key in (*FETCHED, FILES)}
    named += [it["credential"] for items in stored.values() for it in items if _names_one(it)]
    if not named:
        return bound
    usable = UsableCredentials.load(named, project, user)
    where = f"in {project.name}" if project else "here"
    for number, variable in enumerate(variables):
        if _names_one(variable):
            variables[number] = _bound(variable, bound, usable, where, (*at, VARIABLES, number))
    for number, pull in enumerate(pulls):
        if _is_pull(pull):
            pulls[number] = _bound_pull(
                pull, bound, usable, where, (*at, PULL_SECRETS, number, "name")
            )
    for key, items in stored.items():
        for number, item in enumerate(items):
            if _names_one(item):
                where_to = (*at, STORAGE, key, number)
                if key == FILES:
                    items[number] = _bound_files(item, bound, usable, where, where_to)
                else:
                    items[number] = _bound_fetch(key, item, bound, usable, where, where_to)
    its: Values = {
        VARIABLES: list(map(_settled, variables)),
        PULL_SECRETS: list(map(_settled, pulls)),
    }
    if any(stored.values()):
        its[STORAGE] = document[STORAGE] | {key: items for key, items in stored.items() if items}
    bound.document = document | {key: items for key, items in its.items() if items}
    return bound


def _items(document: Values, key: str) -> list[Any]:
    given = document.get(key)
    return list(given) if isinstance(given, list) else []


def _with_own(item: Any) -> Any:
    """Return an item in Trainyard's words. If it names a credential as well, it stays, for the spec
    to refuse."""
    said = item.get(USER_CREDENTIAL) if isinstance(item, dict) else None
    if not said or item.get("credential"):
        return item
    rest = {key: value for key, value in item.items() if key != USER_CREDENTIAL}
    if said is True:
        return rest | {"credential": True, "own": True}
    return rest | {"credential": said | {"own": True}} if isinstance(said, dict) else item


def _settled(item: Any) -> Any:
    """Return an item without ``own``, which the spec does not have."""
    if not isinstance(item, dict):
        return item
    rest = {key: value for key, value in item.items() if key != "own"}
    if isinstance(its := rest.get("credential"), dict):
        rest["credential"] = {key: value for key, value in its.items() if key != "own"}
    return rest


def _is_pull(item: Any) -> bool:
    return isinstance(item, dict) and item.get("credential") is True and bool(item.get("name"))


def _bound_pull(
    given: Values, bound: BoundDocument, usable: UsableCredentials, where: str, at: Path
) -> Values:
    """Return a pull secret as the spec has it, or unchanged after adding a problem."""
    credential = usable.find({**given, "name": str(given["name"])})
    if credential is None or not credential.spec.is_registry:
        what = "is not for image pulls" if credential else f"cannot be used {where}"
        what = (
            OF_ANOTHER_PERSON if usable.is_of_another_person(given) else f"{what}; choose another"
        )
        bound.problems.append(Problem(at, f"the credential {given['name']} {what}"))
        return given
    bound.credentials.append(credential)
    if existing := credential.spec.existing_secret:
        return {"name": existing}
    return given | {"name": credential.name, "assetId": str(credential.pk)}


def _names_one(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("credential"), dict)


def _find(
    given: Values, bound: BoundDocument, usable: UsableCredentials, where: str, at: Path
) -> Credential | None:
    """Return the named credential. ``None`` after adding a problem, or if none is named, which the
    spec reports."""
    name = str(given.get("name") or "")
    if not (name or given.get("assetId")):
        return None
    credential = usable.find(given)
    if credential is None:
        what = repr(name) if name else str(given["assetId"])
        said = f"no credential {what} can be used {where}; choose another"
        if usable.is_of_another_person(given):
            said = f"the credential {what} {OF_ANOTHER_PERSON}"
        bound.problems.append(Problem(at, said))
    return credential


def _bound_fetch(
    key: str, item: Values, bound: BoundDocument, usable: UsableCredentials, where: str, at: Path
) -> Values:
    """Return a repository or a bucket as the spec has it, or unchanged after adding a problem."""
    credential = _find(item["credential"], bound, usable, where, (*at, "credential"))
    if credential is None:
        return item
    if problem := reason_unfit(credential, key, str(item.get(FETCHED[key]) or "")):
        bound.problems.append(Problem((*at, "credential"), problem))
        return item
    bound.credentials.append(credential)
    if existing := credential.spec.existing_secret:
        return _from_existing(item, existing, credential.spec.kind)
    return item | {"credential": {"assetId": str(credential.pk), "name": credential.name}}


def _from_existing(item: Values, secret: str, kind: CredentialKind) -> Values:
    """Return the item with the name and keys of the Secret. If it names another one as well, it
    stays, for the spec to refuse."""
    if item.get("secretRef") or item.get("accessKeySecret"):
        return item
    others = {name: value for name, value in item.items() if name != "credential"}
    if kind is CredentialKind.ACCESS_KEY:
        return others | {"accessKeySecret": secret}  # its keys are the default ones
    if kind is CredentialKind.SSH_KEY:
        return others | {"secretRef": {"name": secret, "authenticationMethod": "ssh-key"}}
    user, password = KEYS[kind]
    keys = {"secretKeyOfUser": user, "secretKeyOfPassword": password}
    return others | {"secretRef": {"name": secret, **keys}}


def _bound_files(
    item: Values, bound: BoundDocument, usable: UsableCredentials, where: str, at: Path
) -> Values:
    """Return the files of a credential as the spec has them: of the keys that are named, or
    of all."""
    given = item["credential"]
    at = (*at, "credential")
    credential = _find(given, bound, usable, where, at)
    if credential is None:
        return item
    spec = credential.spec
    if spec.is_registry:
        bound.problems.append(Problem(at, f"{credential.name} {ONLY_PULLS}"))
        return item
    bound.credentials.append(credential)
    keys = [str(key) for key in given.get("keys") or () if key]
    if spec.existing_secret and not item.get("secret"):
        others = {name: value for name, value in item.items() if name != "credential"}
        return others | {"secret": spec.existing_secret}  # mounted as a whole
    if wrong := sorted(set(keys) - set(spec.names)):
        message = f"{credential.name} has no key {wrong[0]!r}; it has {', '.join(spec.names)}"
        bound.problems.append(Problem((*at, "keys"), message))
    named = {"assetId": str(credential.pk), "name": credential.name}
    return item | {"credential": named | {"keys": keys or list(spec.names)}}


def _bound(
    variable: Values, bound: BoundDocument, usable: UsableCredentials, where: str, at: Path
) -> Values:
    """Return a variable as the spec has it, or unchanged after adding a problem. A key need not be
    named if it is the only one."""
    given = variable["credential"]
    at = (*at, USER_CREDENTIAL if given.get("own") else "credential")
    key = str(given.get("key") or "")
    credential = _find(given, bound, usable, where, at)
    if credential is None:
        return variable
    spec = credential.spec
    if spec.is_registry:
        bound.problems.append(Problem(at, f"{credential.name} {ONLY_PULLS}"))
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
