"""A watch whose API server forgets, cuts or refuses it. Real pods."""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from engines.base import EngineUnavailable, Launch, Observation
from engines.kubernetes.client.connect import connect
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.watch import reflector
from engines.kubernetes.watch.reflector import Reflector
from engines.kubernetes.watch.watcher import Watcher
from spec.phases import Phase
from tests.cluster import KUBECONFIG
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
SECRETS = "/api/v1/namespaces/default/secrets"


@pytest.fixture
def feeds(monkeypatch: pytest.MonkeyPatch) -> list[Reflector]:
    """Those that a watch starts, in the order in which it does."""
    started: list[Reflector] = []
    start = Reflector.start

    def remember(one: Reflector) -> None:
        started.append(one)
        start(one)

    monkeypatch.setattr(Reflector, "start", remember)
    return started


def cut(one: Reflector) -> None:
    wait_for(lambda: one._response is not None, 10, "the watch to be open")
    hang_up(one)


def hang_up(one: Reflector) -> None:
    if one._response:
        with suppress(ValueError, OSError):  # it is over by itself
            one._response.shutdown()


def until(watch: Iterator[Observation | None], launched: Launch, phase: Phase) -> Observation:
    found: list[Observation] = []

    def ask() -> bool:
        seen = next(watch)
        if seen and seen.workload_id == launched.handle.workload_id and seen.phase is phase:
            found.append(seen)
        return bool(found)

    wait_for(ask, 60, f"{phase}", every=0)
    return found[0]


def test_a_place_that_the_server_forgot_is_listed_again(
    rig: KubernetesRig, feeds: list[Reflector]
) -> None:
    with closing(rig.engine.watch()) as watch:
        while next(watch):
            """The list."""
        launched = rig.submit(rig.endless())
        until(watch, launched, Phase.RUNNING)
        before = len(feeds)
        first = feeds[0]

        def another_list() -> bool:
            first._since = "1"  # as after a compaction: 410 Gone. A late event may put it right
            hang_up(first)
            next(watch)
            return len(feeds) > before

        wait_for(another_list, 60, "another list", every=0)
        rig.engine.stop(launched.handle, run=1)
        until(watch, launched, Phase.STOPPED)


def test_a_long_list_comes_page_by_page(
    rig: KubernetesRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reflector, "PAGE_SIZE", 1)
    launches = [rig.submit(rig.endless()) for _ in range(3)]
    for launched in launches:
        rig.seen(launched, Phase.RUNNING)
    watcher = Watcher(rig.api, lambda *_: None)
    told = iter(watcher)
    listed = list(iter(lambda: next(told), None))
    mine = {launched.handle.workload_id for launched in launches}
    assert {seen.workload_id for seen in listed if seen} >= mine
    assert [len(watcher.snapshots[uid].pods) for uid in mine] == [2, 2, 2]


def test_a_token_that_is_revoked_is_said(
    rig: KubernetesRig, feeds: list[Reflector], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reflector, "OUTAGE_SECONDS", 0.5)
    name = f"revoked-{uuid4().hex[:8]}"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    rig.api.create(ACCOUNTS, account)
    rig.api.create(
        BINDINGS,
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
        },
    )
    try:
        engine = KubernetesEngine(connect(kubeconfig_of(rig, name)), prefix=PREFIX)
        with closing(engine.watch()) as watch:
            while next(watch):
                """The list."""
            rig.api.delete(f"{ACCOUNTS}/{name}")
            rig.api.delete(f"{SECRETS}/{name}")

            def cut_off() -> None:
                for one in feeds:
                    cut(one)
                next(watch)

            with pytest.raises(EngineUnavailable, match="401"):
                wait_for(cut_off, 60, "the end", every=0)
        with pytest.raises(EngineUnavailable, match="401"):
            engine.nodes()
    finally:
        rig.api.delete(f"{BINDINGS}/{name}")


def kubeconfig_of(rig: KubernetesRig, name: str) -> str:
    """The tests' own, with the token of a service account, as every release gives one."""
    note = {"kubernetes.io/service-account.name": name}
    kind = "kubernetes.io/service-account-token"
    made = {"apiVersion": "v1", "kind": "Secret", "type": kind}
    rig.api.create(SECRETS, made | {"metadata": {"name": name, "annotations": note}})
    path = f"{SECRETS}/{name}"
    wait_for(lambda: "token" in (rig.api.get(path).get("data") or {}), 30, "the token")
    token = b64decode(rig.api.get(path)["data"]["token"]).decode()
    document = yaml.safe_load(Path(KUBECONFIG).read_text())
    document["users"] = [
        {"name": user["name"], "user": {"token": token}} for user in document["users"]
    ]
    return str(yaml.safe_dump(document))
