"""The quotas of projects and departments in the node pools of their cluster.

The columns of a project or department are its quota in the pool ``default``. Each other pool can
have a row. Without a row the quota is that of a pool that was just added: no GPUs are deserved,
over-quota is on, and CPU and memory have no limit.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from audit import services as audit
from clusters.models import Cluster
from core.words import name_first_three
from projects.ranks import ranks
from spec.parts.scheduling import DEFAULT_POOL, PriorityClass

if TYPE_CHECKING:
    from projects.models import Department, Project

MIN_WEIGHT = 0.01
MAX_WEIGHT = 1000
DEFAULT_WEIGHT = 1.0
NOT_NEGATIVE = [MinValueValidator(0)]
WEIGHT_LIMITS = [MinValueValidator(MIN_WEIGHT), MaxValueValidator(MAX_WEIGHT)]


class QuotaColumns(models.Model):
    """A quota in one node pool, in cores and bytes. ``gpu_limit`` is the most GPUs that can be
    allocated; without ``over_quota`` that is the quota itself."""

    cpu_quota = models.FloatField("CPU quota", null=True, blank=True, validators=NOT_NEGATIVE)
    memory_quota = models.BigIntegerField(
        "CPU memory quota", null=True, blank=True, validators=NOT_NEGATIVE
    )
    gpu_limit = models.FloatField(
        "Max GPU allocation", null=True, blank=True, validators=NOT_NEGATIVE
    )
    over_quota = models.BooleanField("Over-quota", default=True)

    class Meta:
        abstract = True


class DepartmentQuotaColumns(QuotaColumns):
    """The quota of a department. An empty one is the sum of its projects' quotas, and an empty
    weight that of their weights."""

    gpu_quota = models.FloatField("GPU quota", null=True, blank=True, validators=NOT_NEGATIVE)
    over_quota_weight = models.FloatField(
        "Over-quota weight", null=True, blank=True, validators=WEIGHT_LIMITS
    )

    class Meta:
        abstract = True

    @property
    def has_quota(self) -> bool:
        """Whether any quota is set, instead of the sum of its projects'."""
        return (self.gpu_quota, self.cpu_quota, self.memory_quota) != (None, None, None)


class ProjectQuotaColumns(QuotaColumns):
    """The quota of a project, in which an empty CPU or memory quota is unlimited. Among equal
    claims the higher ``rank`` goes first."""

    gpu_quota = models.FloatField("GPU quota", default=0, validators=NOT_NEGATIVE)
    over_quota_weight = models.FloatField(
        "Over-quota weight", default=DEFAULT_WEIGHT, validators=WEIGHT_LIMITS
    )
    rank = models.CharField(max_length=20, choices=ranks, default=PriorityClass.MEDIUM_LOW)

    class Meta:
        abstract = True


#: Quotas by the name of a node pool, then by column.
PoolQuotas = Mapping[str, Mapping[str, Any]]


def check_limit(row: DepartmentQuotaColumns | ProjectQuotaColumns) -> None:
    """Raise ``ValidationError`` if the most GPUs are fewer than the quota."""
    quota = row.gpu_quota or 0.0
    if row.gpu_limit is not None and row.gpu_limit < quota:
        raise ValidationError({"gpu_limit": f"Enter at least the GPU quota, {quota:g}."})


def pool_names(cluster: Cluster) -> list[str]:
    """Return the names of a cluster's node pools, the default one first."""
    return [DEFAULT_POOL, *(pool.name for pool in cluster.pools.all())]


def project_row(project: "Project", pool: str) -> ProjectQuotaColumns:
    """Return the row with the quota of a project in a pool: the project itself for the default
    pool, else the row of that pool, or an unsaved one."""
    if pool == DEFAULT_POOL:
        return project
    rows = project.pool_quotas.all()
    return next((row for row in rows if row.pool.name == pool), project.pool_quotas.model())


def department_row(department: "Department", pool: str) -> DepartmentQuotaColumns:
    """Like :func:`project_row`, for a department."""
    if pool == DEFAULT_POOL:
        return department
    rows = department.pool_quotas.all()
    return next((row for row in rows if row.pool.name == pool), department.pool_quotas.model())


def quota_row(
    owner: "Project | Department", pool: str
) -> ProjectQuotaColumns | DepartmentQuotaColumns:
    """Like :func:`project_row`, for a project or a department."""
    if isinstance(owner, ProjectQuotaColumns):
        return project_row(owner, pool)
    return department_row(owner, pool)


def set_default_pool(owner: "Project | Department", pool_quotas: PoolQuotas) -> None:
    """Set the columns of the default pool, before ``owner`` is validated and saved."""
    for column, value in pool_quotas.get(DEFAULT_POOL, {}).items():
        setattr(owner, column, value)


def save_other_pools(owner: "Project | Department", pool_quotas: PoolQuotas) -> None:
    """Save the quotas in other pools, by their names and columns. Missing pools and columns do not
    change. ``ValidationError`` names the pools whose quota is wrong."""
    pools = {pool.name: pool for pool in owner.cluster.pools.all()} if pool_quotas else {}
    unknown = [name for name in pool_quotas if name not in {*pools, DEFAULT_POOL}]
    if unknown:
        text = (
            f"{owner.cluster} has no node pool {name_first_three(unknown)}. Choose among its own."
        )
        raise ValidationError({"pool_quotas": text})
    rows = {row.pool.name: row for row in owner.pool_quotas.all()}
    problems: list[str] = []
    for name, columns in pool_quotas.items():
        if name == DEFAULT_POOL:
            continue
        blank = owner.pool_quotas.model(owner_id=owner.pk, pool=pools[name])
        row = rows.get(name, blank)
        before = audit.facts(row)
        for column, value in columns.items():
            setattr(row, column, value)
        if audit.facts(row) == before:
            continue
        try:
            row.full_clean()
        except ValidationError as error:
            problems += _sentences(name, row, error)
            continue
        row.save()
    if problems:
        raise ValidationError({"pool_quotas": problems})


def _sentences(pool: str, row: models.Model, error: ValidationError) -> list[str]:
    """Return each message of a row's error with the names of its pool and column."""
    return [
        f"{pool}, {getattr(row._meta.get_field(column), 'verbose_name', column)}: {message}"
        for column, messages in error.message_dict.items()
        for message in messages
    ]


def pool_facts(owner: "Project | Department") -> dict[str, Any]:
    """Return the quotas in other pools by the name of the pool, for the audit log."""
    facts: dict[str, Any] = {}
    for row in owner.pool_quotas.order_by("pool__name"):  # never those that were prefetched
        columns = audit.facts(row)
        del columns["owner"]
        facts[columns.pop("pool")] = columns
    return facts
