"""The wizard asks for a queue where the cluster has Kueue, and says what happens without one."""

import pytest

from projects.models import Project
from tests.workloads.wizard.browser import Wizard
from workloads.scheduling.fit.judge import Answer
from workloads.wizard.sections.base import WORKERS

pytestmark = pytest.mark.django_db
CORES = "worker-compute-cpuCoreRequest"
MARKS = ("Labels of the job", "Annotations of the job")


@pytest.fixture
def with_kueue(on_kubernetes: Project) -> Project:
    """The project on a cluster with Kueue, whose namespace has two LocalQueues."""
    cluster = on_kubernetes.cluster
    cluster.settings_json = {"namespace_prefix": "trainyard-"}
    quota = {"resource": "cpu", "nominal": 0.5, "most": 0.5, "most_of_role": 0.5}
    team = {
        **{"namespace": "trainyard-team-a", "name": "team", "cluster_queue": "gpus"},
        **{"quotas": [quota], "why_inactive": ""},
    }
    cluster.capabilities_json |= {
        "kueue": "v1beta2",
        "local_queues": [
            team,
            team | {"name": "slow", "why_inactive": "ClusterQueue gpus: it is stopped."},
            team | {"namespace": "trainyard-others", "name": "theirs"},
        ],
    }
    cluster.save()
    return on_kubernetes


def page_of(wizard: Wizard) -> str:
    return wizard.ready().open(wizard.at(WORKERS)).page


def test_the_queues_of_the_namespace_are_offered(wizard: Wizard, with_kueue: Project) -> None:
    page = page_of(wizard)
    assert '<option value="team">team (ClusterQueue gpus)</option>' in page
    assert "slow (ClusterQueue gpus, not active)" in page
    assert "theirs" not in page
    assert '<option value="" selected>None</option>' in page
    assert all(mark in page for mark in MARKS)


def test_the_first_choice_says_which_queue_starts_a_workload_without_one(
    wizard: Wizard, with_kueue: Project
) -> None:
    with_kueue.default_queue = "team"
    with_kueue.save()
    assert "The project&#x27;s default: team</option>" in page_of(wizard)
    plan = wizard.plan()
    assert plan.spec
    assert plan.spec.queue == "team"
    assert plan.origins["queue"] == f"project {with_kueue.name}"
    with_kueue.default_queue = ""
    with_kueue.save()
    queues = with_kueue.cluster.capabilities_json["local_queues"]
    queues[0]["name"] = "default"
    with_kueue.cluster.save()
    page = wizard.open(wizard.at(WORKERS)).page
    assert "Kueue&#x27;s default: default</option>" in page


def test_a_queue_can_be_typed_where_none_may_be_listed(wizard: Wizard, with_kueue: Project) -> None:
    with_kueue.cluster.capabilities_json["local_queues"] = None
    with_kueue.cluster.save()
    page_of(wizard)
    wizard.save(WORKERS, queue="team")
    plan = wizard.plan()
    assert plan.spec
    assert (plan.spec.queue, plan.warnings) == ("team", [])


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("team", ""),
        ("slow", "LocalQueue slow starts nothing now: ClusterQueue gpus: it is stopped"),
        (
            "nosuch",
            "the project's namespace has no LocalQueue 'nosuch' yet; it has slow, team. "
            "The workload waits until there is one",
        ),
    ],
)
def test_a_queue_for_which_the_workload_would_wait_is_a_warning(
    wizard: Wizard, with_kueue: Project, name: str, warning: str
) -> None:
    page_of(wizard)
    wizard.save(WORKERS, queue=name)
    plan = wizard.plan()
    assert plan.is_submittable
    assert [(it.field, it.message) for it in plan.warnings] == (
        [("queue", warning)] if warning else []
    )


def test_the_summary_leaves_the_start_to_the_queue(wizard: Wizard, with_kueue: Project) -> None:
    page_of(wizard)
    compute = wizard.compute
    compute.spec_json = {"cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"}
    compute.save()
    answer = wizard.save(WORKERS, queue="team", **{CORES: "0.1"})
    assert "Kueue&#x27;s queue team decides when it starts." in answer
    fit = wizard.plan().fit
    assert fit
    assert fit.answer is Answer.UNKNOWN
    wizard.save(WORKERS, **{CORES: "0.2"})
    fit = wizard.plan().fit
    assert fit
    assert fit.answer is Answer.NEVER
    assert fit.cause
    assert fit.cause.title == (
        "More than queue team can ever give: 0.6 CPU cores requested, 0.5 CPU cores at most"
    )


@pytest.mark.usefixtures("on_kubernetes")
def test_without_kueue_nobody_is_asked_unless_a_copy_has_a_queue(wizard: Wizard) -> None:
    assert 'name="queue"' not in page_of(wizard)
    wizard.ready("copy", values={"numWorkers": 2, "queue": "team"}).open(wizard.at(WORKERS))
    assert 'name="queue"' in wizard.page
    assert "Needs Kueue, which this cluster does not have." in wizard.page


def test_on_this_machine_a_job_has_no_labels(wizard: Wizard) -> None:
    page = page_of(wizard)
    assert 'name="queue"' not in page
    assert not any(mark in page for mark in MARKS)
