"""A prefix that a test of the same connection refused is not saved, and when it may change."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts.models import User
from clusters import connection_tests, connections, refusals, services, tasks
from clusters.models import Cluster, ConnectionTest, State
from engines.base import EngineError, EngineRefused, EngineUnavailable
from engines.fake import FakeEngine
from engines.findings import CONNECTION, Finding, Level
from spec.phases import Phase
from tests.caller import Caller
from tests.clusters.answering import answers
from tests.clusters.kubeconfigs import connect, form_values, kubeconfig, reached
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from tests.web import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
WHY = "The namespace prefix theirs- is in use. Choose another one."
REFUSED = Finding(CONNECTION, "Namespace prefix", Level.REFUSED, WHY)
THEIRS = "theirs-"
CHANGE = {"namespacePrefix": THEIRS}


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeEngine]:
    """Engines by prefix; one of them is in use by another Trainyard."""
    found = {THEIRS: FakeEngine(findings=[REFUSED]), "trainyard-": FakeEngine()}

    def engine(cluster: Cluster) -> FakeEngine:
        assert cluster.connection.secret_json
        return found[cluster.settings_json["namespace_prefix"]]

    answers(monkeypatch, "kubernetes", engine)
    connections.forget_engines()
    return found


@pytest.fixture
def admin() -> User:
    return UserFactory(administrator=True)


def looked(admin: User, **body: Any) -> ConnectionTest:
    pk = Caller(admin)("POST", "/cluster-tests", body)[1]["id"]
    tasks.test_connection(pk)
    return ConnectionTest.objects.get(pk=pk)


@pytest.mark.parametrize("given", [{}, {"kubeconfig": kubeconfig()}], ids=["kept", "given"])
def test_a_change_of_the_prefix_alone_is_compared_with_its_test(
    fakes: dict[str, FakeEngine], admin: User, given: dict[str, str]
) -> None:
    cluster = reached()
    connect(cluster, kubeconfig().strip())
    test = looked(admin, clusterId=str(cluster.pk), **given, **CHANGE)
    assert test.findings == (REFUSED,)
    cluster.refresh_from_db()
    assert cluster.refusal == ""  # of the saved prefix, which was not tested
    status, answer = Caller(admin)("PUT", f"/clusters/{cluster.pk}", CHANGE)
    assert (status, answer["complianceIssues"][0]["details"]) == (400, WHY)
    fakes[THEIRS].findings = []
    looked(admin, clusterId=str(cluster.pk), **given, **CHANGE)
    assert Caller(admin)("PUT", f"/clusters/{cluster.pk}", CHANGE)[0] == 200


def test_the_edit_page_tests_and_compares_the_kept_kubeconfig(
    fakes: dict[str, FakeEngine], admin: User
) -> None:
    cluster = reached()
    client = signed_in(admin)
    values = form_values(way="keep", kubeconfig="", namespace_prefix=THEIRS)
    client.post(f"/clusters/{cluster.pk}/edit/", values | {"action": "test"})
    test = ConnectionTest.objects.get()
    tasks.test_connection(str(test.pk))
    again = client.post(f"/clusters/{cluster.pk}/edit/", values | {"tested": str(test.pk)})
    assert (again.status_code, WHY in again.content.decode()) == (422, True)
    cluster.refresh_from_db()
    assert cluster.settings_json["namespace_prefix"] == "trainyard-"


def test_many_connection_tests_are_compared_in_few_queries(
    fakes: dict[str, FakeEngine], admin: User, django_assert_max_num_queries: Any
) -> None:
    cluster = reached(namespace_prefix=THEIRS)
    for number in range(20):
        server = f"https://127.0.0.1:{number + 2}"
        looked(admin, kubeconfig=kubeconfig(server=server), **CHANGE)
    ConnectionTest.objects.filter(pk=ConnectionTest.objects.latest("created_at").pk).update(
        settings_json={"namespace_prefix": "another-"}
    )
    other = cluster.definition.secret.model_validate({"kubeconfig": kubeconfig().strip()})
    with django_assert_max_num_queries(2):
        refusals.refuse_tested_connection(cluster, other)
    known = cluster.definition.secret.model_validate(
        {"kubeconfig": kubeconfig(server="https://127.0.0.1:2").strip()}
    )
    with django_assert_max_num_queries(2), pytest.raises(ValidationError, match="in use"):
        refusals.refuse_tested_connection(cluster, known)


def test_a_connection_test_that_can_no_longer_be_read_is_skipped(
    fakes: dict[str, FakeEngine], admin: User, settings: Any
) -> None:
    cluster = reached(namespace_prefix=THEIRS)
    looked(admin, kubeconfig=kubeconfig(), **CHANGE)
    secret = cluster.definition.secret.model_validate({"kubeconfig": kubeconfig().strip()})
    with pytest.raises(ValidationError):
        refusals.refuse_tested_connection(cluster, secret)
    settings.SECRET_KEY = "another one"
    refusals.refuse_tested_connection(cluster, secret)


@pytest.mark.parametrize(
    ("phase", "status"),
    [
        (Phase.RESUMING, 400),
        (Phase.RUNNING, 400),
        (Phase.STOPPED, 400),
        (Phase.DELETING, 400),
        (Phase.COMPLETED, 200),
    ],
)
def test_a_refused_prefix_stays_while_a_workload_may_be_there(
    fakes: dict[str, FakeEngine], admin: User, phase: Phase, status: int
) -> None:
    """It may have started since the prefix was released, which no check has seen."""
    cluster = reached(namespace_prefix=THEIRS)
    services.refresh(cluster)
    WorkloadFactory(project=ProjectFactory(cluster=cluster), phase=phase)
    change = {"namespacePrefix": "trainyard-"}
    assert Caller(admin)("PUT", f"/clusters/{cluster.pk}", change)[0] == status


@pytest.mark.parametrize("error", [EngineUnavailable("No route."), EngineRefused("Forbidden.")])
def test_a_refusal_holds_while_the_cluster_cannot_be_checked(
    fakes: dict[str, FakeEngine], admin: User, error: EngineError
) -> None:
    cluster = reached(namespace_prefix=THEIRS)
    fake = fakes[THEIRS]
    services.refresh(cluster)
    fake.raises = error
    for _ in range(2):
        services.refresh(cluster)
    cluster.refresh_from_db()
    assert (cluster.refusal, len(cluster.findings)) == (WHY, 2)
    assert str(error) in cluster.state_message
    test = connection_tests.request_test(by=admin, cluster=cluster)
    tasks.test_connection(str(test.pk))
    page = signed_in(admin).get(f"/clusters/{cluster.pk}/connection/").content.decode()
    assert str(error) in page
    assert WHY in page
    fake.raises = None
    fake.findings = []
    services.refresh(cluster)
    cluster.refresh_from_db()
    assert (cluster.state, cluster.refusal) == (State.CONNECTED, "")
