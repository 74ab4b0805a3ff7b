"""Convert the setup of a template between its form in requests and the stored draft."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

from accounts.models import User
from core.rest.api import Issue
from spec.draft import ASSET_LISTS, ReplicaDraft, Values, WorkloadDraft
from spec.formats import documents
from spec.formats.connections import path_in_request
from spec.formats.stored import as_mapping
from spec.kind import WorkloadKind, kind_traits
from spec.problems.errors import Problem
from workloads.plan import plan

Setup = dict[str, Any]  # by the names of the request
WORKLOAD_FIELDS = {"project", "cluster", "name"}
FRAMEWORK = "distributedFramework"
CONNECTIONS = "connections"
CHOSEN = ("environment", "compute")
WORKERS_ONLY = "workers_only"


def draft_of(setup: Setup, kind: WorkloadKind) -> WorkloadDraft:
    """Return the draft for a setup, which may lack any field."""
    spec = dict(as_mapping(setup.get("spec")))
    master = setup.get("master")
    if not kind.is_gang:
        document = documents.one_pod_from_wire(spec, kind)
        gang_fields: Values = {"framework": ""}
    else:
        master_spec = None if master is None else as_mapping(as_mapping(master).get("spec"))
        document = documents.from_wire(
            spec, no_master=bool(setup.get("noMaster")), master=master_spec
        )
        framework = document.pop(FRAMEWORK, None)
        gang_fields = {
            **({"framework": str(framework)} if framework else {}),
            "architecture": document.pop("architecture"),
            "master": None
            if master_spec is None
            else _replica_draft(document.pop("master"), as_mapping(master)),
        }
    worker = _replica_draft(document.pop("worker"), setup)
    return WorkloadDraft(kind=kind, worker=worker, values=document, **gang_fields)


def _replica_draft(values: Values, setup: Setup) -> ReplicaDraft:
    """Return the draft of a role: its values, and the assets that are chosen for it."""
    chosen = as_mapping(setup.get("assets"))
    listed = {key: chosen[key] for key in ASSET_LISTS if chosen.get(key)}
    return ReplicaDraft(
        assets={kind: chosen[kind] for kind in CHOSEN if chosen.get(kind)},
        values=values | listed,
    )


def setup_of(draft: WorkloadDraft) -> Setup:
    """Return the setup of a draft, without what the draft leaves open: the inverse of
    :func:`draft_of`."""
    spec = documents.to_wire({**draft.values_of_kind, "worker": _pod_values(draft.worker)})
    setup: Setup = {"spec": spec, "assets": _chosen_assets(draft.worker)}
    if not draft.is_gang:
        return setup
    master = draft.master
    setup["spec"] = {FRAMEWORK: draft.framework, **spec}
    setup["noMaster"] = draft.architecture == WORKERS_ONLY
    setup["master"] = master and {
        "spec": documents.master_to_wire({"master": _pod_values(master)}) or {},
        "assets": _chosen_assets(master),
    }
    return setup


def _pod_values(replica: ReplicaDraft) -> Values:
    """Return the role's values for a spec. Drafts store anything that was entered; items that are
    not tools cannot be part of a spec."""
    values = {key: value for key, value in replica.values.items() if key not in ASSET_LISTS}
    if CONNECTIONS in values:
        tools = values[CONNECTIONS] if isinstance(values[CONNECTIONS], list) else []
        values[CONNECTIONS] = [it for it in tools if isinstance(it, dict)]
    return values


def _chosen_assets(replica: ReplicaDraft) -> Setup | None:
    chosen: Setup = {kind: str(pk) for kind, pk in replica.assets.items() if kind in CHOSEN}
    for key in sorted(ASSET_LISTS):
        if items := list(_listed_assets(replica, key)):
            chosen[key] = items
    return chosen or None


def _listed_assets(replica: ReplicaDraft, key: str) -> Iterator[Setup]:
    for item in replica.listed_assets(key):
        with suppress(ValueError):  # none was selected yet
            yield {"id": str(UUID(str(item.get("id")))), "path": str(item.get("path") or "")}


def apply_merge_patch(old: Any, new: Any) -> Any:
    """Apply a JSON Merge Patch (RFC 7396): objects are merged field by field, null removes
    a field."""
    if not isinstance(new, dict):
        return new
    merged = dict(as_mapping(old))
    for key, value in new.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = apply_merge_patch(merged.get(key), value)
    return merged


def remove_path(setup: Setup, path: str) -> Setup:
    """Return the setup without the value at a dotted path such as ``spec.image``."""
    head, _, rest = path.partition(".")
    if not rest or not isinstance(setup.get(head), dict):
        return {key: value for key, value in setup.items() if key != head or rest}
    return {**setup, head: remove_path(setup[head], rest)}


def setup_issues(setup: Setup, draft: WorkloadDraft, by: User) -> Iterator[Issue]:
    """Yield the problems with the values of a setup. Missing values are not a problem of a
    template."""
    kind = WorkloadKind(draft.kind)
    for key in documents.unknown_keys(as_mapping(setup.get("spec")), kind):
        yield Issue(field=f"spec.{key}", details="is not a field of this kind", rule="unknown")
    bare = draft.model_copy(update={"rules": ()})
    for problem in plan(bare, by=by).problems:
        if problem.path[0] not in WORKLOAD_FIELDS and not _is_missing(problem, draft):
            field = field_of(problem, setup)
            yield Issue(field=field, details=problem.message, rule=problem.rule)


def _is_missing(problem: Problem, draft: WorkloadDraft) -> bool:
    """Whether the problem is only that a value or an asset is missing, which is filled in later."""
    role, *rest = problem.path
    replica = draft.replicas.get(str(role))
    asks = replica is not None and len(rest) == 1 and rest[0] in {"environment", "compute"}
    of_asset = asks and replica is not None and rest[0] not in replica.assets
    value = replica.values.get(str(rest[0])) if asks and replica is not None else None
    return problem.rule == "required" or bool(of_asset and value is None)


def field_of(problem: Problem, setup: Setup) -> str:
    """Return the path of the request's field that a problem of the draft is about."""
    head, *rest = problem.path
    if head in {"worker", "master"}:
        role_setup = setup if head == "worker" else as_mapping(setup.get("master"))
        prefix = [] if head == "worker" else ["master"]
        if set(rest[:1]) & ASSET_LISTS or as_mapping(role_setup.get("assets")).get(
            str(rest[:1] and rest[0])
        ):
            return ".".join([*prefix, "assets", *map(str, rest)])
        rest = list(path_in_request(as_mapping(role_setup.get("spec")), tuple(rest)))
        return ".".join([*prefix, "spec", *map(str, rest)])
    renamed = {"framework": f"spec.{FRAMEWORK}", "architecture": "noMaster"}
    return ".".join([renamed.get(str(head), f"spec.{head}"), *map(str, rest)])


def kind_of(draft: WorkloadDraft) -> WorkloadKind:
    traits = kind_traits(draft.kind)
    return next(kind for kind in WorkloadKind if kind.traits is traits)
