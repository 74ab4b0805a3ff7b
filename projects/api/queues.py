"""REST: the queues of Kueue that can start a project's workloads."""

from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from core.rest.api import Wire, not_found
from core.rest.filters import TEXT, Fields
from core.rest.rows import WholeListing
from engines.local_queues import LocalQueue
from projects.models import Project

router = Router(tags=["Projects"])
FIELDS: Fields = {"name": ("name", TEXT), "clusterQueue": ("cluster_queue", TEXT)}


class QueueQuotaOut(Wire):
    resource: str = Field(description="The resource as Kubernetes names it, such as nvidia.com/gpu")
    nominal: float = Field(description="The quota, in cores, bytes or devices")
    most: float | None = Field(
        description="The quota with what may be borrowed; null if only the cohort limits that"
    )


class QueueOut(Wire):
    name: str = Field(description="The name of the LocalQueue, for queue of a workload")
    cluster_queue: str = Field(description="The name of its ClusterQueue")
    is_default: bool = Field(
        description="Whether workloads of the project that name no queue go to it"
    )
    active: bool = Field(description="Whether it starts workloads")
    message: str = Field(description="Why it starts none; empty if it is active")
    quotas: list[QueueQuotaOut] | None = Field(
        description="The quotas of the ClusterQueue; null if they are not known"
    )

    @classmethod
    def of(cls, queue: LocalQueue, project: Project) -> "QueueOut":
        quotas = None
        if queue.quotas is not None:
            quotas = [
                QueueQuotaOut(resource=it.resource, nominal=it.nominal, most=it.most)
                for it in queue.quotas
            ]
        return cls(
            name=queue.name,
            cluster_queue=queue.cluster_queue,
            is_default=queue.name == project.default_queue,
            active=not queue.why_inactive,
            message=queue.why_inactive,
            quotas=quotas,
        )


class QueueList(Wire):
    queues: list[QueueOut] = Field(description="The queues")


@router.get("/org-unit/projects/{int:project_id}/queues", response=QueueList, by_alias=True)
def list_project_queues(
    request: ApiRequest, project_id: int, listing: Query[WholeListing]
) -> QueueList:
    """The LocalQueues of Kueue in the project's namespace, as of the last check of its cluster.
    Empty without Kueue, and where Trainyard may not list them."""
    visible = Project.objects.visible_to(request.user).select_related("cluster")
    project = visible.filter(pk=project_id).first()
    if project is None:
        raise not_found("The project")
    queues = project.cluster.definition.local_queues(project.cluster, project.name) or ()
    rows = [QueueOut.of(queue, project) for queue in queues]
    return QueueList(queues=listing.select(rows, FIELDS, "name", "cluster_queue"))
