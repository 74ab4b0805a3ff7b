"""Request bodies that create workloads."""

from uuid import UUID

from ninja import Field

from core.rest.api import Closed
from workloads.api.words import DistributedDocument, MasterDocument, OnePodDocument, ProjectId

MOST_IN_A_BATCH = 100
MOST_DATA_SOURCES = 100


class MountedIn(Closed):
    """A data source to mount. Without ``path`` it is mounted at its default path."""

    id: UUID
    path: str = ""


class ChosenIn(Closed):
    """Assets for all pods. Values in ``spec`` and ``masterSpec`` override theirs."""

    environment: UUID | None = None
    compute: UUID | None = None
    data_sources: list[MountedIn] = Field([], max_length=MOST_DATA_SOURCES)


class OnePodIn(Closed):
    """The request to create a workload of one pod. ``spec`` is validated field by field. Fields
    that it leaves out come from the template of ``templateId`` or from the ``assets``, if given."""

    name: str
    use_given_name_as_prefix: bool = False
    project_id: ProjectId
    cluster_id: UUID
    template_id: UUID | None = None
    assets: ChosenIn | None = None
    spec: OnePodDocument


class DistributedIn(OnePodIn):
    """The request to create a distributed training. ``spec`` is validated field by field.
    ``noMaster`` is an extension of Trainyard: Run:ai's public request has no field for workers
    only."""

    spec: DistributedDocument
    master_spec_same_as_worker: bool | None = None
    master_spec: MasterDocument = None
    no_master: bool = False


class BatchIn(Closed):
    """Requests in one project. Either all of them become workloads, or none."""

    workloads: list[DistributedIn] = Field(min_length=1, max_length=MOST_IN_A_BATCH)


class OnePodBatchIn(Closed):
    """Requests for workloads of one pod each, in one project. Either all become workloads,
    or none."""

    workloads: list[OnePodIn] = Field(min_length=1, max_length=MOST_IN_A_BATCH)
