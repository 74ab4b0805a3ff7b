"""Scopes: an asset can be used in the whole account, a cluster, a department, or a project.

Here are the columns of a scope, the queries that respect it, and the options of its form field.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID

from django.db import models
from django.db.models import Q

from accounts import access
from accounts.models import User
from clusters.models import Cluster
from core.database.choices import Choices
from core.forms.field import Option
from core.web.query import parse_number, parse_uuids
from projects.models import Department, Project


class Scope(models.TextChoices):
    ACCOUNT = "account", "Account"
    CLUSTER = "cluster", "Cluster"
    DEPARTMENT = "department", "Department"
    PROJECT = "project", "Project"


def scope_choices() -> Choices:
    return Scope.choices


ONLY_YOU = "Only you"  # the label of the scope of personal assets
ME = "me"  # the value of that scope in the scope field
EVERY_CLUSTER = "All clusters"
M = TypeVar("M", bound="Scoped")
Holder = Cluster | Department | Project


@dataclass(frozen=True)
class OwningScope:
    """The scope that an asset belongs to.

    ``holder`` is a cluster, department or project. Without a holder the asset belongs to the whole
    account, or to its ``owner`` alone, who can use it everywhere.
    """

    holder: Holder | None = None
    owner: User | None = None

    @classmethod
    def from_asset(cls, asset: "Scoped") -> Self:
        """The scope of an existing asset."""
        if asset.scope == Scope.ACCOUNT:
            return cls(owner=getattr(asset, "owner", None))
        return cls(getattr(asset, asset.scope))

    @property
    def kind(self) -> Scope:
        return Scope(type(self.holder).__name__.lower()) if self.holder else Scope.ACCOUNT

    @property
    def cluster(self) -> Cluster | None:
        if self.holder is None or isinstance(self.holder, Cluster):
            return self.holder
        return self.holder.cluster

    @property
    def scope_keys(self) -> tuple[str, ...]:
        return self.holder.scope_keys if self.holder else ()

    @property
    def key(self) -> str:
        """The value of the scope field: ``account``, ``project:7``, or ``me``."""
        if self.owner:
            return ME
        return f"{self.kind}:{self.holder.pk}" if self.holder else self.kind.value

    @property
    def cluster_key(self) -> str:
        """The value of the cluster field."""
        return str(self.cluster.pk) if self.cluster else self.kind.value

    def is_open_to(self, user: User, action: str) -> bool:
        """Whether ``user`` may perform ``action`` on assets of this scope."""
        if self.owner:
            return self.owner == user and access.may_with_own(user, action)
        return access.may(user, action, *self.scope_keys)

    def __str__(self) -> str:
        if self.owner:
            return ONLY_YOU
        return f"{self.kind.label} {self.holder}" if self.holder else self.kind.label


def scopes_open_to(user: User, action: str) -> dict[str, OwningScope]:
    """Return the scopes where the user may perform ``action``, by the value of the scope field."""
    holders: list[Holder | None] = [
        *Cluster.objects.open_to(user, action),
        *Department.objects.open_to(user, action).select_related("cluster"),
        *Project.objects.open_to(user, action).for_list(),
        *([None] if access.may(user, action) else []),
    ]
    return {scope.key: scope for scope in map(OwningScope, holders)}


def find_scope(key: str) -> OwningScope | None:
    """Return the scope with this key, such as ``account`` or ``project:3``; ``None`` if there is
    none."""
    return find_scopes([key]).get(key)


def find_scopes(keys: Collection[str]) -> dict[str, OwningScope]:
    """Return the scopes with these keys, as far as they exist, by key."""
    scopes = {access.ACCOUNT: OwningScope()} if access.ACCOUNT in keys else {}
    rows: dict[Scope, models.QuerySet[Any]] = {
        Scope.CLUSTER: Cluster.objects.all(),
        Scope.DEPARTMENT: Department.objects.select_related("cluster"),
        Scope.PROJECT: Project.objects.for_list(),
    }
    for kind, among in rows.items():
        ids = [key.partition(":")[2] for key in keys if key.startswith(f"{kind}:")]
        valid = parse_uuids(ids) if kind == Scope.CLUSTER else filter(None, map(parse_number, ids))
        found = among.filter(pk__in=list(valid)) if ids else ()
        scopes |= {access.scope_key(kind, row.pk): OwningScope(row) for row in found}
    return scopes


def scope_options(scopes: dict[str, OwningScope], cluster: str) -> list[tuple[str, list[Option]]]:
    """Return the options of the scope field by heading. ``cluster`` is the value of the cluster
    field, which limits them unless it is empty."""
    groups: dict[str, list[Option]] = {}
    clusters = {scope.cluster.pk for scope in scopes.values() if scope.cluster}
    has_several_clusters = len(clusters) > 1 and not cluster
    for value, scope in scopes.items():
        if cluster and not scope.owner and scope.cluster_key != cluster:
            continue
        label = str(scope) if scope.owner else Scope(scope.kind).label
        heading = f"{scope.cluster} · {label}" if has_several_clusters and scope.cluster else label
        groups.setdefault(heading, []).append((value, str(scope)))
    return list(groups.items())


def visible_scopes(user: User, action: str) -> Q:
    """Return a filter for what belongs to a scope where a user may perform an action, to one that
    contains such a scope, or to the account."""
    if access.may(user, action):
        return Q()
    clusters = Cluster.objects.open_to(user, action)
    departments = Department.objects.open_to(user, action)
    projects = Project.objects.open_to(user, action)
    in_department = Q(department__in=departments) | Q(department__in=projects.values("department"))
    in_cluster = (
        Q(cluster__in=clusters)
        | Q(cluster__in=departments.values("cluster"))
        | Q(cluster__in=projects.values("cluster"))
    )
    return (
        Q(scope=Scope.PROJECT, project__in=projects)
        | Q(in_department, scope=Scope.DEPARTMENT)
        | Q(in_cluster, scope=Scope.CLUSTER)
        | (Q(scope=Scope.ACCOUNT) if access.may_anywhere(user, action) else Q(pk__in=[]))
    )


def editable_scopes(user: User, action: str) -> Q:
    """Return the filter of :meth:`ScopedQuerySet.editable_by`."""
    if access.may(user, action):
        return Q()
    return (
        Q(scope=Scope.PROJECT, project__in=Project.objects.open_to(user, action))
        | Q(scope=Scope.DEPARTMENT, department__in=Department.objects.open_to(user, action))
        | Q(scope=Scope.CLUSTER, cluster__in=Cluster.objects.open_to(user, action))
    )


def scopes_including(project: int, department: int, cluster: UUID) -> Q:
    """Return a filter for scopes that include a project of this department and cluster."""
    return (
        Q(scope=Scope.PROJECT, project=project)
        | Q(scope=Scope.DEPARTMENT, department=department)
        | Q(scope=Scope.CLUSTER, cluster=cluster)
        | Q(scope=Scope.ACCOUNT)
    )


class ScopedQuerySet(models.QuerySet[M]):
    """The queries that all kinds of assets share."""

    def visible_to(self, user: User) -> Self:
        """Assets whose scope is, contains, or is in one in which the user may see such assets."""
        return self.filter(visible_scopes(user, self.model.permission("read")))

    def usable_in(self, project: Project) -> Self:
        """Assets whose scope includes this project."""
        return self.filter(scopes_including(project.pk, project.department_id, project.cluster_id))

    def usable_at(self, scope: OwningScope) -> Self:
        """Assets whose scope includes this scope, so that an asset of this scope can use them."""
        holder = scope.holder
        if isinstance(holder, Project):
            return self.usable_in(holder)
        condition = Q(scope=Scope.ACCOUNT)
        if isinstance(holder, Department):
            condition |= Q(scope=Scope.DEPARTMENT, department=holder)
        if scope.cluster:
            condition |= Q(scope=Scope.CLUSTER, cluster=scope.cluster)
        return self.filter(condition)

    def editable_by(self, user: User, action: str = "update") -> Self:
        """Assets whose own scope allows the user ``action``. An asset of a wider scope is visible
        in a project, but not editable there."""
        return self.filter(editable_scopes(user, self.model.permission(action)))

    def named(self, name: str, scope: OwningScope) -> Self:
        """The asset with this name in a scope: at most one. A kind with personal assets also
        filters by their owner."""
        rows = self.filter(name=name, scope=scope.kind)
        return rows.filter(**{scope.kind: scope.holder}) if scope.holder else rows

    def search(self, text: str) -> Self:
        return self.filter(Q(name__icontains=text) | Q(description__icontains=text))


def scope_constraints(kind: str, shared: Q | None = None) -> list[models.BaseConstraint]:
    """Return the constraints of a kind: a name is unique within its scope, and exactly the
    account-wide assets have no cluster. ``shared`` filters out personal assets, if the kind has
    any."""
    is_account_wide = Q(scope=Scope.ACCOUNT) & shared if shared else Q(scope=Scope.ACCOUNT)
    unique_names = [
        models.UniqueConstraint(
            fields=["name"] if scope == Scope.ACCOUNT else [scope, "name"],
            condition=is_account_wide if scope == Scope.ACCOUNT else Q(scope=scope),
            name=f"{kind}_name_in_{scope}",
        )
        for scope in Scope.values
    ]
    has_matching_cluster = Q(scope=Scope.ACCOUNT, cluster=None) | ~Q(scope=Scope.ACCOUNT) & ~Q(
        cluster=None
    )
    return [
        *unique_names,
        models.CheckConstraint(condition=has_matching_cluster, name=f"{kind}_in_a_cluster"),
    ]


class Scoped(models.Model):
    """Columns of a scope. ``cluster`` is set unless the scope is the account; ``department`` or
    ``project`` is set if the scope is one."""

    #: The resource of its permissions, as ``accounts.permissions`` names it.
    RESOURCE: ClassVar[str]

    scope = models.CharField(max_length=20, choices=scope_choices, default=Scope.PROJECT)
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, null=True, blank=True, related_name="%(class)ss"
    )
    department = models.ForeignKey(
        Department, on_delete=models.CASCADE, null=True, blank=True, related_name="%(class)ss"
    )
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, blank=True, related_name="%(class)ss"
    )

    class Meta:
        abstract = True

    @classmethod
    def permission(cls, action: str) -> str:
        """Return the permission for an action, such as ``environments.create``."""
        return f"{cls.RESOURCE}.{action}"

    def includes(self, project: Project) -> bool:
        """Whether the scope includes a project: :func:`scopes_including` for a row at hand."""
        match self.scope:
            case Scope.CLUSTER:
                return self.cluster_id == project.cluster_id
            case Scope.DEPARTMENT:
                return self.department_id == project.department_id
            case Scope.PROJECT:
                return self.project_id == project.pk
        return True

    @property
    def scope_name(self) -> str:
        """The scope's name: ``Project team-a``, ``Account``."""
        return str(OwningScope.from_asset(self))

    def set_scope(self, scope: OwningScope) -> None:
        """Set the columns of the scope, without saving."""
        self.scope = scope.kind
        self.cluster = scope.cluster
        holder = scope.holder
        self.department = holder if isinstance(holder, Department) else None
        self.project = holder if isinstance(holder, Project) else None
