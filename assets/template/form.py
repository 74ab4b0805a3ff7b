"""The template form: its name and place. The draft inside is made by the workload form."""

from assets.forms.base import AssetForm
from assets.template.model import Template


class TemplateForm(AssetForm):
    """The fields that all assets have."""

    MODEL = Template
