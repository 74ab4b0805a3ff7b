"""The part of a REST request that describes the connection to a cluster."""

from typing import Any

from pydantic import BaseModel, ConfigDict, SecretStr
from pydantic.alias_generators import to_camel

from clusters.kinds.base import ClusterKind, ConnectionSecret


class Connecting(BaseModel):
    """A kind adds the fields of its settings and of its secret. A key that is not known is an
    error. The services judge the settings, as they judge those of the form."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    def settings(self, kind: ClusterKind) -> dict[str, str]:
        """Return the settings that the request contains."""
        names = [name for name in kind.settings.model_fields if name in self.model_fields_set]
        return {name: tidy_text(getattr(self, name)) for name in names}

    def secret(self, *, editing: bool) -> ConnectionSecret | None:
        """Return the secret; ``None`` keeps the stored one. Raises ``ValidationError`` if it is
        empty, or of no use for such a cluster."""
        raise NotImplementedError


def tidy_text(value: Any) -> str:
    """Return a value as a text, as a form would read it."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    return text.replace("\r\n", "\n").strip()
