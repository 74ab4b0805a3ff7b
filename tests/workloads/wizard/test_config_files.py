"""Files that are written into the wizard, and what it asks where there are no ConfigMaps."""

from typing import Any

import pytest

from assets.data_source import files
from projects.models import Project
from tests.workloads.wizard.browser import Inputs, Wizard

pytestmark = pytest.mark.django_db
CONF = "worker-storage-configMapVolume"
TEXT = "train.yaml: |\r\n  lr: 0.1\r\n  steps: 3\r\n"
#: By list, the input that names what only Kubernetes has.
ELSEWHERE = {
    CONF: "configMap",
    "worker-storage-secretVolume": "secret",
    "worker-storage-git": "secretRef-name",
    "worker-storage-s3": "accessKeySecret",
    "worker-storage-pvc": "claimInfo-storageClass",
}


def written(wizard: Wizard) -> Any:
    return wizard.draft.content.worker.values["storage"]["configMapVolume"]


def test_files_that_are_written_in_the_wizard_work_on_this_machine(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{CONF}")
    wizard.press("save", **{f"{CONF}-0-files": TEXT, f"{CONF}-0-mountPath": "/conf"})
    file = {"name": "train.yaml", "content": "lr: 0.1\nsteps: 3\n"}
    assert written(wizard) == [{"files": [file], "mountPath": "/conf"}]
    made = wizard.plan()
    assert made.is_submittable, made.problems
    again = Inputs(wizard.open(wizard.at(2)).page).values[f"{CONF}-0-files"]
    assert files.parse_texts(again) == {"train.yaml": file["content"]}
    wizard.press("save", **{f"{CONF}-0-subPath": "train.yaml"})
    assert written(wizard)[0] == {"files": [file], "mountPath": "/conf", "subPath": "train.yaml"}
    assert wizard.plan().is_submittable


def test_a_text_that_is_not_yaml_of_files_stays_as_typed(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{CONF}")
    wizard.press("save", **{f"{CONF}-0-files": "lr = 0.1", f"{CONF}-0-mountPath": "/conf"})
    assert written(wizard)[0]["files"] == "lr = 0.1"
    wizard.open(wizard.at(2)).press("continue")
    assert files.FORMAT_HINT in wizard.page
    assert Inputs(wizard.page).values[f"{CONF}-0-files"].strip() == "lr = 0.1"


@pytest.mark.parametrize("name", ELSEWHERE)
def test_this_machine_is_not_asked_for_what_only_kubernetes_has(wizard: Wizard, name: str) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{name}")
    inputs = Inputs(wizard.page).values
    assert any(key.startswith(f"{name}-0-") for key in inputs)
    assert f"{name}-0-{ELSEWHERE[name]}" not in inputs


@pytest.mark.usefixtures("on_kubernetes")
@pytest.mark.parametrize("name", ELSEWHERE)
def test_kubernetes_is_asked_for_it(wizard: Wizard, name: str) -> None:
    wizard.ready().open(wizard.at(2)).press(f"add:{name}")
    assert f"{name}-0-{ELSEWHERE[name]}" in Inputs(wizard.page).values


def test_the_config_map_of_a_copied_workload_is_shown_to_be_removed(
    wizard: Wizard, project: Project
) -> None:
    storage = {"configMapVolume": [{"configMap": "settings", "mountPath": "/conf"}]}
    wizard.ready()
    content = wizard.draft.document
    content["worker"]["values"] = {"storage": storage}
    type(wizard.draft).objects.filter(pk=wizard.draft.pk).update(document=content)
    wizard.open(wizard.at(2))
    assert Inputs(wizard.page).values[f"{CONF}-0-configMap"] == "settings"
    assert any("no ConfigMaps" in it.message for it in wizard.plan().problems)
    wizard.press("save", **{f"{CONF}-0-configMap": "", f"{CONF}-0-files": "a: b"})
    assert wizard.plan().is_submittable
