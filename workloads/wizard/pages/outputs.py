"""Write what submits a draft without the wizard: the REST request as YAML, the command line and
curl."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assets.models import Template
from assets.template.merging import keeps_draft
from core.forms import nested
from core.rest import curl
from spec.draft import WorkloadDraft
from spec.formats import documents
from spec.formats.merge import KEYS, is_excluded, without_empty
from spec.kind import WorkloadKind
from trainyard_cli.flags.line import command_line
from workloads.plan import Plan

SUBMISSION = "/api/v1/workloads/"


@dataclass
class Outputs:
    """The texts that submit ``plan``. ``address`` is the URL of the REST call without the kind.
    Each text is built when it is read, because most pages show none of them."""

    plan: Plan
    address: str = SUBMISSION

    @cached_property
    def yaml(self) -> str:
        return documents.to_yaml(self._body)

    @cached_property
    def line(self) -> str:
        plan = self.plan
        template = plan.template.name if plan.template and "templateId" in self._body else ""
        project = plan.project.name if plan.project else ""
        return command_line(self._body, self._path, project, template=template)

    @cached_property
    def curl(self) -> str:
        return curl.post(self.address + self._path, self._body)

    @cached_property
    def _body(self) -> dict[str, Any]:
        return _request_body(self.plan)

    @property
    def _path(self) -> str:
        kind = self.plan.draft.kind
        if kind not in set(WorkloadKind):
            kind = "distributed"
        return WorkloadKind(kind).traits.path


def _request_body(plan: Plan) -> dict[str, Any]:
    """Return the body of ``POST /api/v1/workloads/distributed``, or of another kind."""
    complete = documents.dump_spec(plan.spec) if plan.spec else plan.document
    document = documents.mask_secret_values(documents.without_defaults(complete))
    _add_exclusions(document, plan.draft)
    body: dict[str, Any] = {"name": plan.draft.name}
    template = _nameable_template(plan, document)
    if template:
        body["templateId"] = str(template.pk)
    if plan.project:
        body |= {"projectId": str(plan.project.pk), "clusterId": str(plan.project.cluster_id)}
    if document.get("architecture") == "workers_only":
        body["noMaster"] = True
    body["spec"] = without_empty(documents.to_wire(document))
    master = documents.master_to_wire(document)
    if master is not None:
        body["masterSpec"] = without_empty(master)
    return body


def _add_exclusions(document: dict[str, Any], draft: WorkloadDraft) -> None:
    """Add what a draft removes from lists, because a policy would add it again."""
    parts = {"": draft.values} | {
        f"{role}.": replica.values for role, replica in draft.replicas.items() if document.get(role)
    }
    for prefix, values in parts.items():
        for path in KEYS:
            exclusions = [item for item in nested.items(values, path) if is_excluded(item)]
            if exclusions:
                remaining = nested.items(document, prefix + path)
                nested.put(document, prefix + path, [*remaining, *exclusions])


def _nameable_template(plan: Plan, document: dict[str, Any]) -> Template | None:
    """Return the template that the request can name, so that its rules apply. ``None`` if a request
    that names it would not mean the same as the draft."""
    template = plan.template
    if template is None or plan.draft.is_template:
        return None
    return template if keeps_draft(template.draft, plan.draft, document) else None
