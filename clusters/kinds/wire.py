"""What REST takes to connect a cluster."""

from typing import Any

from pydantic import BaseModel, ConfigDict, SecretStr
from pydantic.alias_generators import to_camel


class Connecting(BaseModel):
    """A kind adds the fields of its form. A key that is not known is an error."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    def answers(self, *, editing: bool) -> dict[str, Any]:
        """The form, filled in with what was given. ``ValidationError`` where that says nothing or
        two things at once."""
        values = self.model_dump(exclude_unset=True)
        return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value
