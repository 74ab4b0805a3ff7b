"""Variables whose value is in a Secret or ConfigMap, or a field of the pod."""

from typing import Any

import pytest

from projects.models import Project
from tests.workloads.wizard.browser import Inputs, Wizard

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_kubernetes")]
VARIABLES = "worker-environmentVariables"
GIVEN: list[dict[str, Any]] = [
    {"name": "PLAIN", "value": "x"},
    {"name": "TOKEN", "secret": {"name": "bucket", "key": "token"}},
    {"name": "REGION", "configMap": {"name": "site", "key": "region"}},
    {"name": "HOST", "podFieldRef": {"path": "status.hostIP"}},
]


def row(number: int, **parts: str) -> dict[str, str]:
    return {f"{VARIABLES}-{number}-{key}": value for key, value in parts.items()}


def variables(wizard: Wizard) -> Any:
    return wizard.draft.content.worker.values["environmentVariables"]


def test_each_source_of_a_variable_is_asked_for_and_kept(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2))
    for number in range(4):
        wizard.press(f"add:{VARIABLES}")
        assert f'name="{VARIABLES}-{number}-source"' in wizard.page
    fields = row(0, name="PLAIN", value="x")
    fields |= row(1, name="TOKEN", source="secret", value="bucket", key="token")
    fields |= row(2, name="REGION", source="configMap", value="site", key="region")
    fields |= row(3, name="HOST", source="podFieldRef", value="status.hostIP")
    wizard.press("save", **fields)
    assert variables(wizard) == GIVEN
    spec = wizard.plan().spec
    assert spec, wizard.plan().problems
    dumped = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    assert dumped["worker"]["environmentVariables"] == GIVEN
    wizard.open(wizard.at(2)).press("save")
    assert variables(wizard) == GIVEN, "the page shows all that it needs to post it again"


def test_a_value_keeps_its_line_breaks_on_the_page(wizard: Wizard) -> None:
    value = "\n-----BEGIN KEY-----\n  abc \n-----END KEY-----\n"
    wizard.ready().open(wizard.at(2)).press(f"add:{VARIABLES}")
    posted = value.replace("\n", "\r\n")  # as browsers do
    wizard.press("save", **row(0, name="PEM", value=posted))
    assert variables(wizard) == [{"name": "PEM", "value": value}]
    spec = wizard.plan().spec
    assert spec
    assert spec.worker.environment_variables[0].value == value
    wizard.open(wizard.at(2)).press("save")
    assert variables(wizard) == [{"name": "PEM", "value": value}]


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"source": "secret", "value": "", "key": "k"}, "The Secret is required."),
        ({"source": "secret", "value": "bucket", "key": ""}, "The key is required."),
        (
            {"source": "configMap", "value": "No Name", "key": "k"},
            "The ConfigMap must contain only lower-case",
        ),
        ({"source": "podFieldRef", "value": ""}, "The pod field is required."),
    ],
)
def test_a_variable_with_an_incomplete_source_has_an_error(
    wizard: Wizard, parts: dict[str, str], told: str
) -> None:
    wizard.ready()
    page = wizard.save(2, **{VARIABLES: "rows"}, **row(0, name="TOKEN", **parts))
    at = page.index(f'id="{VARIABLES}-0-notes"')
    assert told in page[at : at + 400]


def test_a_local_cluster_asks_for_values_and_keeps_what_a_copy_brings(
    wizard: Wizard, project: Project
) -> None:
    project.cluster.kind = "local"
    project.cluster.save()
    wizard.ready().open(wizard.at(2)).press(f"add:{VARIABLES}")
    assert f"{VARIABLES}-0-source" not in wizard.page
    draft = wizard.draft
    draft.document["worker"]["values"] = {"environmentVariables": GIVEN}
    draft.save()
    wizard.open(wizard.at(2)).press("continue")
    assert variables(wizard) == GIVEN
    assert "is in a Secret, which only Kubernetes has" in wizard.page
    assert Inputs(wizard.page).values[f"{VARIABLES}-1-key"] == "token"


def test_a_copy_may_say_that_a_source_is_none(wizard: Wizard) -> None:
    """As REST callers do, who send every field."""
    none = {"secret": None, "configMap": None, "podFieldRef": None}
    draft = wizard.ready().draft
    draft.document["worker"]["values"] = {"environmentVariables": [GIVEN[0] | none]}
    draft.save()
    wizard.open(wizard.at(2)).press("save")
    assert variables(wizard) == GIVEN[:1]
