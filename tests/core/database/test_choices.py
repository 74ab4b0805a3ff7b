"""Choices of fields are functions, so that a new value of an enumeration needs no migration."""

from pathlib import Path

from django.apps import apps

from config.run.install import ROOT


def test_every_field_with_choices_asks_a_function_for_them() -> None:
    ours = [app for app in apps.get_app_configs() if Path(app.path).parent == ROOT]
    choices = {
        f"{model._meta.label}.{field.name}": field.deconstruct()[3]["choices"]
        for app in ours
        for model in app.get_models()
        for field in model._meta.local_fields
        if field.choices
    }
    assert "workloads.Workload.phase" in choices
    assert not [name for name, offered in choices.items() if not callable(offered)]
