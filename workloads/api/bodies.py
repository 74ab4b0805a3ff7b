"""Request bodies that create workloads."""

from typing import Any
from uuid import UUID

from ninja import Field

from core.rest.api import StrictBody
from spec.draft import ASSET_LISTS
from workloads.api.words import DistributedDocument, MasterDocument, OnePodDocument, ProjectId

MOST_IN_A_BATCH = 100
MOST_DATA_SOURCES = 100


class MountedIn(StrictBody):
    """A data source to mount. Without ``path`` it is mounted at its default path, and a dataset
    without ``version`` in its latest version."""

    id: UUID = Field(description="Its ID")
    path: str = Field(default="", description="The path in the container")
    version: int | None = Field(
        default=None, ge=1, lt=10**9, description="The version of a dataset; null for the latest"
    )


class ChosenIn(StrictBody):
    """Assets for all pods. Values in ``spec`` and ``masterSpec`` override theirs."""

    environment: UUID | None = Field(default=None, description="The ID of an environment")
    compute: UUID | None = Field(default=None, description="What each pod requests")
    data_sources: list[MountedIn] = Field(
        default=[], max_length=MOST_DATA_SOURCES, description="Data sources that are mounted"
    )

    def listed_assets(self) -> dict[str, Any]:
        """Return the lists of assets in the form of a pod's draft, without empty ones."""
        document = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {key: document[key] for key in sorted(ASSET_LISTS) if document.get(key)}


class OnePodIn(StrictBody):
    """The request to create a workload of one pod. ``spec`` is validated field by field. Fields
    that it leaves out come from the template of ``templateId`` or from the ``assets``, if given."""

    name: str = Field(description="The name")
    use_given_name_as_prefix: bool = Field(
        default=False,
        description="true adds a random suffix to the name, so that the name is always free",
    )
    project_id: ProjectId = Field(description="The ID of the project")
    cluster_id: UUID = Field(description="The ID of the cluster")
    template_id: UUID | None = Field(
        default=None, description="The ID of a template, which fills in what the request leaves out"
    )
    assets: ChosenIn | None = Field(
        default=None,
        description="Assets that all pods use; values in spec override those of the assets",
    )
    spec: OnePodDocument = Field(description="The specification")


class DistributedIn(OnePodIn):
    """The request to create a distributed training. ``spec`` is validated field by field.
    ``noMaster`` is an extension of Trainyard: Run:ai's public request has no field for workers
    only."""

    spec: DistributedDocument = Field(description="The specification")
    master_spec_same_as_worker: bool | None = Field(
        default=None, description="Whether the master has the workers' setup"
    )
    master_spec: MasterDocument = Field(
        default=None,
        description="What differs for the master's pod; null if nothing differs from the workers",
    )
    no_master: bool = Field(default=False, description="true for workers only")


class BatchIn(StrictBody):
    """Requests in one project. Either all of them become workloads, or none."""

    workloads: list[DistributedIn] = Field(
        min_length=1, max_length=MOST_IN_A_BATCH, description="The workloads"
    )


class OnePodBatchIn(StrictBody):
    """Requests for workloads of one pod each, in one project. Either all become workloads,
    or none."""

    workloads: list[OnePodIn] = Field(
        min_length=1, max_length=MOST_IN_A_BATCH, description="The workloads"
    )
