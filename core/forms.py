"""Forms that look like ours: Tabler's classes on Django's widgets."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

CLASSES: tuple[tuple[type[forms.Widget], str], ...] = (
    (forms.CheckboxInput, "form-check-input"),
    (forms.CheckboxSelectMultiple, ""),  # its list would get the class too; see components.css
    (forms.RadioSelect, ""),
    (forms.Select, "form-select"),
    (forms.Widget, "form-control"),
)


def dress(field: forms.Field) -> None:
    """Give a field's widget its class, once; ``is_check`` tells the template how to lay it out."""
    widget = field.widget
    name = next(name for kind, name in CLASSES if isinstance(widget, kind))
    if name not in widget.attrs.get("class", ""):
        widget.attrs["class"] = f"{widget.attrs.get('class', '')} {name}".strip()
    field.is_check = type(widget) is forms.CheckboxInput  # type: ignore[attr-defined]  # for the template


class Form(forms.Form):
    """Use with ``components/field.html``."""

    use_required_attribute = False  # the server's words say what is missing, and where
    NEEDED: tuple[str, ...] = ()  # fields that the verb, not the form, insists on

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            dress(field)
            asked = field.required and not isinstance(field.widget, forms.Select)
            field.is_needed = asked or name in self.NEEDED  # type: ignore[attr-defined]  # for the star


@contextmanager
def judged(form: forms.BaseForm) -> Iterator[None]:
    """Puts the verdict of a verb that refuses the form's values beside the fields it is about, and
    the rest above the form. What stands in the block below the verb is for its success."""
    try:
        yield
    except ValidationError as error:
        found = error.message_dict if hasattr(error, "error_dict") else {"__all__": error.messages}
        for field, texts in found.items():
            for text in texts:
                form.add_error(field if field in form.fields else None, text)
