"""Made-up values for the style guide."""

from django.http import QueryDict

from core.forms.field import Cell, Field, Input
from core.forms.form import Form

FIELDS = (
    Field("name", "Name", hint="Lower-case letters.", required=True),
    Field("units", "Units", Input.SELECT, options=(("MB", "MB"), ("GB", "GB"))),
    Field("note", "Description", Input.LINES),
    Field(
        "shared",
        "Increase shared memory",
        Input.FLAG,
        "More than 64 MB of /dev/shm.",
    ),
    Field(
        "resources",
        "Extended resources",
        Input.ROWS,
        add="Extended resource",
        cells=(
            Cell("resource", "Resource"),
            Cell("quantity", "Quantity"),
            Cell("users", "Users", Input.NAMES, adds=(("", "User"),)),
        ),
    ),
)


def sample() -> Form:
    """A form with an error in a field and one in a cell."""
    form = Form(FIELDS, {}, QueryDict("name=Not valid&units=MB&resources-0-resource=a/b"))
    form.add_problems(
        [
            (("name",), "must contain only lower-case letters"),
            (("resources", 0, "quantity"), "is required"),
        ]
    )
    return form
