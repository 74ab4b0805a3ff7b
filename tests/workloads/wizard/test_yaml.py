"""The form as YAML: copied, changed, pasted, chosen as a file; without JavaScript."""

from uuid import uuid4

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import HealthCheck, given, settings

from projects.models import Project
from spec.workload import WorkloadSpec
from tests.factories import EnvironmentFactory, WorkloadFactory
from tests.spec import any_spec
from tests.workloads.wizard.browser import Inputs, Wizard
from workloads.models import Draft, Workload
from workloads.plan import plan

pytestmark = pytest.mark.django_db


def shown(wizard: Wizard) -> str:
    return Inputs(wizard.page).values["yaml"].removeprefix("\n")


def opened(wizard: Wizard) -> Wizard:
    return wizard.open(f"/workloads/drafts/{wizard.draft.pk}/yaml/")


def test_the_button_keeps_what_was_entered_and_shows_it(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2))
    wizard.press("yaml", **{"worker-args": "--epochs=3"})
    document = yaml.safe_load(shown(wizard))
    assert document["spec"]["args"] == "--epochs=3"
    assert document["assets"] == {"environment": "env-train", "compute": "compute-train"}


def test_the_text_of_a_form_fills_it_as_it_was(wizard: Wizard) -> None:
    before = opened(wizard.ready()).draft.content
    wizard.press("", yaml=shown(wizard).replace("\n", "\r\n"))
    assert wizard.draft.content == before
    assert wizard.address == wizard.at(3), "nothing is left to do: a last look"
    wizard.press("create")
    assert Workload.objects.get().name == "train"


def test_a_change_in_the_text_is_a_change_in_the_form(wizard: Wizard) -> None:
    opened(wizard.ready())
    text = shown(wizard).replace("numWorkers: 2", "numWorkers: 5\n  command: python train.py")
    wizard.press("", yaml=text).open(wizard.at(2))
    inputs = Inputs(wizard.page).values
    assert (inputs["numWorkers"], inputs["worker-command"]) == ("5", "python train.py")
    assert "The form was filled in from the YAML." in wizard.page or wizard.status == 200


def test_a_wrong_value_is_shown_at_its_field(wizard: Wizard) -> None:
    opened(wizard.ready())
    wizard.press("", yaml=shown(wizard).replace("numWorkers: 2", "numWorkers: 900"))
    assert wizard.address == wizard.at(2)
    assert "must be at most 512" in wizard.page
    assert "errorlist" in wizard.page


def test_an_unknown_key_changes_nothing_and_the_text_stays(wizard: Wizard) -> None:
    before = opened(wizard.ready()).draft.document
    text = shown(wizard).replace("numWorkers: 2", "numWorker: 5")
    line = next(at for at, it in enumerate(text.splitlines(), 1) if "numWorker:" in it)
    wizard.press("", yaml=text)
    assert wizard.status == 422
    assert f'data-line="{line}">Line {line}</a>' in wizard.page
    assert "numWorker is not a known field; did you mean numWorkers?" in wizard.page
    assert shown(wizard) == text
    assert wizard.draft.document == before


def test_a_file_takes_the_place_of_the_text(wizard: Wizard) -> None:
    opened(wizard.ready())
    upload = SimpleUploadedFile("w.yaml", b"name: from-a-file\r\nspec: {image: 'x:1'}\r\n")
    wizard.press("", file=upload)
    assert wizard.draft.content.name == "from-a-file"
    opened(wizard).press("", file=SimpleUploadedFile("w.yaml", b"\xff\xfe\0\0"))
    assert wizard.status == 422


def test_a_form_changed_elsewhere_is_not_overwritten(wizard: Wizard) -> None:
    opened(wizard.ready())
    stale = shown(wizard)
    Wizard(wizard.user).open(wizard.at(2)).save(2, numWorkers="4")
    wizard.press("", yaml=stale)
    assert wizard.status == 409
    assert "changed in another tab" in wizard.page
    assert wizard.draft.content.values["numWorkers"] == 4
    wizard.press("", yaml=stale)
    assert wizard.draft.content.values["numWorkers"] == 2, "applied again it is"


def test_a_new_workload_may_begin_with_yaml(wizard: Wizard) -> None:
    wizard.open("/workloads/new/?yaml")
    assert wizard.address.endswith("/yaml/")
    wizard.press("", yaml="name: pasted\nspec: {image: 'x:1', numWorkers: 3}\n")
    draft = wizard.draft.content
    assert (draft.name, draft.values) == ("pasted", {"numWorkers": 3})
    assert draft.project is not None, "the place it began with"


def test_the_yaml_of_a_workload_submits_it_once_more(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(3)).press("create")
    first = Workload.objects.get()
    response = wizard.client.get(f"/workloads/{first.pk}/spec/")
    text = str(response.context["yaml"])
    wizard.open("/workloads/new/?yaml")
    wizard.press("", yaml=text.replace(f"name: {first.name}", "name: once-more"))
    wizard.open(wizard.at(3)).press("create")
    second = Workload.objects.get(name="once-more")
    assert second.spec_json == first.spec_json
    assert set(second.assets.values_list("asset_id")) == set(first.assets.values_list("asset_id"))


def test_names_that_several_assets_have_are_ids(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    EnvironmentFactory(home=project, name="env-train", in_cluster=True)
    document = yaml.safe_load(shown(opened(wizard)))
    chosen = wizard.draft.content.worker.assets["environment"]
    assert document["assets"]["environment"] == str(chosen)
    wizard.press("", yaml="assets: {environment: env-train}")
    assert "&#x27;env-train&#x27; is the name of no environment, or of several" in wizard.page


def test_the_manifest_is_there_once_the_form_is_complete(wizard: Wizard) -> None:
    page = opened(wizard.ready()).page
    assert 'id="manifest"' in page
    wizard.save(1, name="")
    assert "1 thing to fill in" in opened(wizard).page
    assert f'<a href="{wizard.at(1)}#name">Name' in wizard.page


def test_a_secret_stays_behind_its_mask(wizard: Wizard) -> None:
    wizard.ready()
    draft = wizard.draft
    variables = [{"name": "API_TOKEN", "value": "zanzibar"}]
    draft.document["worker"]["values"] = {"environmentVariables": variables}
    draft.save()
    assert "zanzibar" not in opened(wizard).page
    wizard.press("", yaml=shown(wizard))
    assert wizard.draft.content.worker.values["environmentVariables"] == variables


def test_a_draft_that_became_a_workload_has_no_yaml(wizard: Wizard, project: Project) -> None:
    workload = WorkloadFactory(project=project, draft_id=uuid4())
    assert wizard.open(f"/workloads/drafts/{workload.draft_id}/yaml/").status == 404


@pytest.mark.extended
@settings(
    max_examples=15,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(spec=any_spec.specs())
def test_any_valid_spec_survives_form_yaml_form(
    spec: WorkloadSpec, wizard: Wizard, on_kubernetes: Project
) -> None:
    content = any_spec.draft_of(spec)
    content.name = ""
    content.project = on_kubernetes.pk
    content.cluster = on_kubernetes.cluster_id
    draft = Draft(owner=wizard.user)
    draft.content = content
    draft.save()
    for step in (1, 2, 3):
        wizard.open(wizard.at(step)).press("save")
    opened(wizard).press("", yaml=shown(wizard))
    assert plan(wizard.draft.content, by=wizard.user).spec == spec


MANIFEST = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: mnist
  namespace: kubeflow
spec:
  pytorchReplicaSpecs:
    Master: &replica
      template:
        spec:
          containers:
            - image: train:2
              command: [python, train.py]
    Worker:
      <<: *replica
      replicas: 3
---
"""


def test_a_manifest_fills_the_form_and_says_what_is_left_out(wizard: Wizard) -> None:
    opened(wizard.ready()).press("", yaml=MANIFEST)
    content = wizard.draft.content
    assert (content.name, content.framework, content.values["numWorkers"]) == (
        "mnist",
        "PyTorch",
        3,
    )
    assert content.worker.values["command"] == "python train.py"
    assert "metadata.namespace is left out: the project says where it runs" in wizard.page


def test_a_manifest_is_refused_at_its_lines(wizard: Wizard) -> None:
    wrong = MANIFEST.replace("      replicas: 3\n", "      replicas: 3\n      shards: 2\n")
    opened(wizard.ready()).press("", yaml=wrong)
    assert wizard.status == 422
    assert 'data-line="17">Line 17</a>' in wizard.page
    assert "spec.pytorchReplicaSpecs.Worker.shards: has no counterpart in Trainyard" in wizard.page


def test_a_workflow_of_osmo_is_recognized(wizard: Wizard) -> None:
    text = "workflow:\n  name: train\n  tasks:\n  - platform: {{platform}}\n"
    opened(wizard.ready()).press("", yaml=text)
    assert "This is an OSMO workflow, not a workload" in wizard.page
