"""What the API takes to create workloads."""

from uuid import UUID

from ninja import Field

from core.rest.api import Closed
from workloads.api.words import DistributedDocument, MasterDocument, OnePodDocument, ProjectId

MOST_IN_A_BATCH = 100
MOST_DATA_SOURCES = 100


class MountedIn(Closed):
    """A data source. Without a ``path`` it is where it says itself."""

    id: UUID
    path: str = ""


class ChosenIn(Closed):
    """What of the galleries all pods have. ``spec`` and ``masterSpec`` go over it."""

    environment: UUID | None = None
    compute: UUID | None = None
    data_sources: list[MountedIn] = Field([], max_length=MOST_DATA_SOURCES)


class OnePodIn(Closed):
    """The creation request of a workload of one pod. ``spec`` is checked by the spec itself, field
    by field. What it leaves out is as the template of ``templateId`` or the ``assets`` have it, if
    these are given."""

    name: str
    use_given_name_as_prefix: bool = False
    project_id: ProjectId
    cluster_id: UUID
    template_id: UUID | None = None
    assets: ChosenIn | None = None
    spec: OnePodDocument


class DistributedIn(OnePodIn):
    """The distributed creation request. ``spec`` is checked by the spec itself, field by field.

    ``noMaster`` is Trainyard's own: Run:ai's public request has no field for workers only.
    """

    spec: DistributedDocument
    master_spec_same_as_worker: bool | None = None
    master_spec: MasterDocument = None
    no_master: bool = False


class BatchIn(Closed):
    """Requests of one project; all of them become workloads, or none."""

    workloads: list[DistributedIn] = Field(min_length=1, max_length=MOST_IN_A_BATCH)


class OnePodBatchIn(Closed):
    """The same of one pod each."""

    workloads: list[OnePodIn] = Field(min_length=1, max_length=MOST_IN_A_BATCH)
