"""The table of kinds: each row is whole, and its pages are there."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import get_template
from django.urls import reverse

from assets.base import AssetKind
from assets.kinds import KINDS, listed_kinds
from config.run.install import ROOT
from spec.draft import ASSET_LISTS
from tests.repository import tracked

#: Where a draft is saved as a template.
MAKES_TEMPLATES = {
    "workloads/api/template/calls.py",
    "workloads/services.py",
    "workloads/wizard/template_views.py",
}
#: The verbs and pages of datasets, the section that asks for several data sources, and the links to
#: credentials of images and of imposed data sources.
NAMES_A_KIND = {
    "assets/datasets/services.py",
    "assets/datasets/views.py",
    "assets/imposed.py",
    "workloads/submission.py",
    "workloads/wizard/sections/storage.py",
}
EACH = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))


@EACH
def test_a_row_says_what_its_pages_show(kind: AssetKind[Any]) -> None:
    assert KINDS[kind.slug] is kind
    words = (kind.path, kind.noun, kind.title, kind.lead, kind.icon, kind.edit_verb, kind.copy_verb)
    assert all(words)
    assert bool(kind.fields) == kind.has_form
    assert kind.has_form or kind.hint
    assert bool(kind.panel) == bool(kind.choice_lead)
    if kind.fields:
        assert get_template(kind.fields)


@EACH
def test_a_row_has_pages_under_its_own_addresses(kind: AssetKind[Any]) -> None:
    assert reverse(f"{kind.slug}-list") == f"/{kind.path}/"
    pages = ["list", *(["create"] if kind.has_form else [])]
    assert all(kind.address(page).startswith(f"/{kind.path}/") for page in pages)


@EACH
def test_a_kind_has_a_folder_of_the_same_four_modules(kind: AssetKind[Any]) -> None:
    name = kind.slug.replace("-", "_")
    folder = Path("assets", name)
    assert kind.model.__module__ == f"assets.{name}.model"
    assert kind.form.__module__ == f"assets.{name}.form"
    modules = {path.name for path in (ROOT / folder).glob("*.py")}
    assert modules >= {"__init__.py", "model.py", "form.py", "card.py", "kind.py"}


@EACH
def test_a_column_of_the_model_holds_the_kinds_part(kind: AssetKind[Any]) -> None:
    assert kind.model._meta.get_field(kind.column).get_internal_type() == "JSONField"
    assert kind.part.model_fields


def test_each_list_of_assets_in_a_draft_belongs_to_a_kind() -> None:
    assert {kind.list_key for kind in listed_kinds()} == ASSET_LISTS


@EACH
def test_only_the_table_and_the_demo_data_name_a_kind_of_asset(kind: AssetKind[Any]) -> None:
    """So that the recipe of CONTRIBUTING.md names all that a new kind touches."""
    folder = kind.slug.replace("-", "_")
    own = f"assets/{folder}/"
    naming = re.compile(rf"from assets\.{folder}\.(?:kind|form) import")
    named = {
        path.as_posix()
        for path in tracked("*.py")
        if path.parts[0] != "tests" and naming.search((ROOT / path).read_text())
    }
    outside = {path for path in named if not path.startswith(own)}
    assert outside - {"workloads/demo.py"} <= {"assets/kinds.py"} | MAKES_TEMPLATES | NAMES_A_KIND


def test_the_recipe_names_all_that_a_kind_touches() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = text.partition("## Recipe: add an asset kind\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d\. `([^`]+)`", recipe, re.MULTILINE)
    fields = "templates/assets/<kind>_fields.html"
    permissions = "accounts/permissions.py"
    own = ["assets/<kind>/", "assets/kinds.py", permissions, "assets/models.py", fields]
    assert steps == ["spec/", *own, "tests/factories.py"]
    for kind in KINDS.values():
        expected = fields.replace("<kind>", kind.slug.replace("-", "_")).removeprefix("templates/")
        assert kind.fields in {"", expected}
