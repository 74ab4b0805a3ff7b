"""Answers about templates. Names are those of Run:ai's objects."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from assets.api.schemas import SCOPE_WORDS, AssetScope, ComplianceReason
from assets.models import Template
from core.rest.api import TENANT, Wire
from spec.draft import FieldRule
from spec.formats import documents
from spec.kind import WorkloadKind
from workloads.api.bodies import MountedIn
from workloads.api.spec_schemas import spec_of
from workloads.api.template.setup import kind_of, setup_of
from workloads.api.words import MasterDocument, TypeWord

AnyDocument = Annotated[dict[str, Any], spec_of(*WorkloadKind)]


class TemplateMeta(Wire):
    """``scopeId`` is the id of the cluster, department or project; 1 for the scope ``tenant``."""

    id: UUID
    name: str
    description: str | None
    workload_type: TypeWord
    scope_type: AssetScope
    scope_id: str
    cluster_id: UUID | None
    department_id: str | None
    project_id: int | None
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime


class ChosenOut(Wire):
    environment: UUID | None = None
    compute: UUID | None = None
    data_sources: list[MountedIn] = []


class TemplateMaster(Wire):
    spec: MasterDocument
    assets: ChosenOut | None


class TemplateRule(Wire):
    """``field`` is a path in a workload's draft, such as ``worker.image``."""

    field: str
    locked: bool
    required: bool
    hidden: bool
    why: str


class TemplateOut(Wire):
    """The values of the template, without defaults. For workloads of one pod
    ``masterSpecSameAsWorker``, ``master`` and ``noMaster`` are null. ``rules`` are set in the
    wizard."""

    meta: TemplateMeta
    spec: AnyDocument
    assets: ChosenOut | None
    master_spec_same_as_worker: bool | None = None
    master: TemplateMaster | None = None
    no_master: bool | None = None
    rules: list[TemplateRule]

    @classmethod
    def of(cls, template: Template) -> "TemplateOut":
        return cls(**_facts(template))


class ListedTemplate(TemplateOut):
    """``complianceIssues`` say why a workload of the project ``complyToProject`` cannot start from
    the template. Null if no project was named."""

    compliance_issues: list[ComplianceReason] | None


class TemplatePages(Wire):
    """``nextOffset`` is null on the last page."""

    limit: int
    offset: int
    next_offset: int | None


class TemplateList(Wire):
    entries: list[ListedTemplate]
    pagination: TemplatePages


def listed(template: Template, reasons: list[ComplianceReason] | None) -> ListedTemplate:
    return ListedTemplate(**_facts(template), compliance_issues=reasons)


def _facts(template: Template) -> dict[str, Any]:
    draft = template.draft
    setup = documents.masked(setup_of(draft))
    whole: dict[str, Any] = {"spec": setup["spec"], "assets": setup["assets"]}
    if draft.is_gang:
        whole["no_master"] = setup["noMaster"]
        whole["master"] = setup["master"]
        whole["master_spec_same_as_worker"] = not (setup["master"] or setup["noMaster"])
    rules = [_rule(rule) for rule in draft.rules or ()]
    return {"meta": _meta(template, kind_of(draft)), "rules": rules, **whole}


def _rule(rule: FieldRule) -> TemplateRule:
    return TemplateRule(**rule.model_dump())


def _meta(template: Template, kind: WorkloadKind) -> TemplateMeta:
    """The template's metadata. A template also has the ids of the wider scopes that contain its
    own, so the scope's id is the narrowest one."""
    holders = (template.project_id, template.department_id, template.cluster_id, TENANT)
    return TemplateMeta(
        id=template.pk,
        name=template.name,
        description=template.description or None,
        workload_type=kind.traits.type,
        scope_type=AssetScope(SCOPE_WORDS[template.scope]),
        scope_id=str(next(pk for pk in holders if pk is not None)),
        cluster_id=template.cluster_id,
        department_id=None if template.department_id is None else str(template.department_id),
        project_id=template.project_id,
        created_by=template.created_by.username if template.created_by else "",
        created_at=template.created_at,
        updated_by=template.updated_by.username if template.updated_by else "",
        updated_at=template.updated_at,
    )
