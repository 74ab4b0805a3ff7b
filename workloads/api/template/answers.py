"""Answers about templates. Names are those of Run:ai's objects."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from assets.api.schemas import ComplianceReason
from assets.models import Template
from core.rest.api import TENANT, Wire
from projects.api.scopes import SCOPE_WORDS, AssetScope
from spec.draft import FieldRule
from spec.formats import documents
from spec.kind import WorkloadKind
from workloads.api.bodies import MountedIn
from workloads.api.spec_schemas import spec_schema
from workloads.api.template.setup import kind_of, setup_of
from workloads.api.words import MasterDocument, TypeWord

AnyDocument = Annotated[dict[str, Any], spec_schema(*WorkloadKind)]


class TemplateMeta(Wire):
    """``scopeId`` is the id of the cluster, department or project; 1 for the scope ``tenant``."""

    id: UUID = Field(description="Its ID")
    name: str = Field(description="The name")
    description: str | None = Field(description="A description for people")
    workload_type: TypeWord = Field(description="The kind of workload that it is about")
    scope_type: AssetScope = Field(
        description="Where it belongs; tenant is the account with all clusters"
    )
    scope_id: str = Field(
        description="The ID of the cluster, department or project; 1 for the scope tenant"
    )
    cluster_id: UUID | None = Field(description="The ID of the cluster")
    department_id: str | None = Field(description="The ID of the department")
    project_id: int | None = Field(description="The ID of the project")
    created_by: str = Field(description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    updated_by: str = Field(description="The username of the person who last changed it")
    updated_at: datetime = Field(description="When it last changed")


class ChosenOut(Wire):
    environment: UUID | None = Field(default=None, description="The ID of an environment")
    compute: UUID | None = Field(default=None, description="What each pod requests")
    data_sources: list[MountedIn] = Field(default=[], description="Data sources that are mounted")


class TemplateMaster(Wire):
    spec: MasterDocument = Field(description="The specification")
    assets: ChosenOut | None = Field(
        description="Assets that all pods use; values in spec override those of the assets"
    )


class TemplateRule(Wire):
    """``field`` is a path in a workload's draft, such as ``worker.image``."""

    field: str = Field(description="The path of the field in a draft, such as worker.image")
    locked: bool = Field(description="Whether those who use the template cannot change the field")
    required: bool = Field(description="Whether those who use the template must fill it in")
    hidden: bool = Field(description="Whether the field is hidden from those who use the template")
    why: str = Field(description="The explanation for those who use the template")


class TemplateOut(Wire):
    """The values of the template, without defaults. For workloads of one pod
    ``masterSpecSameAsWorker``, ``master`` and ``noMaster`` are null. ``rules`` are set in the
    wizard."""

    meta: TemplateMeta = Field(description="Its name and where it belongs")
    spec: AnyDocument = Field(description="The specification")
    assets: ChosenOut | None = Field(
        description="Assets that all pods use; values in spec override those of the assets"
    )
    master_spec_same_as_worker: bool | None = Field(
        default=None, description="Whether the master has the workers' setup"
    )
    master: TemplateMaster | None = Field(
        default=None,
        description="What differs for the master's pod; null if nothing differs from the workers",
    )
    no_master: bool | None = Field(default=None, description="true for workers only")
    rules: list[TemplateRule] = Field(description="The template's rules for its fields")

    @classmethod
    def of(cls, template: Template) -> "TemplateOut":
        return cls(**_template_fields(template))


class ListedTemplate(TemplateOut):
    """``complianceIssues`` say why a workload of the project ``complyToProject`` cannot start from
    the template. Null if no project was named."""

    compliance_issues: list[ComplianceReason] | None = Field(description="Each field that is wrong")


class TemplatePages(Wire):
    """``nextOffset`` is null on the last page."""

    limit: int = Field(description="The greatest number of templates in the answer")
    offset: int = Field(description="Where this page begins")
    next_offset: int | None = Field(description="The offset of the next page; null on the last")


class TemplateList(Wire):
    entries: list[ListedTemplate] = Field(description="The templates")
    pagination: TemplatePages = Field(description="Which part of the list the answer contains")


def listed_template(template: Template, reasons: list[ComplianceReason] | None) -> ListedTemplate:
    return ListedTemplate(**_template_fields(template), compliance_issues=reasons)


def _template_fields(template: Template) -> dict[str, Any]:
    draft = template.draft
    setup = documents.mask_secret_values(setup_of(draft))
    fields: dict[str, Any] = {"spec": setup["spec"], "assets": setup["assets"]}
    if draft.is_gang:
        fields["no_master"] = setup["noMaster"]
        fields["master"] = setup["master"]
        fields["master_spec_same_as_worker"] = not (setup["master"] or setup["noMaster"])
    rules = [_rule(rule) for rule in draft.rules or ()]
    return {"meta": _template_meta(template, kind_of(draft)), "rules": rules, **fields}


def _rule(rule: FieldRule) -> TemplateRule:
    return TemplateRule(**rule.model_dump())


def _template_meta(template: Template, kind: WorkloadKind) -> TemplateMeta:
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
