"""Runs as: the wizard offers what the cluster can run, says why not more, and shows the choice."""

import pytest

from clusters.models import Cluster
from projects.models import Project
from tests.workloads.wizard.browser import Wizard

pytestmark = pytest.mark.django_db
FIELD = 'id="jobForm"'


def without_operator(cluster: Cluster) -> None:
    plain = {"framework": "PyTorch", "available": True, "is_plain": True}
    cluster.capabilities_json = {**cluster.capabilities_json, "frameworks": [plain]}
    cluster.save()


def test_all_forms_are_offered_where_the_operator_is(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    wizard.ready()
    page = wizard.open(wizard.at(2)).page
    assert "Automatic: a PyTorchJob of the Kubeflow training operator" in page
    for value in ("Operator", "Indexed", "PerRank"):
        assert f'<option value="{value}"' in page


def test_a_form_that_the_cluster_lacks_is_withheld_with_the_reason(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    without_operator(on_kubernetes.cluster)
    wizard.ready()
    page = wizard.open(wizard.at(2)).page
    assert "Automatic: an Indexed Job of Kubernetes" in page
    assert '<option value="Operator"' not in page
    assert "The cluster has no PyTorchJob" in page


def test_a_chosen_form_is_in_the_spec_and_in_the_summary(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    wizard.ready()
    wizard.save(2, jobForm="Indexed")
    spec = wizard.plan().spec
    assert spec
    assert spec.job_form == "Indexed"
    assert "An Indexed Job of Kubernetes, as it was asked for" in wizard.open(wizard.at(2)).page


def test_a_chosen_form_that_is_impossible_is_refused_at_its_field(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    without_operator(on_kubernetes.cluster)
    wizard.ready()
    wizard.save(2, jobForm="Operator")
    assert ("jobForm",) in [problem.path for problem in wizard.plan().problems]


def test_this_machine_does_not_ask_for_a_form(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    assert FIELD not in wizard.open(wizard.at(2)).page
