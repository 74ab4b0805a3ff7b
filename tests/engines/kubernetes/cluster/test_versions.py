"""Clusters from 1.29 to today's: what is used without a look is served by all of them."""

import re
from pathlib import Path

import pytest
import yaml

from config.run.install import ROOT
from tests.engines.kubernetes.cases import GOLDEN

#: Served by 1.29 and by every release since.
LASTING = {
    "v1",
    "authentication.k8s.io/v1",
    "authorization.k8s.io/v1",
    "batch/v1",
    "networking.k8s.io/v1",
    "rbac.authorization.k8s.io/v1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1",
}
#: Looked for first, or done without where they are missing: see test_checking and test_usage.
OPTIONAL = {
    "kai.scheduler/v1alpha1",
    "kubeflow.org/v1",
    "kubeflow.org/v2beta1",
    "metrics.k8s.io/v1beta1",
    "scheduling.run.ai/v2",
}
SOURCES = sorted((ROOT / "engines" / "kubernetes").rglob("*.py"))
WRITTEN = re.compile(r"\"(?:/apis/)?((?:[a-z0-9-]+\.)+[a-z0-9-]+/v\d\w*)\b")


def test_api_versions_that_the_engine_names_last_or_are_looked_for() -> None:
    texts = [path.read_text() for path in SOURCES]
    named = {version for text in texts for version in WRITTEN.findall(text)}
    assert {"storage.k8s.io/v1", "metrics.k8s.io/v1beta1"} <= named
    assert named <= LASTING | OPTIONAL


@pytest.mark.parametrize("path", sorted(GOLDEN.iterdir()), ids=lambda path: path.stem)
def test_api_versions_of_manifests_last_or_are_looked_for(path: Path) -> None:
    made = yaml.safe_load_all(path.read_text())
    assert {item["apiVersion"] for item in made} <= LASTING | OPTIONAL
