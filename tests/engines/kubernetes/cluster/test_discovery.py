"""What a cluster tells of itself, beside what a test of its connection finds."""

from typing import Any

from engines.kubernetes.cluster.discovery import SERVICES, capabilities
from engines.kubernetes.jobs import WORKLOAD
from tests.engines.kubernetes.answering import Answering, answering


def service(*ports: int, **more: Any) -> dict[str, Any]:
    labels = more.pop("labels", {})
    given = [{"port": 80, "nodePort": port} if port else {"port": 80} for port in ports]
    return {"metadata": {"name": "s", "labels": labels}, "spec": {"ports": given, **more}}


def told(server: Answering) -> tuple[int, ...]:
    server.answers["/apis"] = {"groups": []}
    return capabilities(server.api).node_ports


def test_node_ports_of_others_are_known_and_those_of_workloads_left_out() -> None:
    held = [
        service(30080, 0, 30443),
        service(0),
        service(30081, healthCheckNodePort=30999),
        service(31777, labels={WORKLOAD: "8f14e45f"}),
        {"metadata": {"name": "external"}, "spec": {"type": "ExternalName"}},
    ]
    with answering() as server:
        server.answers[SERVICES] = {"metadata": {}, "items": held}
        assert told(server) == (30080, 30081, 30443, 30999)


def test_without_the_right_to_look_no_node_port_is_known() -> None:
    with answering() as server:
        server.answers[SERVICES] = (403, "services is forbidden")
        assert told(server) == ()
