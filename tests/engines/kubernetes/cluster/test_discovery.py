"""Discovery of a cluster, and the findings of a test of its connection."""

from typing import Any

import pytest

from engines.base import Capabilities, Claim
from engines.kubernetes.cluster.discovery import (
    CLAIMS,
    CONFIG_MAPS,
    POD_GROUP_SCHEMAS,
    SERVICES,
    capabilities,
    has_semi_preemption,
)
from engines.kubernetes.cluster.reviews import REVIEWS
from engines.kubernetes.labels import JOB_NAME, WORKLOAD
from tests.engines.kubernetes.answering import Answering, answering


def service(*ports: int, **more: Any) -> dict[str, Any]:
    labels = more.pop("labels", {})
    given = [{"port": 80, "nodePort": port} if port else {"port": 80} for port in ports]
    return {"metadata": {"name": "s", "labels": labels}, "spec": {"ports": given, **more}}


def told(server: Answering, *, release: str = "1.31+", allowed: bool = True) -> Capabilities:
    major, minor = release.split(".")
    server.answers["/apis"] = {"groups": []}
    server.answers["/version"] = {"major": major, "minor": minor}
    server.answers[REVIEWS] = {"status": {"allowed": allowed}}
    return capabilities(server.api, "runai-")


def test_node_ports_of_others_are_known_and_those_of_workloads_left_out() -> None:
    held = [
        service(30080, 0, 30443),
        service(0),
        service(30081, healthCheckNodePort=30999),
        service(31777, labels={WORKLOAD: "8f14e45f"}),
        service(31778, labels={JOB_NAME: "train-0a1b"}),  # of a rank, as operators make them
        {"metadata": {"name": "external"}, "spec": {"type": "ExternalName"}},
    ]
    with answering() as server:
        server.answers[SERVICES] = {"metadata": {}, "items": held}
        assert told(server).node_ports == (30080, 30081, 30443, 30999)


def test_without_the_right_to_look_no_node_port_is_known() -> None:
    with answering() as server:
        server.answers[SERVICES] = (403, "services is forbidden")
        assert told(server).node_ports == ()


def claim(name: str, space: str, **labels: str) -> dict[str, Any]:
    asked = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "10Gi"}}}
    return {"metadata": {"name": name, "namespace": space, "labels": labels}, "spec": asked}


def test_only_claims_of_projects_are_known_and_not_those_of_workloads() -> None:
    there = [
        claim("imagenet", "runai-vision"),
        claim("scratch", "runai-vision", **{WORKLOAD: "8f14e45f"}),
        claim("postgres", "shop"),
    ]
    with answering() as server:
        server.answers[CLAIMS] = {"metadata": {}, "items": there}
        known = (Claim("runai-vision", "imagenet", "10Gi", "ReadWriteMany"),)
        assert told(server).claims == known


def test_without_the_right_to_look_nothing_is_said_of_claims() -> None:
    with answering() as server:
        server.answers[CLAIMS] = (403, "persistentvolumeclaims is forbidden")
        assert told(server).claims is None


def config_map(name: str, space: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": space}}


def test_config_maps_of_projects_are_known_by_their_names_alone() -> None:
    there = [
        config_map("settings", "runai-vision"),
        config_map("kube-root-ca.crt", "runai-vision"),
        config_map("shop", "shop"),
    ]
    with answering() as server:
        server.answers[CONFIG_MAPS] = {"metadata": {}, "items": there}
        of_the_project = ("runai-vision/settings", "runai-vision/kube-root-ca.crt")
        assert told(server).config_maps == of_the_project
        assert "as=PartialObjectMetadataList" in server.accepted[CONFIG_MAPS]
        server.answers[CONFIG_MAPS] = (403, "configmaps is forbidden")
        assert told(server).config_maps is None


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (["preemptible", "non-preemptible", "semi-preemptible"], True),
        (["preemptible", "non-preemptible"], False),
        (None, False),
    ],
)
def test_semi_preemptible_is_known_by_the_schema_of_kais_pod_groups(
    words: list[str] | None, known: bool
) -> None:
    field = {"type": "string", **({"enum": words} if words else {})}
    pod_group = {"properties": {"spec": {"properties": {"preemptibility": field}}}}
    with answering() as server:
        server.answers[POD_GROUP_SCHEMAS] = {
            "components": {"schemas": {"other": {}, "PodGroup": pod_group}}
        }
        assert has_semi_preemption(server.api) is known


def test_without_a_schema_semi_preemptible_is_not_known() -> None:
    with answering() as server:
        server.answers[POD_GROUP_SCHEMAS] = (403, "forbidden")
        assert not has_semi_preemption(server.api)
