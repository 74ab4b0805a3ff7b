"""The Python client that openapi-python-client generates, with its default settings."""

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from projects.models import Project
from tests.clients.conftest import PASSWORD

pytestmark = pytest.mark.extended
PACKAGE = "trainyard_client"


class Generated:
    """A client of the package that was generated, and its modules by their names."""

    def __init__(self, url: str) -> None:
        self.client = self.module("client").Client(base_url=url)
        grant = self.models.TokenRequestGrantType.PASSWORD
        request = self.models.TokenRequest(grant_type=grant, username="ada", password=PASSWORD)
        with self.client:
            token = self("access.create_token", body=request).access_token
        self.client = self.module("client").AuthenticatedClient(base_url=url, token=token)

    @staticmethod
    def module(name: str) -> Any:
        return import_module(f"{PACKAGE}.{name}")

    @property
    def models(self) -> Any:
        return self.module("models")

    def __call__(self, operation: str, *args: Any, **given: Any) -> Any:
        return self.module(f"api.{operation}").sync(*args, client=self.client, **given)


@pytest.fixture(scope="module")
def package(
    generator: Path, described: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    target = tmp_path_factory.mktemp("python") / "client"
    command: list[str | Path] = [
        generator,
        "generate",
        "--path",
        described,
        "--output-path",
        target,
    ]
    done = subprocess.run(command, check=False, text=True, capture_output=True)
    assert not done.returncode, done.stdout + done.stderr
    assert "WARNING parsing" not in done.stdout + done.stderr
    sys.path.insert(0, str(target))
    yield
    sys.path.remove(str(target))
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


@pytest.fixture
def call(served: str, package: None) -> Iterator[Generated]:
    generated = Generated(served)
    with generated.client:
        yield generated


def test_a_generated_python_client_submits_reads_and_deletes(call: Generated) -> None:
    models = call.models
    (home,) = call("projects.list_projects", filter_by=["name==vision"]).projects
    spec = models.DistributedSpec(
        image="kubeflow/pytorch-dist-mnist:latest",
        distributed_framework=models.Framework.PYTORCH,
        num_workers=2,
        compute=models.Compute(cpu_core_request=0.5),
    )
    body = models.DistributedIn(
        name="generated", project_id=home.id, cluster_id=UUID(str(home.cluster_id)), spec=spec
    )
    assert call("distributed.create_distributed", body=body, dry_run=True).valid
    made = call("distributed.create_distributed", body=body)
    assert made.spec.num_workers == 2
    assert call("distributed.read_distributed", made.workload_id).spec == made.spec
    listed = call("workloads.list_workloads", sort_by="name", filter_by=["name=^gen"])
    assert [it.phase for it in listed.workloads] == [models.WorkloadOutPhase.CREATING]
    assert call("workloads.list_workload_pods", made.workload_id).pods is not None
    refused = call("distributed.create_distributed", body=body)
    assert (refused.code, refused.compliance_issues[0].field) == (409, "name")
    accepted = call("distributed.delete_distributed", made.workload_id)
    assert accepted.code == 202


def test_a_generated_python_client_reads_what_administrators_keep(
    call: Generated, project: Project
) -> None:
    (department,) = call("departments.list_departments").departments
    assert department.resources[0].memory.units
    assert [it.name for it in call("clusters.list_clusters")] == [project.cluster.name]
    assert call("nodes.list_nodes").nodes[0].allocatable.gpu is not None
    (asset,) = call("compute_resources.list_asset_compute").entries
    assert asset.meta.name == "small"
    assert call("access.get_me").username == "ada"
