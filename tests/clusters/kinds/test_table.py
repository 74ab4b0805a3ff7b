"""Each row of the table of kinds is whole, and nobody else asks which kind a cluster is."""

import json
import subprocess
import sys
from typing import Any

import pytest
from django.template.loader import get_template

from clusters import models
from clusters.kinds import KINDS, addable, addable_kind
from clusters.kinds.base import ClusterKind
from clusters.models import Cluster
from config.run.install import ROOT
from core.forms.field import SECRETS
from spec.problems.errors import Problem
from tests.clusters.kinds.abacus import FakeAbacus
from tests.engines.contract import launch
from tests.factories import ClusterFactory
from workloads.wizard.sections import table

SECTIONS = {section.key for section in table.SECTIONS}
ASKS = (
    r"Kind\.(LOCAL|KUBERNETES|SLURM)|engines\.(local|kubernetes|slurm)\b|(cluster|self)\.kind [!=]="
)
ELSEWHERE = ["clusters/kinds", "engines", "tests", "bench", "*/migrations/*"]
kinds = pytest.mark.parametrize(
    "kind", [*KINDS.values(), FakeAbacus().kind()], ids=lambda kind: kind.slug
)


@kinds
def test_a_kind_has_a_name_and_keeps_what_it_is_given(kind: ClusterKind) -> None:
    assert 0 < len(kind.slug) <= 20
    assert kind.label
    assert all(isinstance(value, str) for _, value in kind.settings())
    assert kind.secret.model_validate_json(kind.secret().model_dump_json()) == kind.secret()
    settings = set(kind.settings.model_fields)
    assert kind.connection_settings <= settings
    assert kind.fixed_settings.keys() <= settings
    assert not settings & set(kind.secret.model_fields)


@kinds
def test_features_that_a_kind_of_cluster_lacks_are_sections_of_the_wizard(
    kind: ClusterKind,
) -> None:
    assert kind.missing_sections.keys() <= SECTIONS
    assert all(kind.missing_sections.values())


@kinds
def test_a_kind_has_both_a_form_and_a_rest_schema_or_neither(kind: ClusterKind) -> None:
    assert (kind.form is None) == (kind.wire is None)
    assert bool(kind.why_permanent) == (kind.form is None)
    settings = set(kind.settings.model_fields)
    if kind.form and kind.wire:
        inputs = {field.key: field.input for field in kind.form.FIELDS}
        assert settings <= inputs.keys()
        assert all(inputs[name] in SECRETS for name in kind.secret.model_fields)
        assert settings <= set(kind.wire.model_fields)
        assert kind.wire.model_validate({}).secret(editing=True) is None
        shown = {"form": kind.form(kind, kind.form.blank_values(kind))}
        page = get_template(kind.form_template).render(shown)
        assert all(f'name="{name}"' in page for name in settings | kind.secret.model_fields.keys())


@kinds
def test_rights_are_yaml_and_told_of(kind: ClusterKind) -> None:
    if kind.rights:
        assert "ada" in kind.rights.manifest("ada")
        assert kind.rights.filename
        get_template(kind.rights.template)


@kinds
@pytest.mark.django_db
def test_a_kind_says_what_it_would_refuse_without_asking_a_cluster(
    kind: ClusterKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, kind.slug, kind)
    cluster: Cluster = ClusterFactory(kind=kind.slug)
    assert list(kind.complaints(cluster, launch("true"))) == []
    wrong = list(kind.complaints(cluster, launch("true", node_pools=("nowhere",))))
    assert [type(it) for it in wrong] == [Problem]
    assert list(kind.unsupported(cluster, launch("true"))) == []


def test_the_table_gives_the_field_its_choices_and_the_form_its_kinds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(KINDS, "abacus", FakeAbacus().kind())
    assert models.kinds() == [(slug, kind.label) for slug, kind in KINDS.items()]
    assert all(slug == kind.slug for slug, kind in KINDS.items())
    assert [kind.slug for kind in addable()] == ["kubernetes", "slurm", "abacus"]
    asked = ("", "abacus", "local", "sundial")
    slugs = [kind.slug if (kind := addable_kind(slug)) else None for slug in asked]
    assert slugs == ["kubernetes", "abacus", None, None]


def test_only_the_table_of_kinds_asks_which_kind_a_cluster_is() -> None:
    paths = [f":!{path}" for path in ELSEWHERE]
    assert _found(ASKS, "*.py", *paths) == []
    assert _found("kind [!=]=", "templates") == []


def _found(pattern: str, *paths: str) -> list[str]:
    command = ["git", "grep", "--untracked", "-nE", pattern, "--", *paths]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def test_a_process_that_never_talks_to_kubernetes_does_without_its_client() -> None:
    program = (
        "import django, json, sys; django.setup(); import config.urls, config.celery;"
        "import config.rest.api;"
        "import workloads.tasks; print(json.dumps('kubernetes' in sys.modules))"
    )
    environment: dict[str, Any] = {"DJANGO_SETTINGS_MODULE": "config.settings", "PATH": "/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) is False
