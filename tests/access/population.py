"""A database with one object of every kind, and all users who may ask for it."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from accounts import groups, roles, service_accounts, tokens
from accounts.models import AccessKey, AccessRule, User
from assets.data_source.datasets import store
from assets.datasets import services as datasets
from assets.kinds import KINDS
from assets.versions import history
from clusters.models import ConnectionTest, NodePool
from config.rest.examples import MANIFEST
from notifications.models import Delivery
from projects.models import Project
from projects.scopes import OwningScope as Home
from spec.kind import WorkloadKind
from tests.factories import (
    ComputeResourceFactory,
    CredentialFactory,
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
    WorkloadFactory,
)
from tests.fuzz.bodies import ASSETS
from tests.notifications.factories import (
    MailServerFactory,
    NotificationFactory,
    SubscriptionFactory,
    WebhookFactory,
)
from tests.policies.examples import make_policy, rule
from tests.workflows.graphs import WorkflowFactory
from workflows.models import Pool
from workloads.models import SavedView, Workload
from workloads.wizard import drafts

#: A part of every name. A user who may not see an object must not read it anywhere.
SECRET = "zanzibar"

#: Callers, in the order of the table's columns. The author created the objects, a colleague is in
#: the same project, a stranger in another project on another cluster, and an outsider in none.
PEOPLE = ("nobody", "outsider", "stranger", "colleague", "author", "administrator")
#: Values for parameters of addresses that name no object.
ORDINARY = {
    "slug": "jupyter",
    "step": "2",
    "name": "worker-compute",
    "rest": "v2/x",
    "key": "a",
    "type_id": "distributed",
    "category_id": "none-has-it",
    "nodepool_name": "default",
    "setting_key": "tolerations",
}
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|{(\w+)}")
TIME = "&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z"
QUERIES = {
    "/api/v1/workloads/name-availability": "?name=free&projectId={projects}",
    "/api/v1/workload-templates/name-availability": (
        "?templateName=free&scopeType=project&scopeId={projects}"
    ),
    "/api/v1/workloads/telemetry": "?telemetryType=WORKLOADS_COUNT&groupBy=ProjectId",
    "/api/v1/workloads/{workload_id}/metrics": f"?metricType=CPU_USAGE_CORES{TIME}",
    "/api/v1/workloads/{workload_id}/pods/{pod_id}/metrics": f"?metricType=CPU_USAGE_CORES{TIME}",
    "/api/v1/org-unit/projects/{project_id}/metrics": f"?metricType=GPU_ALLOCATION{TIME}",
    "/api/v1/org-unit/departments/{department_id}/metrics": f"?metricType=GPU_ALLOCATION{TIME}",
    "/api/v1/clusters/{cluster_id}/metrics": f"?metricType=ALLOCATED_GPU{TIME}",
    "/api/v1/nodes/{node_id}/metrics": f"?metricType=CPU_USAGE_CORES{TIME}",
    "/api/v1/clusters/{cluster_id}/nodepools/{nodepool_name}/metrics": (
        f"?metricType=CPU_UTILIZATION{TIME}"
    ),
    "/api/v1/audit/log": f"?{TIME[1:]}",
    "/api/v1/audit/log/file": f"?{TIME[1:]}",
    "/api/v1/storage-classes": "?clusterId={clusters}",
    "/api/v1/storage-classes/details": "?clusterId={clusters}",
    "/api/v1/datasets/{dataset_id}/versions/{version}/pieces": "?path=a.txt",
    "/api/v1/datasets/{dataset_id}/versions/{version}/content": "?path=a.txt",
    "/datasets/<uuid:pk>/<int:number>/file/": "?path=a.txt",
    "/api/v1/nodes/telemetry": "?telemetryType=TOTAL_GPUS&groupBy=ClusterId",
    "/api/v1/org-unit/projects/telemetry": "?telemetryType=GPU_QUOTA&groupBy=ProjectId",
    "/api/v1/org-unit/departments/telemetry": "?telemetryType=GPU_QUOTA&groupBy=DepartmentId",
}
#: The queries of calls whose other methods name the same in their body.
QUERIES_OF_METHODS = {
    (method, f"/api/v1/policy/{kind.traits.path}"): "?scope=project&projectId={projects}"
    for kind in WorkloadKind
    for method in ("GET", "DELETE")
}


@dataclass(frozen=True)
class Population:
    """The users and the objects. ``ids`` are those of the objects in addresses, by the word in
    front of the id, or the two words."""

    people: dict[str, User | None]
    keys: dict[str, AccessKey]
    project: Project
    workload: Workload
    ids: dict[str, Any]

    def named(self, before: str, name: str = "") -> Any:
        """Return the id that an address has after ``before``, or for a parameter called
        ``name``."""
        words = before.strip("/").split("/")
        ids = (self.ids.get("/".join(words[-2:])), self.ids.get(words[-1]), self.ids.get(name))
        return next(filter(None, ids), None)

    def address(self, path: str, method: str = "GET", *, absent: bool = False) -> str:
        """Return an address for the route ``path``: that of an object, or with ``absent`` one that
        names none."""
        query = QUERIES_OF_METHODS.get((method, path)) or QUERIES.get(path, "")

        def value(parameter: re.Match[str]) -> str:
            name = parameter[1] or parameter[2]
            thing = self.named(parameter.string[: parameter.start()], name)
            if thing is None:
                return ORDINARY[name]
            gone = uuid4() if isinstance(thing, UUID) else 99_999
            return str(gone if absent else thing)

        return PARAMETER.sub(value, path + query)

    def bearer(self, who: str) -> str:
        """Return the header of a person, or for ``key of NAME`` of a program that has their access
        key."""
        name = who.removeprefix("key of ")
        user = self.people[name]
        key = self.keys[name] if name != who else None
        return f"Bearer {tokens.access_token_for(user, key=key)}" if user else ""


def build() -> Population:
    """Create the users and the objects."""
    names = ("outsider", "stranger", "colleague", "author")
    people: dict[str, User] = {name: UserFactory.create(username=name) for name in names}
    people["administrator"] = UserFactory.create(username="boss", administrator=True)
    author = people["author"]
    admin = people["administrator"]
    ProjectFactory.create(members=[people["stranger"]])
    project = ProjectFactory.create(name=f"{SECRET}-project", members=[author, people["colleague"]])
    project.department.name = project.cluster.name = SECRET
    project.department.save()
    project.cluster.save()
    workload = WorkloadFactory.create(
        name=f"{SECRET}-run", project=project, created_by=author, running=True
    )
    keys = {name: tokens.make_key(user, "ci")[0] for name, user in people.items()}
    ids = _ids(project, workload, author, admin)
    rule = AccessRule.objects.get(user=author, scope=project.scope_keys[0])
    ids["manifests"] = WorkloadFactory.create(
        name=f"{SECRET}-manifest", project=project, manifest_json=MANIFEST, running=True
    ).pk
    role = roles.create_role(by=admin, name="Looker", permission_sets=["view-projects"])
    program, *_ = service_accounts.create_service_account(by=admin, name=f"{SECRET}-ci")
    ids |= {"roles": role.pk, "service-accounts": program.pk}
    ids |= _templates(project) | {"access-rules": rule.pk, "access": rule.scope}
    ids |= {"access-keys": keys["author"].pk, "pods": workload.ranks.get(rank=0).pk}
    return Population({"nobody": None, **people}, keys, project, workload, ids)


def _ids(project: Project, workload: Workload, author: User, admin: User) -> dict[str, Any]:
    cluster = project.cluster
    serves = [{"name": "jupyter", "containerPort": 8888}]
    workload.spec_json["worker"]["connections"] = serves
    workload.save()
    asked = ConnectionTest.objects.create(cluster=cluster, asked_by=admin, kind=cluster.kind)
    pool = NodePool.objects.create(cluster=cluster, name=SECRET, label_key="gpu")
    MailServerFactory.create(username="mail", password=SECRET)
    of_author = {"project": project, "created_by": author, "running": True}
    training = WorkloadFactory.create(name=f"{SECRET}-one", standard=True, **of_author)
    workspace = WorkloadFactory.create(name=f"{SECRET}-desk", workspace=True, **of_author)
    named = {"home": project, "name": SECRET}
    ids = {
        **(_by_rest(project) | _hooks(project)),
        "users": author.pk,
        "notifications": NotificationFactory.create(workload=workload, title=SECRET).pk,
        "notification-channels": "email",
        "security/settings": "logoutRedirectUri",
        "subscriptions": SubscriptionFactory.create(user=author).pk,
        "notifications/settings": SubscriptionFactory.create(user=author, project=project).pk,
        "groups": groups.create_group(by=admin, name=SECRET, people=[author]).pk,
        "environments": EnvironmentFactory.create(**named).pk,
        "compute-resources": ComputeResourceFactory.create(**named).pk,
        "credentials": CredentialFactory.create(**named, entered={"token": SECRET}).pk,
        "data-sources": DataSourceFactory.create(**named).pk,
        "templates": TemplateFactory.create(**named).pk,
        "clusters": cluster.pk,
        "versions": 1,
        "datasets": _dataset(project, admin),
        "number": 1,
        "tests": asked.pk,
        "cluster-tests": asked.pk,
        "nodes": cluster.nodes.get().pk,
        "node-pools": pool.pk,
        "departments": project.department_id,
        "projects": project.pk,
        "policies": make_policy(project, rule("numWorkers", max=64), name=SECRET, by=admin).pk,
        "workloads": workload.pk,
        **dict.fromkeys(
            ("workflows", "workflow"),
            WorkflowFactory.create(
                project=project, created_by=author, name=SECRET, status="FAILED"
            ).pk,
        ),
        "pool": project.name,
        "pools": Pool.objects.create(name=SECRET, project=project).pk,
        "distributed": workload.pk,
        "trainings": training.pk,
        "workspaces": workspace.pk,
        "drafts": drafts.begin(author, project=str(project.pk)).pk,
        "views": SavedView.objects.create(owner=author, name=SECRET).pk,
        "auth": workload.pk,
        "signin": workload.pk,
    }
    for one_pod in (WorkloadKind.TRAINING, WorkloadKind.WORKSPACE):
        make_policy(project, {}, name=SECRET, kind=one_pod, by=admin)
    for kind in KINDS.values():
        history.store_version(kind, kind.rows.get(pk=ids[kind.path]))
    return ids


def _templates(project: Project) -> dict[str, Any]:
    """Create a template for each kind of workload, and return their ids by the path of the kind."""
    rows = {
        kind: TemplateFactory.create(
            home=project, name=f"{SECRET}-{kind}", draft_json={"kind": kind.value}
        )
        for kind in WorkloadKind
    }
    ids = {f"workload-templates/{kind.traits.path}": row.pk for kind, row in rows.items()}
    return ids | {"workload-templates": rows[WorkloadKind.WORKSPACE].pk}


def _dataset(project: Project, by: User) -> UUID:
    """Create a dataset with a version that has the file ``a.txt``, and return its id."""
    dataset = datasets.create_dataset(f"{SECRET}-digits", scope=Home(project), by=by)
    version = datasets.begin_version(dataset, by=by)
    store.write_piece(version.key, "a.txt", 0, SECRET.encode())
    datasets.finish_version(version, by=by)
    return dataset.pk


def _hooks(project: Project) -> dict[str, Any]:
    webhook = WebhookFactory.create(of_project=True, project=project, name=SECRET)
    delivery = Delivery.objects.create(webhook=webhook, type="webhook.test", body=f'"{SECRET}"')
    return {"webhooks": webhook.pk, "deliveries": delivery.pk}


def _by_rest(project: Project) -> dict[str, Any]:
    """Create an asset of each type that has a path in REST, and return their ids by the end of that
    path."""
    ids: dict[str, Any] = {}
    for kind in KINDS.values():
        if (wire := kind.wire) is None:
            continue
        if wire.read_only:
            ids[wire.path] = TemplateFactory.create(home=project, name=f"{SECRET}-base").pk
            continue
        for its in wire.types:
            path = "/".join(filter(None, (wire.path, its.path)))
            given = its.read(ASSETS[path], None)
            row = kind.model(name=f"{SECRET}-{path}", **given.columns)
            row.set_scope(Home(project))
            setattr(row, kind.column, kind.dump_part(kind.part.model_validate(given.document)))
            row.save()
            ids[path.rpartition("/")[2]] = row.pk
    return ids
