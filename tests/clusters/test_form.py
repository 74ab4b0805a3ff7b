"""The cluster form: what it keeps, what it refuses, and that it never gives a kubeconfig back."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from clusters.connections import engine_for
from clusters.kinds.kubernetes.settings import KubernetesSettings
from clusters.models import Cluster, State
from engines.fake import FakeEngine
from tests.clusters.answering import answers
from tests.clusters.kubeconfigs import NEW, SECRET, form_values, kubeconfig, kubeconfig_of, reached
from tests.factories import ClusterFactory, ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in(UserFactory(administrator=True))


@pytest.fixture
def kept() -> Cluster:
    return reached(name="kept")


def test_the_cluster_form_is_for_administrators(kept: Cluster) -> None:
    client = signed_in(UserFactory())
    for page in ("new/", f"{kept.pk}/edit/", f"{kept.pk}/delete/", f"{kept.pk}/connection/"):
        assert client.get(f"/clusters/{page}").status_code == 403
    assert client.post(f"/clusters/{kept.pk}/test/").status_code == 403
    assert "+New cluster" not in client.get("/clusters/").content.decode()


def test_a_name_taken_at_the_same_moment_is_reported_at_its_field(
    client: Client, kept: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = client.post(NEW, form_values(name="kept")).context["form"].errors
    monkeypatch.setattr(Cluster, "full_clean", lambda self: None)  # nobody was there yet
    assert client.post(NEW, form_values(name="kept")).context["form"].errors == usual
    assert list(usual) == ["name"]
    other = ClusterFactory(kind="kubernetes")
    page = client.post(f"{other.get_absolute_url()}edit/", form_values(name="kept", way="keep"))
    assert page.context["form"].errors == usual


def test_a_cluster_is_added_and_waits_to_connect(client: Client) -> None:
    more = {"ingress_domain": "apps.example.com", "ingress_class": "nginx"}
    answer = client.post(NEW, form_values(**more))
    cluster = Cluster.objects.get(name="gpu")
    assert answer["Location"] == cluster.get_absolute_url()
    assert (cluster.kind, cluster.state) == ("kubernetes", State.WAITING)
    assert cluster.settings == KubernetesSettings(**more)
    assert kubeconfig_of(cluster) == kubeconfig()
    for page in ("", "edit/", "connection/"):
        shown = client.get(f"{cluster.get_absolute_url()}{page}")
        assert shown.status_code == 200
        assert SECRET not in shown.content.decode()


def test_a_kubeconfig_is_uploaded_or_that_of_our_own_pods(client: Client) -> None:
    file = SimpleUploadedFile("config", kubeconfig().encode())
    client.post(NEW, form_values(kubeconfig="", kubeconfig_file=file))
    assert kubeconfig_of(Cluster.objects.get()) == kubeconfig().strip()
    client.post(NEW, form_values(name="here", way="in_cluster", kubeconfig=""))
    assert kubeconfig_of(Cluster.objects.get(name="here")) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kubeconfig": ""}, "Paste a kubeconfig"),
        ({"kubeconfig": "a: [\nb"}, "It is not valid YAML. Look at line 2."),
        ({"kubeconfig": "just words"}, "It is not a kubeconfig. Its YAML is not a mapping."),
        ({"kubeconfig": kubeconfig(exec=5)}, "Its exec is not a mapping."),
        ({"kubeconfig": "9" * 5000}, "holds a number or a date that cannot be read"),
        ({"kubeconfig": "a: b"}, "no current-context"),
        ({"kubeconfig": kubeconfig().replace("name: u", "name: v")}, "no user named u"),
        ({"kubeconfig_file": SimpleUploadedFile("f", b"\xff\xfe\x00")}, "It is not text."),
        ({"kubeconfig_file": SimpleUploadedFile("f", b"")}, "The submitted file is empty."),
        ({"kubeconfig_file": SimpleUploadedFile("f", b"a" * 262_145)}, "larger than 256 KiB"),
        ({"way": "keep"}, "keep is not one of the available choices."),
        ({"name": ""}, "Cluster name is required."),
        ({"namespace_prefix": "Up"}, "Start with a letter"),
        ({"ingress_domain": "https://x"}, "without a scheme"),
        ({"prometheus_url": "prom"}, "Enter a valid URL."),
        ({"partial_gang_seconds": "2m"}, "Write a whole number of seconds"),
    ],
)
def test_the_cluster_form_says_what_is_wrong(
    client: Client, change: dict[str, Any], said: str
) -> None:
    answer = client.post(NEW, form_values(**change))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert said in page
    assert SECRET not in page
    assert not Cluster.objects.exists()


@pytest.mark.parametrize("page", ["new/", "edit/"])
def test_a_wrong_kubeconfig_hides_no_other_fault(client: Client, kept: Cluster, page: str) -> None:
    address = NEW if page == "new/" else f"{kept.get_absolute_url()}{page}"
    wrong = {"kubeconfig": "no: kubeconfig", "name": "", "namespace_prefix": "NOT-ONE"}
    errors = client.post(address, form_values(**wrong)).context["form"].errors
    assert set(errors) == set(wrong)
    kept.refresh_from_db()
    assert kept.name == "kept"


def test_a_form_that_is_seen_again_still_has_its_kubeconfig(client: Client) -> None:
    answer = client.post(NEW, form_values(name=""))
    assert "Leave empty to use the one you just entered" in answer.content.decode()
    tested = answer.context["form"].test
    client.post(NEW, form_values(kubeconfig="", tested=str(tested.pk)))
    assert kubeconfig_of(Cluster.objects.get()) == kubeconfig()
    stranger = signed_in(UserFactory(administrator=True))
    answer = stranger.post(NEW, form_values(name="b", kubeconfig="", tested=str(tested.pk)))
    assert "Paste a kubeconfig" in answer.content.decode()


def test_a_kubeconfig_that_runs_programs_has_to_be_trusted(client: Client) -> None:
    text = kubeconfig(exec={"command": "aws-iam"}, **{"client-key": "/etc/key"})
    answer = client.post(NEW, form_values(kubeconfig=text))
    page = answer.content.decode()
    assert "runs the program aws-iam" in page
    assert "reads the key in /etc/key" in page
    assert not Cluster.objects.exists()
    client.post(NEW, form_values(kubeconfig=text, trusted="on"))
    assert kubeconfig_of(Cluster.objects.get()) == text


def test_a_changed_connection_makes_a_new_engine(
    client: Client, kept: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, "kubernetes", lambda cluster: FakeEngine())
    old = engine_for(kept)
    address = f"{kept.get_absolute_url()}edit/"
    client.post(address, form_values(name="renamed", way="keep", kubeconfig=""))
    kept.refresh_from_db()
    assert kept.name == "renamed"
    assert engine_for(kept) is old
    text = kubeconfig(token="other")
    client.post(address, form_values(name="renamed", kubeconfig=text))
    stale = Cluster.objects.get(pk=kept.pk)
    stale.connection_version -= 1
    new = engine_for(Cluster.objects.get(pk=kept.pk))
    assert new is not old
    assert engine_for(stale) is new
    assert kubeconfig_of(Cluster.objects.get()) == text


def test_the_prefix_stays_while_there_are_projects(client: Client, kept: Cluster) -> None:
    ProjectFactory(cluster=kept)
    change = form_values(name="kept", way="keep", kubeconfig="", namespace_prefix="other-")
    answer = client.post(f"{kept.get_absolute_url()}edit/", change)
    assert "The namespaces of projects have this prefix" in answer.content.decode()


def test_a_cluster_with_projects_is_not_deleted(client: Client, kept: Cluster) -> None:
    project = ProjectFactory(cluster=kept)
    address = f"{kept.get_absolute_url()}delete/"
    assert f"kept has projects: {project.name}." in client.get(address).content.decode()
    answer = client.post(address)
    assert answer.status_code == 422
    assert f"kept has projects: {project.name}." in answer.content.decode()
    project.delete()
    assert client.post(address)["Location"] == "/clusters/"
    assert not Cluster.objects.exists()


def test_a_setting_that_has_a_default_by_now_does_not_connect_anew(
    client: Client, kept: Cluster
) -> None:
    Cluster.objects.update(settings_json={})
    client.post(f"{kept.get_absolute_url()}edit/", form_values(name="renamed", way="keep"))
    kept.refresh_from_db()
    assert (kept.name, kept.connection_version) == ("renamed", 0)
    assert kept.settings_json == KubernetesSettings().model_dump()


def test_the_cluster_of_this_machine_has_no_form(client: Client) -> None:
    local = ClusterFactory()
    assert client.get(f"/clusters/{local.pk}/edit/").status_code == 404
    assert client.post(f"/clusters/{local.pk}/delete/").status_code == 422
