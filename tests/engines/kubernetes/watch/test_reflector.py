"""One watch of a server that answers as a test says: bookmarks, errors, and how long it waits."""

import json
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from threading import Timer
from typing import Any

import pytest

from engines.base import EngineError, EngineRefused, EngineUnavailable
from engines.kubernetes.client import api as client
from engines.kubernetes.client.api import Api, Gone, NotFound
from engines.kubernetes.client.connect import connect
from engines.kubernetes.cluster.discovery import existing_job_kinds
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.watch import reflector
from engines.kubernetes.watch.reflector import Change, Changes, Collection, Reflector, ServerProbe
from engines.kubernetes.watch.watcher import EVENT, GROUP, POD, PODS
from tests.clusters.kubeconfigs import kubeconfig
from tests.engines.kubernetes.answering import Answering, answering
from tests.engines.kubernetes.conftest import PREFIX
from tests.engines.reading import listed
from tests.waiting import wait_for


@pytest.fixture
def server() -> Iterator[Answering]:
    with answering() as made:
        yield made


def lines(*told: tuple[str, Any]) -> bytes:
    """What a watch says before it ends; a number is the version of an object."""
    written = [
        {"type": what, "object": {"metadata": {"resourceVersion": str(it)}}}
        if isinstance(it, int)
        else {"type": what, "object": it}
        for what, it in told
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in written)


def told(changes: Changes) -> list[Change | EngineError | None]:
    return [changes.get_nowait() for _ in range(changes.qsize())]


def test_a_bookmark_is_where_it_goes_on_and_no_news(
    server: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reflector, "PAUSE_SECONDS", 0.0)
    bodies = [
        lines(("ADDED", 11), ("BOOKMARK", 42)),
        lines(("MODIFIED", 43)),
        lines(("ERROR", {"code": 410, "message": "too old resource version"})),
    ]
    server.answers[PODS] = list(bodies)
    changes = Changes()
    Reflector(server.api, POD, since="10", changes=changes).run()
    assert [query["resourceVersion"] for query in server.queries] == ["10", "42", "43"]
    assert {query["allowWatchBookmarks"] for query in server.queries} == {"true"}
    *news, last = told(changes)
    assert [change[1] for change in news if isinstance(change, tuple)] == ["ADDED", "MODIFIED"]
    assert isinstance(last, Gone)


@pytest.mark.kubernetes
def test_a_cluster_is_watched_once_a_kind_and_by_our_label(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources: list[Collection] = []
    monkeypatch.setattr(Reflector, "start", lambda one: sources.append(one._collection))
    with closing(KubernetesEngine(api, prefix=PREFIX).watch()) as watch:
        listed(watch)
        next(watch)  # the watches begin behind the list
    paths = [one.path for one in sources]
    assert len(paths) == len(set(paths))
    jobs = {kind.cluster_path for kind in existing_job_kinds(api)}
    assert jobs | {PODS, EVENT.path} <= set(paths) <= jobs | {PODS, EVENT.path, GROUP.path}
    labelled = [one.query.get("labelSelector") for one in sources if one != EVENT]
    assert set(labelled) == {WORKLOAD}


def test_a_watch_ends_when_its_kind_is_served_no_more(server: Answering) -> None:
    changes = Changes()
    Reflector(server.api, POD, since="10", changes=changes).run()
    assert isinstance(changes.get_nowait(), NotFound)


def test_a_watch_that_breaks_does_not_end_in_silence(server: Answering) -> None:
    server.answers[PODS] = [lines(("ADDED", {"kind": "Pod"}))]
    changes = Changes()
    with pytest.raises(KeyError):
        Reflector(server.api, POD, since="10", changes=changes).run()
    broke = changes.get_nowait()
    assert isinstance(broke, EngineUnavailable)
    assert "the changes of /api/v1/pods broke: KeyError('metadata')" in str(broke)


def test_a_slow_answer_is_waited_for_and_silence_is_not(
    server: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers[PODS] = {"items": []}
    server.awake.clear()
    waits = server.api
    monkeypatch.setattr(client, "READ_SECONDS", 0.2)
    with pytest.raises(EngineUnavailable, match="does not answer"):
        waits.items(PODS)
    monkeypatch.undo()
    Timer(0.5, server.awake.set).start()
    assert waits.items(PODS) == []


def test_a_silent_server_is_asked_once(server: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "READ_SECONDS", 1.0)
    server.awake.clear()
    with pytest.raises(EngineUnavailable, match=r"127.0.0.1:\d+ does not answer: it accepted the"):
        connect(kubeconfig(server=server.address)).items(PODS)
    assert server.asked == [PODS]


def test_idle_connections_to_the_api_server_are_closed_after_silence(server: Answering) -> None:
    api = connect(kubeconfig(server=server.address))
    server.answers[PODS] = {"items": []}
    assert api.items(PODS) == []
    pools = api._client.rest_client.pool_manager.pools
    assert len(pools) == 1
    server.awake.clear()
    with pytest.raises(EngineUnavailable, match="does not answer"):
        api.follow(PODS, {}, silence=0.1)
    assert not len(pools)


def test_a_redirect_of_the_api_server_is_not_followed_with_secrets(server: Answering) -> None:
    server.answers[PODS] = (302, "sign in there")
    api = connect(kubeconfig(server=server.address))
    for ask in (api.get, partial(api.create, body={"data": "secret"})):
        with pytest.raises(EngineRefused, match="sign in there"):
            ask(PODS)
    assert (server.asked, server.posted) == ([PODS], [PODS])


def test_a_server_that_hangs_is_noticed_though_its_watches_are_open(
    server: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reflector, "PING_SECONDS", 0.05)
    server.answers["/version"] = {}
    changes = Changes()
    pulse = ServerProbe(server.api, changes=changes, others=lambda: False)
    pulse.start()
    wait_for(lambda: len(server.asked) > 1, 10, "it to ask")
    assert not changes.qsize()
    server.awake.clear()
    monkeypatch.setattr(client, "READ_SECONDS", 0.2)
    wait_for(changes.qsize, 10, "it to notice")
    assert isinstance(changes.get_nowait(), EngineUnavailable)
    pulse.join(10)
    assert not pulse.is_alive()


def test_kinds_installed_later_are_looked_for_beside_the_watch(
    server: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reflector, "DISCOVER_SECONDS", 0.05)
    server.answers["/version"] = {}
    changes = Changes()
    answers = [False, False, True]
    pulse = ServerProbe(server.api, changes=changes, others=lambda: answers.pop(0))
    pulse.start()
    pulse.join(10)
    assert not answers
    assert isinstance(changes.get_nowait(), Gone), "so that all is listed anew"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_mistake_of_the_pulse_is_told(server: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector, "DISCOVER_SECONDS", 0.05)
    server.answers |= {"/version": {}, "/apis/x/v1": {}}
    changes = Changes()
    pulse = ServerProbe(
        server.api, changes=changes, others=lambda: bool(server.api.items("/apis/x/v1"))
    )
    pulse.start()
    pulse.join(10)
    assert "the server answers broke: KeyError('items')" in str(changes.get_nowait())
