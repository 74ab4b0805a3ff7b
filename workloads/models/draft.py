"""A workload in the making. It lives here, not in the session: reload and crash lose nothing."""

import uuid
from typing import Self

from django.db import models
from django.urls import reverse

from accounts.models import User
from assets.models import Template
from spec.draft import WorkloadDraft


class DraftQuerySet(models.QuerySet["Draft"]):
    def visible_to(self, user: User) -> Self:
        """A draft is its author's alone."""
        return self.filter(owner=user)


class Draft(models.Model):
    """``document`` is a :class:`spec.draft.WorkloadDraft`; ``step`` the page last reached (1-3).

    ``touched`` lists the fields the author has left, the only ones that show what is wrong.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="drafts")
    document = models.JSONField(default=dict)
    touched = models.JSONField(default=list, blank=True)
    # Of each open page, when what it sent last was sent, by its own count.
    sent = models.JSONField(default=dict, blank=True)
    step = models.PositiveSmallIntegerField(default=1)
    template = models.ForeignKey(Template, on_delete=models.SET_NULL, null=True, blank=True)
    copied_from = models.ForeignKey(
        "workloads.Workload", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DraftQuerySet.as_manager()

    class Meta:
        ordering = ["-updated_at"]

    def __str__(self) -> str:
        return self.content.name or "Unnamed draft"

    def get_absolute_url(self) -> str:
        return reverse("draft-step", args=[self.pk, self.step])

    @property
    def content(self) -> WorkloadDraft:
        return WorkloadDraft.model_validate(self.document)

    @content.setter
    def content(self, draft: WorkloadDraft) -> None:
        self.document = draft.model_dump(mode="json", by_alias=True)
