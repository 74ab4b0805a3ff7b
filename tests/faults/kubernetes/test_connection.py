"""The way to the API server breaks: watches are cut, the address is dead, a token is revoked."""

from base64 import b64decode
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from engines.base import Manifest
from tests.faults.kubernetes.site import COUNT, ENDLESS, Site
from tests.waiting import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.kubernetes]

ACCOUNT = "/api/v1/namespaces/default/serviceaccounts"
SECRETS = "/api/v1/namespaces/default/secrets"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
NAME = "trainyard-test-token"


@pytest.fixture
def cuts(site: Site) -> Iterator[None]:
    """Every watch is broken once a second."""
    over = Event()

    def cut() -> None:
        while not over.wait(1.0):
            site.proxy.cut()

    thread = Thread(target=cut)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.mark.usefixtures("cuts")
def test_watches_cut_every_second_lose_nothing(site: Site) -> None:
    counting = site.submit("counting", COUNT)
    stopping = site.running("stopping", ENDLESS)
    site.rest.act(stopping, "suspend")
    site.ends_once(stopping, "Stopped")
    site.ends_once(counting, "Completed")
    site.counted(counting)
    assert site.state()[0] == "Connected"


def test_requests_to_a_dead_api_server_succeed_after_its_return(site: Site) -> None:
    stopping = site.running("stopping", ENDLESS)
    counting = site.running("counting", COUNT)
    site.proxy.down = True
    site.proxy.cut()
    fresh = site.submit("fresh", COUNT)
    site.rest.act(stopping, "suspend")
    site.disconnects("does not answer")
    assert "shaky is disconnected" in site.page(f"/workloads/{counting}/")
    assert (site.rest.phase(fresh), site.rest.phase(stopping)) == ("Creating", "Stopping")
    site.proxy.heal()
    site.connects()
    site.ends_once(stopping, "Stopped")
    for workload in (counting, fresh):
        site.ends_once(workload, "Completed")
        site.counted(workload)


@pytest.fixture
def account(site: Site) -> Iterator[None]:
    """A service account that may do everything."""
    api = site.cluster.api
    api.apply(f"{ACCOUNT}/{NAME}", {"apiVersion": "v1", "kind": "ServiceAccount",
                                    "metadata": {"name": NAME}})  # fmt: skip
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": NAME},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": "default"}],
    }
    api.apply(f"{BINDINGS}/{NAME}", binding)
    yield
    for path in (f"{BINDINGS}/{NAME}", f"{ACCOUNT}/{NAME}"):
        api.delete(path)


def new_token(site: Site, secret: str) -> str:
    """A token that lives as long as its Secret."""
    api = site.cluster.api
    path = f"{SECRETS}/{secret}"
    document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/service-account-token",
        "metadata": {
            "name": secret,
            "annotations": {"kubernetes.io/service-account.name": NAME},
        },
    }
    api.apply(path, document)

    def filled() -> Manifest:
        return (api.get(path).get("data") or {}) if api.find(path) else {}

    data = wait_for(lambda: "token" in filled() and filled(), 20, "the token", every=0.1)
    assert data
    return b64decode(data["token"]).decode()


@pytest.mark.usefixtures("account")
def test_a_revoked_token_is_told_and_a_new_one_goes_on(site: Site) -> None:
    site.proxy.token = new_token(site, f"{NAME}-1")
    site.proxy.cut()
    counting = site.running("counting", COUNT)
    site.cluster.api.delete(f"{SECRETS}/{NAME}-1")
    site.proxy.cut()
    site.disconnects("401")
    assert "shaky is disconnected" in site.page(f"/workloads/{counting}/")
    assert site.rest.phase(counting) == "Running"
    site.proxy.token = new_token(site, f"{NAME}-2")
    site.ends_once(counting, "Completed")
    site.counted(counting)
