"""Calls every verb that a person may cause once. Each call contains one secret, which no record may
keep."""

from typing import Any

from django.utils import timezone

from assets import services as assets
from assets.environment.kind import ENVIRONMENT
from assets.models import AssetVersion, Template
from assets.versions import history
from clusters import connection_tests
from clusters import services as clusters
from clusters.kinds.kubernetes.kind import KUBERNETES
from clusters.nodes import pools
from policies import services as policies
from policies.models import Policy
from projects import departments, members
from projects import services as projects
from projects.scopes import OwningScope
from spec.kind import WorkloadKind
from tests.audit.datasets import DATASETS
from tests.audit.hooks import HOOKS
from tests.audit.objects import (
    DEPARTMENT,
    OPENS,
    POOL,
    PROJECT,
    SECRET,
    VARIABLES,
    AuditedObjects,
    Verbs,
)
from tests.audit.people import PEOPLE
from tests.audit.workflows import WORKFLOWS
from tests.factories import (
    DepartmentFactory,
)
from workloads import services as workloads
from workloads import submission
from workloads.scheduling.limits import rule_limits

__all__ = ["SECRET", "VERBS", "AuditedObjects"]


def _remove_member(s: AuditedObjects) -> None:
    user = s.person()
    members.add_member(s.project, user, by=s.admin)
    members.remove_member(s.project, user, by=s.admin)


def _update_project(s: AuditedObjects) -> object:
    values = PROJECT | {"name": "other", "members": [s.admin]}
    return projects.update_project(s.project, by=s.admin, **values)


def _save_policy(s: AuditedObjects) -> Policy:
    variable = {"name": "API_TOKEN", "value": SECRET}
    tree = {"defaults": {"environmentVariables": {"instances": [variable]}}}
    return policies.save_policy(
        by=s.admin,
        scope=OwningScope(s.project),
        kind=WorkloadKind.TRAINING,
        name="limits",
        tree=tree,
    )


def _department(s: AuditedObjects) -> object:
    return departments.create_department(by=s.admin, name="lab", cluster=s.cluster, **DEPARTMENT)


def _update_department(s: AuditedObjects) -> object:
    lab = DepartmentFactory(cluster=s.cluster)
    return departments.update_department(lab, by=s.admin, name="new", **DEPARTMENT)


def _delete_department(s: AuditedObjects) -> None:
    departments.delete_department(DepartmentFactory(cluster=s.cluster), by=s.admin)


def _cluster(s: AuditedObjects) -> object:
    return clusters.create(KUBERNETES, by=s.admin, name="far", settings={}, secret=OPENS)


def _pool(s: AuditedObjects) -> Any:
    return pools.create_pool(s.cluster, by=s.admin, name="fast", **POOL)


def _environment(s: AuditedObjects) -> object:
    where: dict[str, Any] = {"scope": OwningScope(s.project), "document": VARIABLES}
    return assets.create(ENVIRONMENT, by=s.admin, name="e", **where)


def _update_environment(s: AuditedObjects) -> object:
    return assets.update(ENVIRONMENT, s.environment, by=s.admin, name="new", document=VARIABLES)


def _restore_environment(s: AuditedObjects) -> Any:
    first = AssetVersion(kind="environment", asset_id=s.environment.pk, number=1)
    first.columns = history.columns_of(ENVIRONMENT, s.environment) | {"name": "as-before"}
    return assets.restore(ENVIRONMENT, s.environment, first, by=s.admin)


def _copy_environment(s: AuditedObjects) -> object:
    return assets.duplicate(
        ENVIRONMENT, s.environment, by=s.admin, name="twin", scope=OwningScope(s.project)
    )


def _extend(s: AuditedObjects) -> None:
    rules = {rule_limits.TIME: {"extendedSeconds": 120, "source": "department research"}}
    columns = {"created_by": s.admin, "rule_time_limit_seconds": 60, "rules_json": rules}
    workloads.extend(s.workload(running=True, **columns), by=s.admin)


def _copy(s: AuditedObjects) -> object:
    return workloads.copy(s.workload(draft_json=s.draft().model_dump(mode="json")), by=s.admin)


def _template(s: AuditedObjects) -> Template:
    return workloads.save_template(
        s.draft(), name="t", description="", place=OwningScope(s.project), by=s.admin
    )


def _update_template(s: AuditedObjects) -> None:
    workloads.update_template(_template(s), s.draft(), by=s.admin)


VERBS: Verbs = (
    PEOPLE
    | HOOKS
    | DATASETS
    | WORKFLOWS
    | {
        "projects.services.create_project": (
            "create project",
            lambda s: projects.create_project(by=s.admin, name="p", cluster=s.cluster, **PROJECT),
        ),
        "projects.services.update_project": ("update project", _update_project),
        "projects.services.delete_project": (
            "delete project",
            lambda s: projects.delete_project(s.project, by=s.admin),
        ),
        "projects.members.set_projects": (
            "create access rule",
            lambda s: members.set_projects(s.person(), [s.project], by=s.admin),
        ),
        "projects.members.set_members": (
            "create access rule",
            lambda s: members.set_members(s.project, [s.person()], by=s.admin),
        ),
        "projects.members.add_member": (
            "create access rule",
            lambda s: members.add_member(s.project, s.person(), by=s.admin),
        ),
        "projects.members.remove_member": ("delete access rule", _remove_member),
        "projects.departments.create_department": ("create department", _department),
        "projects.departments.update_department": ("update department", _update_department),
        "projects.departments.delete_department": ("delete department", _delete_department),
        "clusters.services.add_after_check": (
            "create cluster",
            lambda s: clusters.add_after_check(KUBERNETES, name="near", settings={}, secret=OPENS),
        ),
        "clusters.services.create": ("create cluster", _cluster),
        "clusters.services.update": (
            "update cluster",
            lambda s: clusters.update(s.kubernetes, by=s.admin, secret=OPENS, name="new"),
        ),
        "clusters.services.delete_cluster": (
            "delete cluster",
            lambda s: clusters.delete_cluster(s.kubernetes, by=s.admin),
        ),
        "clusters.connection_tests.request_test": (
            "create connection test",
            lambda s: connection_tests.request_test(by=s.admin, kind=KUBERNETES, secret=OPENS),
        ),
        "clusters.nodes.pools.create_pool": ("create node pool", _pool),
        "clusters.nodes.pools.update_pool": (
            "update node pool",
            lambda s: pools.update_pool(_pool(s), by=s.admin, label_key="gpu", label_value="b"),
        ),
        "clusters.nodes.pools.delete_pool": (
            "delete node pool",
            lambda s: pools.delete_pool(_pool(s), by=s.admin),
        ),
        "policies.services.save_policy": ("create policy", _save_policy),
        "policies.services.delete_policy": (
            "delete policy",
            lambda s: policies.delete_policy(_save_policy(s), by=s.admin),
        ),
        "assets.services.create": ("create environment", _environment),
        "assets.services.update": ("update environment", _update_environment),
        "assets.services.duplicate": ("create environment", _copy_environment),
        "assets.services.restore": ("update environment", _restore_environment),
        "assets.services.delete": (
            "delete environment",
            lambda s: assets.delete(ENVIRONMENT, s.environment, by=s.admin),
        ),
        "workloads.services.submit": (
            "create workload",
            lambda s: workloads.submit(s.draft(), by=s.admin),
        ),
        "workloads.submission.submit_all": (
            "create workload",
            lambda s: submission.submit_all([s.draft()], by=s.admin),
        ),
        "workloads.services.stop": (
            "stop workload",
            lambda s: workloads.stop(s.workload(running=True), by=s.admin),
        ),
        "workloads.services.stop_all": (
            "stop workload",
            lambda s: workloads.stop_all([s.workload(running=True)], by=s.admin),
        ),
        "workloads.services.resume_all": (
            "run workload",
            lambda s: workloads.resume_all([s.workload(stopped=True)], by=s.admin),
        ),
        "workloads.services.delete_all": (
            "delete workload",
            lambda s: workloads.delete_all([s.workload(running=True)], by=s.admin),
        ),
        "workloads.services.resume": (
            "run workload",
            lambda s: workloads.resume(s.workload(stopped=True), by=s.admin),
        ),
        "workloads.services.extend": ("extend workload", _extend),
        "workloads.services.delete": (
            "delete workload",
            lambda s: workloads.delete(s.workload(running=True), by=s.admin),
        ),
        "workloads.services.purge": (
            "purge workload",
            lambda s: workloads.purge(s.workload(deleted_at=timezone.now()), by=s.admin),
        ),
        "workloads.services.copy": ("copy workload", _copy),
        "workloads.services.save_template": ("create template", _template),
        "workloads.services.update_template": ("update template", _update_template),
    }
)
