"""Variables, labels and annotations: rows to add, fill, replace and remove."""

import re

import pytest

from assets.models import Environment
from tests.workloads.wizard.browser import HTMX, Inputs, Wizard

pytestmark = pytest.mark.django_db
VARIABLES = "worker-environmentVariables"


def set_variables(wizard: Wizard, *variables: dict[str, str]) -> None:
    environment = Environment.objects.get()
    environment.spec_json = {**environment.spec_json, "environmentVariables": list(variables)}
    environment.save()


def test_a_row_is_added_filled_and_removed_without_javascript(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2))
    wizard.press("add:worker-labels")
    wizard.press("add:worker-labels", **{"worker-labels-0-name": "team"})
    wizard.press("save", **{"worker-labels-1-name": "stage", "worker-labels-1-value": "dev"})
    values = wizard.draft.content.worker.values
    assert values["labels"] == [
        {"name": "team", "value": ""},
        {"name": "stage", "value": "dev"},
    ]
    wizard.open(wizard.at(2)).press("remove:worker-labels:0")
    assert wizard.draft.content.worker.values["labels"] == [{"name": "stage", "value": "dev"}]


def test_adding_a_row_with_javascript_swaps_its_list_alone(wizard: Wizard) -> None:
    wizard.ready()
    response = wizard.client.post(wizard.at(2), {"action": f"add:{VARIABLES}"}, **HTMX)
    page = response.content.decode()
    assert f'id="{VARIABLES}-rows"' in page
    assert "autofocus" in page
    assert "worker-labels-rows" not in page


def test_a_blank_row_is_kept_but_not_submitted(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{VARIABLES}")
    assert f"{VARIABLES}-0-name" in wizard.page
    spec = wizard.plan().spec
    assert spec is not None
    assert spec.worker.environment_variables == ()
    assert wizard.plan().is_submittable


def test_the_environments_own_variables_are_shown(wizard: Wizard) -> None:
    wizard.ready()
    set_variables(wizard, {"name": "LR", "value": "0.1"}, {"name": "DATA", "description": "A path"})
    page = wizard.open(wizard.at(2)).page
    assert "LR=0.1" in page
    assert "A path" in page


def test_a_variable_of_the_environment_is_replaced_in_the_wizard(wizard: Wizard) -> None:
    wizard.ready()
    rate = {"name": "LR", "value": "0.1", "description": "Between 0 and 1."}
    set_variables(wizard, rate, {"name": "SEED", "value": "1"})
    wizard.open(wizard.at(2)).press(f"add:{VARIABLES}=LR")
    assert Inputs(wizard.page).values[f"{VARIABLES}-0-value"] == "0.1"
    assert "Between 0 and 1. Replaces the one of environment env-train." in wizard.page
    wizard.press("save", **{f"{VARIABLES}-0-value": "0.5"})
    spec = wizard.plan().spec
    assert spec is not None
    found = {variable.name: variable.value for variable in spec.worker.environment_variables}
    assert found == {"LR": "0.5", "SEED": "1"}


def test_a_variable_of_the_environment_is_removed_and_other_rows_stay(wizard: Wizard) -> None:
    wizard.ready()
    set_variables(wizard, {"name": "LR", "value": "0.1"}, {"name": "SEED", "value": "1"})
    wizard.open(wizard.at(2)).press(f"exclude:{VARIABLES}=LR").press(f"add:{VARIABLES}")
    own = {f"{VARIABLES}-0-name": "OWN", f"{VARIABLES}-0-value": "2"}
    wizard.press("save", **own).open(wizard.at(2))
    assert "LR=0.1" not in wizard.page
    assert "removed, from environment env-train" in wizard.page
    spec = wizard.plan().spec
    assert spec is not None
    assert [it.name for it in spec.worker.environment_variables] == ["SEED", "OWN"]
    wizard.press(f"remove:{VARIABLES}:0")
    assert wizard.draft.content.worker.values["environmentVariables"] == [
        {"name": "LR", "exclude": True}
    ]


def test_an_error_stands_at_its_row_behind_inherited_ones(wizard: Wizard) -> None:
    wizard.ready()
    set_variables(wizard, {"name": "LR", "value": "0.1"})
    rows = {VARIABLES: "rows", f"{VARIABLES}-0-name": "GOOD", f"{VARIABLES}-1-name": "NOT GOOD"}
    page = wizard.save(2, **rows)
    notes = [re.search(rf'id="{VARIABLES}-{at}-notes"[^>]*>', page) for at in (0, 1)]
    assert ["data-invalid" in match[0] if match else None for match in notes] == [None, True]


def test_the_environments_command_is_told_and_can_be_replaced(wizard: Wizard) -> None:
    wizard.ready()
    environment = Environment.objects.get()
    environment.spec_json = {**environment.spec_json, "command": "python base.py"}
    environment.save()
    assert "Uses python base.py from environment env-train." in wizard.open(wizard.at(2)).page
    page = wizard.save(2, **{"worker-command": "python mine.py"})
    assert "Replaces python base.py from environment env-train." in page


def test_general_settings_count_what_was_changed(wizard: Wizard) -> None:
    wizard.ready()
    assert ">defaults<" in wizard.open(wizard.at(2)).page
    fields = {"backoffLimit": "2", "worker-labels": "rows", "worker-labels-0-name": "a"}
    assert ">2 changed<" in wizard.save(2, **fields)


def test_more_rows_than_anyone_needs_are_cut(wizard: Wizard) -> None:
    wizard.ready()
    names = {f"worker-labels-{number}-name": f"n{number}" for number in range(300)}
    wizard.save(2, **{"worker-labels": "rows", **names})
    assert len(wizard.draft.content.worker.values["labels"]) == 200
