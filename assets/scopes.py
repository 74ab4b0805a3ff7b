"""Where an asset may be used: in a whole cluster, a department, or one project."""

from typing import Any, Self, TypeVar

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

    def place(self, scope: str, holder: Any) -> None:
        """Move the asset to ``holder``: a Cluster, Department or Project, as ``scope`` says."""
        self.scope = scope
        self.cluster = holder if scope == Scope.CLUSTER else holder.cluster
        self.department = holder if scope == Scope.DEPARTMENT else None
        self.project = holder if scope == Scope.PROJECT else None
