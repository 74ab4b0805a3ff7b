"""The models of a policy and of its versions."""

import uuid
from collections.abc import Iterable
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.urls import reverse

from accounts.models import User
from core.database.choices import Choices, values_of
from policies.masks import mask_rules
from policies.rules import Enforcement, Rule, RuleSource, settle
from policies.tree import write_tree
from projects.models import Department, Project
from projects.scopes import OwningScope, Scope, Scoped, scopes_including, visible_scopes
from spec.formats.documents import Document
from spec.kind import WorkloadKind


def workload_kinds() -> Choices:
    return values_of(WorkloadKind)


class PolicyQuerySet(models.QuerySet["Policy"]):
    def visible_to(self, user: User) -> Self:
        """Policies of the scopes that the user may see, and those that apply there."""
        return self.filter(visible_scopes(user, self.model.permission("read")))

    def of_scope(self, scope: OwningScope) -> Self:
        """Policies that belong to exactly this scope."""
        rows = self.filter(scope=scope.kind)
        return rows.filter(**{scope.kind: scope.holder}) if scope.holder else rows

    def applying_to(self, project: Project) -> Self:
        """Policies whose scope includes a project."""
        return self.filter(scopes_including(project.pk, project.department_id, project.cluster_id))

    def of_branch(self, scope: OwningScope) -> Self:
        """Policies of a scope and of those that contain it."""
        holder = scope.holder
        if isinstance(holder, Project):
            return self.applying_to(holder)
        condition = Q(scope=Scope.ACCOUNT)
        if scope.cluster:
            condition |= Q(scope=Scope.CLUSTER, cluster=scope.cluster)
        if isinstance(holder, Department):
            condition |= Q(scope=Scope.DEPARTMENT, department=holder)
        return self.filter(condition)

    def widest_first(self) -> list["Policy"]:
        return widest_first(self.select_related("cluster", "department", "project"))


class Policy(Scoped):
    """The rules of one scope for workloads of one kind. A scope has at most one policy a kind.

    ``rules_json`` is the list of rules, without whose they are.
    """

    RESOURCE = "policies"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=63)
    kind = models.CharField(max_length=20, choices=workload_kinds)
    rules_json = models.JSONField(default=list)
    version = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    updated_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = PolicyQuerySet.as_manager()

    class Meta:
        verbose_name = "policy"
        verbose_name_plural = "policies"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind"] if scope == Scope.ACCOUNT else [scope, "kind"],
                condition=Q(scope=scope),
                name=f"one_policy_of_a_{scope}",
            )
            for scope in Scope.values
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("policy-detail", args=[self.pk])

    @property
    def owning_scope(self) -> OwningScope:
        return OwningScope.from_asset(self)

    @property
    def kind_label(self) -> str:
        return WorkloadKind(self.kind).label

    @property
    def source(self) -> RuleSource:
        """What its rules say about whose they are: ``policy limits of Department vision``."""
        scope = self.owning_scope
        owner = "the account" if scope.holder is None else str(scope)
        return RuleSource(f"policy {self.name} of {owner}", scope.key)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return load_rules(self.rules_json, self.source)

    @property
    def masked_rules(self) -> tuple[Rule, ...]:
        """Its rules, without values that look secret."""
        return mask_rules(self.rules)

    @property
    def tree(self) -> Document:
        """Its masked rules in Run:ai's form."""
        return write_tree(self.masked_rules, WorkloadKind(self.kind))


class PolicyVersion(models.Model):
    """The rules of a policy after a change. ``number`` counts from 1."""

    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    rules_json = models.JSONField(default=list)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["policy", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["policy", "number"], name="one_policy_version_a_number")
        ]

    def __str__(self) -> str:
        return f"version {self.number}"

    @property
    def tree(self) -> Document:
        rules = mask_rules(load_rules(self.rules_json))
        return write_tree(rules, WorkloadKind(self.policy.kind))


def dump_rules(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Return rules as they are stored."""
    return [
        {
            "field": rule.field,
            "enforcement": rule.enforcement.value,
            "value": rule.value,
            **({"mayOverride": True} if rule.may_override else {}),
            **({"why": rule.why} if rule.why else {}),
        }
        for rule in rules
    ]


def load_rules(
    stored: Iterable[dict[str, Any]], source: RuleSource | None = None
) -> tuple[Rule, ...]:
    return tuple(
        Rule(
            row["field"],
            Enforcement(row["enforcement"]),
            row["value"],
            may_override=row.get("mayOverride", False),
            why=row.get("why", ""),
            source=source or RuleSource(),
        )
        for row in stored
    )


def widest_first(policies: Iterable[Policy]) -> list[Policy]:
    order = list(Scope)
    return sorted(policies, key=lambda policy: order.index(Scope(policy.scope)))


def find_rules(
    project: Project, kind: WorkloadKind, *, edited: Policy | None = None
) -> tuple[Rule, ...]:
    """Return the rules that hold for workloads of a kind in a project. An ``edited`` policy, which
    need not be saved, replaces the stored one of its scope."""
    policies = Policy.objects.applying_to(project).filter(kind=kind).widest_first()
    if edited:
        others = [it for it in policies if it.owning_scope.key != edited.owning_scope.key]
        policies = widest_first([*others, edited])
    return settle(rule for policy in policies for rule in policy.rules)
