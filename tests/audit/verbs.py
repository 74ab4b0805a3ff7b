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
from projects import departments
from projects import services as projects
from projects.scopes import OwningScope
from tests.audit.hooks import HOOKS
from tests.audit.people import PEOPLE
from tests.audit.scene import DEPARTMENT, OPENS, POOL, PROJECT, SECRET, VARIABLES, Scene, Verbs
from tests.factories import (
    DepartmentFactory,
)
from workloads import services as workloads
from workloads import submission

__all__ = ["SECRET", "VERBS", "Scene"]


def _remove_member(s: Scene) -> None:
    user = s.person()
    projects.add_member(s.project, user, by=s.boss)
    projects.remove_member(s.project, user, by=s.boss)


def _update_project(s: Scene) -> object:
    values = PROJECT | {"name": "other", "members": [s.boss]}
    return projects.update_project(s.project, by=s.boss, **values)


def _department(s: Scene) -> object:
    return departments.create_department(by=s.boss, name="lab", cluster=s.cluster, **DEPARTMENT)


def _update_department(s: Scene) -> object:
    lab = DepartmentFactory(cluster=s.cluster)
    return departments.update_department(lab, by=s.boss, name="new", **DEPARTMENT)


def _delete_department(s: Scene) -> None:
    departments.delete_department(DepartmentFactory(cluster=s.cluster), by=s.boss)


def _cluster(s: Scene) -> object:
    return clusters.create(KUBERNETES, by=s.boss, name="far", settings={}, secret=OPENS)


def _pool(s: Scene) -> Any:
    return pools.create_pool(s.cluster, by=s.boss, name="fast", **POOL)


def _environment(s: Scene) -> object:
    where: dict[str, Any] = {"scope": OwningScope(s.project), "document": VARIABLES}
    return assets.create(ENVIRONMENT, by=s.boss, name="e", **where)


def _update_environment(s: Scene) -> object:
    return assets.update(ENVIRONMENT, s.environment, by=s.boss, name="new", document=VARIABLES)


def _restore_environment(s: Scene) -> Any:
    first = AssetVersion(kind="environment", asset_id=s.environment.pk, number=1)
    first.columns = history.columns_of(ENVIRONMENT, s.environment) | {"name": "as-before"}
    return assets.restore(ENVIRONMENT, s.environment, first, by=s.boss)


def _copy_environment(s: Scene) -> object:
    return assets.duplicate(
        ENVIRONMENT, s.environment, by=s.boss, name="twin", scope=OwningScope(s.project)
    )


def _copy(s: Scene) -> object:
    return workloads.copy(s.workload(draft_json=s.draft().model_dump(mode="json")), by=s.boss)


def _template(s: Scene) -> Template:
    return workloads.save_template(
        s.draft(), name="t", description="", place=OwningScope(s.project), by=s.boss
    )


def _update_template(s: Scene) -> None:
    workloads.update_template(_template(s), s.draft(), by=s.boss)


VERBS: Verbs = (
    PEOPLE
    | HOOKS
    | {
        "projects.services.create_project": (
            "create project",
            lambda s: projects.create_project(by=s.boss, name="p", cluster=s.cluster, **PROJECT),
        ),
        "projects.services.update_project": ("update project", _update_project),
        "projects.services.delete_project": (
            "delete project",
            lambda s: projects.delete_project(s.project, by=s.boss),
        ),
        "projects.services.set_projects": (
            "add project",
            lambda s: projects.set_projects(s.person(), [s.project], by=s.boss),
        ),
        "projects.services.add_member": (
            "add project",
            lambda s: projects.add_member(s.project, s.person(), by=s.boss),
        ),
        "projects.services.remove_member": ("remove project", _remove_member),
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
            lambda s: clusters.update(s.kubernetes, by=s.boss, secret=OPENS, name="new"),
        ),
        "clusters.services.delete_cluster": (
            "delete cluster",
            lambda s: clusters.delete_cluster(s.kubernetes, by=s.boss),
        ),
        "clusters.connection_tests.request_test": (
            "create connection test",
            lambda s: connection_tests.request_test(by=s.boss, kind=KUBERNETES, secret=OPENS),
        ),
        "clusters.nodes.pools.create_pool": ("create node pool", _pool),
        "clusters.nodes.pools.update_pool": (
            "update node pool",
            lambda s: pools.update_pool(_pool(s), by=s.boss, label_key="gpu", label_value="b"),
        ),
        "clusters.nodes.pools.delete_pool": (
            "delete node pool",
            lambda s: pools.delete_pool(_pool(s), by=s.boss),
        ),
        "assets.services.create": ("create environment", _environment),
        "assets.services.update": ("update environment", _update_environment),
        "assets.services.duplicate": ("create environment", _copy_environment),
        "assets.services.restore": ("update environment", _restore_environment),
        "assets.services.delete": (
            "delete environment",
            lambda s: assets.delete(ENVIRONMENT, s.environment, by=s.boss),
        ),
        "workloads.services.submit": (
            "create workload",
            lambda s: workloads.submit(s.draft(), by=s.boss),
        ),
        "workloads.submission.submit_all": (
            "create workload",
            lambda s: submission.submit_all([s.draft()], by=s.boss),
        ),
        "workloads.services.stop": (
            "stop workload",
            lambda s: workloads.stop(s.workload(running=True), by=s.boss),
        ),
        "workloads.services.stop_all": (
            "stop workload",
            lambda s: workloads.stop_all([s.workload(running=True)], by=s.boss),
        ),
        "workloads.services.resume_all": (
            "run workload",
            lambda s: workloads.resume_all([s.workload(stopped=True)], by=s.boss),
        ),
        "workloads.services.delete_all": (
            "delete workload",
            lambda s: workloads.delete_all([s.workload(running=True)], by=s.boss),
        ),
        "workloads.services.resume": (
            "run workload",
            lambda s: workloads.resume(s.workload(stopped=True), by=s.boss),
        ),
        "workloads.services.delete": (
            "delete workload",
            lambda s: workloads.delete(s.workload(running=True), by=s.boss),
        ),
        "workloads.services.purge": (
            "purge workload",
            lambda s: workloads.purge(s.workload(deleted_at=timezone.now()), by=s.boss),
        ),
        "workloads.services.copy": ("copy workload", _copy),
        "workloads.services.save_template": ("create template", _template),
        "workloads.services.update_template": ("update template", _update_template),
    }
)
