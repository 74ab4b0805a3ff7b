"""Drafts: what a form, a request or a template contains before it is a workload.

A draft may contain anything a person typed, right or wrong, so that nothing is lost. Only
``workloads.plan`` decides whether it can become a WorkloadSpec.
"""

from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from spec.kind import KindTraits, WorkloadKind, kind_traits

Values = dict[str, Any]


class DraftPart(BaseModel):
    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, validate_assignment=True
    )


class ChosenDataSource(DraftPart):
    """One from the gallery; without a ``path`` it is where it says itself. A dataset without a
    ``version`` is mounted in its latest one."""

    id: str = Field(description="Its ID")
    path: str = Field("", description="The path in the container")
    version: str = Field("", description="The version of a dataset")


class GalleryChoices(DraftPart):
    """Lists of assets among the values of a pod: a field for each kind of asset of which a pod may
    have several."""

    data_sources: list[ChosenDataSource] = Field([], description="Data sources that are mounted")


#: The keys of these lists. They are the only values that are not part of a pod's document.
ASSET_LISTS = frozenset(str(field.alias) for field in GalleryChoices.model_fields.values())


#: The key of the assets that a named role has chosen, by kind.
ROLE_ASSETS = "assets"
NO_ASSET = UUID(int=0)


class ReplicaDraft(DraftPart):
    """One kind of pod: the assets chosen, by kind, and the wire-named values given on top of them.

    ``values`` holds keys of ``spec.workload.Replica`` such as ``command``, ``args``,
    ``environmentVariables`` (a list of ``{"name": …, "value": …}``), ``compute``, ``labels``; and
    the lists of :class:`GalleryChoices`.
    """

    assets: dict[str, UUID] = {}
    values: Values = {}

    @property
    def filled_values(self) -> Values:
        """``values`` without empty ones and without blank list items."""
        return without_empty_values(self.values)

    @property
    def pod_values(self) -> Values:
        """The values of the pod itself, without the lists of assets."""
        return {key: value for key, value in self.filled_values.items() if key not in ASSET_LISTS}

    def listed_assets(self, key: str) -> list[Values]:
        """Return the items of a list of assets, such as ``{"id": …, "path": …}``."""
        items = self.filled_values.get(key)
        return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


class FieldRule(DraftPart):
    """What a template says of one ``field``, by its dotted path in the draft (``worker.image``,
    ``numWorkers``): it stays as it is, it must be answered, or it is not even asked. ``why`` is
    told to those who use the template."""

    field: str = Field(min_length=1, max_length=200)
    locked: bool = False
    required: bool = False
    hidden: bool = False
    why: str = Field("", max_length=200)


class WorkloadDraft(DraftPart):
    """Everything the wizard asks. ``values`` holds workload-wide keys such as ``numWorkers``, and
    the ``roles`` of a gang that has others than a master and workers: ``worker`` is empty then.

    ``master`` is ``None`` while the master inherits the workers' setup. What only
    another ``kind`` has counts for nothing, and is kept. Only a template has ``rules``, a tuple of
    them however short: what has one is written as a template, and becomes no workload.
    ``requested_name`` is the prefix that ``name`` was made of, where one was given.
    """

    name: str = ""
    requested_name: str = ""
    cluster: UUID | None = None
    project: int | None = None
    kind: str = WorkloadKind.DISTRIBUTED.value
    framework: str = "PyTorch"
    architecture: str = "workers_and_master"
    template: UUID | None = None
    worker: ReplicaDraft = ReplicaDraft()
    master: ReplicaDraft | None = None
    values: Values = {}
    rules: tuple[FieldRule, ...] | None = None

    @property
    def is_template(self) -> bool:
        return self.rules is not None

    @property
    def roles(self) -> list[ReplicaDraft]:
        """The named roles of a gang, which stand among the workload-wide values. The values of a
        role have its name and count, too. What is no role counts as an empty one."""
        items = self.filled_values.get("roles")
        if not isinstance(items, list):
            return []
        return [read_role(item if isinstance(item, dict) else {}) for item in items]

    @property
    def has_roles(self) -> bool:
        return bool(self.roles)

    @property
    def traits(self) -> KindTraits:
        return kind_traits(self.kind)

    @property
    def is_gang(self) -> bool:
        return self.traits.is_gang

    @property
    def framework_of_gang(self) -> str:
        """The framework; empty for a kind without one."""
        return self.framework if self.is_gang else ""

    @property
    def replicas(self) -> dict[str, ReplicaDraft]:
        """Replicas with a setup of their own, by role."""
        return {"worker": self.worker} | ({"master": self.master} if self.master else {})

    @property
    def parts(self) -> dict[str, ReplicaDraft]:
        """What describes pods, by its path: the replicas and the named roles."""
        named = {f"roles[{number}]": role for number, role in enumerate(self.roles)}
        return self.replicas | named

    @property
    def filled_values(self) -> Values:
        """The values that count, without empty ones."""
        return without_empty_values(self.values_of_kind)

    @property
    def values_of_kind(self) -> Values:
        """``values`` without fields that only other kinds of workloads have."""
        return {key: value for key, value in self.values.items() if self.traits.may_have(key)}


def read_role(item: Values) -> ReplicaDraft:
    """Read an item of ``roles``: the values of its pods, and its ``assets`` by kind."""
    assets = item.get(ROLE_ASSETS)
    chosen = assets if isinstance(assets, dict) else {}
    return ReplicaDraft(
        assets={kind: _read_id(pk) for kind, pk in chosen.items() if pk},
        values={key: value for key, value in item.items() if key != ROLE_ASSETS},
    )


def write_role(role: ReplicaDraft) -> Values:
    """The inverse of :func:`read_role`."""
    assets = {kind: str(pk) for kind, pk in role.assets.items()}
    return {**role.values, **({ROLE_ASSETS: assets} if assets else {})}


def _read_id(text: Any) -> UUID:
    """Return the id in a text. Anything else becomes the id of no asset, which the plan refuses."""
    try:
        return UUID(str(text))
    except ValueError:
        return NO_ASSET


def without_empty_values(values: Values) -> Values:
    filled = {key: _without_blank_items(value) for key, value in values.items()}
    return {key: value for key, value in filled.items() if value not in (None, "", [])}


def _without_blank_items(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_blank_items(inner) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    return [item for item in value if not is_blank(item)]


def is_blank(item: Any) -> bool:
    """Whether a list item has not been filled in: it contains no text and no number."""
    if isinstance(item, dict):
        return all(is_blank(inner) for inner in item.values())
    if isinstance(item, list):
        return all(is_blank(inner) for inner in item)
    return item in ("", None) or isinstance(item, bool)
