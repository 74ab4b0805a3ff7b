"""Departments and projects: who works together, and how much of a cluster they may use."""

from typing import TYPE_CHECKING, Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.urls import reverse

from accounts import access
from accounts.models import AccessRule, User
from clusters.models import Cluster, NodePool
from core.rest.validation import run_rules
from core.words import name_first_three
from projects.pool_quotas import DepartmentQuotaColumns, ProjectQuotaColumns, check_limit
from projects.rules import RULE_COLUMNS, SchedulingRules, check_rules
from spec.parts.scheduling import DEFAULT_POOL, MAX_POOLS
from spec.values.patterns import QUEUE_NAME

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

#: The department of a project that names none.
DEFAULT_DEPARTMENT = "default"

name_validator = RegexValidator(
    r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
    "Start with a letter; use lower-case letters, digits and hyphens.",
)
queue_validator = RegexValidator(
    QUEUE_NAME, "Use lower-case letters, digits, and hyphens or dots between them."
)


class PoolQuotaManager(models.Manager[Any]):
    """Loads each quota with its pool, by whose name it is found."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().select_related("pool")


class DepartmentQuerySet(models.QuerySet["Department"]):
    def open_to(self, user: User, action: str) -> Self:
        """Departments in the whole of which ``user`` may perform ``action``."""
        columns = {"department": "pk", "cluster": "cluster"}
        return self.filter(access.permitted_rows(user, action, **columns))

    def visible_to(self, user: User) -> Self:
        return self.open_to(user, "departments.read")

    def with_total_quota(self) -> Self:
        """Departments with ``total_gpu_quota``, over all node pools."""
        return self.annotate(total_gpu_quota=_total_gpu_quota(DepartmentPoolQuota))


class Department(SchedulingRules, DepartmentQuotaColumns):
    """A group of projects with a common quota, which is that of the node pool ``default``. Without
    ``over_quota`` its projects together never exceed the quota, whatever each of them may do.
    """

    name = models.CharField(max_length=63, validators=[name_validator])
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="departments")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DepartmentQuerySet.as_manager()

    if TYPE_CHECKING:
        projects: RelatedManager["Project"]
        pool_quotas: RelatedManager["DepartmentPoolQuota"]

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="one_department_of_a_name")
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        run_rules(lambda: check_limit(self), lambda: check_rules(self, self.cluster))

    @property
    def scope_keys(self) -> tuple[str, ...]:
        return access.scope_key("department", self.pk), access.scope_key("cluster", self.cluster_id)


#: The columns of project, department and cluster that the plan of a workload needs.
PLAN_COLUMNS = (
    *("name", "cluster", "department", "gpu_quota", "cpu_quota", "memory_quota", "over_quota"),
    *("gpu_limit", "rank", "default_node_pools", "default_queue"),
    *("department__over_quota", "department__gpu_limit"),
    *("department__name", *RULE_COLUMNS, *(f"department__{column}" for column in RULE_COLUMNS)),
    *("cluster__name", "cluster__kind", "cluster__state"),
    *("cluster__gpu_memory", "cluster__has_virtual_gpus"),
    *("cluster__cpu", "cluster__memory", "cluster__gpu_count"),
    *("cluster__capabilities_json", "cluster__settings_json", "cluster__findings_json"),
)


class ProjectQuerySet(models.QuerySet["Project"]):
    def open_to(self, user: User, action: str) -> Self:
        """Projects in which ``user`` may perform ``action``."""
        columns = {"project": "pk", "department": "department", "cluster": "cluster"}
        return self.filter(access.permitted_rows(user, action, **columns))

    def visible_to(self, user: User) -> Self:
        return self.open_to(user, "projects.read")

    def search(self, text: str) -> Self:
        """Projects whose name contains ``part``, sorted by name."""
        return self.filter(name__icontains=text).order_by("name", "pk")

    def for_list(self) -> Self:
        rows = self.select_related("cluster", "department").order_by("name", "pk")
        return rows.prefetch_related("cluster__pools", "pool_quotas")

    def with_total_quota(self) -> Self:
        """Projects with ``total_gpu_quota``, over all node pools."""
        return self.annotate(total_gpu_quota=_total_gpu_quota(ProjectPoolQuota))

    def names_with_default_pool(self, pool: str) -> list[str]:
        """Names of projects with this default node pool."""
        rows = self.exclude(default_node_pools=[]).order_by("name")
        pools_by_name = rows.values_list("name", "default_node_pools")
        return [name for name, pools in pools_by_name if pool in pools]


class Project(SchedulingRules, ProjectQuotaColumns):
    """The unit of quota, access and submission. Its own quota is that of the node pool ``default``.

    ``default_node_pools`` are for workloads that name none, the preferred one first;
    ``default_queue`` is Kueue's LocalQueue for those that name no queue.
    """

    name = models.CharField(max_length=40, validators=[name_validator])
    description = models.CharField(max_length=250, blank=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="projects")
    department = models.ForeignKey(Department, on_delete=models.PROTECT, related_name="projects")
    default_node_pools = models.JSONField("Default node pools", default=list, blank=True)
    default_queue = models.CharField(
        "Default queue", max_length=63, blank=True, validators=[queue_validator]
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ProjectQuerySet.as_manager()

    if TYPE_CHECKING:
        pool_quotas: RelatedManager["ProjectPoolQuota"]

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="one_project_of_a_name")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("project-detail", args=[self.pk])

    def clean(self) -> None:
        problems = {
            "default_node_pools": self._node_pool_problem(),
            "default_queue": self._queue_problem(),
        }
        department = self.department if self.department_id else None
        run_rules(
            lambda: self._raise_problems(problems),
            lambda: check_limit(self),
            lambda: check_rules(self, self.cluster, department),
        )

    def _raise_problems(self, problems: dict[str, str]) -> None:
        found: dict[str, Any] = {field: text for field, text in problems.items() if text}
        if found:
            raise ValidationError(found)

    def _node_pool_problem(self) -> str:
        names = self.default_node_pools
        cluster = self.cluster
        if len(set(names)) < len(names):
            return "Each node pool can be in the list once."
        if len(names) > MAX_POOLS:
            return f"The list can have at most {MAX_POOLS} node pools."
        pool_names = (
            {*cluster.pools.values_list("name", flat=True), DEFAULT_POOL} if names else set()
        )
        missing = name_first_three([name for name in names if name not in pool_names])
        return f"{cluster} has no node pool {missing}. Choose among its own." if missing else ""

    def _queue_problem(self) -> str:
        if not self.default_queue or self.cluster.capabilities.kueue:
            return ""
        return f"{self.cluster} has no Kueue, whose queues start workloads. Leave it empty."

    @property
    def members(self) -> models.QuerySet[User]:
        """The people who have a role in this project itself, sorted by name."""
        rules = AccessRule.objects.in_force().filter(scope=access.scope_key("project", self.pk))
        return access.people_of(rules).order_by("username")

    @property
    def scope_keys(self) -> tuple[str, ...]:
        return (
            access.scope_key("project", self.pk),
            access.scope_key("department", self.department_id),
            access.scope_key("cluster", self.cluster_id),
        )


class ProjectPoolQuota(ProjectQuotaColumns):
    """The quota of a project in a node pool other than the default one."""

    owner = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pool_quotas")
    pool = models.ForeignKey(NodePool, on_delete=models.CASCADE, related_name="project_quotas")

    objects = PoolQuotaManager()

    class Meta:
        ordering = ["pool__name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "pool"], name="one_quota_of_project_and_pool")
        ]

    def __str__(self) -> str:
        return f"{self.owner}, {self.pool}"

    def clean(self) -> None:
        check_limit(self)


class DepartmentPoolQuota(DepartmentQuotaColumns):
    """The quota of a department in a node pool other than the default one."""

    owner = models.ForeignKey(Department, on_delete=models.CASCADE, related_name="pool_quotas")
    pool = models.ForeignKey(NodePool, on_delete=models.CASCADE, related_name="department_quotas")

    objects = PoolQuotaManager()

    class Meta:
        ordering = ["pool__name"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "pool"], name="one_quota_of_department_and_pool"
            )
        ]

    def __str__(self) -> str:
        return f"{self.owner}, {self.pool}"

    def clean(self) -> None:
        check_limit(self)


def _total_gpu_quota(rows: type[ProjectPoolQuota] | type[DepartmentPoolQuota]) -> Combinable:
    """Return an expression for the GPUs that an owner deserves of all node pools."""
    others = rows.objects.filter(owner=models.OuterRef("pk")).order_by().values("owner")
    total = others.annotate(total=models.Sum("gpu_quota")).values("total")
    return models.F("gpu_quota") + Coalesce(models.Subquery(total), 0.0)


def find_submittable_project(pk: int, by: User) -> Project | None:
    """Return the project with the columns that a plan needs; ``None`` if ``by`` may not see it.
    Raises ``PermissionDenied`` if they may see it but not submit to it."""
    projects = Project.objects.select_related("cluster", "department").only(*PLAN_COLUMNS)
    try:
        project = projects.get(pk=pk)
    except Project.DoesNotExist:
        return None
    if access.may(by, "workloads.create", *project.scope_keys):
        return project
    if access.may(by, "projects.read", *project.scope_keys):
        access.require(by, "workloads.create", *project.scope_keys)
    return None
