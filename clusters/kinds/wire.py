"""What REST takes to connect a cluster."""

from typing import Any

from pydantic import BaseModel, ConfigDict, SecretStr
from pydantic.alias_generators import to_camel

from clusters.kinds.base import ClusterKind, ConnectionSecret


class Connecting(BaseModel):
    """A kind adds the fields of its settings and of its secret. A key that is not known is an
    error. The services judge the settings, as they judge those of the form."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    def settings(self, kind: ClusterKind) -> dict[str, str]:
        """Those that were given."""
        names = [name for name in kind.settings.model_fields if name in self.model_fields_set]
        return {name: tidied(getattr(self, name)) for name in names}

    def secret(self, *, editing: bool) -> ConnectionSecret | None:
        """What opens the cluster; ``None`` keeps what there is. ``ValidationError`` where it says
        nothing, or what no such cluster could be opened by."""
        raise NotImplementedError


def tidied(value: Any) -> str:
    """As a form takes a text."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    return text.replace("\r\n", "\n").strip()
