"""``add_cluster`` and ``add_project``: what they make, and what they say when they cannot."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from clusters.models import Cluster, State
from engines.base import EngineRefused, EngineUnavailable
from engines.fake import FakeEngine
from engines.findings import Finding, Level
from projects.models import Project
from tests.clusters.answering import answers
from tests.clusters.kubeconfigs import kubeconfig_of
from tests.factories import ClusterFactory, UserFactory

pytestmark = pytest.mark.django_db
Output = pytest.CaptureFixture[str]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    found = FakeEngine(queues=True)
    answers(monkeypatch, "kubernetes", lambda cluster: found)
    return found


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "config"
    file.write_text("token: s3cret\n")
    return file


def test_a_cluster_that_answers_is_added(
    fake: FakeEngine, kubeconfig: Path, capsys: Output
) -> None:
    call_command("add_cluster", "gpu", kubeconfig=kubeconfig)
    cluster = Cluster.objects.get(name="gpu")
    assert (cluster.kind, cluster.state) == ("kubernetes", State.CONNECTED)
    assert cluster.capabilities.queues
    assert kubeconfig_of(cluster) == "token: s3cret"
    said = capsys.readouterr().out
    assert "gpu: 1 node, 4 GPUs" in said
    assert "s3cret" not in said


def test_add_cluster_says_what_the_check_found_wanting(
    fake: FakeEngine, kubeconfig: Path, capsys: Output
) -> None:
    fake.findings = (
        Finding("Nodes", "Python", Level.WARNING, "No Python on n1."),
        Finding("Nodes", "Git", Level.OK, "2.39"),
    )
    call_command("add_cluster", "gpu", kubeconfig=kubeconfig)
    said = capsys.readouterr().out
    assert "  warning: Python: No Python on n1." in said
    assert "Git" not in said


def test_add_cluster_without_a_kubeconfig_uses_the_account_of_the_pod(fake: FakeEngine) -> None:
    call_command("add_cluster", "gpu", "--in-cluster", "--namespace-prefix", "ml-")
    assert kubeconfig_of(Cluster.objects.get()) == ""
    assert Cluster.objects.get().settings_json["namespace_prefix"] == "ml-"


@pytest.mark.parametrize("error", [EngineUnavailable("It is away."), EngineRefused("No.")])
def test_a_cluster_that_does_not_answer_is_not_added(
    fake: FakeEngine, kubeconfig: Path, error: EngineUnavailable
) -> None:
    fake.raises = error
    with pytest.raises(CommandError, match="Nothing was added"):
        call_command("add_cluster", "gpu", kubeconfig=kubeconfig)
    assert not Cluster.objects.exists()


def test_a_kubeconfig_must_be_there(fake: FakeEngine, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("add_cluster", "gpu", kubeconfig=tmp_path / "none")
    (tmp_path / "empty").touch()
    with pytest.raises(CommandError, match="is empty"):
        call_command("add_cluster", "gpu", kubeconfig=tmp_path / "empty")


def test_a_taken_name_is_said(fake: FakeEngine, kubeconfig: Path) -> None:
    ClusterFactory(name="gpu")
    with pytest.raises(CommandError, match="already exists"):
        call_command("add_cluster", "gpu", kubeconfig=kubeconfig)


def test_a_project_is_added_with_its_members() -> None:
    ClusterFactory(name="gpu")
    UserFactory(administrator=True)
    ada = UserFactory(username="ada")
    call_command("add_project", "vision", cluster="gpu", gpus=2.5, member=["ada"])
    project = Project.objects.get()
    assert (project.cluster.name, project.gpu_quota) == ("gpu", 2.5)
    assert list(project.members.all()) == [ada]


def test_add_project_says_what_it_needs() -> None:
    with pytest.raises(CommandError, match="no cluster gpu"):
        call_command("add_project", "vision", cluster="gpu")
    ClusterFactory(name="gpu")
    with pytest.raises(CommandError, match="no administrator"):
        call_command("add_project", "vision", cluster="gpu")
    UserFactory(administrator=True)
    with pytest.raises(CommandError, match=r"no user bob\. An administrator adds people"):
        call_command("add_project", "vision", cluster="gpu", member=["bob"])
    with pytest.raises(CommandError, match="lower-case"):
        call_command("add_project", "Vision", cluster="gpu")
