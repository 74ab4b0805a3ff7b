"""The credential form: its type, and the values of each type. Stored values are never shown."""

from collections.abc import Collection, Mapping
from typing import Any

from accounts.models import User
from assets.credential.model import Credential
from assets.forms.base import AssetForm
from core.forms import read
from core.forms.field import Cell, Field, Input, Option, Values
from core.forms.shown import ShownField
from projects.scopes import ME, OwningScope
from spec.data.credential import KEYS, CredentialKind, with_last_line_break
from spec.formats.stored import as_mapping

KINDS: tuple[Option, ...] = (
    (CredentialKind.GENERIC, "Generic secret"),
    (CredentialKind.ACCESS_KEY, "Access key"),
    (CredentialKind.PASSWORD, "Username & password"),
    (CredentialKind.SSH_KEY, "SSH key"),
    (CredentialKind.REGISTRY, "Docker registry"),
    (CredentialKind.NGC, "NGC API key"),
)
KIND_OF_FIELD = {
    "server": CredentialKind.REGISTRY,
    "email": CredentialKind.REGISTRY,
    "knownHosts": CredentialKind.SSH_KEY,
}
VALUES = "values"
PAIRS = f"{VALUES}-pairs"


def _value_field(key: str, label: str, of: Input = Input.SECRET) -> Field:
    return Field(f"{VALUES}.{key}", label, of, literal=of is Input.TEXT)


FIELDS: dict[CredentialKind, tuple[Field, ...]] = {
    CredentialKind.GENERIC: (
        Field(
            f"{VALUES}.pairs",
            "Keys and values",
            Input.ROWS,
            add="KEY",
            cells=(
                Cell("name", "Key", placeholder="token"),
                Cell("value", "Value", Input.SECRET, strip=False),
            ),
            also=("keys", VALUES),
        ),
    ),
    CredentialKind.ACCESS_KEY: (
        _value_field("AccessKeyId", "Access key ID", Input.TEXT),
        _value_field("SecretKey", "Secret access key"),
    ),
    CredentialKind.PASSWORD: (
        _value_field("User", "Username", Input.TEXT),
        _value_field("Password", "Password"),
    ),
    CredentialKind.SSH_KEY: (
        _value_field("ssh", "Private key", Input.SECRET_LINES),
        Field(
            "knownHosts",
            "Known hosts",
            Input.LINES,
            "Lines as ssh-keyscan prints them. The key is then shown to these hosts only. Without "
            "any, whichever host answers first is trusted.",
            placeholder="git.example.com ssh-ed25519 AAAA…",
            literal=True,
        ),
    ),
    CredentialKind.REGISTRY: (
        Field(
            "server",
            "Registry URL",
            hint="Applied to the images of this registry where the cluster pulls images. On this "
            "machine no image is pulled, and it is not used.",
            placeholder="registry.example.com",
            literal=True,
            required=True,
        ),
        _value_field("username", "Username", Input.TEXT),
        _value_field("password", "Password"),
        Field("email", "Email", placeholder="optional", literal=True),
    ),
    CredentialKind.NGC: (
        Field(
            f"{VALUES}.NGC_API_KEY",
            "API key",
            Input.SECRET,
            "Applied to images of nvcr.io, NVIDIA's registry, where the cluster pulls images.",
        ),
    ),
}


class CredentialForm(AssetForm):
    MODEL = Credential
    FIELDS = (
        Field("kind", "Type", Input.SELECT, options=KINDS, required=True),
        *(field for fields in FIELDS.values() for field in fields),
        Field(
            "existingSecret",
            "Existing Secret",
            literal=True,
            hint="Instead of values: the name of a Secret in the namespace of each project.",
        ),
    )
    OUTSIDE_DOCUMENT = (VALUES, "keys")

    def creatable_scopes(self, user: User) -> dict[str, OwningScope]:
        return super().creatable_scopes(user) | {ME: OwningScope(owner=user)}

    @property
    def kind_sections(self) -> list[tuple[str, str, list[ShownField]]]:
        """Value and label of each kind, and its fields."""
        labels = dict(KINDS)
        return [
            (kind.value, labels[kind], [self[field.name] for field in fields])
            for kind, fields in FIELDS.items()
        ]

    @property
    def pairs(self) -> Mapping[str, Any]:
        """For ``components/rows.html``."""
        return self.rows[PAIRS]

    def check(self) -> None:
        super().check()
        if self.kind is CredentialKind.GENERIC:
            for number, (key, value) in enumerate(self._entered_pairs):
                if value and not key:
                    self[PAIRS].items[number].cells[0].errors.append("Enter a key for the value.")
        if self.entered and self.values.get("existingSecret"):
            text = "Enter either values or the name of an existing Secret, not both."
            self.add_error("existingSecret", text)

    @property
    def kind(self) -> CredentialKind | None:
        value = self.values.get("kind")
        return CredentialKind(value) if value in list(CredentialKind) else None

    @property
    def entered(self) -> dict[str, str]:
        """The entered values by key."""
        value = as_mapping(self.values.get(VALUES))
        if self.kind is CredentialKind.GENERIC:
            return dict(self._named_pairs)
        of_kind = KEYS[self.kind] if self.kind else ()
        entered = {key: value[key] for key in of_kind if value.get(key)}
        if self.kind is CredentialKind.SSH_KEY:
            return {key: with_last_line_break(text) for key, text in entered.items()}
        return entered

    @property
    def _named_pairs(self) -> list[tuple[str, str]]:
        return [(key, value) for key, value in self._entered_pairs if key]

    @property
    def _entered_pairs(self) -> list[tuple[str, str]]:
        rows = (as_mapping(row) for row in read.field_items(self.values, self[PAIRS].field))
        return [(str(row.get("name") or ""), str(row.get("value") or "")) for row in rows]

    def document(self, *, without: Collection[str] = ()) -> Values:
        """A generic secret keeps its keys where no new ones are entered."""
        document = super().document(without=without)
        document.pop(VALUES, None)  # rows of a list come with every document
        keys: list[str] = []
        if self.kind is CredentialKind.GENERIC and not document.get("existingSecret"):
            keys = [key for key, _ in self._named_pairs] or list(self.initial.get("keys") or ())
        document["existingSecret"] = document.get("existingSecret") or None
        for key, kind in KIND_OF_FIELD.items():  # what the fields of other kinds hold is no part
            document[key] = (self.kind is kind and document.get(key)) or None
        return document | {"keys": keys}

    def columns(self) -> dict[str, Any]:
        return {"entered": self.entered}


def blank_values() -> Values:
    return {"kind": CredentialKind.GENERIC.value, VALUES: {"pairs": [{"name": "", "value": ""}]}}


def initial_values(credential: Credential) -> dict[str, Any]:
    """Return the fields of an existing credential, without its values. A copy begins without
    values, too."""
    return {key: value for key, value in as_mapping(credential.spec_json).items() if value}
