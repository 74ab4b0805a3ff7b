"""One asset of each kind, for tests that go through all kinds."""

from typing import Any

from assets.base import AssetKind
from assets.compute.kind import COMPUTE
from assets.credential.kind import CREDENTIAL
from assets.data_source.kind import DATA_SOURCE
from assets.environment.kind import ENVIRONMENT
from assets.template.kind import TEMPLATE
from projects.models import Project
from tests.factories import (
    ComputeResourceFactory,
    CredentialFactory,
    DataSourceFactory,
    EnvironmentFactory,
    TemplateFactory,
)


def create_assets(project: Project) -> dict[AssetKind[Any], Any]:
    """Create an asset of each kind in a project. None is used by anything."""
    return {
        ENVIRONMENT: EnvironmentFactory.create(home=project),
        COMPUTE: ComputeResourceFactory.create(home=project),
        DATA_SOURCE: DataSourceFactory.create(home=project),
        CREDENTIAL: CredentialFactory.create(home=project, entered={"token": "x"}),
        TEMPLATE: TemplateFactory.create(home=project),
    }
