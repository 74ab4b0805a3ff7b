"""The summary's buttons: each changes the draft so that it starts, with and without JavaScript."""

import re

import pytest

from clusters.models import Node
from projects.models import Project
from tests.factories import ComputeResourceFactory, TemplateFactory
from tests.workloads.wizard.browser import HTMX, Wizard
from workloads.scheduling.fit.judge import Answer

pytestmark = pytest.mark.django_db
BUTTON = re.compile(r'value="repair:([^"]+)"')


@pytest.fixture
def waiting(wizard: Wizard, on_kubernetes: Project) -> Wizard:
    """Seven pods of two GPUs, before nodes where five of them fit."""
    on_kubernetes.over_quota = True
    on_kubernetes.save()
    cluster = on_kubernetes.cluster
    cluster.nodes.all().delete()
    for number, held in enumerate((8, 7, 5, 0)):
        Node.objects.create(
            cluster=cluster,
            name=f"n{number}",
            cpu=64,
            memory=10**12,
            gpu_count=8,
            allocated_cpu=1,
            allocated_memory=10**9,
            allocated_gpus=held,
        )
    wizard.ready()
    compute = ComputeResourceFactory(home=on_kubernetes, spec_json={"gpuDevicesRequest": 2})
    ComputeResourceFactory(home=on_kubernetes, name="one", spec_json={"gpuDevicesRequest": 1})
    wizard.save(2, **{"worker-compute": str(compute.pk), "numWorkers": "6"})
    return wizard


def offered(wizard: Wizard) -> list[str]:
    return BUTTON.findall(wizard.open(wizard.at(2)).page)


@pytest.mark.parametrize(
    ("field", "gone"), [("numWorkers", "workers"), ("worker.compute", "compute"), ("name", "")]
)
def test_no_repair_changes_what_the_template_locks(waiting: Wizard, field: str, gone: str) -> None:
    fewer = next(change for change in offered(waiting) if change.startswith("workers="))
    draft = waiting.draft
    rules = [{"field": field, "locked": True}]
    document = {**draft.document, "rules": rules}
    template = TemplateFactory(home=waiting.plan().project, name="base", draft_json=document)
    draft.document = {**draft.document, "template": str(template.pk)}
    draft.save()
    kinds = {change.partition("=")[0] for change in offered(waiting)}
    assert kinds == {"compute", "workers"} - {gone}
    waiting.press(f"repair:{fewer}")
    assert (waiting.draft.content.values["numWorkers"] == 6) is (gone == "workers")


def test_each_button_leads_to_a_draft_that_starts(waiting: Wizard) -> None:
    changes = offered(waiting)
    kinds = {change.partition("=")[0] for change in changes}
    assert kinds == {"compute", "workers"}
    before = waiting.draft.document
    for change in changes:
        waiting.press(f"repair:{change}")
        plan = waiting.plan()
        assert plan.fit is not None
        assert (plan.is_submittable, plan.fit.answer) == (True, Answer.NOW), change
        assert "Starts immediately" in waiting.page
        draft = waiting.draft
        draft.document = before
        draft.save()
        waiting.open(waiting.at(2))


def test_a_shape_becomes_the_values_of_this_workload_alone(
    waiting: Wizard, on_kubernetes: Project
) -> None:
    cluster = on_kubernetes.cluster
    cluster.nodes.update(allocated_gpus=7)
    Node.objects.bulk_create(
        Node(
            cluster=cluster,
            name=f"more-{number}",
            cpu=64,
            memory=10**12,
            gpu_count=8,
            allocated_cpu=1,
            allocated_memory=10**9,
            allocated_gpus=7,
        )
        for number in range(10)
    )
    assert "shape=13x1" in offered(waiting)
    waiting.press("repair:shape=13x1")
    draft = waiting.draft.content
    assert "compute" not in draft.worker.assets
    assert draft.worker.values["compute"]["gpuDevicesRequest"] == 1
    assert "This workload&#x27;s own values" in waiting.page
    spec = waiting.plan().spec
    assert spec is not None
    assert (spec.num_pods, spec.gpus()) == (14, 14)


def test_htmx_gets_the_page_with_the_changed_fields(waiting: Wizard) -> None:
    waiting.open(waiting.at(2))
    posted = {"action": "repair:workers=4"}
    headers = HTMX | {"HTTP_HX_TARGET": "wizard-page"}
    answer = waiting.client.post(waiting.at(2), posted, **headers).content.decode()
    assert 'id="wizard-page"' in answer
    assert waiting.draft.content.values["numWorkers"] == 4
    assert re.search(r'id="wizard-verdict"[^>]*autofocus', answer)


def test_a_change_that_nobody_offers_changes_nothing(waiting: Wizard) -> None:
    before = waiting.open(waiting.at(2)).draft.document
    for change in ("workers=5", "compute=7", "shape=0x0", "x", "pool=<b>"):
        assert waiting.press(f"repair:{change}").status == 200, change
        assert waiting.draft.document == before, change
