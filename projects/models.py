"""Departments and projects: who works together, and how much of a cluster they may use."""

from typing import TYPE_CHECKING, Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.urls import reverse

from accounts import access
from accounts.models import AccessRule, User
from clusters.models import DEFAULT_POOL, Cluster
from core.words import name_first_three
from projects.ranks import ranks
from projects.rules import RULE_COLUMNS, SchedulingRules, check_rules
from spec.parts.scheduling import MAX_POOLS, PriorityClass
from spec.values.patterns import QUEUE_NAME

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

name_validator = RegexValidator(
    r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
    "Start with a letter; use lower-case letters, digits and hyphens.",
)
queue_validator = RegexValidator(
    QUEUE_NAME, "Use lower-case letters, digits, and hyphens or dots between them."
)


class DepartmentQuerySet(models.QuerySet["Department"]):
    def open_to(self, user: User, action: str) -> Self:
        """Departments in the whole of which ``user`` may perform ``action``."""
        columns = {"department": "pk", "cluster": "cluster"}
        return self.filter(access.permitted_rows(user, action, **columns))

    def visible_to(self, user: User) -> Self:
        return self.open_to(user, "departments.read")


class Department(SchedulingRules):
    """A group of projects with a common quota in GPUs, cores and bytes.

    An empty quota is the sum of the projects' quotas. Without ``over_quota`` its projects together
    never exceed the quota, whatever each of them may do.
    """

    name = models.CharField(max_length=63, validators=[name_validator])
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="departments")
    gpu_quota = models.FloatField(
        "GPU quota", null=True, blank=True, validators=[MinValueValidator(0)]
    )
    cpu_quota = models.FloatField(
        "CPU quota", null=True, blank=True, validators=[MinValueValidator(0)]
    )
    memory_quota = models.BigIntegerField(
        "CPU memory quota", null=True, blank=True, validators=[MinValueValidator(0)]
    )
    over_quota = models.BooleanField("Over-quota", default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DepartmentQuerySet.as_manager()

    if TYPE_CHECKING:
        projects: RelatedManager["Project"]

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="one_department_of_a_name")
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        check_rules(self, self.cluster)

    @property
    def scope_keys(self) -> tuple[str, ...]:
        return access.scope_key("department", self.pk), access.scope_key("cluster", self.cluster_id)

    @property
    def has_quota(self) -> bool:
        """Whether any quota is set, instead of the sum of its projects'."""
        return (self.gpu_quota, self.cpu_quota, self.memory_quota) != (None, None, None)


#: The columns of project, department and cluster that the plan of a workload needs.
PLAN_COLUMNS = (
    *("name", "cluster", "department", "gpu_quota", "cpu_quota", "memory_quota", "over_quota"),
    *("rank", "default_node_pools", "default_queue", "department__over_quota"),
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
        return self.select_related("cluster", "department").order_by("name", "pk")

    def names_with_default_pool(self, pool: str) -> list[str]:
        """Names of projects with this default node pool."""
        rows = self.exclude(default_node_pools=[]).order_by("name")
        pools_by_name = rows.values_list("name", "default_node_pools")
        return [name for name, pools in pools_by_name if pool in pools]


class Project(SchedulingRules):
    """The unit of quota, access and submission.

    ``gpu_quota`` counts GPUs (0.5 is half of one), ``cpu_quota`` cores, ``memory_quota`` bytes; an
    empty CPU or memory quota is unlimited. Among equal claims the higher ``rank`` goes first.
    ``default_node_pools`` are for workloads that name none, the preferred one first;
    ``default_queue`` is Kueue's LocalQueue for those that name no queue.
    """

    name = models.CharField(max_length=40, validators=[name_validator])
    description = models.CharField(max_length=250, blank=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="projects")
    department = models.ForeignKey(Department, on_delete=models.PROTECT, related_name="projects")
    gpu_quota = models.FloatField("GPU quota", default=0, validators=[MinValueValidator(0)])
    cpu_quota = models.FloatField(
        "CPU quota", null=True, blank=True, validators=[MinValueValidator(0)]
    )
    memory_quota = models.BigIntegerField(
        "CPU memory quota", null=True, blank=True, validators=[MinValueValidator(0)]
    )
    over_quota = models.BooleanField("Over-quota", default=True)
    rank = models.CharField(max_length=20, choices=ranks, default=PriorityClass.MEDIUM_LOW)
    default_node_pools = models.JSONField("Default node pools", default=list, blank=True)
    default_queue = models.CharField(
        "Default queue", max_length=63, blank=True, validators=[queue_validator]
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ProjectQuerySet.as_manager()

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
        found: dict[str, Any] = {field: text for field, text in problems.items() if text}
        try:
            check_rules(self, self.cluster, self.department if self.department_id else None)
        except ValidationError as error:
            found = error.update_error_dict(found)
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
