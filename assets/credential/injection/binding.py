"""Finds the credentials that a pod's document names, and puts their ids into it.

Environment variables, pull secrets, repositories, buckets and mounted files can name credentials.
"""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.credential.kind import CREDENTIAL
from assets.credential.model import Credential
from assets.credential.usable import OF_ANOTHER_PERSON, UsableCredentials, reason_unfit
from projects.models import Project
from spec.data.credential import ADDRESS_FIELDS, KEYS, CredentialKind
from spec.draft import Values
from spec.formats.documents import VARIABLES
from spec.formats.stored import as_mapping
from spec.problems.errors import Path, Problem

PULL_SECRETS = "imagePullSecrets"
STORAGE = "storage"
FILES = "secretVolume"
USER_CREDENTIAL = "userCredential"  # Run:ai's word for one of the author's own credentials

ONLY_FOR_PULLS = "is only for image pulls; choose another"


@dataclass
class BoundDocument:
    """A pod's document with the ids of its credentials, the credentials, and the problems found.

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
    document: Values, *, project: Project | None, user: User, path: Path
) -> BoundDocument:
    """Find all credentials that a document names, and return a copy with their ids. ``path`` is
    the path of the document, for problems."""
    bound = BoundDocument(document)
    variables = [_expand_user_credential(item) for item in _items(document, VARIABLES)]
    pull_secrets = [_expand_user_credential(item) for item in _items(document, PULL_SECRETS)]
    storage = as_mapping(document.get(STORAGE))
    volumes = {key: _items(storage, key) for key in (*ADDRESS_FIELDS, FILES)}

    references = [item["credential"] for item in variables if _has_reference(item)]
    references += [item for item in pull_secrets if _is_pull_reference(item)]
    for items in volumes.values():
        references += [item["credential"] for item in items if _has_reference(item)]
    if not references:
        return bound

    # All credentials are read in one query, before any item is bound.
    usable = UsableCredentials.load(references, project, user)
    binder = _Binder(bound, usable, f"in {project.name}" if project else "here")
    for number, variable in enumerate(variables):
        if _has_reference(variable):
            variables[number] = binder.bind_variable(variable, (*path, VARIABLES, number))
    for number, pull_secret in enumerate(pull_secrets):
        if _is_pull_reference(pull_secret):
            name_path = (*path, PULL_SECRETS, number, "name")
            pull_secrets[number] = binder.bind_pull_secret(pull_secret, name_path)
    for key, items in volumes.items():
        for number, item in enumerate(items):
            if _has_reference(item):
                items[number] = binder.bind_volume(key, item, (*path, STORAGE, key, number))

    bound_lists: Values = {
        VARIABLES: [_without_own(item) for item in variables],
        PULL_SECRETS: [_without_own(item) for item in pull_secrets],
    }
    if any(volumes.values()):
        bound_volumes = {key: items for key, items in volumes.items() if items}
        bound_lists[STORAGE] = document[STORAGE] | bound_volumes
    bound.document = document | {key: items for key, items in bound_lists.items() if items}
    return bound


@dataclass
class _Binder:
    """Binds single items of a document, and adds credentials and problems to ``bound``.

    Each method returns the item as the spec defines it. After a problem it returns the item
    unchanged, so that the rest of the document can still be checked.
    """

    bound: BoundDocument
    usable: UsableCredentials
    #: For messages: where the credentials have to be usable.
    project_text: str

    def bind_variable(self, variable: Values, path: Path) -> Values:
        """Bind an environment variable. A key need not be named if it is the only one."""
        reference = variable["credential"]
        path = (*path, USER_CREDENTIAL if reference.get("own") else "credential")
        credential = self._find(reference, path)
        if credential is None:
            return variable
        spec = credential.spec
        if spec.is_registry:
            self._add_problem(path, f"{credential.name} {ONLY_FOR_PULLS}")
            return variable
        self.bound.credentials.append(credential)
        key = str(reference.get("key") or "")
        if not key and len(spec.names) == 1:
            key = spec.names[0]
        if spec.existing_secret:
            return _replace_credential(variable, secret={"name": spec.existing_secret, "key": key})
        if key and spec.names and key not in spec.names:
            self._add_problem((*path, "key"), _unknown_key_text(credential, key))
        return variable | {"credential": _bound_reference(credential) | {"key": key}}

    def bind_pull_secret(self, pull_secret: Values, path: Path) -> Values:
        name = str(pull_secret["name"])
        credential = self.usable.find(pull_secret | {"name": name})
        if credential is None or not credential.spec.is_registry:
            if self.usable.is_of_another_person(pull_secret):
                reason = OF_ANOTHER_PERSON
            elif credential:
                reason = "is not for image pulls; choose another"
            else:
                reason = f"cannot be used {self.project_text}; choose another"
            self._add_problem(path, f"the credential {pull_secret['name']} {reason}")
            return pull_secret
        self.bound.credentials.append(credential)
        if existing_secret := credential.spec.existing_secret:
            return {"name": existing_secret}
        return pull_secret | _bound_reference(credential)

    def bind_volume(self, key: str, volume: Values, path: Path) -> Values:
        """Bind an item of the list ``key`` in a pod's storage."""
        if key == FILES:
            return self._bind_files(volume, (*path, "credential"))
        return self._bind_fetch(key, volume, (*path, "credential"))

    def _bind_files(self, volume: Values, path: Path) -> Values:
        """Bind the files of a credential: of the keys that are named, or of all keys."""
        reference = volume["credential"]
        credential = self._find(reference, path)
        if credential is None:
            return volume
        spec = credential.spec
        if spec.is_registry:
            self._add_problem(path, f"{credential.name} {ONLY_FOR_PULLS}")
            return volume
        self.bound.credentials.append(credential)
        if spec.existing_secret and not volume.get("secret"):
            # An existing Secret is mounted as a whole, whatever keys are named.
            return _replace_credential(volume, secret=spec.existing_secret)
        keys = [str(key) for key in reference.get("keys") or () if key]
        unknown_keys = sorted(set(keys) - set(spec.names))
        if unknown_keys:
            self._add_problem((*path, "keys"), _unknown_key_text(credential, unknown_keys[0]))
        bound_keys = keys or list(spec.names)
        return volume | {"credential": _bound_reference(credential) | {"keys": bound_keys}}

    def _bind_fetch(self, key: str, volume: Values, path: Path) -> Values:
        """Bind a repository or a bucket."""
        credential = self._find(volume["credential"], path)
        if credential is None:
            return volume
        if problem := reason_unfit(credential, key, str(volume.get(ADDRESS_FIELDS[key]) or "")):
            self._add_problem(path, problem)
            return volume
        self.bound.credentials.append(credential)
        if existing_secret := credential.spec.existing_secret:
            return _fetch_from_secret(volume, existing_secret, credential.spec.kind)
        return volume | {"credential": _bound_reference(credential)}

    def _find(self, reference: Values, path: Path) -> Credential | None:
        """Return the named credential. ``None`` after adding a problem, or if none is named, which
        the spec reports."""
        name = str(reference.get("name") or "")
        if not (name or reference.get("assetId")):
            return None
        credential = self.usable.find(reference)
        if credential is None:
            label = repr(name) if name else str(reference["assetId"])
            message = f"no credential {label} can be used {self.project_text}; choose another"
            if self.usable.is_of_another_person(reference):
                message = f"the credential {label} {OF_ANOTHER_PERSON}"
            self._add_problem(path, message)
        return credential

    def _add_problem(self, path: Path, message: str) -> None:
        self.bound.problems.append(Problem(path, message))


def _items(document: Values, key: str) -> list[Any]:
    items = document.get(key)
    return list(items) if isinstance(items, list) else []


def _expand_user_credential(item: Any) -> Any:
    """Replace ``userCredential`` by a reference with ``own``. An item that names a credential in
    both ways stays, for the spec to refuse."""
    reference = item.get(USER_CREDENTIAL) if isinstance(item, dict) else None
    if not reference or item.get("credential"):
        return item
    others = {key: value for key, value in item.items() if key != USER_CREDENTIAL}
    if reference is True:
        return others | {"credential": True, "own": True}
    if isinstance(reference, dict):
        return others | {"credential": reference | {"own": True}}
    return item


def _without_own(item: Any) -> Any:
    """Return an item without ``own``, which the spec does not have."""
    if not isinstance(item, dict):
        return item
    others = {key: value for key, value in item.items() if key != "own"}
    reference = others.get("credential")
    if isinstance(reference, dict):
        others["credential"] = {key: value for key, value in reference.items() if key != "own"}
    return others


def _is_pull_reference(item: Any) -> bool:
    return isinstance(item, dict) and item.get("credential") is True and bool(item.get("name"))


def _has_reference(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("credential"), dict)


def _bound_reference(credential: Credential) -> Values:
    return {"assetId": str(credential.pk), "name": credential.name}


def _replace_credential(item: Values, **fields: Any) -> Values:
    others = {key: value for key, value in item.items() if key != "credential"}
    return others | fields


def _unknown_key_text(credential: Credential, key: str) -> str:
    keys = ", ".join(credential.spec.names)
    return f"{credential.name} has no key {key!r}; it has {keys}"


def _fetch_from_secret(volume: Values, secret: str, kind: CredentialKind) -> Values:
    """Return a volume with the name and the keys of an existing Secret. A volume that names another
    Secret as well stays, for the spec to refuse."""
    if volume.get("secretRef") or volume.get("accessKeySecret"):
        return volume
    if kind is CredentialKind.ACCESS_KEY:
        return _replace_credential(volume, accessKeySecret=secret)  # with the default keys
    if kind is CredentialKind.SSH_KEY:
        secret_ref = {"name": secret, "authenticationMethod": "ssh-key"}
        return _replace_credential(volume, secretRef=secret_ref)
    user_key, password_key = KEYS[kind]
    secret_ref = {
        "name": secret,
        "secretKeyOfUser": user_key,
        "secretKeyOfPassword": password_key,
    }
    return _replace_credential(volume, secretRef=secret_ref)
