"""The calls about templates, for any kind of workload."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from pydantic import TypeAdapter, ValidationError

from accounts.models import User
from assets import services as assets
from assets.api.info import additional_info
from assets.api.places import scope_from_meta
from assets.api.schemas import FIELDS, AssetMetaIn, ComplianceReason, ReplicaType, WithInfo
from assets.models import Template
from assets.template.kind import TEMPLATE
from core.rest.api import Issue, StrictBody, not_found, refusal_error, translate_errors
from core.rest.filters import filter_queryset, sort_queryset
from projects.api.scopes import AssetScope
from projects.models import Project
from projects.scopes import OwningScope, ScopedQuerySet
from spec.draft import WorkloadDraft
from spec.kind import WorkloadKind
from spec.problems.errors import SpecError
from workloads import services
from workloads.api.template.answers import TemplateList, TemplateOut, TemplatePages, listed_template
from workloads.api.template.bodies import (
    SETUP,
    OnePodTemplateChange,
    OnePodTemplateIn,
    OnePodTemplatePatch,
    TemplateListing,
    TemplateMetaIn,
    TemplateNarrowing,
    WantedTemplateName,
)
from workloads.api.template.setup import (
    Setup,
    apply_merge_patch,
    draft_of,
    field_of,
    remove_path,
    setup_issues,
    setup_of,
)
from workloads.plan import find_broken_rules

KIND_COLUMN = "draft_json__kind"
REFUSED = "The template cannot be saved."
SAME_AS_WORKER = "masterSpecSameAsWorker"
#: The part of a template that is not about a kind of pod.
OTHER_ROLES = {ReplicaType.WORKER: "master", ReplicaType.MASTER: "worker"}
IDS: dict[AssetScope, tuple[str, TypeAdapter[Any]]] = {
    AssetScope.CLUSTER: ("cluster_id", TypeAdapter(UUID)),
    AssetScope.DEPARTMENT: ("department_id", TypeAdapter(int)),
    AssetScope.PROJECT: ("project_id", TypeAdapter(int)),
}


@dataclass(frozen=True)
class TemplateCalls:
    """The calls of one path: for one kind of workload, or for all."""

    kind: WorkloadKind | None = None

    def rows(self, user: User) -> ScopedQuerySet[Template]:
        """Return the templates of this kind that the user sees. Rows without a kind are distributed
        trainings, which were once the only kind."""
        rows = TEMPLATE.rows.visible_to(user).select_related("created_by", "updated_by")
        if self.kind is None:
            return rows
        is_of_kind = Q(**{KIND_COLUMN: self.kind.value})
        if self.kind is WorkloadKind.DISTRIBUTED:
            is_of_kind |= Q(**{f"{KIND_COLUMN}__isnull": True})
        return rows.filter(is_of_kind)

    def filtered_rows(self, narrowing: TemplateNarrowing, user: User) -> ScopedQuerySet[Template]:
        rows = filter_queryset(self.rows(user), narrowing.filter_by, FIELDS)
        return rows.search(narrowing.search) if narrowing.search else rows

    def list_page(self, listing: TemplateListing, user: User) -> TemplateList:
        rows = sort_queryset(self.filtered_rows(listing, user), listing, FIELDS)
        page, following = listing.cut(rows)
        asked = WithInfo(comply_to_project=listing.comply_to_project)
        info = additional_info(TEMPLATE, page, user, asked)
        entries = []
        for template in page:
            compliance = info[template.pk].get("compliance")
            reasons = None
            if compliance:
                reasons = [*compliance.reason, *_policy_reasons(template, listing, user)]
            entries.append(listed_template(template, reasons))
        return TemplateList(
            entries=entries,
            pagination=TemplatePages(
                limit=listing.limit, offset=listing.offset, next_offset=following
            ),
        )

    def find(self, pk: UUID, user: User) -> Template:
        template = self.rows(user).filter(pk=pk).first()
        if template is None:
            raise not_found("The template")
        return template

    def read(self, pk: UUID, user: User) -> TemplateOut:
        return TemplateOut.of(self.find(pk, user))

    def create(self, body: OnePodTemplateIn, user: User) -> TemplateOut:
        """Create a template. Raises ``ApiError`` 400 with every problem."""
        place, issues = find_place(body.meta, user)
        setup = _setup_in_body(body)
        draft, more = self._draft(setup, user)
        issues += more
        if place is None:
            raise refusal_error(REFUSED, issues)
        with _report_issues(issues):
            template = services.save_template(
                draft,
                name=body.meta.name,
                description=body.meta.description or "",
                place=place,
                by=user,
            )
        return self.read(template.pk, user)

    def update(self, pk: UUID, body: OnePodTemplateChange, user: User) -> TemplateOut:
        """Replace the setup, if any of it is given. Raises ``ApiError`` 404 or 400."""
        template = self.find(pk, user)
        setup = _setup_in_body(body)
        return self._save(template, body, setup if setup else None, user)

    def patch(self, pk: UUID, body: OnePodTemplatePatch, user: User) -> TemplateOut:
        """Merge the given fields into the setup, then clear some. Raises ``ApiError`` 404
        or 400."""
        template = self.find(pk, user)
        new = _setup_in_body(body)
        old = setup_of(template.draft)
        if new.get(SAME_AS_WORKER) and "master" not in new:
            old.pop("master", None)
        setup = apply_merge_patch(old, new)
        for path in body.fields_to_clear or ():
            setup = remove_path(setup, path)
        return self._save(template, body, setup, user)

    def delete(self, pk: UUID, user: User) -> None:
        """Delete a template. Raises ``ApiError`` 404, or 409 if it is in use."""
        template = self.find(pk, user)
        with translate_errors(""):
            assets.delete(TEMPLATE, template, by=user)

    def _save(
        self, template: Template, body: OnePodTemplateChange, setup: Setup | None, user: User
    ) -> TemplateOut:
        draft, issues = (None, []) if setup is None else self._draft(setup, user)
        with _report_issues(issues):
            name = body.meta.name
            description = body.meta.description
            services.update_template(template, draft, by=user, name=name, description=description)
        return self.read(template.pk, user)

    def _draft(self, setup: Setup, user: User) -> tuple[WorkloadDraft, list[Issue]]:
        kind = self.kind or WorkloadKind.DISTRIBUTED
        issues = list(_contradictions(setup))
        draft = draft_of(setup, kind)
        return draft, [*issues, *([] if issues else setup_issues(setup, draft, user))]


def is_name_free(wanted: WantedTemplateName, user: User) -> bool:
    """Whether a new template in this scope can have the name."""
    meta = TemplateMetaIn.model_validate(
        {"name": wanted.template_name, "scopeType": wanted.scope_type, "scopeId": wanted.scope_id}
    )
    place, issues = find_place(meta, user)
    if place is None:
        raise refusal_error("The name cannot be judged.", issues)
    name = wanted.template_name.strip()
    return bool(name) and not TEMPLATE.rows.named(name, place).exists()


def _policy_reasons(
    template: Template, listing: TemplateListing, user: User
) -> Iterator[ComplianceReason]:
    """Yield the rules that the template's values break in the project of the listing. What they
    leave out is filled in later."""
    project = (
        Project.objects.visible_to(user)
        .select_related("cluster")
        .get(pk=listing.comply_to_project or 0)
    )
    draft = template.draft
    replica_type = listing.comply_to_replica_type
    other_role = OTHER_ROLES[replica_type] if replica_type else ""
    for problem in find_broken_rules(draft, project, by=user):
        if problem.path[0] != other_role:
            yield ComplianceReason(
                field=field_of(problem, setup_of(draft)),
                details=problem.message,
                rule=problem.rule,
                source=problem.source,
            )


def find_place(meta: TemplateMetaIn, user: User) -> tuple[OwningScope | None, list[Issue]]:
    """Return the place that a scope and its id name, or the problems with them."""
    scope_id = {}
    if meta.scope_type in IDS and meta.scope_id is not None:
        column, kind = IDS[meta.scope_type]
        try:
            scope_id[column] = kind.validate_python(meta.scope_id)
        except ValidationError:
            details = f"is not the ID of a {meta.scope_type} you have access to"
            return None, [Issue(field="meta.scopeId", details=details)]
    asset_meta = AssetMetaIn.model_construct(name=meta.name, scope=meta.scope_type, **scope_id)
    place, issues = scope_from_meta(asset_meta, user)
    return place, [it.model_copy(update={"field": "meta.scopeId"}) for it in issues]


def _setup_in_body(body: StrictBody) -> Setup:
    """Return the setup in a request, without fields that are null."""
    document = body.model_dump(mode="json", by_alias=True, exclude_unset=True, include=set(SETUP))
    return {key: value for key, value in document.items() if value is not None}


def _contradictions(setup: Setup) -> Iterator[Issue]:
    is_same = setup.get(SAME_AS_WORKER)
    has_master = setup.get("master") is not None
    if has_master and setup.get("noMaster"):
        yield Issue(field="master", details="leave it out when noMaster is true")
    elif has_master and is_same:
        yield Issue(field="master", details=f"leave it out when {SAME_AS_WORKER} is true")
    elif is_same is False and not (has_master or setup.get("noMaster")):
        details = f"is required when {SAME_AS_WORKER} is false"
        yield Issue(field="master", details=details, rule="required")


@contextmanager
def _report_issues(issues: list[Issue]) -> Iterator[None]:
    """Report the problems of a change together with ``wrong``, which were found before. If there
    are any, the change is rolled back."""
    try:
        with translate_errors(REFUSED), transaction.atomic():
            yield
            if issues:
                raise SpecError(())
    except SpecError as error:
        later_issues = [
            Issue(field=f"meta.{'.'.join(map(str, it.path))}", details=it.message, rule=it.rule)
            for it in error.problems
        ]
        raise refusal_error(REFUSED, [*issues, *later_issues]) from error
