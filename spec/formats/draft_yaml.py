"""Convert a draft to YAML that people edit and keep, and back without loss.

The fields are those of the REST request. Draft-only keys are next to them: ``assets`` and
``masterAssets`` name assets from galleries, whose values are not repeated in ``spec``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from spec.draft import (
    ROLE_ASSETS,
    GalleryChoices,
    ReplicaDraft,
    Values,
    WorkloadDraft,
    read_role,
)
from spec.formats import documents, shape
from spec.formats.connections import FIELD_NAMES_OF, tools_to_connections
from spec.formats.lines import LineProblem, ParsedYaml, YamlError, parse_yaml
from spec.formats.merge import EXCLUDE
from spec.kind import GANGS, KindTraits, WorkloadKind, kind_traits
from spec.parts.environment import ToolConnection
from spec.problems.errors import Path, Problem, problems_in
from spec.values.variable import MASK, looks_secret
from spec.workload import Architecture, NamedRole, Replica, WorkloadSpec

#: Keys of the text by the role they describe.
PARTS = {"worker": ("spec", "assets"), "master": ("masterSpec", "masterAssets")}
PLACE_KEYS = {"projectId": "project", "clusterId": "cluster"}
SAME_AS_WORKER = "masterSpecSameAsWorker"
SHOWN_ELSEWHERE = {"worker", "master", "values", "framework", "architecture", "project", "cluster"}


@dataclass(frozen=True)
class Names:
    """Translates asset ids to names in the text and back; ``None`` if there is none."""

    name_of: Callable[[str, UUID], str] = lambda kind, pk: str(pk)
    id_of: Callable[[str, str], UUID | None] = lambda kind, name: _parse_uuid(name)


def write_draft_yaml(draft: WorkloadDraft, names: Names) -> str:
    return documents.to_yaml(documents.mask_secret_values(_draft_document(draft, names)))


def _draft_document(draft: WorkloadDraft, names: Names) -> Values:
    """The draft as a document. Empty values are left out, except those that were given as empty."""
    blank = WorkloadDraft().model_dump(mode="json", by_alias=True)
    whole = draft.model_dump(mode="json", by_alias=True)
    document = {
        key: value
        for key, value in whole.items()
        if key not in SHOWN_ELSEWHERE and value != blank[key]
    }
    if draft.template:
        document["template"] = names.name_of("template", draft.template)
    if draft.project is not None:
        document["projectId"] = str(draft.project)
    if draft.cluster:
        document["clusterId"] = str(draft.cluster)
    if not draft.is_gang:
        document |= _asset_names("assets", draft.worker, names)
        return document | {"spec": {**draft.values_of_kind, **draft.worker.values}}
    if draft.architecture == Architecture.WORKERS_ONLY:
        document["noMaster"] = True
    elif draft.architecture != Architecture.WORKERS_AND_MASTER:
        document["architecture"] = draft.architecture
    document |= _asset_names("assets", draft.worker, names)
    framework = {} if draft.has_roles and not draft.framework else _framework(draft)
    document["spec"] = {**framework, **draft.values_of_kind, **draft.worker.values}
    if draft.has_roles:
        document["spec"]["roles"] = [
            {**role.values, **_asset_names(ROLE_ASSETS, role, names)} for role in draft.roles
        ]
    if draft.master:
        document |= _asset_names("masterAssets", draft.master, names)
        document["masterSpec"] = draft.master.values
    return document


def _framework(draft: WorkloadDraft) -> Values:
    return {"distributedFramework": draft.framework}


def _asset_names(key: str, replica: ReplicaDraft, names: Names) -> Values:
    rest = replica.model_dump(mode="json", by_alias=True, exclude={"assets", "values"})
    blank = ReplicaDraft().model_dump(mode="json", by_alias=True)
    chosen = {kind: names.name_of(kind, pk) for kind, pk in replica.assets.items()}
    chosen |= {name: value for name, value in rest.items() if value != blank[name]}
    return {key: chosen} if chosen else {}


def parse_draft_yaml(text: str, base: WorkloadDraft, names: Names) -> WorkloadDraft:
    """Parse a draft. ``YamlError`` names every misplaced key with its line; wrong values are kept
    for the form to show.

    Name, project and cluster default to those of ``base``, and so do masked values.
    """
    return read_draft(parse_yaml(text), base, names)


def read_draft(lined: ParsedYaml, base: WorkloadDraft, names: Names) -> WorkloadDraft:
    """Read a draft from a parsed text, as ``parse_draft_yaml`` does."""
    faults = list(_faults(lined.values))
    if faults:
        raise YamlError(LineProblem(lined.line_of(it.path), it.message) for it in faults)
    reader = _Reader(lined, names)
    draft = reader.read_draft(base)
    if reader.problems or draft is None:
        raise YamlError(reader.problems)
    for role in PARTS:
        _unmask(_replica(draft, role), _replica(base, role))
    known_roles = {item.get("name"): read_role(item) for item in _role_items(base)}
    for item in _role_items(draft):
        _unmask(read_role(item), known_roles.get(item.get("name")))
    return draft


def _faults(document: Values) -> Iterator[Problem]:
    """Unknown keys, and values of the wrong shape."""
    fields = shape.annotations(WorkloadDraft)
    head = {key: fields[key] for key in fields.keys() - SHOWN_ELSEWHERE | {"architecture"}}
    parts = {part for its in PARTS.values() for part in its}
    also = dict.fromkeys((*PLACE_KEYS, *parts, "noMaster", SAME_AS_WORKER))
    own = shape.annotations(Replica, GalleryChoices)
    whole = shape.annotations(WorkloadSpec)
    whole = {key: whole[key] for key in whole.keys() - documents.HEAD_KEYS}
    for key in document.keys() & (own | whole).keys() - head.keys() - also.keys():
        yield Problem((key,), f"{key} belongs below spec; indent it")
    rest = {k: v for k, v in document.items() if k not in {*also, *own, *whole} or k in head}
    yield from shape.faults(rest, head | also)
    yield from _spec_faults(document.get("spec"), own | whole, ("spec",))
    yield from _spec_faults(document.get("masterSpec"), own, ("masterSpec",))


def _spec_faults(spec: Any, fields: shape.Annotations, at: Path) -> Iterator[Problem]:
    if spec is None:
        return
    published = dict.fromkeys(FIELD_NAMES_OF)
    if not isinstance(spec, dict):
        yield from shape.faults(spec, fields, at)
        return
    rest = {key: value for key, value in spec.items() if key not in published}
    if isinstance(roles := rest.get("roles"), list):
        del rest["roles"]
        for number, role in enumerate(roles):
            yield from _role_faults(role, (*at, "roles", number))
    yield from shape.faults(rest, {**fields, **published}, at)
    for key, names in FIELD_NAMES_OF.items():
        tool = shape.annotations(ToolConnection)
        tool |= {theirs: tool[ours] for theirs, ours in names.items()}
        items = spec.get(key) or []
        if not isinstance(items, list):
            yield Problem((*at, key), f"{key} must be a list")
            continue
        for number, item in enumerate(items):
            yield from shape.faults(item, tool, (*at, key, number))


def _role_faults(role: Any, at: Path) -> Iterator[Problem]:
    own = shape.annotations(NamedRole, GalleryChoices)
    also = dict.fromkeys((ROLE_ASSETS, EXCLUDE))
    if not isinstance(role, dict):
        yield from shape.faults(role, own, at)
    else:
        yield from _spec_faults({k: v for k, v in role.items() if k not in also}, own, at)


class _Reader:
    """Reads a document of the right shape into a draft, and collects what has no meaning there."""

    def __init__(self, lined: ParsedYaml, names: Names) -> None:
        self.lined = lined
        self.names = names
        self.problems: list[LineProblem] = []

    def read_draft(self, base: WorkloadDraft) -> WorkloadDraft | None:
        document = self.lined.values
        spec = tools_to_connections(dict(document.get("spec") or {}))
        whole = {key: spec.pop(key) for key in list(spec) if key not in documents.REPLICA_FIELDS}
        fields: Values = {key: value for key, value in document.items() if key in _head_keys()}
        fields.setdefault("name", base.name)
        fields["template"] = self._read_asset_id(
            "template", document.get("template"), ("template",)
        )
        self._refuse_others(kind_traits(str(document.get("kind", WorkloadKind.DISTRIBUTED))))
        default = "" if whole.get("roles") else WorkloadDraft().framework
        fields["framework"] = whole.pop("distributedFramework", default)
        if isinstance(roles := whole.get("roles"), list):
            whole["roles"] = [self._role(number, role) for number, role in enumerate(roles)]
        fields["architecture"] = self._architecture()
        fields["project"] = self._project(base)
        fields["cluster"] = self._cluster(base)
        fields["worker"] = self._replica("worker", spec)
        fields["master"] = self._master()
        fields["values"] = whole
        return self._validate(fields)

    def _refuse_others(self, traits: KindTraits) -> None:
        """Refuse fields that only other kinds have, such as those of gangs for a single pod."""
        lacks = dict(traits.foreign_fields)
        if not traits.is_gang:
            heads = dict.fromkeys(("noMaster", SAME_AS_WORKER, *PARTS["master"]), GANGS)
            owned = {key: GANGS for key in documents.WORKLOAD_FIELDS if not traits.may_have(key)}
            lacks = heads | owned | lacks
        spec = self.lined.values.get("spec") or {}
        at = [*((key,) for key in self.lined.values), *(("spec", key) for key in spec)]
        for path in at:
            if path[-1] in lacks:
                self._add_problem(path, f"{path[-1]}: only {lacks[path[-1]]} have it; leave it out")

    def _architecture(self) -> Any:
        document = self.lined.values
        no_master = document.get("noMaster", False)
        if not isinstance(no_master, bool):
            self._add_problem(("noMaster",), "noMaster must be true or false")
        if no_master is True:
            return Architecture.WORKERS_ONLY.value
        return document.get("architecture", Architecture.WORKERS_AND_MASTER.value)

    def _project(self, base: WorkloadDraft) -> Any:
        given = self.lined.values.get("projectId", base.project)
        text = "" if given is None else str(given)
        if text and not (text.isdecimal() and len(text) < 19):
            self._add_problem(("projectId",), f"{text!r} is not the ID of a project")
            return None
        return int(text) if text else None

    def _cluster(self, base: WorkloadDraft) -> UUID | None:
        given = self.lined.values.get("clusterId", base.cluster)
        cluster = _parse_uuid(str(given)) if given else None
        if given and not cluster:
            self._add_problem(("clusterId",), f"{str(given)!r} is not the ID of a cluster")
        return cluster

    def _master(self) -> Values | None:
        document = self.lined.values
        own = [key for key in PARTS["master"] if document.get(key) is not None]
        same = document.get(SAME_AS_WORKER)
        if same not in {None, True, False}:
            self._add_problem((SAME_AS_WORKER,), f"{SAME_AS_WORKER} must be true or false")
        if same is True and own:
            self._add_problem((own[0],), f"leave {own[0]} out where {SAME_AS_WORKER} is true")
        return (
            self._replica("master", tools_to_connections(document.get("masterSpec") or {}))
            if own
            else None
        )

    def _replica(self, role: str, values: Values) -> Values:
        key = PARTS[role][1]
        given = self.lined.values.get(key) or {}
        if not isinstance(given, dict):
            self._refuse_assets((key,))
            return {"values": values}
        own = {field.alias for field in ReplicaDraft.model_fields.values()} - {"assets", "values"}
        rest = {name: value for name, value in given.items() if name in own}
        named = {kind: name for kind, name in given.items() if kind not in own}
        return {**rest, "assets": self._read_assets(named, (key,)), "values": values}

    def _role(self, number: int, role: Values) -> Values:
        """Read a named role, whose assets have their ids in a draft."""
        path = ("spec", "roles", number, ROLE_ASSETS)
        values = tools_to_connections(role)
        named = values.get(ROLE_ASSETS)
        if not named:
            return values
        if not isinstance(named, dict):
            self._refuse_assets(path)
            return values
        assets = self._read_assets(named, path)
        return {**values, ROLE_ASSETS: {kind: str(pk) for kind, pk in assets.items()}}

    def _read_assets(self, named: Values, path: Path) -> dict[str, UUID]:
        chosen = {
            kind: self._read_asset_id(kind, name, (*path, kind)) for kind, name in named.items()
        }
        return {kind: pk for kind, pk in chosen.items() if pk}

    def _refuse_assets(self, path: Path) -> None:
        self._add_problem(path, f"{path[-1]} must name an asset for each kind, such as environment")

    def _read_asset_id(self, kind: str, name: Any, path: Path) -> UUID | None:
        if name in (None, ""):
            return None
        pk = self.names.id_of(kind, str(name))
        if pk is None:
            message = f"is the name of no {kind}, or of several, that you see; write its ID"
            self._add_problem(path, f"{str(name)!r} {message}")
        return pk

    def _validate(self, fields: Values) -> WorkloadDraft | None:
        try:
            return WorkloadDraft.model_validate(fields)
        except ValidationError as error:
            for problem in problems_in(error):
                self._add_problem(problem.path, f"{problem.field} {problem.message}")
        return None

    def _add_problem(self, path: Path, message: str) -> None:
        self.problems.append(LineProblem(self.lined.line_of(path), message))


def _head_keys() -> set[str]:
    return set(shape.annotations(WorkloadDraft)) - SHOWN_ELSEWHERE


def _replica(draft: WorkloadDraft, role: str) -> ReplicaDraft | None:
    return draft.replicas.get(role)


def _role_items(draft: WorkloadDraft) -> list[Values]:
    """The roles themselves, not copies, so that changes of their variables stay."""
    items = draft.values.get("roles")
    return [it for it in items if isinstance(it, dict)] if isinstance(items, list) else []


def _unmask(replica: ReplicaDraft | None, base: ReplicaDraft | None) -> None:
    """Restore masked values from ``base``. Variables with the same name are matched by
    their order."""
    kept = _secret_variables(base)
    for name, variables in _secret_variables(replica).items():
        for variable, old in zip(variables, kept.get(name, ()), strict=False):
            if variable.get("value") == MASK:
                variable["value"] = old.get("value")


def _secret_variables(replica: ReplicaDraft | None) -> dict[str, list[Values]]:
    """Variables with masked values, by name."""
    variables = replica.values.get(documents.VARIABLES) if replica else None
    secret: dict[str, list[Values]] = {}
    for variable in variables if isinstance(variables, list) else ():
        if isinstance(variable, dict) and looks_secret(name := str(variable.get("name", ""))):
            secret.setdefault(name, []).append(variable)
    return secret


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
