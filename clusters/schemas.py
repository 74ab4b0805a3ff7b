"""What the API says of clusters and of looks at them, and what it takes. No kubeconfig goes out."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field
from pydantic import SecretStr

from accounts.models import User
from clusters.forms import IN_CLUSTER, KEEP, KUBECONFIG, ClusterForm, blank, initial
from clusters.kubeconfigs import LARGEST
from clusters.models import PREFIX, Cluster, ConnectionTest
from clusters.testing import is_late, rights_to_apply
from core.api import ApiError, Closed, Issue, Wire, issues_of

REFUSED = "The cluster cannot be kept."
WAYS = "Give the text of a kubeconfig, or inCluster: true, and not both."


class ClusterState(Wire):
    state: str
    message: str


class ClusterSettings(Wire):
    namespace_prefix: str
    ingress_domain: str
    ingress_class: str
    prometheus_url: str


class ClusterOut(Wire):
    """``settings`` are for administrators alone, null for others. How a cluster is reached is
    never told."""

    uuid: UUID
    name: str
    kind: str
    status: ClusterState
    settings: ClusterSettings | None
    created_at: datetime
    checked_at: datetime | None

    @classmethod
    def of(cls, cluster: Cluster, user: User) -> "ClusterOut":
        shown = ClusterSettings.from_orm(cluster) if user.is_administrator else None
        return cls(
            uuid=cluster.pk,
            name=cluster.name,
            kind=cluster.kind,
            status=ClusterState(state=cluster.state, message=cluster.state_message),
            settings=shown,
            created_at=cluster.created_at,
            checked_at=cluster.checked_at,
        )


class Connecting(Closed):
    """How to reach a cluster: the text of a kubeconfig, or the service account of Trainyard's own
    pod. ``trusted`` lets a kubeconfig run programs and read files of Trainyard's machine."""

    kubeconfig: SecretStr = Field(SecretStr(""), max_length=LARGEST)
    in_cluster: bool = False
    trusted: bool = False


class ClusterIn(Connecting):
    name: str
    namespace_prefix: str = PREFIX
    ingress_domain: str = ""
    ingress_class: str = ""
    prometheus_url: str = ""


class ClusterChange(Connecting):
    """What is left out stays as it is, the connection included."""

    name: str = ""
    namespace_prefix: str = ""
    ingress_domain: str = ""
    ingress_class: str = ""
    prometheus_url: str = ""


class TestIn(Connecting):
    """A cluster as it is kept, by ``clusterId`` alone, or a connection that is not kept yet."""

    cluster_id: UUID | None = None


class FindingOut(Wire):
    """``level`` is ok, warning (not everybody needs it), issue (it does not work well) or missing
    (without it nothing runs)."""

    area: str
    name: str
    level: str
    text: str


class TestOut(Wire):
    """``answeredAt`` is null until a worker looked; ``message`` says what is waited for.
    ``manifest`` is the YAML that grants the rights, where one is refused."""

    id: UUID
    cluster_id: UUID | None
    created_at: datetime
    answered_at: datetime | None
    message: str
    findings: list[FindingOut]
    manifest: str

    @classmethod
    def of(cls, test: ConnectionTest) -> "TestOut":
        waits = "" if test.answered_at else "A worker asks the cluster. Ask again in a second."
        late = "No worker took the test up within a minute. Look whether the worker runs."
        return cls(
            id=test.pk,
            cluster_id=test.cluster_id,
            created_at=test.created_at,
            answered_at=test.answered_at,
            message=late if is_late(test) else waits,
            findings=[FindingOut.from_orm(finding) for finding in test.findings],
            manifest=rights_to_apply(test.findings),
        )


def form_of(body: Connecting, cluster: Cluster | None = None) -> ClusterForm:
    """The page's form, filled in with the request; 400 names what is wrong in it."""
    text = body.kubeconfig.get_secret_value()
    if (text and body.in_cluster) or not (text or body.in_cluster or cluster):
        raise ApiError(400, REFUSED, issues=[Issue(field="kubeconfig", details=WAYS)])
    way = IN_CLUSTER if body.in_cluster else KUBECONFIG if text else KEEP
    told: dict[str, Any] = body.model_dump(exclude_unset=True) | {"way": way, "kubeconfig": text}
    form = ClusterForm((initial(cluster) if cluster else blank()) | told, editing=bool(cluster))
    if not form.is_valid():
        risks = f"It {'; it '.join(form.risks)}." if form.risks else ""
        issues = issues_of(form.errors)
        raise ApiError(400, REFUSED, details=risks, issues=issues)
    return form
