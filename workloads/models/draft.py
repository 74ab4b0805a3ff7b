"""A workload that is being filled in. It is stored in the database, not in the session, so that a
reload or a crash loses nothing."""

import uuid
from typing import Self

from django.db import models
from django.urls import reverse

from accounts.models import User
from assets.fields import DocumentField
from assets.models import Template
from spec.draft import WorkloadDraft
from spec.formats.documents import order_draft_keys
from spec.formats.stored import document_fault, drop_invalid_parts

UNNAMED = {True: "New template", False: "Unnamed draft"}


class DraftQuerySet(models.QuerySet["Draft"]):
    def visible_to(self, user: User) -> Self:
        """The user's own drafts; nobody else sees a draft."""
        return self.filter(owner=user)


class Draft(models.Model):
    """``document`` is a :class:`spec.draft.WorkloadDraft` as JSON. ``step`` is the last page
    reached (1 to 3). ``touched`` lists the fields the author has left: only these show errors."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="drafts")
    document = DocumentField(WorkloadDraft, default=dict)
    touched = models.JSONField(default=list, blank=True)
    # By open page, when it sent its last change, by its own counter: older ones that arrive late
    # are ignored.
    sent = models.JSONField(default=dict, blank=True)
    # Counts changes of the document; ``writer`` is the open page that made the last one.
    version = models.PositiveIntegerField(default=0)
    writer = models.CharField(max_length=36, blank=True, default="")
    step = models.PositiveSmallIntegerField(default=1)
    template = models.ForeignKey(Template, on_delete=models.SET_NULL, null=True, blank=True)
    # The template that this draft edits; null if the draft is to become a workload.
    edits = models.ForeignKey(
        Template, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    copied_from = models.ForeignKey(
        "workloads.Workload", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DraftQuerySet.as_manager()

    class Meta:
        ordering = ["-updated_at"]

    def __str__(self) -> str:
        if self.edits:
            return f"Template {self.edits.name}"
        return self.content.name or UNNAMED[self.content.is_template]

    def get_absolute_url(self) -> str:
        return reverse("draft-step", args=[self.pk, self.step])

    @property
    def content(self) -> WorkloadDraft:
        """The draft, without parts that current rules can no longer read."""
        return drop_invalid_parts(WorkloadDraft, order_draft_keys(self.document))

    @content.setter
    def content(self, draft: WorkloadDraft) -> None:
        self.document = draft.model_dump(mode="json", by_alias=True)

    @property
    def fault(self) -> str:
        """What in the document current rules can no longer read, in words; empty if nothing."""
        return document_fault(WorkloadDraft, self.document)

    def is_overtaken(self, version: int, *, tab: str) -> bool:
        """Whether another page changed the draft after ``version``, which the page ``tab`` shows. A
        page is not overtaken by its own changes, whose answer may still be under way."""
        return version < self.version and (not tab or tab != self.writer)
