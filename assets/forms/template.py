"""The template form: its name and place. The draft inside is made by the workload form."""

from typing import Any

from assets.forms.base import AssetForm
from assets.models import Template


class TemplateForm(AssetForm):
    def document(self) -> dict[str, Any]:
        return {}


def initial(template: Template) -> dict[str, Any]:
    return {}
