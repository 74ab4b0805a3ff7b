"""What an asset says can be changed for one workload: marked as changed, and taken back."""

import pytest

from projects.models import Project
from spec.parts.compute import GpuRequestType
from tests.factories import ComputeResourceFactory, EnvironmentFactory
from tests.workloads.wizard.browser import HTMX, Inputs, Wizard

pytestmark = pytest.mark.django_db
PART = "worker-compute-gpuRequest"


def test_the_image_is_changed_for_this_workload_only(wizard: Wizard) -> None:
    wizard.ready()
    its = wizard.environment.spec_json["image"]
    page = wizard.open(wizard.at(2)).page
    assert f"Uses {its} from environment env-train." in page
    page = wizard.save(2, **{"worker-image": "mine:1"})
    assert f"Replaces {its} from environment env-train." in page
    assert "Changed</span>" in page
    spec = wizard.plan().require_ready().spec
    assert spec.worker.image == "mine:1"
    assert wizard.environment.spec_json["image"] == its


def test_reset_goes_back_to_the_asset(wizard: Wizard) -> None:
    wizard.ready().save(2, **{"worker-image": "mine:1"})
    wizard.open(wizard.at(2)).press("reset:worker-image", **{"worker-image": "mine:1"})
    assert "image" not in wizard.draft.content.worker.values
    assert "Changed</span>" not in wizard.page
    assert wizard.client.post(wizard.at(2), {"action": "reset:worker-labels"}).status_code == 404


def test_another_environment_takes_its_own_image_back(wizard: Wizard, project: Project) -> None:
    wizard.ready().save(2, **{"worker-image": "mine:1", "worker-args": "--fast"})
    other = EnvironmentFactory(home=project, spec_json={"image": "other:2"})
    wizard.save(2, **{"worker-environment": str(wizard.draft.content.worker.assets["environment"])})
    assert wizard.plan().require_ready().spec.worker.image == "mine:1", (
        "the same one changes nothing"
    )
    wizard.save(2, **{"worker-environment": str(other.pk)})
    worker = wizard.plan().require_ready().spec.worker
    assert (worker.image, worker.args) == ("other:2", "--fast")


def test_a_bad_value_is_shown_at_its_field_or_its_asset(
    wizard: Wizard,
) -> None:
    wizard.ready()
    page = wizard.save(2, **{"worker-image": "not an image"})
    notes = page[page.index('id="worker-image-notes"') :]
    assert "is not an image URL" in notes[: notes.index("</div>")]
    draft = wizard.draft
    del draft.document["worker"]["values"]["image"]
    del draft.document["worker"]["assets"]["environment"]
    draft.save()
    page = wizard.open(wizard.at(2)).press("continue").page
    notes = page[page.index('id="worker-environment-notes"') :]
    assert "Select an environment." in notes[: notes.index("</div>")]
    assert 'id="worker-image-notes" data-for="worker-image" data-invalid' not in page


def test_requests_are_changed_for_this_workload_only(wizard: Wizard) -> None:
    wizard.ready()
    fields = {
        "worker-compute-cpuCoreRequest": "0.25",
        "worker-compute-cpuMemoryRequest": "250M",
        "worker-compute-gpuPortionRequest": "0.2",
    }
    page = wizard.save(2, **fields)
    assert "Replaces 0.1 from compute resource compute-train." in page
    compute = wizard.plan().require_ready().spec.worker.compute
    assert (compute.cpu_core_request, compute.cpu_memory_request) == (0.25, "250M")
    assert (compute.gpu_devices_request, compute.gpu_portion_request) == (1, 0.2)


def test_whole_gpus_take_the_place_of_a_part_of_one(wizard: Wizard) -> None:
    wizard.ready().save(2, **{"worker-compute-gpuDevicesRequest": "1"})
    compute = wizard.plan().require_ready().spec.worker.compute
    assert (compute.gpu_devices_request, compute.gpu_request_type) == (1, None)
    fields = {"worker-compute-gpuRequestType": "memory", "worker-compute-gpuMemoryRequest": "4G"}
    wizard.save(2, **{"worker-compute-gpuDevicesRequest": ""}, **fields)
    plan = wizard.plan()
    assert plan.spec
    compute = plan.spec.worker.compute
    assert (compute.gpu_devices_request, compute.gpu_request_type) == (1, GpuRequestType.MEMORY)
    assert (compute.gpu_portion_request, compute.gpu_memory_request) == (None, "4G")


def test_choosing_another_part_of_a_gpu_clears_the_previous_amount(
    wizard: Wizard,
) -> None:
    """As in a copy of a workload that had a fraction."""
    half = {f"{PART}Type": "portion", "worker-compute-gpuPortionRequest": "0.5"}
    wizard.ready().save(2, **half)
    wizard.save(2, **{f"{PART}Type": "memory", "worker-compute-gpuMemoryRequest": "4G"})
    compute = wizard.plan().require_ready().spec.worker.compute
    assert (compute.gpu_portion_request, compute.gpu_memory_request) == (None, "4G")
    late = {f"{PART}Type": "memory", "worker-compute-gpuPortionRequest": "0.5"}
    wizard.open(wizard.at(2)).press("save", **late)
    assert wizard.plan().is_submittable, "sent before the page was without the fraction"
    wizard.save(2, **{f"{PART}Type": "", "worker-compute-gpuMemoryRequest": "4G"})
    assert wizard.plan().require_ready().spec.worker.compute.gpu_portion_request == 0.1
    page = wizard.save(2, **{"worker-compute-gpuMemoryRequest": "4G"})
    wrong = "GPU memory per device is only allowed with “An amount of its memory” as the part"
    assert wrong in page


def test_the_section_is_answered_with_what_another_part_of_a_gpu_changed(wizard: Wizard) -> None:
    half = {f"{PART}Type": "portion", "worker-compute-gpuPortionRequest": "0.5"}
    wizard.ready().save(2, **half)
    swaps = HTMX | {"HTTP_HX_TARGET": "requests"}
    answer = wizard.client.post(wizard.at(2), {f"{PART}Type": "memory"}, **swaps)
    inputs = Inputs(answer.content.decode()).values
    assert inputs[f"{PART}Type"] == "memory"
    assert "worker-compute-gpuMemoryRequest" in inputs
    assert "worker-compute-gpuPortionRequest" not in inputs
    assert 'id="requests" open>' in answer.content.decode()


def test_another_compute_resource_takes_its_own_values_back(
    wizard: Wizard, project: Project
) -> None:
    wizard.ready().save(2, **{"worker-compute-cpuCoreRequest": "0.25"})
    other = ComputeResourceFactory(home=project)
    wizard.save(2, **{"worker-compute": str(other.pk)})
    assert wizard.plan().require_ready().spec.worker.compute.cpu_core_request == 0.1


def test_the_page_is_redrawn_when_an_asset_replaces_entered_values(
    wizard: Wizard, project: Project
) -> None:
    wizard.ready().save(2, **{"worker-compute-cpuCoreRequest": "0.25"})
    other = ComputeResourceFactory(home=project)
    answer = wizard.client.post(wizard.at(2), {"worker-compute": str(other.pk)}, **HTMX)
    assert (answer["HX-Retarget"], answer["HX-Reswap"]) == ("#wizard-page", "outerHTML")
    assert Inputs(answer.content.decode()).values["worker-compute-cpuCoreRequest"] == ""
    third = ComputeResourceFactory(home=project)
    answer = wizard.client.post(wizard.at(2), {"worker-compute": str(third.pk)}, **HTMX)
    assert "HX-Retarget" not in answer, "nothing was entered"


def test_the_pull_policy_is_asked_where_images_are_pulled(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    wizard.ready().save(2, **{"worker-imagePullPolicy": "Always"})
    assert wizard.plan().require_ready().spec.worker.image_pull_policy == "Always"
    assert "<dt>Image pull policy</dt>" in wizard.open(wizard.at(3)).page
    page = wizard.save(2, **{"worker-imagePullPolicy": ""})
    assert wizard.plan().require_ready().spec.worker.image_pull_policy == "IfNotPresent"
    assert "Changed</span>" not in page


def test_a_workload_with_its_own_image_still_needs_compute(
    wizard: Wizard,
) -> None:
    wizard.ready()
    draft = wizard.draft
    del draft.document["worker"]["assets"]["compute"]
    draft.save()
    wizard.save(2, **{"worker-image": "mine:1"})
    assert "select a compute resource" in [it.message for it in wizard.plan().problems]
