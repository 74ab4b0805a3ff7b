"""Merge layers of values: those of assets, and the user's on top.

Lists of named things merge item by item, so that a user's item does not replace the asset's whole
list; ``exclude: true`` removes an item of a lower layer. The layer of each value is remembered.
"""

from collections.abc import Iterator
from typing import Any

from spec.problems.errors import Path

Values = dict[str, Any]

#: The keys that identify list items; the first key that both items have decides. Any other list is
#: a single value, and a higher one replaces a lower one.
KEYS: dict[str, tuple[str, ...]] = {
    "annotations": ("name",),
    "compute.extendedResources": ("resource",),
    "connections": ("name",),
    "environmentVariables": ("name",),
    "imagePullSecrets": ("name",),
    "jobAnnotations": ("name",),
    "jobLabels": ("name",),
    "labels": ("name",),
    "relatedUrls": ("name", "url"),
    "roles": ("name",),
    "storage.configMapVolume": ("name", "mountPath"),
    "storage.emptyDirVolume": ("name", "path"),
    "storage.git": ("name", "path"),
    "storage.hostPath": ("name", "mountPath"),
    "storage.nfs": ("name", "mountPath"),
    "storage.pvc": ("name", "path"),
    "storage.s3": ("name", "path"),
    "storage.secretVolume": ("name", "mountPath"),
    "tolerations": ("name",),
}
#: Objects that are merged key by key; any other object is a single value.
PARTS = frozenset({"compute", "probes", "security", "storage"})
#: Fields of a fraction of a GPU, by its kind.
GPU_FRACTION_FIELDS = {
    "portion": ("gpuPortionRequest", "gpuPortionLimit"),
    "memory": ("gpuMemoryRequest", "gpuMemoryLimit"),
}
EXCLUDE = "exclude"
USER = "user"  # the top layer; others are named after what they came from
EMPTY: tuple[object, ...] = (None, "", [])


class MergedLayers:
    """The merged document without empty values, and the layer of each value by dotted path
    (``compute.cpuCoreRequest``, ``labels[2]``). With ``keeps_exclusions`` the document is a layer
    itself, which still removes items of lower ones."""

    def __init__(self, *, keeps_exclusions: bool = False) -> None:
        self.document: Values = {}
        self._keeps_exclusions = keeps_exclusions
        self._layers: list[str] = []  # lowest first
        self._leaves: dict[str, str] = {}

    def add_layer(self, values: Values, origin: str) -> None:
        """Add ``values`` as the next layer. They are not modified."""
        if origin not in self._layers:
            self._layers.append(origin)
        self._add_values(self.document, without_empty(values), "", origin)

    def credit(self, values: Values, to: str, *, instead_of: str) -> None:
        """Attribute values of the layer ``instead_of`` that equal ``values`` to the layer
        ``to``."""
        if to not in self._layers and instead_of in self._layers:
            self._layers.insert(self._layers.index(instead_of), to)
        theirs = dict(_leaves(values, ""))
        for path, value in _leaves(self.document, ""):
            if path.endswith("]"):
                same = value in theirs.get(path.partition("[")[0], ())
            else:
                same = path in theirs and theirs[path] == value
            if same and self._leaves.get(path) == instead_of:
                self._leaves[path] = to

    @property
    def origins(self) -> dict[str, str]:
        """The layer of each value by path. A path that is not listed has the origin of its parent;
        a parent has that of the highest layer in it."""
        whole: dict[str, str] = {}
        for path, origin in self._leaves.items():
            for holder in (path, *parent_paths(path)):
                whole[holder] = max(origin, whole.get(holder, origin), key=self._layers.index)
        return {
            path: origin
            for path, origin in sorted(whole.items())
            if origin != next((whole[holder] for holder in parent_paths(path)), "")
        }

    def _add_values(self, into: Values, values: Values, within: str, origin: str) -> None:
        for key in superseded_fields(values) if within == "compute." else ():
            into.pop(key, None)
            self._forget_origins(within + key)
        for key, value in values.items():
            path = within + key
            below = into.get(key)
            if path in PARTS and isinstance(value, dict) and isinstance(below, dict | None):
                into[key] = dict(below or {})
                self._add_values(into[key], without_empty(value), f"{path}.", origin)
            elif path in KEYS and isinstance(value, list) and isinstance(below, list | None):
                into[key] = self._merge_lists(path, below or [], value, origin)
            else:
                self._forget_origins(path)
                into[key] = value
                self._leaves[path] = origin

    def _forget_origins(self, path: str) -> None:
        for leaf in [leaf for leaf in self._leaves if path in parent_paths(leaf)]:
            del self._leaves[leaf]

    def _merge_lists(self, path: str, below: list[Any], above: list[Any], origin: str) -> list[Any]:
        """Merge two lists. For the same item the higher layer's value takes the lower one's
        position; an excluded item removes the other, too."""
        over = list(above)
        merged = list[tuple[Any, str]]()
        for number, item in enumerate(below):
            was = self._leaves.pop(f"{path}[{number}]", origin)
            at = next(
                (i for i, held in enumerate(over) if is_same_item(item, held, KEYS[path])), None
            )
            merged.append((item, was) if at is None else (over.pop(at), origin))
        merged += [(item, origin) for item in over]
        stays = [
            (_without_exclude(item), was)
            for item, was in merged
            if self._keeps_exclusions or not is_excluded(item)
        ]
        self._leaves |= {f"{path}[{number}]": was for number, (_, was) in enumerate(stays)}
        return [item for item, _ in stays]


def superseded_fields(compute: Values) -> Iterator[str]:
    """Yield the GPU fields of lower layers that these values replace: a number of devices means
    whole devices unless the layer sets more, and a fraction is of one kind only."""
    if "gpuDevicesRequest" in compute:
        yield "gpuRequestType"
    if "gpuDevicesRequest" in compute or "gpuRequestType" in compute:
        yield from gpu_fraction_fields()


def gpu_fraction_fields(*, except_kind: Any = None) -> Iterator[str]:
    """The fields of all kinds of fractions ``but`` one."""
    for kind, names in GPU_FRACTION_FIELDS.items():
        yield from names if kind != except_kind else ()


def is_same_item(one: Any, other: Any, keys: tuple[str, ...]) -> bool:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return False
    for key in keys:
        if (ours := _normalize(one.get(key))) and (theirs := _normalize(other.get(key))):
            return ours == theirs
    return False


def exclusion(path: str, item: Values) -> Values:
    """Return the item that removes ``item``, which a lower layer has in the list at ``path``."""
    key = next(key for key in KEYS[path] if item.get(key))
    return {key: item[key], EXCLUDE: True}


def position_in_layer(layer: list[Any], merged: list[Any], index: int) -> int | None:
    """The index, in the list that a layer gave, of the item at ``at`` in the merged list."""
    if index >= len(merged):
        return None
    same = [number for number, item in enumerate(layer) if _without_exclude(item) == merged[index]]
    before = merged[:index].count(merged[index])
    return same[before] if before < len(same) else None


def path_in_layer(path: Path, document: Values, given: Values) -> Path:
    """The path at which a layer gave what is at ``path`` of the document; just the list, if the
    item is from another layer."""
    steps: list[str | int] = []
    merged: Any = document
    theirs: Any = given
    for step in path:
        if isinstance(step, int) and isinstance(merged, list) and isinstance(theirs, list):
            at = position_in_layer(theirs, merged, step)
            if at is None:
                break
            steps.append(at)
        else:
            steps.append(step)
        merged = _step_into(merged, step)
        theirs = _step_into(theirs, steps[-1])
    return tuple(steps)


def _step_into(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    inside = isinstance(value, list) and isinstance(step, int) and step < len(value)
    return value[step] if inside else None


def parent_paths(path: str) -> Iterator[str]:
    """The parents of a dotted path, nearest first."""
    while path := path.rpartition("[" if path.endswith("]") else ".")[0]:
        yield path


def without_empty(values: Values) -> Values:
    return {key: value for key, value in values.items() if value not in EMPTY}


def _leaves(values: Values, within: str) -> Iterator[tuple[str, Any]]:
    """All values with an origin of their own, including items of keyed lists."""
    for key, value in values.items():
        path = within + key
        if path in PARTS and isinstance(value, dict):
            yield from _leaves(value, f"{path}.")
        elif path in KEYS and isinstance(value, list):
            yield path, value
            yield from ((f"{path}[{number}]", item) for number, item in enumerate(value))
        else:
            yield path, value


def _normalize(value: Any) -> str:
    """Normalize a name or path, so that two spellings are equal."""
    text = "" if value is None else str(value).strip()
    return text.rstrip("/") or text


def is_excluded(item: Any) -> bool:
    """Whether an item only removes that of a lower layer."""
    return isinstance(item, dict) and item.get(EXCLUDE) is True


def _without_exclude(item: Any) -> Any:
    """An item without ``exclude: false``."""
    if isinstance(item, dict) and item.get(EXCLUDE) is False:
        return {key: value for key, value in item.items() if key != EXCLUDE}
    return item
