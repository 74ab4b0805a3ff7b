"""Resolve asset ids in a project to parts of a spec, by value."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from accounts import access
from accounts.models import User
from assets.asset import Asset
from assets.base import A, AssetKind
from assets.data_source.kind import DATA_SOURCE
from assets.data_source.model import DataSource
from assets.kinds import KINDS, for_each_pod
from projects.models import Project
from spec.data.places import Place
from spec.draft import DATA_SOURCES, ReplicaDraft, Values, WorkloadDraft
from spec.formats.merge import USER, Merged
from spec.problems.errors import Path, Problem, problems
from spec.workload import NO_PROGRAM

PLACE: TypeAdapter[str] = TypeAdapter(Place)


@dataclass
class Resolved:
    """A replica merged from its layers, and problems with the chosen assets."""

    merged: Merged = field(default_factory=Merged)
    problems: list[Problem] = field(default_factory=list)
    assets: dict[str, Asset] = field(default_factory=dict)
    data_sources: list[DataSource] = field(default_factory=list)

    @property
    def linked(self) -> list[tuple[str, UUID]]:
        """Kind and id of assets of which a pod may have several."""
        return [(DATA_SOURCE.slug, it.pk) for it in self.data_sources]


def whole(draft: WorkloadDraft, project: Project | None) -> Merged:
    """The workload-wide values: the user's over the project's."""
    merged = Merged()
    theirs = {"nodePools": project.default_node_pools} if project else {}
    merged.lay(theirs, f"project {project}")
    merged.lay(draft.given, USER)
    merged.credit(theirs, f"project {project}", instead_of=USER)
    return merged


def replica(
    draft: ReplicaDraft, *, project: Project | None, user: User, framework: str, at: Path
) -> Resolved:
    """Merge the assets in the order of their kinds, then the user's own values; the later wins.

    ``at`` is the path of the replica in the draft (``("worker",)``), for problems. Without a
    project every asset that the user may see counts as usable.
    """
    resolved = Resolved()
    for kind, chosen in _chosen(draft):
        asset = _usable(kind, chosen, project, user)
        if asset is None:
            resolved.problems.append(_gone((*at, kind.slug), kind.noun))
        elif fault := kind.fault_of(asset):
            resolved.problems.append(_faulty((*at, kind.slug), asset, fault))
        else:
            resolved.assets[kind.slug] = asset
            resolved.merged.lay(kind.layer(asset), f"{kind.noun} {asset.name}")
    if draft.data_sources:
        _mount(resolved, draft, project, user, at)
    resolved.merged.lay(draft.of_the_pod, USER)
    resolved.problems += _against(resolved, draft, framework, at)
    resolved.problems += _missing(resolved, draft, at)
    return resolved


def _mount(
    resolved: Resolved, draft: ReplicaDraft, project: Project | None, user: User, at: Path
) -> None:
    """Add all data sources as one layer, so that two at the same path do not merge."""
    storage: dict[str, list[Values]] = {}
    for number, item in enumerate(draft.data_sources):
        chosen, where = item.get("id"), (*at, DATA_SOURCES, number, "id")
        source = _usable(DATA_SOURCE, _id(chosen), project, user)
        if not chosen:
            resolved.problems.append(Problem(where, "select a data source"))
        elif source is None:
            resolved.problems.append(_gone(where, DATA_SOURCE.noun))
        elif fault := DATA_SOURCE.fault_of(source):
            resolved.problems.append(_faulty(where, source, fault))
        elif wrong := _unfit_place(item.get("path") or source.spec.path):
            resolved.problems.append(Problem((*where[:-1], "path"), wrong))
        else:
            of, mounted = source.storage(str(item.get("path") or ""))
            storage.setdefault(of, []).append(mounted)
            resolved.data_sources.append(source)
    if storage:
        names = ", ".join(dict.fromkeys(it.name for it in resolved.data_sources))
        resolved.merged.lay({"storage": storage}, f"data source {names}")


def _unfit_place(path: Any) -> str:
    """Why nothing can be mounted at a path."""
    try:
        PLACE.validate_python(path)
    except ValidationError as error:
        return problems(error)[0].message
    return ""


def _id(text: Any) -> UUID | None:
    """Parse an id; ``None`` if it is not one."""
    try:
        return UUID(str(text))
    except ValueError:
        return None


def _usable(kind: AssetKind[A], pk: UUID | None, project: Project | None, user: User) -> A | None:
    if project and access.may(user, "assets.read", *project.scope_keys):
        # People who see the project's assets see all that the project may use.
        usable = kind.rows.usable_in(project)
    elif project:
        usable = kind.rows.visible_to(user).usable_in(project)
    else:
        usable = kind.rows.visible_to(user)
    return usable.filter(pk=pk).first()


def _faulty(path: Path, asset: Asset, fault: str) -> Problem:
    return Problem(path, f"{asset.name} is no longer valid: {fault}; change it or choose another")


def _chosen(draft: ReplicaDraft) -> Iterator[tuple[AssetKind[Any], UUID]]:
    for kind in for_each_pod():
        if chosen := draft.assets.get(kind.slug):
            yield kind, chosen


def _against(
    resolved: Resolved, draft: ReplicaDraft, framework: str, at: Path
) -> Iterator[Problem]:
    """Conflicts between the chosen assets, the pod's own values and the framework."""
    for slug, asset in resolved.assets.items():
        kind = KINDS[slug]
        for problem in kind.complaints(asset, draft.given):
            yield Problem((*at, *problem.path), problem.message)
        if why := kind.why_unfit(asset, framework):
            yield Problem((*at, slug), f"is {why}; choose another")


def _missing(resolved: Resolved, draft: ReplicaDraft, at: Path) -> Iterator[Problem]:
    """Required assets that are missing. A replica with its own image or command has defaults; one
    that is put together from assets must be complete."""
    chosen = {kind.slug for kind, _ in _chosen(draft)}
    layers = [KINDS[slug].layer(asset) for slug, asset in resolved.assets.items()]
    if not {"image", "command"} & resolved.merged.document.keys():
        yield Problem((*at, "image"), NO_PROGRAM, "required")
    own = {"image", "command"} & draft.values.keys()
    is_whole = bool(own) and not any("image" in layer for layer in layers)
    for kind in for_each_pod():
        given = kind.slug in chosen or kind.required in resolved.merged.document
        if kind.required and not given and not is_whole:
            yield Problem((*at, kind.slug), f"select {kind.one}")


def _gone(path: Path, kind: str) -> Problem:
    return Problem(
        path, f"this {kind} no longer exists, or is not available in this project; choose another"
    )
