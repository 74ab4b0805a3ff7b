"""The form of a cluster: its name, its kind's settings, and the secret."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from clusters.kinds.base import ClusterKind, ConnectionSecret
from core.forms.field import Field, Values
from core.forms.form import Form
from core.forms.items import Offered

if TYPE_CHECKING:
    from clusters.models import Cluster, ConnectionTest

NAME = Field("name", "Cluster name", required=True)


class ConnectionForm(Form):
    """A form whose fields have the names of the kind's settings and secret.

    ``test`` is the last connection test of this form. Its secret is used if the form has none. The
    services validate the values.
    """

    FIELDS: tuple[Field, ...] = ()
    RESTORED: tuple[str, ...] = ()  # further fields that are restored after a test

    def __init__(
        self,
        kind: ClusterKind,
        values: Values,
        posted: QueryDict | None = None,
        files: "Mapping[str, UploadedFile[Any]] | None" = None,
        *,
        test: "ConnectionTest | None" = None,
        editing: bool = False,
    ) -> None:
        offered = self.choices(editing=editing)
        super().__init__((NAME, *self.FIELDS), values, posted, files=files, offered=offered)
        self.kind = kind
        self.test = test
        self.editing = editing
        self.risks: list[str] = []  # in words, what the secret does that needs trust
        if self.is_bound:
            self.check_secret()

    @classmethod
    def choices(cls, *, editing: bool) -> Offered:
        return {}

    @classmethod
    def blank_values(cls, kind: ClusterKind) -> Values:
        return kind.settings().model_dump()

    @classmethod
    def initial_values(cls, cluster: "Cluster") -> Values:
        defaults = cluster.definition.settings().model_dump()
        stored = {key: cluster.settings_json.get(key, value) for key, value in defaults.items()}
        return {"name": cluster.name, **stored}

    def check_secret(self) -> None:
        """Check the secret as far as is possible without using it."""

    def text(self, name: str) -> str:
        return str(self.values.get(name, ""))

    def posted_secret(self) -> ConnectionSecret | None:
        """Return the secret in the request, even if other fields are wrong."""
        names = self.kind.secret.model_fields
        values = {name: self.text(name) for name in names if not self[name].errors}
        return self.kind.secret(**values) if any(values.values()) else None

    def secret(self) -> ConnectionSecret | None:
        """Return the new secret; ``None`` keeps the stored one."""
        tested = self.test.secret if self.test else None
        secret = self.posted_secret() or tested
        if secret is None and not self.editing:
            return self.kind.secret()
        return secret

    def settings(self) -> dict[str, str]:
        return {name: self.text(name) for name in self.kind.settings.model_fields}

    def values_to_restore(self) -> Values:
        """Return all values except the secret, to restore the form."""
        more = {name: self.values.get(name, "") for name in self.RESTORED}
        return {"name": self.text("name"), **self.settings(), **more}
