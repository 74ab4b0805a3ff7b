"""Where an asset may be used: in a whole cluster, a department, or one project."""

from dataclasses import dataclass
from typing import Self, TypeVar

from django.db import models
from django.db.models import Q

from accounts.models import User
from clusters.models import Cluster
from projects.models import Department, Project


class Scope(models.TextChoices):
    CLUSTER = "cluster", "Cluster"
    DEPARTMENT = "department", "Department"
    PROJECT = "project", "Project"


M = TypeVar("M", bound=models.Model)
Holder = Cluster | Department | Project


@dataclass(frozen=True)
class Place:
    """Where an asset belongs: ``holder`` is a Cluster, a Department or a Project."""

    holder: Holder

    @classmethod
    def of(cls, asset: "Scoped") -> Self:
        """Where an asset that exists belongs."""
        return cls(getattr(asset, asset.scope))

    @property
    def scope(self) -> Scope:
        return Scope(type(self.holder).__name__.lower())

    @property
    def cluster(self) -> Cluster:
        return self.holder if isinstance(self.holder, Cluster) else self.holder.cluster

    def open_to(self, user: User) -> bool:
        """Administrators make assets anywhere, researchers in their projects."""
        if user.is_administrator:
            return True
        return isinstance(self.holder, Project) and self.holder.members.contains(user)

    def __str__(self) -> str:
        return f"{self.scope.label} {self.holder}"


class ScopedQuerySet(models.QuerySet[M]):
    """Questions that every kind of asset answers alike."""

    def visible_to(self, user: User) -> Self:
        """Assets whose scope holds a project of the user; administrators see all."""
        if user.is_administrator:
            return self
        mine = Project.objects.filter(members=user)
        return self.filter(
            Q(scope=Scope.PROJECT, project__in=mine)
            | Q(scope=Scope.DEPARTMENT, department__in=mine.values("department"))
            | Q(scope=Scope.CLUSTER, cluster__in=mine.values("cluster"))
        )

    def usable_in(self, project: Project) -> Self:
        """Assets whose scope holds this project."""
        return self.filter(
            Q(scope=Scope.PROJECT, project=project)
            | Q(scope=Scope.DEPARTMENT, department=project.department_id)
            | Q(scope=Scope.CLUSTER, cluster=project.cluster_id)
        )

    def editable_by(self, user: User) -> Self:
        """Administrators edit everything; researchers what belongs to one of their projects."""
        if user.is_administrator:
            return self
        return self.filter(scope=Scope.PROJECT, project__members=user)

    def search(self, text: str) -> Self:
        return self.filter(Q(name__icontains=text) | Q(description__icontains=text))


def scope_constraints(kind: str) -> list[models.BaseConstraint]:
    """A name is unique within its scope, and a scope names exactly what it needs."""
    return [
        models.UniqueConstraint(
            fields=[scope, "name"], condition=Q(scope=scope), name=f"{kind}_name_in_{scope}"
        )
        for scope in Scope.values
    ]


class Scoped(models.Model):
    """The cluster is always set; the department or project when the scope says so."""

    scope = models.CharField(max_length=20, choices=Scope.choices, default=Scope.PROJECT)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="%(class)ss")
    department = models.ForeignKey(
        Department, on_delete=models.CASCADE, null=True, blank=True, related_name="%(class)ss"
    )
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, blank=True, related_name="%(class)ss"
    )

    class Meta:
        abstract = True

    @property
    def scope_name(self) -> str:
        """What the scope is called, such as ``Project team-a``."""
        return f"{Scope(self.scope).label} {getattr(self, self.scope)}"

    def put(self, place: Place) -> None:
        """Give the asset to a cluster, a department or a project."""
        self.scope, self.cluster, holder = place.scope, place.cluster, place.holder
        self.department = holder if isinstance(holder, Department) else None
        self.project = holder if isinstance(holder, Project) else None
