"""Resolve asset ids in a project to parts of a spec, by value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts import access
from accounts.models import User
from assets.asset import Asset
from assets.base import A, AssetKind
from assets.kinds import IMPOSED_KIND, KINDS, listed_kinds, pod_kinds
from policies.fields import WORKER
from policies.filling import default_layers, imposed_assets
from policies.roles import ROLES
from policies.rules import Rule
from projects.models import Project
from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.formats.connections import tools_to_connections
from spec.formats.documents import USUAL_FIELDS
from spec.formats.merge import KEYS, USER, MergedLayers, is_same_item
from spec.problems.errors import Path, Problem
from spec.workload import IMAGE_REQUIRED


@dataclass
class ResolvedReplica:
    """A replica merged from its layers, and problems with the chosen assets."""

    merged: MergedLayers = field(default_factory=MergedLayers)
    problems: list[Problem] = field(default_factory=list)
    assets: dict[str, Asset] = field(default_factory=dict)
    #: Kind and id of assets of which a pod may have several.
    list_links: list[tuple[str, UUID]] = field(default_factory=list)


def merge_workload_values(
    draft: WorkloadDraft, project: Project | None, rules: Sequence[Rule] = ()
) -> MergedLayers:
    """Merge the workload-wide values: the user's over the project's, and these over the defaults of
    policies."""
    merged = MergedLayers()
    for source, defaults in default_layers(rules, ""):
        fitting = {
            key: value
            for key, value in defaults.items()
            if draft.traits.may_have(key) and not (draft.has_roles and key in USUAL_FIELDS)
        }
        merged.add_layer(fitting, source)
    project_values = _default_values(project) if project else {}
    merged.add_layer(project_values, f"project {project}")
    merged.add_layer(draft.filled_values, USER)
    merged.credit(project_values, f"project {project}", instead_of=USER)
    return merged


def _default_values(project: Project) -> Values:
    return {"nodePools": project.default_node_pools, "queue": project.default_queue}


def resolve_replica(
    draft: ReplicaDraft,
    *,
    project: Project | None,
    user: User,
    framework: str,
    path: Path,
    rules: Sequence[Rule] = (),
) -> ResolvedReplica:
    """Merge the defaults of policies, the assets in the order of their kinds, and the user's own
    values; the later wins. What a policy imposes comes last, so that nothing replaces it.

    ``path`` is that of the replica in the draft (``("worker",)``), for problems. Policies give a
    named role what they give workers. Without a project every asset that the user may see counts as
    usable.
    """
    resolved = ResolvedReplica()
    role = WORKER if path[0] == ROLES else str(path[0])
    for source, defaults in default_layers(rules, role):
        resolved.merged.add_layer(tools_to_connections(defaults), source)
    for kind, pk in _chosen_assets(draft):
        asset = _find_usable(kind, pk, project, user)
        if asset is None:
            resolved.problems.append(_gone_problem((*path, kind.slug), kind.noun))
        elif fault := kind.fault_of(asset):
            resolved.problems.append(_fault_problem((*path, kind.slug), asset, fault))
        else:
            resolved.assets[kind.slug] = asset
            resolved.merged.add_layer(kind.layer(asset), f"{kind.noun} {asset.name}")
    for kind in listed_kinds():
        _add_listed(resolved, kind, draft, project, user, path)
    resolved.merged.add_layer(draft.pod_values, USER)
    for asset_id, source in imposed_assets(rules, role):
        _add_imposed(resolved, asset_id, source, project, path)
    resolved.problems += _conflicts(resolved, draft, framework, path)
    resolved.problems += _missing_parts(resolved, draft, path)
    return resolved


def _add_listed(
    resolved: ResolvedReplica,
    kind: AssetKind[Any],
    draft: ReplicaDraft,
    project: Project | None,
    user: User,
    path: Path,
) -> None:
    """Add all listed assets of a kind as one layer, so that two of them do not merge."""
    chosen: list[tuple[Asset, Values]] = []
    cluster = project.cluster if project else None
    for number, item in enumerate(draft.listed_assets(kind.list_key)):
        item_path = (*path, kind.list_key, number)
        asset = _find_usable(kind, _parse_id(item.get("id")), project, user)
        if not item.get("id"):
            resolved.problems.append(
                Problem((*item_path, "id"), f"select {kind.noun_with_article}")
            )
        elif asset is None:
            resolved.problems.append(_gone_problem((*item_path, "id"), kind.noun))
        elif fault := kind.fault_of(asset):
            resolved.problems.append(_fault_problem((*item_path, "id"), asset, fault))
        elif item_problems := list(kind.item_problems(asset, item, cluster)):
            resolved.problems += [
                Problem((*item_path, *it.path), it.message) for it in item_problems
            ]
        else:
            chosen.append((asset, item))
    if chosen:
        names = ", ".join(dict.fromkeys(asset.name for asset, _ in chosen))
        resolved.merged.add_layer(kind.list_layer(chosen), f"{kind.noun} {names}")
        resolved.list_links += [
            link for asset, item in chosen for link in kind.item_links(asset, item)
        ]


def _add_imposed(
    resolved: ResolvedReplica, asset_id: str, source: str, project: Project | None, path: Path
) -> None:
    """Add a data source that a policy imposes, even if the user may not see it."""
    usable = IMPOSED_KIND.rows.usable_in(project) if project else IMPOSED_KIND.rows.all()
    asset = usable.filter(pk=asset_id).first()
    if asset is None:
        message = f"{source} imposes a data source that this project does not have; tell its author"
        resolved.problems.append(Problem((*path, IMPOSED_KIND.list_key), message, source=source))
    elif fault := IMPOSED_KIND.fault_of(asset):
        resolved.problems.append(_fault_problem((*path, IMPOSED_KIND.list_key), asset, fault))
    else:
        item = {"id": str(asset.pk)}
        cluster = project.cluster if project else None
        for problem in IMPOSED_KIND.item_problems(asset, item, cluster):
            message = f"{source} imposes {asset.name}, but {problem.message}"
            resolved.problems.append(
                Problem((*path, IMPOSED_KIND.list_key), message, source=source)
            )
        layer = IMPOSED_KIND.list_layer([(asset, item)])
        resolved.problems += _displaced_mounts(resolved.merged.document, layer, source, path)
        resolved.merged.add_layer(layer, source)
        resolved.list_links += IMPOSED_KIND.item_links(asset, item)


def _displaced_mounts(
    document: Values, imposed: Values, source: str, path: Path
) -> Iterator[Problem]:
    """Yield a problem for each item whose place an imposed data source takes."""
    for name, items in imposed["storage"].items():
        given = document.get("storage", {}).get(name) or []
        for number, item in enumerate(given):
            if any(is_same_item(item, own, KEYS[f"storage.{name}"]) for own in items):
                message = f"has the place of what {source} imposes; mount it elsewhere"
                yield Problem((*path, "storage", name, number), message, source=source)


def _parse_id(text: Any) -> UUID | None:
    """Return the id in a text, or ``None`` if it is not one."""
    try:
        return UUID(str(text))
    except ValueError:
        return None


def _find_usable(
    kind: AssetKind[A], pk: UUID | None, project: Project | None, user: User
) -> A | None:
    if project and access.may(user, kind.model.permission("read"), *project.scope_keys):
        # People who see the project's assets of a kind see all of it that the project may use.
        usable = kind.rows.usable_in(project)
    elif project:
        usable = kind.rows.visible_to(user).usable_in(project)
    else:
        usable = kind.rows.visible_to(user)
    return usable.filter(pk=pk).first()


def _fault_problem(path: Path, asset: Asset, fault: str) -> Problem:
    return Problem(path, f"{asset.name} is no longer valid: {fault}; change it or choose another")


def _chosen_assets(draft: ReplicaDraft) -> Iterator[tuple[AssetKind[Any], UUID]]:
    for kind in pod_kinds():
        if pk := draft.assets.get(kind.slug):
            yield kind, pk


def _conflicts(
    resolved: ResolvedReplica, draft: ReplicaDraft, framework: str, path: Path
) -> Iterator[Problem]:
    """Yield conflicts between the chosen assets, the pod's own values and the framework."""
    for slug, asset in resolved.assets.items():
        kind = KINDS[slug]
        for problem in kind.complaints(asset, draft.filled_values):
            yield Problem((*path, *problem.path), problem.message)
        if reason := kind.why_unfit(asset, framework):
            yield Problem((*path, slug), f"is {reason}; choose another")


def _missing_parts(resolved: ResolvedReplica, draft: ReplicaDraft, path: Path) -> Iterator[Problem]:
    """Yield a problem for each required asset or value that is missing.

    A replica with its own image or command needs no assets: its other values have defaults. A
    replica that is built from assets must be complete.
    """
    chosen_slugs = {kind.slug for kind, _ in _chosen_assets(draft)}
    layers = [KINDS[slug].layer(asset) for slug, asset in resolved.assets.items()]
    if not {"image", "command"} & resolved.merged.document.keys():
        yield Problem((*path, "image"), IMAGE_REQUIRED, "required")
    own_keys = {"image", "command"} & draft.values.keys()
    is_self_contained = bool(own_keys) and not any("image" in layer for layer in layers)
    for kind in pod_kinds():
        is_given = kind.slug in chosen_slugs or kind.required_key in resolved.merged.document
        if kind.required_key and not is_given and not is_self_contained:
            yield Problem((*path, kind.slug), f"select {kind.noun_with_article}")


def _gone_problem(path: Path, noun: str) -> Problem:
    return Problem(
        path, f"this {noun} no longer exists, or is not available in this project; choose another"
    )
