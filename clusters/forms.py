"""The node pool form. The verbs validate its values."""

from collections.abc import Collection

from django.http import QueryDict

from core.forms.field import Field, Values
from core.forms.form import Form

FIELDS = (
    Field("name", "Node pool name", required=True),
    Field("label_key", "Label key", required=True, literal=True),
    Field(
        "label_value",
        "Label value",
        hint="All nodes with exactly this label are in the pool.",
        literal=True,
    ),
)


class NodePoolForm(Form):
    def __init__(
        self, posted: QueryDict | None, *, initial: Values, fixed: Collection[str] = ()
    ) -> None:
        super().__init__(FIELDS, initial, posted, fixed=fixed)

    def given(self) -> dict[str, str]:
        """The values for the verbs, without fixed ones."""
        names = [shown.name for shown in self if not shown.disabled]
        return {name: str(self.values.get(name, "")) for name in names}
