"""Environment variables: a value, or the place to take it from. Fields are Run:ai's."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self
from urllib.parse import quote
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from spec.part import Part
from spec.values.patterns import DATA_KEY, K8S_NAME

VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_.-]*$")
SECRET = re.compile(
    r"PASSW|PASSPHRASE|(^|_)PASS\Z|_PWD\Z|SECRET|TOKEN|CREDENTIAL|PRIVATE"
    r"|(API|ENCRYPTION|SIGNING)_?KEY|ACCESS_?KEY(?!_?ID)",
    re.IGNORECASE,
)
REFERENCE = re.compile(r"\$\$|\$\(([^)]+)\)")  # two dollars are one, in pairs from the left
ADDRESS_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
ONE_OF_BOTH = "give either a credential or the name of an existing Secret, not both"
MASK = "***"  # shown instead of a value that looks secret


def expand_value(text: str, variables: Mapping[str, str]) -> str:
    """Return the value of a variable as Kubernetes expands it: ``$(NAME)`` becomes the value of an
    earlier variable, unknown names stay, and two dollars are one, so ``$$(NAME)`` is literal."""

    def replacement(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else variables.get(match[1], match[0])

    return REFERENCE.sub(replacement, text)


def looks_secret(name: str) -> bool:
    """Whether a variable of this name should not be shown."""
    return bool(SECRET.search(name))


def _check_variable_name(name: str) -> str:
    if not name:
        raise ValueError("is required")
    if not VARIABLE.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a variable name; use a letter or _ first, then letters, digits, _ . -"
        )
    return name


def _check_text(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain a NUL character")
    return value


Text = Annotated[str, AfterValidator(_check_text)]
#: A text as it was given: a private key, for instance, ends with a line break.
LiteralText = Annotated[str, StringConstraints(strip_whitespace=False), AfterValidator(_check_text)]


class KeyOf(Part):
    """One key of a Secret or ConfigMap."""

    name: str = Field(
        min_length=1,
        max_length=253,
        pattern=K8S_NAME,
        description="The name of the Secret or ConfigMap",
    )
    key: str = Field(
        min_length=1,
        max_length=253,
        pattern=DATA_KEY,
        description="The key in the Secret or ConfigMap",
    )


class NamedCredential(Part):
    """A credential by its name or its ID. Which one a name means in the project is decided when the
    workload is submitted, and kept."""

    asset_id: UUID | None = Field(
        None,
        description=(
            "The ID of the credential; if it is left out, the credential is found by its name"
        ),
    )
    name: str = Field("", max_length=63, description="The name of the credential")

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if not (self.name or self.asset_id):
            raise ValueError("name: is required")
        return self


class CredentialKey(NamedCredential):
    """One key of a credential. It can be left out where the credential has only one."""

    key: str = Field(
        "", max_length=253, description="The key in the credential; the only one if it is left out"
    )

    @model_validator(mode="after")
    def _has_a_key(self) -> Self:
        if not self.key:
            raise ValueError("key: is required")
        return self


class CredentialFiles(NamedCredential):
    """A credential whose ``keys`` become files. Without any, all of its keys at the time of the
    submission do."""

    keys: tuple[Annotated[str, Field(min_length=1, max_length=253)], ...] = Field(
        (), description="The keys that become files; all of them if it is empty"
    )


class FieldRef(Part):
    path: str = Field(
        min_length=1, max_length=253, description="The path of the field, such as metadata.name"
    )


class EnvironmentVariable(Part):
    """One variable: a value, or exactly one place to take it from."""

    name: Annotated[str, Field(max_length=256), AfterValidator(_check_variable_name)] = Field(
        description="The name of the variable"
    )
    value: Annotated[LiteralText, Field(max_length=32_768)] | None = Field(
        None, description="The value; null if it comes from elsewhere"
    )
    secret: KeyOf | None = Field(None, description="The Secret that the value comes from")
    config_map: KeyOf | None = Field(None, description="The ConfigMap that the value comes from")
    pod_field_ref: FieldRef | None = Field(
        None, description="A field of the pod that the value comes from"
    )
    credential: CredentialKey | None = Field(
        None, description="A credential of Trainyard, by its name or ID"
    )
    #: One of the author's own by its name: settled when the workload is submitted, and never kept.
    user_credential: CredentialKey | None = Field(
        None,
        exclude=True,
        description=(
            "One of your own credentials: its name and key for a variable, or true for an image "
            "pull"
        ),
    )
    description: str = Field("", max_length=250, description="A description for people")

    @property
    def is_expanded(self) -> bool:
        """Whether references to earlier variables in the value are replaced.

        Not in one that looks secret: it is kept like a credential's, of which nothing is expanded.
        """
        return self.value is not None and not looks_secret(self.name)

    @model_validator(mode="before")
    @classmethod
    def _without_a_source(cls, data: Any) -> Any:
        """Give a variable without a source an empty value: neither forms nor programs can tell the
        two apart."""
        sources = ["value", "secret", "configMap", "config_map", "podFieldRef", "pod_field_ref"]
        sources += ["credential", "userCredential", "user_credential"]
        if isinstance(data, dict) and all(data.get(key) is None for key in sources):
            return {**data, "value": ""}
        return data

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [
            s
            for s in (
                *(self.value, self.secret, self.config_map, self.pod_field_ref),
                *(self.credential, self.user_credential),
            )
            if s is not None
        ]
        if len(given) > 1:
            raise ValueError("value: give a value or one source, not several")
        if self.value == MASK:
            raise ValueError(f"value: {MASK} stands for a hidden value; enter the value")
        return self

    @property
    def has_source(self) -> bool:
        """Whether the value comes from somewhere else."""
        return bool(self.secret or self.config_map or self.pod_field_ref or self.credential)


def referenced_variables(text: str) -> set[str]:
    """Return the variables that a text refers to by ``$(NAME)``, as Kubernetes expands them."""
    return {match[1] for match in REFERENCE.finditer(text) if match[1]}


def address_variables(text: str) -> set[str]:
    """Return the variables that an address refers to by ``${NAME}``."""
    return {match[1] for match in ADDRESS_REFERENCE.finditer(text)}


def fill_address(text: str, values: Mapping[str, str]) -> str:
    """Replace references to variables with known values. All others stay as they are."""
    return ADDRESS_REFERENCE.sub(
        lambda match: quote(values.get(match[1], match[0]), safe="${}/"), text
    )


def credential_variables(variables: Iterable[EnvironmentVariable]) -> set[str]:
    """Return the names of variables that contain a credential's value, directly or through another
    variable."""
    variables = list(variables)
    hidden = {variable.name for variable in variables if variable.credential}
    while True:
        more = {
            it.name for it in variables if referenced_variables(it.value or "") & hidden
        } - hidden
        if not (hidden and more):
            return hidden
        hidden |= more
