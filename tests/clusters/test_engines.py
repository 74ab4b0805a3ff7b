"""A Kubernetes cluster's engine is made of what its row and the settings say."""

import pytest
from pytest_django import Settings

from clusters.connections import engine_for
from engines.kubernetes.engine import KubernetesEngine
from tests.clusters.kubeconfigs import reached
from tests.engines.kubernetes.cases import case

pytestmark = pytest.mark.django_db


def test_a_kubernetes_engine_has_prefix_images_and_bounds_of_cluster_and_settings(
    settings: Settings,
) -> None:
    settings.KUBERNETES_GIT_IMAGE = "registry.example.com/git:1"
    settings.KUBERNETES_S3_IMAGE = "registry.example.com/aws:1"
    settings.LOG_STREAMS = 7
    cluster = reached(namespace_prefix="ml-", prometheus_url="http://prometheus.example.com")
    engine = engine_for(cluster)
    assert isinstance(engine, KubernetesEngine)
    made = engine.render(case("pytorch-every-option"))
    assert made[0]["metadata"]["name"] == "ml-team-a"
    pod = made[-1]["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    images = {it["image"].rpartition("/")[2] for it in pod["initContainers"]}
    assert images == {"git:1", "aws:1"}
    assert engine._usage._prometheus == "http://prometheus.example.com"
    assert engine._streams._limit == 7
