"""A credential without its values, which no document contains."""

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from spec.data.places import Name
from spec.data.storage import is_by_ssh
from spec.part import Part


class CredentialKind(StrEnum):
    ACCESS_KEY = "accessKey"
    PASSWORD = "password"  # noqa: S105 -- a kind, not a password
    GENERIC = "genericSecret"
    SSH_KEY = "sshKey"
    REGISTRY = "dockerRegistry"
    NGC = "ngcApiKey"


#: The kinds that are only for image pulls.
PULL_KINDS = frozenset({CredentialKind.REGISTRY, CredentialKind.NGC})
#: NVIDIA's registry, and the user name for signing in there with an API key.
NGC_SERVER = "nvcr.io"
NGC_USER = "$oauthtoken"

#: The keys of each kind, with the names that Run:ai gives them in Secrets. A generic one has keys
#: of its own.
KEYS: dict[CredentialKind, tuple[str, ...]] = {
    CredentialKind.ACCESS_KEY: ("AccessKeyId", "SecretKey"),
    CredentialKind.PASSWORD: ("User", "Password"),
    CredentialKind.SSH_KEY: ("ssh",),
    CredentialKind.REGISTRY: ("username", "password"),
    CredentialKind.NGC: ("NGC_API_KEY",),
}
#: The lists of ``storage`` whose items name a credential, and the field with the address.
ADDRESS_FIELDS = {"git": "repository", "s3": "bucket"}
KNOWN_HOSTS = "known_hosts"  # the key of an SSH key's known hosts among its values
HOST_LINE = re.compile(
    r"(@(cert-authority|revoked) +)?[^ @#]\S* +(ssh-|ecdsa-|sk-)[a-z0-9@.-]+ +[A-Za-z0-9+/=]+( .*)?"
)
KEY = re.compile(r"[A-Za-z0-9_.-]+")  # a key of a Secret
SERVER = re.compile(r"(https?://)?[A-Za-z0-9][A-Za-z0-9.:_-]*(/[A-Za-z0-9._/-]*)?")
MOST_KEYS = 50


def credential_kind_for(storage_list: str, address: str) -> CredentialKind:
    """Return the kind of credential that opens an item of one of the lists ``FETCHED``. All its
    keys are needed."""
    if storage_list == "s3":
        return CredentialKind.ACCESS_KEY
    return CredentialKind.SSH_KEY if is_by_ssh(address) else CredentialKind.PASSWORD


def _check_unique(keys: tuple[str, ...]) -> tuple[str, ...]:
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise ValueError(f"{', '.join(sorted(twice))} is given twice")
    return keys


def _check_key(name: str) -> str:
    if not KEY.fullmatch(name):
        raise ValueError(f"{name!r} is not a key; use letters, digits, hyphens, dots and _")
    return name


def _check_server(url: str) -> str:
    if not SERVER.fullmatch(url):
        raise ValueError("must be a registry such as registry.example.com, without a user")
    return url


def _check_known_hosts(text: str) -> str:
    """Check that known hosts are as ``ssh-keyscan`` prints them."""
    lines = text.split("\n")
    wrong = [
        str(number)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#") and not HOST_LINE.fullmatch(line.strip())
    ]
    if wrong:
        raise ValueError(f"line {', '.join(wrong)}: write HOST TYPE KEY, as ssh-keyscan prints it")
    return text


Key = Annotated[str, Field(max_length=253), AfterValidator(_check_key)]


def with_last_line_break(key: str) -> str:
    """Return an SSH key with the line break at its end, without which ssh refuses it."""
    return key if key.endswith("\n") else f"{key}\n"


class CredentialSpec(Part):
    """Its values are kept encrypted elsewhere, or in an ``existing_secret`` of the project's
    namespace, which then also has the keys. The ``server`` and an ``email`` are those of a
    registry, ``known_hosts`` the only ones that an SSH key is shown to, where it says any."""

    kind: CredentialKind
    keys: Annotated[
        tuple[Key, ...], Field(max_length=MOST_KEYS), AfterValidator(_check_unique)
    ] = ()
    existing_secret: Name | None = None
    server: Annotated[str, Field(max_length=253), AfterValidator(_check_server)] | None = None
    email: str | None = Field(None, max_length=253)
    known_hosts: (
        Annotated[str, Field(max_length=20_000), AfterValidator(_check_known_hosts)] | None
    ) = None

    @model_validator(mode="after")
    def _keys_of_its_kind(self) -> Self:
        if self.kind is CredentialKind.GENERIC:
            if not self.keys and not self.existing_secret:
                raise ValueError("keys: give at least one key and its value")
        elif self.keys not in {(), KEYS[self.kind]}:
            raise ValueError(f"keys: of this kind they are {', '.join(KEYS[self.kind])}")
        return self

    @model_validator(mode="after")
    def _server_of_a_registry(self) -> Self:
        has_one = self.kind is CredentialKind.REGISTRY
        if has_one and not self.server:
            raise ValueError("server: is required")
        if not has_one and (self.server or self.email):
            raise ValueError("server: only a docker registry has one")
        return self

    @model_validator(mode="after")
    def _hosts_of_an_ssh_key(self) -> Self:
        if self.known_hosts and self.kind is not CredentialKind.SSH_KEY:
            raise ValueError("knownHosts: only an SSH key has them")
        if self.known_hosts and self.existing_secret:
            raise ValueError(f"knownHosts: an existing Secret has its own, as {KNOWN_HOSTS}")
        return self

    @property
    def is_registry(self) -> bool:
        """Whether it is only for image pulls."""
        return self.kind in PULL_KINDS

    @property
    def registry(self) -> str:
        """The address of its registry; empty if it is for something else."""
        return NGC_SERVER if self.kind is CredentialKind.NGC else self.server or ""

    @property
    def names(self) -> tuple[str, ...]:
        """Its keys. Those of an existing Secret may be others."""
        return KEYS.get(self.kind, self.keys)
