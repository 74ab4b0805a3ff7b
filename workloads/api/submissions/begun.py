"""Requests that start from a template or from assets, which provide the fields they leave out."""

from collections.abc import Callable

from accounts.models import User
from assets.models import Template
from assets.template.merging import lay_replica_over, merge_user_values
from spec.draft import ROLE_ASSETS, ReplicaDraft, Values, WorkloadDraft, read_role
from spec.formats.stored import as_mapping
from spec.kind import WorkloadKind
from spec.parts.compute import Compute
from spec.problems.errors import Problem
from workloads.api.bodies import ChosenIn, DistributedIn, OnePodIn

PATH = ("template",)
USUAL_COMPUTE = Compute().model_dump(
    mode="json", by_alias=True, include={"cpu_core_request", "cpu_memory_request"}
)


def add_start_values(
    draft: WorkloadDraft, body: OnePodIn, *, by: User
) -> tuple[WorkloadDraft, list[Problem]]:
    """Lay the draft of a request over the assets and the template that the request names, if any.
    Return the draft and the problems with these names."""
    draft, problems = _add_template(_choose_assets(draft, body.assets), body, by=by)
    return _add_usual_compute(draft), problems


def _add_template(
    draft: WorkloadDraft, body: OnePodIn, *, by: User
) -> tuple[WorkloadDraft, list[Problem]]:
    """Lay the draft over the template of the request, if any. Return it and the problems with the
    template."""
    if body.template_id is None:
        return draft, []
    template = Template.objects.visible_to(by).filter(pk=body.template_id).first()
    if template is None:
        return draft, [Problem(PATH, "does not exist, or you have no access to it")]
    base = template.draft
    if base.kind != draft.kind:
        kinds = " and ".join(WorkloadKind(it).label.lower() for it in (base.kind, draft.kind))
        return draft, [Problem(PATH, f"is of another kind: {kinds} do not go together")]
    updates = {
        "template": template.pk,
        "framework": draft.framework or base.framework,
        "worker": lay_replica_over(base.worker, draft.worker),
        "values": merge_user_values(base.values, draft.values),
    }
    if draft.master:
        updates["master"] = lay_replica_over(base.master or base.worker, draft.master)
    elif _leaves_out_the_master(body):
        updates |= {"master": base.master, "architecture": base.architecture}
    return draft.model_copy(update=updates), []


def _choose_assets(draft: WorkloadDraft, chosen: ChosenIn | None) -> WorkloadDraft:
    """Return the draft with these assets chosen for each role that has a setup of its own."""
    if chosen is None:
        return draft
    assets = {kind: getattr(chosen, kind) for kind in ("environment", "compute")}
    assets = {kind: pk for kind, pk in assets.items() if pk}
    values = chosen.listed_assets()
    if draft.has_roles:
        named = {kind: str(pk) for kind, pk in assets.items()}
        return _change_roles(
            draft,
            lambda role: {**values, **role, ROLE_ASSETS: named | as_mapping(role.get(ROLE_ASSETS))},
        )
    replicas = {
        role: ReplicaDraft(assets=assets, values=own.values | values)
        for role, own in draft.replicas.items()
    }
    return draft.model_copy(update=replicas)


def _add_usual_compute(draft: WorkloadDraft) -> WorkloadDraft:
    """Return the draft with the usual CPU and memory where it has an environment alone, which is
    enough for a request, as an image is. The wizard asks for a compute resource."""
    if draft.has_roles:
        return _change_roles(draft, _with_usual_compute)
    replicas = {
        role: own.model_copy(update={"values": {"compute": USUAL_COMPUTE, **own.values}})
        for role, own in draft.replicas.items()
        if "environment" in own.assets and "compute" not in own.assets
    }
    return draft.model_copy(update=replicas)


def _with_usual_compute(role: Values) -> Values:
    assets = read_role(role).assets
    is_alone = "environment" in assets and "compute" not in assets
    return {"compute": USUAL_COMPUTE, **role} if is_alone else role


def _change_roles(draft: WorkloadDraft, change: Callable[[Values], Values]) -> WorkloadDraft:
    roles = [change(role) if isinstance(role, dict) else role for role in draft.values["roles"]]
    return draft.model_copy(update={"values": draft.values | {"roles": roles}})


def _leaves_out_the_master(body: OnePodIn) -> bool:
    if not isinstance(body, DistributedIn):
        return False
    return body.master_spec_same_as_worker is None and not body.no_master
