"""Made-up values for the style guide."""

from django import forms

from core.forms import Form


class SampleForm(Form):
    name = forms.RegexField(r"^[a-z]+$", label="Name", help_text="Lower-case letters.")
    units = forms.ChoiceField(label="Units", choices=[("MB", "MB"), ("GB", "GB")])
    note = forms.CharField(label="Description", required=False, widget=forms.Textarea({"rows": 2}))
    shared = forms.BooleanField(
        label="Increase shared memory", required=False, help_text="More than 64 MB of /dev/shm."
    )
