"""A new kind of cluster is a row of the table: pages, REST and the worker take it from there."""

from typing import Any

import pytest
from django.test import Client

from clusters import tasks
from clusters.models import Cluster, ConnectionTest, State
from engines.base import EngineUnavailable
from engines.findings import CONNECTION, Finding, Level
from spec.phases import Phase
from tests.caller import Caller
from tests.clusters.kinds.abacus import NO_VOLUMES, AbacusSecret, AbacusSettings, FakeAbacus
from tests.factories import ProjectFactory, UserFactory
from tests.web import signed_in
from tests.workloads.wizard.browser import Wizard
from workloads import tasks as work
from workloads.models import Workload
from workloads.worker import monitor

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
PASSWORD = "b3ads"
NEW = "/clusters/new/"
ADDED = {"kind": "abacus", "name": "shop", "host": "shop.example", "password": PASSWORD}


@pytest.fixture
def admin(abacus: FakeAbacus) -> Client:
    return signed_in(UserFactory(administrator=True))


@pytest.fixture
def cluster(admin: Client) -> Cluster:
    """Added by its form and looked at by the worker."""
    admin.post(NEW, {"action": "save", "rods": "10", **ADDED})
    cluster = Cluster.objects.get()
    tasks.look(str(cluster.pk))
    cluster.refresh_from_db()
    return cluster


def test_the_form_of_a_new_kind_shows_its_fields_and_errors(
    admin: Client,
) -> None:
    page = admin.get(NEW, {"kind": "abacus"}).content.decode()
    assert "Counting house" in page
    assert "Kubeconfig" not in page
    assert "?kind=abacus" in admin.get(NEW).content.decode()
    answer = admin.post(NEW, {"action": "save", **ADDED, "host": "4"})
    assert answer.status_code == 422
    assert answer.context["form"].errors == {"host": ["Write the name of a host."]}
    assert PASSWORD not in answer.content.decode()
    again = {"password": "", "tested": str(answer.context["form"].test.pk)}
    admin.post(NEW, {"action": "save", "rods": "10", **ADDED, **again})
    assert AbacusSecret.of(Cluster.objects.get().connection).password == PASSWORD
    assert admin.get(NEW, {"kind": "sundial"}).status_code == 404


def test_a_connection_of_a_new_kind_is_tested_before_it_is_saved(
    admin: Client, abacus: FakeAbacus
) -> None:
    abacus.engine.findings = [Finding(CONNECTION, "Beads", Level.ISSUE, "Two are missing.")]
    answer = admin.post(NEW, {"action": "test", "rods": "12", **ADDED})
    test = ConnectionTest.objects.get()
    tasks.test_connection(str(test.pk))
    assert abacus.reached == [
        (AbacusSettings(host="shop.example", rods="12"), AbacusSecret(password=PASSWORD))
    ]
    shown = admin.get(answer["Location"]).content.decode()
    assert "Two are missing." in shown
    assert 'value="shop.example"' in shown
    assert PASSWORD not in shown
    abacus.engine.raises = EngineUnavailable("It is closed.")
    ConnectionTest.objects.update(answered_at=None)
    tasks.test_connection(str(test.pk))
    assert ConnectionTest.objects.get().findings[0].name == "Counting house"


def test_the_pages_of_a_new_kind_show_settings_but_no_secret(
    admin: Client, cluster: Cluster
) -> None:
    assert (cluster.kind, cluster.state) == ("abacus", State.CONNECTED)
    address = cluster.get_absolute_url()
    assert "Abacus" in admin.get("/clusters/").content.decode()
    assert f"{address}edit/" in admin.get(address).content.decode()
    shown = admin.get(f"{address}connection/").content.decode()
    assert "Counting house" in shown
    assert "shop.example" in shown
    assert PASSWORD not in shown + admin.get(f"{address}edit/").content.decode()


def test_a_change_of_how_it_is_reached_connects_anew(
    admin: Client, cluster: Cluster, abacus: FakeAbacus
) -> None:
    address = f"{cluster.get_absolute_url()}edit/"
    same = ADDED | {"rods": "10", "password": ""}
    admin.post(address, {"action": "save", **same, "name": "renamed"})
    cluster.refresh_from_db()
    assert (cluster.name, cluster.connection_version) == ("renamed", 0)
    admin.post(address, {"action": "save", **same, "host": "other.example"})
    cluster.refresh_from_db()
    assert (cluster.connection_version, cluster.state) == (1, State.WAITING)
    assert AbacusSecret.of(cluster.connection).password == PASSWORD
    ProjectFactory(cluster=cluster)
    page = admin.post(address, {"action": "save", **same, "rods": "13"}).content.decode()
    assert "The beads of its projects are on them." in page


def test_rest_adds_tells_and_changes_a_new_kind_of_cluster(abacus: FakeAbacus) -> None:
    call = Caller(UserFactory(administrator=True))
    body: dict[str, Any] = dict(ADDED)
    status, answer = call("POST", "/clusters", body | {"kubeconfig": "x"})
    assert (status, answer["complianceIssues"][0]["field"]) == (400, "kubeconfig")
    for wrong in ({"host": "4"}, {"host": ""}):
        status, answer = call("POST", "/clusters", body | wrong)
        assert (status, answer["complianceIssues"][0]["field"]) == (400, "host")
    assert call("POST", "/clusters", body | {"kind": "sundial"})[0] == 400
    status, made = call("POST", "/clusters", body)
    assert (status, made["kind"]) == (201, "abacus")
    assert made["settings"] == {"host": "shop.example", "rods": "10"}
    assert PASSWORD not in str(made)
    status, changed = call("PUT", f"/clusters/{made['uuid']}", {"host": "b.example"})
    assert (status, changed["settings"]["host"]) == (200, "b.example")
    assert AbacusSecret.of(Cluster.objects.get().connection).password == PASSWORD
    assert call("DELETE", f"/clusters/{made['uuid']}")[0] == 204


def test_rest_tests_saved_and_unsaved_connections_of_a_new_kind(
    abacus: FakeAbacus, cluster: Cluster
) -> None:
    call = Caller(UserFactory(administrator=True))
    for body in ({"clusterId": str(cluster.pk)}, {**ADDED}):
        body.pop("name", None)
        status, asked = call("POST", "/cluster-tests", body)
        assert status == 202
        tasks.test_connection(asked["id"])
        assert call("GET", f"/cluster-tests/{asked['id']}")[1]["answeredAt"]
    assert len(abacus.reached) == 2  # once by the worker as it is kept, and once to try


def test_the_wizard_says_what_it_lacks_and_all_that_it_would_refuse(cluster: Cluster) -> None:
    owner = UserFactory()
    ProjectFactory(cluster=cluster, members=[owner], gpu_quota=2)
    wizard = Wizard(owner).ready()
    page = wizard.open(wizard.at(2)).page
    assert NO_VOLUMES in page
    assert "On this machine" not in page
    draft = wizard.draft
    draft.document["values"] |= {"nodePools": ["default"], "priorityClass": "high"}
    draft.save()
    fields = [problem.field for problem in wizard.plan().problems]
    assert fields == ["nodePools", "priorityClass"]


def test_a_workload_runs_there_and_its_page_shows_it(abacus: FakeAbacus, cluster: Cluster) -> None:
    owner = UserFactory()
    ProjectFactory(cluster=cluster, members=[owner], gpu_quota=2)
    wizard = Wizard(owner).ready("beads")
    wizard.open(wizard.at(3)).press("create")
    workload = Workload.objects.get(name="beads")
    work.hand_over(str(cluster.pk))
    assert [launch.handle.name for launch in abacus.engine.launches] == ["beads"]
    seen = abacus.engine.show(workload.handle, Phase.RUNNING)
    monitor.apply_observation(seen)
    page = wizard.client.get(f"/workloads/{workload.pk}/").content.decode()
    assert "Running" in page
    assert wizard.client.get(f"/workloads/{workload.pk}/?tab=spec").status_code == 200
